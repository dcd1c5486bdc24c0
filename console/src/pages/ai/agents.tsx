/** Agents that have a name, which can be run here, and the traces of what agents have done. */
import { useEffect, useRef, useState } from "preact/hooks";
import { catalog, loadCatalog } from "../../lib/catalog.js";
import { isAbort } from "../../lib/errors.js";
import { cellText } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { useStore } from "../../lib/store.js";
import { Busy, Button } from "../../ui/button.js";
import { ActionDialog } from "../../ui/dialog.js";
import { TextArea } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { Notice } from "../../ui/notice.js";
import { quotedName } from "../query/sidebar.js";
import { AgentRuns, RUNS_TABLE } from "./agent-runs.js";

interface Agent {
  readonly name: string;
  readonly description: string | null;
  readonly model: string | null;
  readonly tools: unknown;
  readonly instructions: string | null;
}

const EXAMPLE = `CREATE AGENT librarian WITH (
  instructions = 'Answer questions about the tables.',
  tools = [list_tables, query],
  lead = (statements = [read])
)`;

/** `run`: the one whose trace is open. */
export function Agents({ run }: { readonly run: string | null }) {
  const { data, error } = useLoad((signal) => client().query<Agent>("SHOW AGENTS", [], { signal }), []);
  const { objects } = useStore(catalog);
  const [started, setStarted] = useState<Agent | null>(null);
  const [count, setCount] = useState(0);
  const hasRuns = objects?.some(({ name, schema }) => name === RUNS_TABLE && schema === "public") === true;
  const ended = (): void => {
    setCount((now) => now + 1);
    // The first run makes the table of runs.
    if (!hasRuns) loadCatalog().catch(() => undefined);
  };
  return (
    <>
      <ListPanel
        title="Agents"
        actions={
          <Button icon="plus" onClick={() => goTo(["query"], { sql: EXAMPLE, title: "An agent" })}>
            Agent
          </Button>
        }
        rows={data}
        error={error}
        keyOf={({ name }) => name}
        none="There are none. CREATE AGENT makes one; the button opens an example."
        columns={[
          { name: "Name", cell: ({ name }) => <strong>{name}</strong> },
          { name: "Model", cell: ({ model }) => model ?? "" },
          { name: "Tools", cell: ({ tools }) => (tools === null ? "all that read" : cellText(tools)), isWide: true },
          { name: "Instructions", cell: (agent) => agent.instructions ?? "", isWide: true },
          {
            name: "",
            cell: (agent) => (
              <Button icon="play" onClick={() => setStarted(agent)}>
                Run
              </Button>
            ),
          },
        ]}
      />
      {hasRuns ? (
        <AgentRuns open={run} version={count} />
      ) : (
        <p class="muted">No agent has run yet. Their traces will be here.</p>
      )}
      {started !== null && <RunDialog agent={started} onClose={() => setStarted(null)} onEnded={ended} />}
    </>
  );
}

interface RunDialogProps {
  readonly agent: Agent;
  readonly onClose: () => void;
  readonly onEnded: () => void;
}

/** The answer stays until the dialog is closed, which stops a run, as the button does. One that fails has a trace. */
function RunDialog({ agent: { name }, onClose, onEnded }: RunDialogProps) {
  const [task, setTask] = useState("");
  const [answer, setAnswer] = useState<string | null>(null);
  const { error, isBusy, run } = useRun();
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const start = async (): Promise<void> => {
    setAnswer(null);
    stop.current = new AbortController();
    const { signal } = stop.current;
    await run(async () => {
      const text = `EXECUTE AGENT ${quotedName(name)} '${task.replaceAll("'", "''")}'`;
      const { lists } = await client().query(text, [], { signal });
      setAnswer(cellText(lists[0]?.[0]));
    });
    onEnded();
  };
  return (
    <ActionDialog
      title={`Run ${name}`}
      action={isBusy ? "Stop" : "Run"}
      onAction={() => (isBusy ? stop.current?.abort() : void start())}
      isDangerous={isBusy}
      disabled={!isBusy && task.trim() === ""}
      error={isAbort(error) ? null : error}
      onClose={onClose}
    >
      <TextArea label="Task" value={task} rows={4} onInput={setTask} />
      {isBusy && <Busy label={`${name} is working`} />}
      {isAbort(error) && <Notice>You have stopped the run. What it had changed by then stays.</Notice>}
      {answer !== null && (
        <div class="stack">
          <h3>Answer</h3>
          <p class="answer-text">{answer}</p>
        </div>
      )}
    </ActionDialog>
  );
}
