/** Agents that have a name, and the traces of what agents have done. */
import { useState } from "preact/hooks";
import { catalog } from "../../lib/catalog.js";
import { cellText } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { useStore } from "../../lib/store.js";
import { DataGrid, type GridRow } from "../../ui/data-grid.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { ValueDialog } from "../../ui/value-dialog.js";

interface Agent {
  readonly name: string;
  readonly description: string | null;
  readonly model: string | null;
  readonly tools: unknown;
  readonly instructions: string | null;
}

const RUNS_TABLE = "_agent_runs";
const RUNS_MAX = 200;

export function Agents() {
  const { data, error } = useLoad((signal) => client().query<Agent>("SHOW AGENTS", [], { signal }), []);
  const { objects } = useStore(catalog);
  const hasRuns = objects?.some(({ name, schema }) => name === RUNS_TABLE && schema === "public") === true;
  return (
    <>
      <Failure error={error} />
      <ListPanel
        title="Agents"
        rows={data}
        keyOf={({ name }) => name}
        none="There are none. CREATE AGENT makes one."
        columns={[
          { name: "Name", cell: ({ name }) => <strong>{name}</strong> },
          { name: "Model", cell: ({ model }) => model ?? "" },
          { name: "Tools", cell: ({ tools }) => (tools === null ? "all that read" : cellText(tools)), isWide: true },
          { name: "Instructions", cell: (agent) => agent.instructions ?? "", isWide: true },
        ]}
      />
      {hasRuns ? <Runs /> : <p class="muted">No agent has run yet. Their traces will be here.</p>}
    </>
  );
}

function Runs() {
  const [open, setOpen] = useState<{ readonly row: GridRow; readonly column: number } | null>(null);
  const { data, error } = useLoad(
    (signal) => client().query(`SELECT * FROM ${RUNS_TABLE} ORDER BY 1 DESC`, [], { signal, maxRows: RUNS_MAX }),
    [],
  );
  return (
    <Panel title="Runs and their traces" isFlush>
      <Failure error={error} />
      {data !== undefined && (
        <div class="answer-grid">
          <DataGrid
            label="Runs"
            columns={data.columns}
            rows={data.lists}
            onOpen={(row, column) => setOpen({ row, column })}
          />
        </div>
      )}
      {open !== null && data !== undefined && (
        <ValueDialog columns={data.columns} row={open.row} column={open.column} onClose={() => setOpen(null)} />
      )}
    </Panel>
  );
}
