/**
 * Named agents (agent-functions.ts) for features that run them on behalf of a request, with its rights. Holds no state.
 */

import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { rowsOf } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { AGENTS_TABLE } from "./agent-functions.js";
import type { SandboxOutcome } from "./agent-tools.js";
import { agentToolsOf, runBudget } from "./request-tools.js";
import { type AgentOptions, runAgent } from "./run-agent.js";

export interface NamedAgent {
  readonly name: string;
  readonly instructions: string;
  readonly options: AgentOptions;
}

export interface AgentAnswer {
  readonly text: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const hasAgents = (request: Request) => withDefinitions(request, (catalog) => catalog.table(null, "_agents")) !== null;

/** In the order of their names. */
export async function agentNames(request: Request): Promise<readonly string[]> {
  if (!hasAgents(request)) return [];
  const rows = await rowsOf(request, { sql: `SELECT name FROM ${AGENTS_TABLE} ORDER BY name`, params: [] });
  return rows.map(([name]) => name as string);
}

/** Null: there is none of that name. */
export async function findAgent(request: Request, name: string): Promise<NamedAgent | null> {
  if (!hasAgents(request)) return null;
  const sql = `SELECT instructions, options FROM ${AGENTS_TABLE} WHERE name = $1::text`;
  const [row] = await rowsOf(request, { sql, params: [name] });
  if (row === undefined) return null;
  const [instructions, options] = row as [string, AgentOptions];
  return { name, instructions, options };
}

/**
 * `more`: in place of the agent's own options. Throws what a run throws, and `not_supported` within another agent's
 * run.
 */
export async function runNamedAgent(
  request: Request,
  { name, instructions, options }: NamedAgent,
  task: string,
  more: Pick<AgentOptions, "temperature" | "max_tokens"> = {},
): Promise<AgentAnswer> {
  if (request.ofAgent) throw new DbError("not_supported", "An agent cannot run agents.");
  const budget = runBudget(request, options, name);
  const provider = request.partition.providers.forTenant(request.tenant, budget);
  const all: AgentOptions = { ...options, ...more, format: "json" };
  const json = await runAgent(provider, agentToolsOf(request, budget), instructions, task, all, request.signal());
  const { answer, sandbox, usage } = JSON.parse(json) as {
    readonly answer: string;
    readonly sandbox?: SandboxOutcome;
    readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  };
  const changed = sandbox?.branch ?? null;
  const text =
    changed === null ? answer : `${answer}\n\nThe changes are in the branch "${changed}". Merge it to keep them.`;
  return { text, inputTokens: usage.input_tokens, outputTokens: usage.output_tokens };
}
