/** Models that learn from the tenant's tables: start a training, follow it, read a model's card, and predict. */
import { useState } from "preact/hooks";
import { catalog, isForUsers } from "../../lib/catalog.js";
import { durationText, measureText, roundedText, timeText } from "../../lib/format.js";
import { useEvery, useGet } from "../../lib/load.js";
import { linkTo } from "../../lib/router.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { useStore } from "../../lib/store.js";
import type { PageProps } from "../../shell/pages.js";
import { Badge, Button } from "../../ui/button.js";
import { ActionDialog } from "../../ui/dialog.js";
import { Select, TextField } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { Empty, Failure } from "../../ui/notice.js";
import { Page } from "../../ui/panel.js";
import { attempt } from "../../ui/toast.js";
import { ModelDetail } from "./model-detail.js";

interface ModelRow {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly task: string;
  readonly algorithm: string;
  readonly metric: string;
  readonly best_score: number | null;
  readonly training_time_ms: number;
  readonly created_at: string;
}

interface Job {
  readonly id: string;
  readonly name: string;
  readonly status: "pending" | "running" | "completed" | "failed" | "cancelled";
  readonly progress: number;
  readonly phase: string | null;
  readonly current_trial: number;
  readonly total_trials: number;
  readonly best_score: number | null;
  readonly eta_ms: number | null;
  readonly error: { readonly message: string } | null;
  readonly created_at: string;
}

const EVERY_MS = 2_000;

export function ModelsPage({ path }: PageProps) {
  const [isNew, setNew] = useState(false);
  const models = useGet<readonly ModelRow[]>("/v1/automl/models");
  const jobs = useGet<{ jobs: readonly Job[] }>("/v1/automl/jobs");
  useEvery(EVERY_MS, () => {
    jobs.renew();
    models.renew();
  });
  if (path[0] !== undefined) return <ModelDetail key={path[0]} id={path[0]} />;
  const running = (jobs.data?.jobs ?? []).filter(({ status }) => status !== "completed").slice(0, 20);
  return (
    <Page
      title="Models"
      lead="Trained on your tables, collections and queries; used in SQL and over HTTP."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
          Train a model
        </Button>
      }
    >
      <Failure error={jobs.error} />
      {running.length > 0 && <Jobs jobs={running} onChanged={jobs.again} />}
      {models.data?.length === 0 ? (
        <Empty icon="models" title="There is no model yet">
          A model learns to predict one column of a table from the others.
        </Empty>
      ) : (
        <ListPanel
          title="Models"
          rows={models.data}
          error={models.error}
          keyOf={({ id }) => id}
          none="There are none."
          columns={[
            { name: "Name", cell: ({ id, name }) => <a href={linkTo(["models", id])}>{name}</a> },
            { name: "Version", cell: ({ version }) => version, isNumber: true },
            { name: "Task", cell: ({ task }) => task.replaceAll("_", " ") },
            { name: "Algorithm", cell: ({ algorithm }) => algorithm },
            { name: "Score", cell: bestText },
            { name: "Trained in", cell: (model) => durationText(model.training_time_ms), isNumber: true },
            { name: "Since", cell: (model) => timeText(model.created_at) },
          ]}
        />
      )}
      {isNew && <TrainDialog onClose={() => setNew(false)} onDone={jobs.again} />}
    </Page>
  );
}

function bestText({ metric, best_score: score }: ModelRow): string {
  return score === null ? "" : `${metric.replaceAll("_", " ")} ${roundedText(score, 4)}`;
}

const TONES = { pending: "neutral", running: "accent", completed: "good", failed: "bad", cancelled: "warn" } as const;

function Jobs({ jobs, onChanged }: { readonly jobs: readonly Job[]; readonly onChanged: () => void }) {
  const stop = ({ id }: Job): void => {
    void attempt(() => client().request("POST", `/v1/automl/jobs/${id}/stop`, { body: {} }), "It stops.").then(
      onChanged,
    );
  };
  return (
    <ListPanel
      title="Trainings"
      rows={jobs}
      keyOf={({ id }) => id}
      none=""
      columns={[
        { name: "Name", cell: ({ name }) => <strong>{name}</strong> },
        { name: "State", cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
        {
          name: "Progress",
          cell: (job) => (
            <span class="row">
              <progress max={1} value={job.progress} aria-label={`Progress of ${job.name}`} />
              {job.phase ?? ""} {job.current_trial} of {job.total_trials}
            </span>
          ),
        },
        {
          name: "Best score",
          cell: (job) => (job.best_score === null ? "" : measureText(job.best_score)),
          isNumber: true,
        },
        { name: "Left", cell: (job) => durationText(job.eta_ms), isNumber: true },
        { name: "Problem", cell: (job) => job.error?.message ?? "", isWide: true },
        {
          name: "",
          cell: (job) =>
            job.status === "running" || job.status === "pending" ? (
              <Button onClick={() => stop(job)}>Stop</Button>
            ) : null,
        },
      ]}
    />
  );
}

function TrainDialog({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const { objects } = useStore(catalog);
  const tables = (objects ?? []).filter((one) => one.schema === "public" && isForUsers(one));
  const [table, setTable] = useState(tables[0]?.name ?? "");
  const columns = tables.find(({ name }) => name === table)?.columns ?? [];
  const [target, setTarget] = useState("");
  const [name, setName] = useState("");
  const [trials, setTrials] = useState("10");
  const { error, run } = useRun();
  const chosen = columns.some((column) => column.name === target) ? target : (columns.at(-1)?.name ?? "");
  const start = async (): Promise<void> => {
    const body = { table, target: chosen, max_trials: Number(trials), ...(name !== "" && { name }) };
    if (!(await run(() => client().request("POST", "/v1/automl/train", { body })))) return;
    onDone();
    onClose();
  };
  return (
    <ActionDialog
      title="Train a model"
      action="Start"
      onAction={() => void start()}
      disabled={table === ""}
      error={error}
      onClose={onClose}
    >
      <Select label="From the table" value={table} options={tables.map((one) => one.name)} onChange={setTable} />
      <Select label="Predict the column" value={chosen} options={columns.map((one) => one.name)} onChange={setTarget} />
      <TextField label="Name" hint="Empty: one is made up." value={name} onInput={setName} />
      <TextField label="Trials" type="number" value={trials} onInput={setTrials} />
    </ActionDialog>
  );
}
