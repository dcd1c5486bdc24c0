/** Predicts one row with a model. */
import { useState } from "preact/hooks";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Button } from "../../ui/button.js";
import { CodeBlock } from "../../ui/code-block.js";
import { TextField } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { Failure } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { typedValue } from "../query/split.js";
import type { ModelFacts } from "./model-detail.js";

export function PredictForm({ model, path }: { readonly model: ModelFacts; readonly path: string }) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [answer, setAnswer] = useState<unknown>(null);
  const { error, run } = useRun();
  const predict = async (): Promise<void> => {
    const row = Object.fromEntries(model.features.map(({ name }) => [name, typedValue(texts[name] ?? "")]));
    const isClasses = model.task.includes("classification");
    const body = { rows: [row], explain: true, ...(isClasses && { probabilities: true }) };
    const isDone = await run(async () => {
      setAnswer(await client().request("POST", `${path}/predict`, { body, idempotencyKey: "" }));
    });
    if (!isDone) setAnswer(null);
  };
  return (
    <Panel title="Predict">
      <Form class="form-row" onSubmit={() => void predict()}>
        {model.features.map(({ name, kind }) => (
          <TextField
            key={name}
            label={`${name} · ${kind}`}
            value={texts[name] ?? ""}
            onInput={(text) => setTexts((now) => ({ ...now, [name]: text }))}
          />
        ))}
        <Button kind="primary" type="submit">
          Predict
        </Button>
      </Form>
      <Failure error={error} />
      {answer !== null && <CodeBlock>{JSON.stringify(answer, null, 2)}</CodeBlock>}
    </Panel>
  );
}
