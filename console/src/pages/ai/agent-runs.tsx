/** What agents have done: each run, and of one the steps with their tools, arguments, results and times. */
import { isDenied } from "../../lib/errors.js";
import { durationText, plural, timeText } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { linkTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Badge, ReloadButton } from "../../ui/button.js";
import { CodeBlock } from "../../ui/code-block.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure, Notice } from "../../ui/notice.js";
import { Facts, Panel } from "../../ui/panel.js";
import { wholeText } from "../../ui/value-dialog.js";

interface Call {
  readonly tool: string;
  readonly arguments: unknown;
  readonly result?: string;
  readonly error?: string;
  readonly ms: number;
}

interface Step {
  readonly step: number;
  readonly text: string;
  readonly calls: readonly Call[];
}

interface RunRow {
  readonly id: string;
  readonly task: string;
  readonly status: string;
  readonly model: string;
  readonly answer: string | null;
  readonly error: string | null;
  readonly tokens: number;
  readonly calls: number;
  readonly ms: number;
  readonly started_at: string;
}

type Trace = RunRow & { readonly persona: string; readonly steps: readonly Step[] };

export const RUNS_TABLE = "_agent_runs";

const COLUMNS = `id, task, status, model, answer, error, (input_tokens + output_tokens)::float8 AS tokens,
  (SELECT coalesce(sum(jsonb_array_length(s->'calls')), 0)::float8 FROM jsonb_array_elements(steps) s) AS calls,
  extract(epoch FROM finished_at - started_at)::float8 * 1000 AS ms, started_at`;
const LISTED = `SELECT ${COLUMNS} FROM ${RUNS_TABLE} ORDER BY id DESC LIMIT 200`;
const OPENED = `SELECT ${COLUMNS}, persona, steps FROM ${RUNS_TABLE} WHERE id = $1`;

interface AgentRunsProps {
  readonly open: string | null;
  /** Another one after a run has ended. */
  readonly version: number;
}

export function AgentRuns({ open, version }: AgentRunsProps) {
  const { data, error, again } = useLoad((signal) => client().query<RunRow>(LISTED, [], { signal }), [version]);
  if (isDenied(error)) return <p class="muted">Traces of agents are shown to those who may read {RUNS_TABLE}.</p>;
  return (
    <>
      {open !== null && <OpenTrace key={open} id={open} />}
      <ListPanel
        title="Runs"
        actions={<ReloadButton onClick={again} />}
        rows={data}
        error={error}
        keyOf={({ id }) => id}
        none="There are none."
        columns={[
          { name: "Begun", cell: (run) => timeText(run.started_at) },
          { name: "State", cell: ({ status }) => <State status={status} /> },
          { name: "Task", cell: ({ id, task }) => <a href={linkTo(["ai", "agents", id])}>{task}</a>, isWide: true },
          { name: "Model", cell: ({ model }) => model },
          { name: "Calls", cell: ({ calls }) => calls, isNumber: true },
          { name: "Tokens", cell: ({ tokens }) => tokens, isNumber: true },
          { name: "Time", cell: ({ ms }) => durationText(ms), isNumber: true },
        ]}
      />
    </>
  );
}

function State({ status }: Pick<RunRow, "status">) {
  return <Badge tone={status === "done" ? "good" : "bad"}>{status}</Badge>;
}

function OpenTrace({ id }: { readonly id: string }) {
  const { data, error } = useLoad((signal) => client().query<Trace>(OPENED, [id], { signal }), [id]);
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return null;
  const run = data[0];
  if (run === undefined) return <Notice tone="warn">There is no such run any more.</Notice>;
  return (
    <Panel title={run.task} actions={<State status={run.status} />}>
      <Facts
        facts={[
          ["Begun", timeText(run.started_at)],
          ["Time", durationText(run.ms)],
          ["Model", run.model],
          ["Tokens", run.tokens],
          ["Told to be", run.persona],
        ]}
      />
      <ol class="trace" aria-label="Steps">
        {run.steps.map(({ step, text, calls }) => (
          <li key={step}>
            {text !== "" && <p class="answer-text">{text}</p>}
            {calls.map((call, i) => (
              <ToolCall key={i} call={call} share={run.ms > 0 ? call.ms / run.ms : 0} />
            ))}
          </li>
        ))}
      </ol>
      {run.steps.length === 0 && <p class="muted">It took no step.</p>}
      {run.error !== null && <Notice tone="bad">{run.error}</Notice>}
      {run.answer !== null && run.steps.at(-1)?.text !== run.answer && <p class="answer-text">{run.answer}</p>}
      <p class="muted">
        {plural(run.steps.length, "step")}, {plural(run.calls, "call of a tool", "calls of tools")}
      </p>
    </Panel>
  );
}

/** `share`: of the run's time. */
function ToolCall({ call, share }: { readonly call: Call; readonly share: number }) {
  return (
    <details class="tool-call">
      <summary>
        <code>{call.tool}</code>
        {call.error !== undefined && <Badge tone="bad">failed</Badge>}
        <span class="tool-arguments code">{JSON.stringify(call.arguments)}</span>
        <span class="number muted">{durationText(call.ms)}</span>
        <span class="tool-bar" style={{ width: `${Math.min(100, Math.max(1, share * 100))}%` }} />
      </summary>
      <h3>Arguments</h3>
      <CodeBlock>{wholeText(call.arguments)}</CodeBlock>
      <h3>{call.error === undefined ? "Result" : "Error"}</h3>
      <CodeBlock>{call.error ?? readable(call.result ?? "")}</CodeBlock>
    </details>
  );
}

/** Results are mostly JSON, cut where they are long. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
