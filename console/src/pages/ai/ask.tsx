/** A question in plain English becomes SQL, which can be changed before it runs. */
import { useState } from "preact/hooks";
import type { Column } from "../../../../clients/typescript/src/index.js";
import { percentText } from "../../lib/format.js";
import { goTo } from "../../lib/router.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { DataGrid } from "../../ui/data-grid.js";
import { TextArea, TextField } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { Failure } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";

interface Translated {
  readonly sql: string;
  readonly confidence: number;
  readonly method: string;
}

interface Rows {
  readonly columns: readonly Column[];
  readonly lists: readonly (readonly unknown[])[];
}

export function Ask() {
  const [question, setQuestion] = useState("");
  const [found, setFound] = useState<Translated | null>(null);
  const [sql, setSql] = useState("");
  const [rows, setRows] = useState<Rows | null>(null);
  const { error, isBusy, run: work } = useRun();
  const ask = (): Promise<boolean> =>
    work(async () => {
      setRows(null);
      setFound(null);
      const body = { question, execute: false };
      const translated = await client().request<Translated>("POST", "/v1/nl2sql/query", { body, idempotencyKey: "" });
      setFound(translated);
      setSql(translated.sql);
    });
  const run = (): Promise<boolean> =>
    work(async () => {
      const { columns, lists } = await client().query(sql);
      setRows({ columns, lists });
    });
  return (
    <>
      <Form class="form-row" onSubmit={() => void ask()}>
        <TextField
          label="Question about your tables"
          placeholder="How many cities are there per country?"
          value={question}
          onInput={setQuestion}
          isFocused
        />
        <Button kind="primary" type="submit" disabled={isBusy || question.trim() === ""}>
          Ask
        </Button>
      </Form>
      <Failure error={error} />
      {found !== null && (
        <Panel
          title="The statement"
          actions={
            <>
              <Badge>by {found.method}</Badge>
              <Badge tone={found.confidence >= 0.7 ? "good" : "warn"}>{percentText(found.confidence)} sure</Badge>
              <Button onClick={() => goTo(["query"], { sql, title: question.slice(0, 40) })}>Open in Query</Button>
              <Button kind="primary" icon="play" disabled={isBusy} onClick={() => void run()}>
                Run
              </Button>
            </>
          }
        >
          <TextArea label="It can be changed before it runs" value={sql} rows={5} onInput={setSql} isCode />
        </Panel>
      )}
      {rows !== null && (
        <Panel title="Answer" isFlush>
          <div class="answer-grid">
            <DataGrid label="Answer" columns={rows.columns} rows={rows.lists} />
          </div>
        </Panel>
      )}
    </>
  );
}
