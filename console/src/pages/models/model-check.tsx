/** How a model does on rows whose answer is known: calibration and ROC of classes, predicted and true numbers. */
import { useState } from "preact/hooks";
import { numberOf, plural, roundedText } from "../../lib/format.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Button } from "../../ui/button.js";
import { Chart, type ChartData } from "../../ui/chart.js";
import { Select, TextField } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { Failure } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { calibrationOf, type Judged, predictedAndTrue, rocOf } from "./curves.js";

interface ModelCheckProps {
  /** The model's address. */
  readonly path: string;
  readonly task: string;
  readonly target: string;
  readonly classes: readonly string[];
}

interface Predicted {
  readonly predictions: readonly unknown[];
  readonly probabilities?: readonly Readonly<Record<string, number>>[];
}

interface Checked {
  readonly truth: readonly unknown[];
  readonly predicted: Predicted;
}

/** As many as the server predicts at once. */
const ROWS_MAX = 10_000;

export function ModelCheck({ path, task, target, classes }: ModelCheckProps) {
  const [sql, setSql] = useState("");
  const [checked, setChecked] = useState<Checked | null>(null);
  const [positive, setPositive] = useState(classes.at(-1) ?? "");
  const { error, isBusy, run } = useRun();
  const isClasses = task.includes("classification");
  const check = async (): Promise<void> => {
    const isDone = await run(async () => {
      const found = await client().query(sql, [], { maxRows: ROWS_MAX });
      const rows = found.map((row) => ({ ...(row as Readonly<Record<string, unknown>>) }));
      if (rows.length === 0) throw new Error("The query has no rows.");
      if (!(target in rows[0]!)) throw new Error(`The query has no column "${target}", which is what is predicted.`);
      const body = { rows: rows.map(({ [target]: _, ...row }) => row), ...(isClasses && { probabilities: true }) };
      const predicted = await client().request<Predicted>("POST", `${path}/predict`, { body, idempotencyKey: "" });
      setChecked({ truth: rows.map((row) => row[target]), predicted });
    });
    if (!isDone) setChecked(null);
  };
  return (
    <Panel title="Check it on rows">
      <p class="muted">
        Rows that it has not learnt from tell most. They need the column <code>{target}</code>.
      </p>
      <Form class="form-row" onSubmit={() => void check()}>
        <TextField label="Query" value={sql} onInput={setSql} placeholder="SELECT * FROM … WHERE …" required isCode />
        {isClasses && classes.length > 1 && (
          <Select label="Curves of the class" value={positive} options={classes} onChange={setPositive} />
        )}
        <Button kind="primary" type="submit" disabled={isBusy}>
          {isBusy ? "Predicting …" : "Check"}
        </Button>
      </Form>
      <Failure error={error} />
      {checked !== null && (isClasses ? <Classes {...checked} positive={positive} /> : <Numbers {...checked} />)}
    </Panel>
  );
}

function Classes({ truth, predicted, positive }: Checked & { readonly positive: string }) {
  const judged = truth.map(
    (value, i): Judged => ({
      isTrue: String(value) === positive,
      probability: predicted.probabilities?.[i]?.[positive] ?? 0,
    }),
  );
  const right = truth.filter((value, i) => String(value) === String(predicted.predictions[i])).length;
  return (
    <>
      <p role="status">
        {plural(truth.length, "row")} · {roundedText((right / truth.length) * 100)}% right
      </p>
      <div class="charts">
        <Curve
          title={`Calibration of ${positive}: how often it happened, by its probability`}
          data={calibrationOf(judged)}
        />
        <Curve title={`ROC of ${positive}: found, by false alarms`} data={rocOf(judged)} />
      </div>
    </>
  );
}

function Numbers({ truth, predicted }: Checked) {
  const pairs = truth
    .map((value, i) => [numberOf(value), numberOf(predicted.predictions[i])] as const)
    .filter(([value, guess]) => Number.isFinite(value) && Number.isFinite(guess));
  const error = pairs.reduce((sum, [value, guess]) => sum + Math.abs(value - guess), 0) / (pairs.length || 1);
  return (
    <>
      <p role="status">
        {plural(pairs.length, "row")} · off by {roundedText(error)} on average
      </p>
      <Curve
        title="Predicted, by what is true"
        data={predictedAndTrue(
          pairs.map(([value]) => value),
          pairs.map(([, guess]) => guess),
        )}
      />
    </>
  );
}

function Curve({ title, data }: { readonly title: string; readonly data: ChartData }) {
  return (
    <figure class="curve">
      <figcaption>{title}</figcaption>
      <div class="small-chart">
        <Chart label={title} data={data} />
      </div>
    </figure>
  );
}
