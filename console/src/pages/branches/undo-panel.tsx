/** Makes the rows of a table what they were at a moment. They are shown before anything is written. */
import { useState } from "preact/hooks";
import { countText, plural, timeText } from "../../lib/format.js";
import { idOfRelation, type RelationName } from "../../lib/relation-names.js";
import { useRun } from "../../lib/run.js";
import { tenantClient } from "../../lib/session.js";
import { Button } from "../../ui/button.js";
import { Select, Switch, TextField } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { Failure } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { tell } from "../../ui/toast.js";
import { type Moment, momentOf, type Undone, useTenantGet } from "./branch-facts.js";
import { RowSides } from "./changed-rows.js";

interface UndoPanelProps {
  readonly oldest: Moment | null;
  readonly onUndone: () => void;
}

interface Tried {
  readonly body: { readonly table: string; readonly as_of: string | number; readonly where?: string };
  readonly answer: Undone;
}

export function UndoPanel({ oldest, onUndone }: UndoPanelProps) {
  const { data: objects = [] } = useTenantGet<readonly TableName[]>("/v1/schema/tables");
  const tables = objects.filter(({ type }) => !type.includes("view")).map(idOfRelation);
  const [table, setTable] = useState("");
  const [moment, setMoment] = useState("");
  const [where, setWhere] = useState("");
  const [hasAll, setAll] = useState(false);
  const [tried, setTried] = useState<Tried | null>(null);
  const { error, isBusy, run } = useRun();
  const ask = (body: object): Promise<Undone> => tenantClient().request("POST", "/v1/history/undo", { body });
  const look = async (): Promise<void> => {
    setTried(null);
    const body = { table, as_of: momentOf(moment), ...(where.trim() !== "" && { where }) };
    await run(async () => setTried({ body, answer: await ask({ ...body, dry_run: true }) }));
  };
  const undo = async ({ body, answer }: Tried): Promise<void> => {
    // The moment as it was understood: "an hour ago" is another one by now.
    if (!(await run(() => ask({ ...body, as_of: answer.as_of.sequence })))) return;
    setTried(null);
    tell(`${body.table} is as it was.`);
    onUndone();
  };
  return (
    <Panel title="Undo">
      <Form class="form-row" onSubmit={() => void look()}>
        <Select
          label="Table"
          value={table}
          options={[["", "Choose a table"], ...tables]}
          onChange={(next) => setTable(next)}
        />
        <TextField
          label="As it was at"
          placeholder="2026-11-20 10:00Z"
          hint={`A time or the number of a commit${oldest === null ? "" : `, ${oldest.sequence} at the earliest`}.`}
          value={moment}
          onInput={setMoment}
        />
        <TextField label="Only rows with" placeholder="id < 100" isCode value={where} onInput={setWhere} />
        <Button type="submit" disabled={table === "" || moment.trim() === "" || isBusy}>
          Show the rows
        </Button>
      </Form>
      <Failure error={error} />
      {tried !== null && <Found tried={tried} hasAll={hasAll} onAll={setAll} isBusy={isBusy} onUndo={undo} />}
    </Panel>
  );
}

interface FoundProps {
  readonly tried: Tried;
  readonly hasAll: boolean;
  readonly isBusy: boolean;
  readonly onAll: (hasAll: boolean) => void;
  readonly onUndo: (tried: Tried) => Promise<void>;
}

function Found({ tried, hasAll, isBusy, onAll, onUndo }: FoundProps) {
  const { added, changed, removed, rows, as_of } = tried.answer;
  const total = added + changed + removed;
  const first = total > rows.length ? ` The first ${countText(rows.length)} are shown.` : "";
  return (
    <>
      <p>
        {total === 0
          ? `All rows are as they were at ${timeText(as_of.at)}.`
          : `Since ${timeText(as_of.at)}: ${plural(added, "row")} to bring back, ${countText(changed)} to change back, ${countText(removed)} to remove.${first}`}
      </p>
      {total > 0 && (
        <div class="row">
          <Button kind="primary" disabled={isBusy} onClick={() => void onUndo(tried)}>
            Undo
          </Button>
          <Switch label="All columns" isOn={hasAll} onChange={onAll} />
        </div>
      )}
      {rows.map((row, i) => (
        <RowSides
          key={`${i}`}
          title={tried.body.table}
          change={row.change}
          sides={[
            { label: "Now", row: row.before },
            { label: "As it was", row: row.after },
          ]}
          hasAll={hasAll}
        />
      ))}
    </>
  );
}

interface TableName extends RelationName {
  readonly type: string;
}
