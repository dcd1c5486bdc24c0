/** A table or view: its rows, which can be changed, and its definition. */
import { useState } from "preact/hooks";
import { plural } from "../../lib/format.js";
import { lazy } from "../../lib/lazy.js";
import { useLoad, useReturn } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Busy, Button, ReloadButton } from "../../ui/button.js";
import { DataGrid, type GridRow } from "../../ui/data-grid.js";
import { Form } from "../../ui/form.js";
import { Failure } from "../../ui/notice.js";
import { attempt } from "../../ui/toast.js";
import { quotedName } from "../query/sidebar.js";
import { InsertDialog, RowDialog } from "./change-dialogs.js";
import { Definition } from "./definition.js";
import { loadTable, loadView, named, type TableFacts } from "./table-facts.js";
import { Thing, useTab } from "./thing.js";

const Statistics = lazy(async () => (await import("./statistics.js")).Statistics);

const TABS = [
  { id: "rows" as const, label: "Rows" },
  { id: "definition" as const, label: "Definition" },
  { id: "statistics" as const, label: "Statistics" },
];

interface TableDetailProps {
  readonly name: string;
  readonly isView: boolean;
  readonly onChanged: () => void;
}

export function TableDetail({ name, isView, onChanged }: TableDetailProps) {
  const [shown, setShown] = useTab(TABS);
  const { data: facts, error, again } = useLoad((signal) => (isView ? loadView : loadTable)(name, signal), [name]);
  useReturn(again);
  const [refreshed, setRefreshed] = useState(0);
  const refresh = async (): Promise<void> => {
    const work = () => client().query(`REFRESH MATERIALIZED VIEW ${named(name)}`);
    if (await attempt(work, `${name} is up to date.`)) setRefreshed((count) => count + 1);
  };
  const relation = !isView ? "TABLE" : facts?.isMaterialized === true ? "MATERIALIZED VIEW" : "VIEW";
  return (
    <Thing
      name={name}
      tabs={TABS}
      shown={shown}
      onShow={setShown}
      action={
        <>
          {facts?.isMaterialized === true && (
            <Button icon="refresh" label="Run its query again and keep the rows" onClick={() => void refresh()}>
              Refresh
            </Button>
          )}
          <Button
            icon="query"
            onClick={() => goTo(["query"], { sql: `SELECT *\nFROM ${named(name)}\nLIMIT 1000`, title: name })}
          >
            Query
          </Button>
        </>
      }
      drop={() => client().query(`DROP ${relation} ${named(name)}`)}
      loss={isView ? "What it shows stays in its tables." : "Its rows and indexes go with it."}
      onDropped={onChanged}
    >
      <Failure error={error} />
      {facts === undefined && error === null && <Busy />}
      {facts !== undefined && shown === "rows" && (
        <Rows key={refreshed} name={name} facts={facts} isView={isView} onChanged={onChanged} />
      )}
      {facts !== undefined && shown === "definition" && (
        <Definition
          facts={facts}
          name={name}
          isView={isView}
          onChanged={() => {
            again();
            onChanged();
          }}
        />
      )}
      {facts !== undefined && shown === "statistics" && <Statistics facts={facts} name={name} isView={isView} />}
    </Thing>
  );
}

const PAGE_ROWS = 500;

interface RowsProps {
  readonly name: string;
  readonly facts: TableFacts;
  readonly isView: boolean;
  readonly onChanged: () => void;
}

function Rows({ name, facts, isView, onChanged }: RowsProps) {
  const [sorted, setSorted] = useState<{ column: number; isDown: boolean } | null>(null);
  const [typed, setTyped] = useState("");
  const [where, setWhere] = useState("");
  const [limit, setLimit] = useState(PAGE_ROWS);
  const [open, setOpen] = useState<{ row: GridRow; column: number } | null>(null);
  const [isInserting, setInserting] = useState(false);
  const keys = facts.columns.filter((column) => column.is_primary_key).map((column) => column.name);
  const order = sorted === null ? keys.map(quotedName) : [`${sorted.column + 1}${sorted.isDown ? " DESC" : ""}`];
  const sql =
    `SELECT * FROM ${named(name)}` +
    (where === "" ? "" : ` WHERE ${where}`) +
    (order.length === 0 ? "" : ` ORDER BY ${order.join(", ")}`);
  const { data, error, again, isLoading } = useLoad(
    (signal) => client().query(sql, [], { signal, maxRows: limit }),
    [sql, limit],
  );
  useReturn(again);
  const changed = (): void => {
    setOpen(null);
    setInserting(false);
    again();
    onChanged();
  };
  return (
    <>
      <Form
        class="thing-tools"
        onSubmit={() => {
          setWhere(typed.trim());
          setLimit(PAGE_ROWS);
        }}
      >
        <input
          class="input code"
          aria-label="Condition"
          placeholder="Condition, such as id > 10 AND name LIKE 'A%'"
          spellcheck={false}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit">Filter</Button>
        {!isView && (
          <Button icon="plus" onClick={() => setInserting(true)}>
            Row
          </Button>
        )}
        <ReloadButton onClick={again} />
      </Form>
      <Failure error={error} />
      <div class="thing-grid">
        {data === undefined ? (
          isLoading && <Busy />
        ) : (
          <DataGrid
            label={`Rows of ${name}`}
            columns={data.columns}
            rows={data.lists}
            none={where === "" ? "There are no rows." : "No row has that."}
            sorted={sorted}
            onSort={(column) => setSorted((now) => ({ column, isDown: now?.column === column && !now.isDown }))}
            onOpen={(row, column) => setOpen({ row, column })}
          />
        )}
      </div>
      <footer class="thing-foot">
        <span class="muted number">{data === undefined ? "" : `${plural(data.length, "row")} shown`}</span>
        {data?.truncated === true && <Button onClick={() => setLimit((now) => now * 4)}>Show more</Button>}
        <span class="spacer" />
        <span class="muted">
          {isView || keys.length === 0 ? "Enter shows a value" : "Enter or a double click changes a value"}
        </span>
      </footer>
      {open !== null && data !== undefined && (
        <RowDialog
          table={name}
          facts={facts}
          columns={data.columns}
          row={open.row}
          column={open.column}
          canChange={!isView && keys.length > 0}
          onClose={() => setOpen(null)}
          onChanged={changed}
        />
      )}
      {isInserting && (
        <InsertDialog table={name} facts={facts} onClose={() => setInserting(false)} onChanged={changed} />
      )}
    </>
  );
}
