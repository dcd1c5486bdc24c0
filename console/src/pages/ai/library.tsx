/** The models that the server itself runs: those that are installed, and pulls of others with their progress. */
import { useState } from "preact/hooks";
import { bytesText, countText, percentText, timeText } from "../../lib/format.js";
import { useEvery, useGet } from "../../lib/load.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { Confirm } from "../../ui/dialog.js";
import { Select, TextField } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure, Notice } from "../../ui/notice.js";
import { attempt } from "../../ui/toast.js";

interface InstalledModel {
  readonly name: string;
  readonly alias: string | null;
  readonly kind: string | null;
  readonly size_bytes: number;
  readonly dimensions: number | null;
  readonly max_length: number | null;
  readonly licence: string | null;
  readonly state: "installed" | "ready" | "failed";
  readonly problem: string | null;
  /** Null: it came with the program. */
  readonly source: string | null;
  readonly last_used_at: string | null;
  readonly restart_required: boolean;
}

interface Library {
  readonly models: readonly InstalledModel[];
  readonly sources: readonly string[];
  readonly free_bytes: number;
  readonly available: readonly { readonly name: string; readonly kind: string; readonly tags: readonly string[] }[];
}

interface Pull {
  readonly id: string;
  readonly model: string;
  readonly status: "pending" | "running" | "completed" | "failed" | "cancelled";
  readonly phase: string;
  readonly progress: number;
  readonly bytes_done: number;
  readonly bytes_total: number | null;
  readonly source: string | null;
  readonly error: { readonly message: string } | null;
  readonly started_at: string;
}

const EVERY_MS = 1_500;
const TONES = { pending: "neutral", running: "accent", completed: "good", failed: "bad", cancelled: "warn" } as const;
const STATES = { installed: "neutral", ready: "good", failed: "bad" } as const;

function isUnderWay({ status }: Pull): boolean {
  return status === "pending" || status === "running";
}

export function ModelLibrary() {
  const library = useGet<Library>("/v1/ai/models");
  const pulls = useGet<{ readonly pulls: readonly Pull[] }>("/v1/ai/models/pulls");
  const [removed, setRemoved] = useState<InstalledModel | null>(null);
  const underWay = pulls.data?.pulls.filter(isUnderWay).length ?? 0;
  useEvery(EVERY_MS, () => {
    if (underWay === 0) return;
    pulls.renew();
    library.renew();
  });
  const again = (): void => {
    pulls.again();
    library.again();
  };
  const remove = ({ name }: InstalledModel): void => {
    const path = `/v1/ai/models/${encodeURIComponent(name)}`;
    void attempt(() => client().request("DELETE", path), `${name} is gone.`).then(again);
  };
  return (
    <>
      <PullForm library={library.data} onBegun={again} />
      <Failure error={pulls.error} />
      {(pulls.data?.pulls.length ?? 0) > 0 && <Pulls pulls={pulls.data!.pulls} onChanged={again} />}
      <ListPanel
        title="Installed models"
        actions={
          library.data !== undefined && <Badge>{bytesText(library.data.free_bytes)} free on the models' disk</Badge>
        }
        rows={library.data?.models}
        error={library.error}
        keyOf={({ name }) => name}
        none="There are none."
        columns={[
          { name: "Name", cell: ({ name, alias }) => <ModelName name={name} alias={alias} /> },
          { name: "Kind", cell: ({ kind }) => kind ?? "" },
          { name: "State", cell: (model) => <ModelState model={model} /> },
          { name: "Size", cell: (model) => bytesText(model.size_bytes), isNumber: true },
          { name: "Dimensions", cell: ({ dimensions }) => dimensions ?? "", isNumber: true },
          { name: "Tokens at most", cell: (model) => model.max_length && countText(model.max_length), isNumber: true },
          { name: "Licence", cell: ({ licence }) => licence ?? "" },
          { name: "From", cell: ({ source }) => source ?? "the program" },
          { name: "Last used", cell: (model) => timeText(model.last_used_at) },
          {
            name: "",
            cell: (model) =>
              model.source !== null && (
                <Button kind="quiet" icon="trash" label={`Delete ${model.name}`} onClick={() => setRemoved(model)} />
              ),
          },
        ]}
      />
      {removed !== null && (
        <Confirm
          title={`Delete ${removed.name}?`}
          action="Delete"
          onConfirm={() => remove(removed)}
          onClose={() => setRemoved(null)}
        >
          <p>Requests that use it end first. Later ones fail until the model is pulled again.</p>
        </Confirm>
      )}
    </>
  );
}

function ModelName({ name, alias }: Pick<InstalledModel, "name" | "alias">) {
  return (
    <>
      <strong>{name}</strong> {alias !== null && <span class="muted">{alias}</span>}
    </>
  );
}

function ModelState({ model: { state, problem, restart_required: waits } }: { readonly model: InstalledModel }) {
  if (waits) return <Badge tone="warn">after a restart</Badge>;
  return (
    <span title={problem ?? undefined}>
      <Badge tone={STATES[state]}>{state}</Badge>
    </span>
  );
}

interface PullFormProps {
  readonly library: Library | undefined;
  readonly onBegun: () => void;
}

const OTHER = "";

/** A model that a hub offers, or one of another name. */
function PullForm({ library, onBegun }: PullFormProps) {
  const [chosen, setChosen] = useState(OTHER);
  const [typed, setTyped] = useState("");
  const { error, isBusy, run } = useRun();
  if (library === undefined) return null;
  if (library.sources.length === 0) {
    return (
      <Notice>
        Models can be pulled once the setting <code>ai.pull.sources</code> names a source, as{" "}
        <a href="/docs/guide/embeddings-and-models" target="_blank" rel="noreferrer">
          the guide
        </a>{" "}
        shows.
      </Notice>
    );
  }
  const installed = new Set(library.models.map(({ name }) => name));
  const offered = library.available.filter(({ name }) => !installed.has(name));
  const model = chosen === OTHER ? typed.trim() : chosen;
  const pull = async (): Promise<void> => {
    if (await run(() => client().request("POST", "/v1/ai/models/pull", { body: { model } }))) onBegun();
  };
  return (
    <>
      <Form class="form-row slim" onSubmit={() => void pull()}>
        {offered.length > 0 && (
          <Select
            label="Model"
            value={chosen}
            options={[
              [OTHER, "Another name"] as const,
              ...offered.map(({ name, kind }) => [name, `${name} · ${kind}`] as const),
            ]}
            onChange={setChosen}
          />
        )}
        {chosen === OTHER && (
          <TextField label="Name" placeholder="name or name:tag" value={typed} onInput={setTyped} isCode />
        )}
        <Button kind="primary" type="submit" icon="download" disabled={isBusy || model === ""}>
          Pull
        </Button>
      </Form>
      <p class="muted">From {library.sources.join(", then ")}.</p>
      <Failure error={error} />
    </>
  );
}

interface PullsProps {
  readonly pulls: readonly Pull[];
  readonly onChanged: () => void;
}

function Pulls({ pulls, onChanged }: PullsProps) {
  const cancel = ({ id }: Pull): void => {
    const path = `/v1/ai/models/pulls/${encodeURIComponent(id)}`;
    void attempt(() => client().request("DELETE", path), "It is cancelled.").then(onChanged);
  };
  return (
    <ListPanel
      title="Pulls"
      rows={pulls}
      keyOf={({ id }) => id}
      none=""
      columns={[
        { name: "Model", cell: ({ model }) => <strong>{model}</strong> },
        { name: "State", cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
        { name: "Progress", cell: (pull) => <Progress pull={pull} /> },
        { name: "From", cell: ({ source }) => source ?? "" },
        { name: "Begun", cell: (pull) => timeText(pull.started_at) },
        { name: "Problem", cell: (pull) => pull.error?.message ?? "", isWide: true },
        { name: "", cell: (pull) => isUnderWay(pull) && <Button onClick={() => cancel(pull)}>Cancel</Button> },
      ]}
    />
  );
}

function Progress({ pull }: { readonly pull: Pull }) {
  const { progress, phase, bytes_done: done, bytes_total: total } = pull;
  if (!isUnderWay(pull)) return <>{bytesText(done)}</>;
  return (
    <span class="row">
      <progress max={1} value={progress} aria-label={`Progress of ${pull.model}`} />
      <span class="number">
        {percentText(progress)} · {phase} · {bytesText(done)}
        {total !== null && ` of ${bytesText(total)}`}
      </span>
    </span>
  );
}
