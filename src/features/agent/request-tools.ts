/**
 * The tools of an agent: those of features/tools that fit a model, called with the tenant and the rights of the request
 * whose statement runs the agent, and within the agent's own bounds.
 */

import type { RequestBudget } from "../../actor/key-budgets.js";
import { ledHead, mayCall, requireTool } from "../../actor/key-lead.js";
import { callerOf, type Request } from "../../actor/request.js";
import { requireDoor } from "../../actor/table-doors.js";
import type { ToolSpec } from "../../ai/providers/provider.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { REQUEST_READ_ONLY } from "../../protocol/frames.js";
import { AGENT_RUNS_KEPT } from "../../protocol/limits.js";
import type { Agents } from "../../query/expr/functions/generation.js";
import { readCallOptions } from "../../session/call-options.js";
import type { AskingStatement } from "../../session/capabilities.js";
import type { Client } from "../../session/statement-run.js";
import type { Tenant } from "../../session/tenant.js";
import { INT8, JSONB, TEXT, TIMESTAMPTZ } from "../../values/values.js";
import { reasonOf } from "../jobs/background-request.js";
import { rowsOfUser } from "../statements/own-relation.js";
import { ownTogether } from "../statements/run-together.js";
import type { Tool } from "../tools/tool.js";
import { checkedArguments, findTool } from "../tools/toolbox.js";
import { dayOf } from "./agent-lead.js";
import { type CallTool, forkFor } from "./agent-sandbox.js";
import type { AgentTools, AgentTrace, ToolBounds } from "./agent-tools.js";
import { AGENT_OPTIONS, type AgentOptions, refuseUnknownTool, runAgent } from "./run-agent.js";
import { RunBudget } from "./run-budget.js";

const READING = [
  "list_tables",
  "describe_table",
  "query",
  "semantic_search",
  "rag_search",
  "graph_query",
  "sql_manual",
  "memory_recall",
];
const WRITING = ["execute", "memory_store"];

/** The trace is the server's own record: it is written whatever the credential, and although the client has gone. */
const UNCANCELLED: Client = {
  checkpoint: () => undefined,
  shouldYield: () => false,
  yieldTurn: () => Promise.resolve(),
};

const TRACES = `CREATE TABLE IF NOT EXISTS "_agent_runs" (
  id text PRIMARY KEY, user_id text NOT NULL, persona text NOT NULL, task text NOT NULL, status text NOT NULL,
  answer text, error text, provider text NOT NULL, model text NOT NULL, steps jsonb NOT NULL,
  input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, started_at timestamptz NOT NULL,
  finished_at timestamptz NOT NULL)`;

/** tessera_agent_runs: a user's own ones in SQL. */
export const OWN_RUNS = rowsOfUser("_agent_runs", {
  id: TEXT,
  persona: TEXT,
  task: TEXT,
  status: TEXT,
  answer: TEXT,
  error: TEXT,
  provider: TEXT,
  model: TEXT,
  steps: JSONB,
  input_tokens: INT8,
  output_tokens: INT8,
  started_at: TIMESTAMPTZ,
  finished_at: TIMESTAMPTZ,
});

/** Agents for one statement: with its tenant's provider, and the rights of its request. */
export function statementAgents({ tenant, client }: AskingStatement): Agents {
  return {
    check: (options) => checkTools(readCallOptions("AGENT_RUN error", AGENT_OPTIONS, options)),
    run: (persona, task, given, { signal }, name = null) => {
      const options = readCallOptions("AGENT_RUN error", AGENT_OPTIONS, given);
      const request = callerOf(client);
      // Its trace and its day are written. A copy would find that out when the models have been asked.
      if (request !== null && request.elsewhere !== null)
        throw sqlError("25006", "agents run where the tenant is owned");
      const budget = request === null ? null : runBudget(request, options, name);
      const provider = tenant.partition.providers.forTenant(tenant, budget);
      (client.origin ?? client).checkAgents?.();
      const tools = request === null || request.ofAgent ? null : agentToolsOf(request, budget);
      return runAgent(provider, tools, persona, task, options, signal);
    },
  };
}

/** For the model of an agent's run, and for its tools. `name`: null is none. Throws 22023. */
export function runBudget(
  { budget, partition, account }: Request,
  { lead }: Pick<AgentOptions, "lead">,
  name: string | null,
): RequestBudget | null {
  const day = dayOf(lead, name);
  if (lead?.tokens === undefined && day === null) return budget;
  // In a branch, too, the day is the tenant's.
  return new RunBudget(budget, lead?.tokens, day && partition.keyBudgets.ofAgent(account, name!, day));
}

/** With the request's tenant and rights. `budget`: the run's. */
export function agentToolsOf(request: Request, budget: RequestBudget | null): AgentTools {
  const callIn: CallTool = (own, tenant, name, args, bounds) => callTool(own, budget, tenant, name, args, bounds);
  return {
    readOnly: request.readOnly,
    requireBudget: () => budget instanceof RunBudget && budget.requireRun(),
    specs: (allowWrites) =>
      toolsOf(allowWrites)
        .filter(({ name }) => mayCall(request, name))
        .map(specOf),
    call: (name, args, bounds) => callIn(request, request.tenant, name, args, bounds),
    fork: (name) => forkFor(request, name, callIn),
    keep: (trace) => keep(request, trace),
  };
}

/** Throws 22023 for a tool that there is not. */
export function checkTools(options: Pick<AgentOptions, "tools" | "allow_writes">): void {
  refuseUnknownTool(
    options,
    toolsOf(options.allow_writes === true).map(({ name }) => name),
  );
}

function toolsOf(allowWrites: boolean): Tool[] {
  const names = allowWrites ? [...READING, ...WRITING] : READING;
  return names.map(findTool).filter((tool) => tool !== null);
}

function specOf({ name, description, input }: Tool): ToolSpec {
  return { name, description, parameters: JSON.parse(JSON.stringify(input)) as ToolSpec["parameters"] };
}

async function callTool(
  request: Request,
  budget: RequestBudget | null,
  tenant: Tenant,
  name: string,
  given: unknown,
  bounds: ToolBounds,
): Promise<string> {
  const tool = toolsOf(bounds.allowWrites).find((one) => one.name === name);
  if (tool === undefined) throw new DbError("invalid_request", `There is no tool "${name}".`);
  requireTool(request, name);
  const args = checkedArguments(tool, given);
  budget?.takeStatement();
  request.hasActed = true;
  return within(request, budget, bounds, async (own) => {
    await own.yieldTurn();
    requireDoor(own, tool.door, `the tool ${name}`);
    return own.inTenant(tenant, async (placed) =>
      tool.call({ request: placed, readOnly: !bounds.allowWrites, progress: () => undefined }, args),
    );
  });
}

/**
 * Runs `work` with a request that has the agent's deadline and ends when its signal fires, as it does with `request`.
 */
async function within<T>(
  request: Request,
  budget: RequestBudget | null,
  { signal, deadlineMs, lead }: ToolBounds,
  work: (own: Request) => Promise<T>,
): Promise<T> {
  const readsOnly = request.readOnly || lead?.statements?.includes("write") === false;
  const head = lead === null ? undefined : ledHead(request.head, lead);
  const own = request.forAgent(deadlineMs, readsOnly ? REQUEST_READ_ONLY : undefined, head);
  own.budget = budget;
  const stop = (): void => own.end(reasonOf(signal));
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop);
  try {
    return await work(own);
  } catch (error) {
    throw own.told(error);
  } finally {
    signal.removeEventListener("abort", stop);
    own.ended();
    request.wrote ||= own.wrote;
    request.committed ||= own.committed;
  }
}

async function keep(request: Request, trace: AgentTrace): Promise<void> {
  const writer = request.forAgent(request.deadlineMs, 0);
  const { id, persona, task, status, answer, error, provider, model, steps } = trace;
  const { inputTokens, outputTokens, startedAt, finishedAt } = trace;
  await ownTogether(
    writer,
    UNCANCELLED,
    async (run) => {
      await run(TRACES, []);
      await run(
        `INSERT INTO "_agent_runs" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11::int8, $12::int8,
           $13::timestamptz, $14::timestamptz)`,
        [
          id,
          request.head.userId,
          persona,
          task,
          status,
          answer,
          error,
          provider,
          model,
          JSON.stringify(steps),
          inputTokens,
          outputTokens,
          startedAt,
          finishedAt,
        ],
      );
    },
    (tx) => request.commitPart(tx),
  );
  await forgetOldest(request, writer);
}

/** In a transaction of its own; two agents that end together may be in each other's way, then the next one does it. */
async function forgetOldest(request: Request, writer: Request): Promise<void> {
  try {
    await ownTogether(
      writer,
      UNCANCELLED,
      (run) =>
        run(
          `DELETE FROM "_agent_runs" WHERE id <= (
             SELECT id FROM "_agent_runs" ORDER BY id DESC LIMIT 1 OFFSET $1::int8)`,
          [AGENT_RUNS_KEPT],
        ),
      (tx) => request.commitPart(tx),
    );
  } catch (error) {
    if (!(error instanceof DbError && error.code === "serialization_failure")) throw error;
  }
}
