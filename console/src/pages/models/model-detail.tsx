/**
 * A model's card: how good it is and beside what, what it looked at, what it left out, and a form to predict with it.
 */
import { useState } from "preact/hooks";
import { cellText, countText, durationText, roundedText, timeText } from "../../lib/format.js";
import { useGet } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { Confirm } from "../../ui/dialog.js";
import { ListPanel } from "../../ui/list-table.js";
import { Notice, Waiting } from "../../ui/notice.js";
import { Facts, Page, Panel } from "../../ui/panel.js";
import { attempt } from "../../ui/toast.js";
import { ModelCheck } from "./model-check.js";
import { ModelTrials, type Trial } from "./model-trials.js";
import { PredictForm } from "./predict-form.js";

type Numbers = Readonly<Record<string, number>>;

/** What the server says of a model. */
export interface ModelFacts {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly task: string;
  readonly algorithm: string;
  readonly metric: string;
  readonly metrics: Numbers;
  readonly training_time_ms: number;
  readonly created_at: string;
  readonly features: readonly { readonly name: string; readonly kind: string }[];
  readonly card?: Card;
  readonly trials?: readonly Trial[];
}

interface Card {
  readonly target: string;
  readonly taskReason?: string;
  readonly rows: number;
  readonly baseline?: Numbers;
  readonly importance?: readonly { readonly feature: string; readonly importance: number }[];
  readonly columnsDropped?: readonly { readonly name: string; readonly reason: string }[];
  readonly columnsUsed?: readonly { readonly name: string; readonly kind: string; readonly treatment: string }[];
  readonly warnings?: readonly string[];
  readonly limits?: readonly string[];
  readonly validation?: string;
  readonly calibration?: Readonly<Record<string, unknown>> | null;
  readonly members?: readonly { readonly algorithm: string; readonly weight: number; readonly trial?: number }[];
  readonly classes?: readonly { readonly label: string; readonly rows: number }[];
}

export function ModelDetail({ id }: { readonly id: string }) {
  const path = `/v1/automl/models/${encodeURIComponent(id)}`;
  const [isRemoving, setRemoving] = useState(false);
  const { data: model, error } = useGet<ModelFacts>(path);
  if (model === undefined) return <Waiting error={error} />;
  const { card } = model;
  const remove = (): void => {
    void attempt(() => client().request("DELETE", path), `${model.name} is gone.`).then(
      (isDone) => isDone && goTo(["models"]),
    );
  };
  return (
    <Page
      title={model.name}
      lead={`Predicts ${card?.target ?? "a column"} · ${model.task.replaceAll("_", " ")}`}
      actions={
        <>
          <Button onClick={() => goTo(["models"])}>All models</Button>
          <Button kind="quiet" icon="trash" label={`Delete ${model.name}`} onClick={() => setRemoving(true)} />
        </>
      }
    >
      <Panel title="Model">
        <Facts
          facts={[
            ["Version", model.version],
            ["Algorithm", model.algorithm],
            ["Rows", card === undefined ? "" : countText(card.rows)],
            ["Trained in", durationText(model.training_time_ms)],
            ["Since", timeText(model.created_at)],
          ]}
        />
        {card?.taskReason !== undefined && <p class="muted">{card.taskReason}</p>}
        {(card?.warnings ?? []).map((warning) => (
          <Notice key={warning} tone="warn">
            {warning}
          </Notice>
        ))}
      </Panel>
      <div class="charts">
        <Metrics model={model} />
        <Importance card={card} />
      </div>
      {model.trials !== undefined && model.trials.length > 0 && (
        <ModelTrials trials={model.trials} metric={model.metric} members={card?.members ?? []} />
      )}
      <PredictForm model={model} path={path} />
      {card !== undefined && !model.task.includes("forecast") && (
        <ModelCheck
          path={path}
          task={model.task}
          target={card.target}
          classes={(card.classes ?? []).map(({ label }) => label)}
        />
      )}
      <Columns card={card} />
      <Limits card={card} />
      {isRemoving && (
        <Confirm title={`Delete ${model.name}?`} action="Delete" onConfirm={remove} onClose={() => setRemoving(false)}>
          <p>Statements that use it fail from then on.</p>
        </Confirm>
      )}
    </Page>
  );
}

function Metrics({ model: { metrics, metric, card } }: { readonly model: ModelFacts }) {
  return (
    <ListPanel
      title="How good it is"
      label="Metrics"
      rows={Object.entries(metrics)}
      keyOf={([name]) => name}
      none="There are no metrics."
      columns={[
        {
          name: "Metric",
          cell: ([name]) => (
            <span class="row">
              {name.replaceAll("_", " ")} {name === metric && <Badge tone="accent">decides</Badge>}
            </span>
          ),
        },
        { name: "Model", cell: ([, value]) => <strong>{roundedText(value, 4)}</strong>, isNumber: true },
        { name: "Without a model", cell: ([name]) => roundedText(card?.baseline?.[name], 4), isNumber: true },
      ]}
      foot={card?.validation !== undefined && <p class="none">{card.validation}</p>}
    />
  );
}

function Importance({ card }: { readonly card: Card | undefined }) {
  const importance = [...(card?.importance ?? [])].sort((a, b) => b.importance - a.importance);
  const most = Math.max(...importance.map((one) => one.importance), 1e-9);
  return (
    <Panel title="What it looks at">
      {importance.length === 0 && <p class="muted">Not known.</p>}
      <ul class="tops">
        {importance.slice(0, 20).map(({ feature, importance: value }) => (
          <li key={feature}>
            <span class="top-bar" style={{ width: `${Math.max(0, value / most) * 100}%` }} />
            <span class="top-label">{feature}</span>
            <span class="number">{roundedText(value)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Columns({ card }: { readonly card: Card | undefined }) {
  const used = (card?.columnsUsed ?? []).map(({ name, treatment }) => ({ name, isUsed: true, why: treatment }));
  const dropped = (card?.columnsDropped ?? []).map(({ name, reason }) => ({ name, isUsed: false, why: reason }));
  return (
    <ListPanel
      title="Columns"
      rows={[...used, ...dropped]}
      keyOf={({ name }) => name}
      none="Not known."
      columns={[
        { name: "Column", cell: ({ name }) => <strong>{name}</strong> },
        {
          name: "Used",
          cell: ({ isUsed }) => <Badge tone={isUsed ? "good" : "neutral"}>{isUsed ? "used" : "left out"}</Badge>,
        },
        { name: "How, or why not", cell: ({ why }) => why, isWide: true },
      ]}
    />
  );
}

function Limits({ card }: { readonly card: Card | undefined }) {
  const calibration = Object.entries(card?.calibration ?? {});
  return (
    <Panel title="What to keep in mind">
      <ul class="plain-list">
        {(card?.limits ?? []).map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
      {calibration.length > 0 && (
        <Facts
          facts={calibration.map(([name, value]): [string, string] => [
            `Calibration: ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`,
            typeof value === "number" ? roundedText(value, 4) : cellText(value),
          ])}
        />
      )}
    </Panel>
  );
}
