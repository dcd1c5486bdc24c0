/**
 * Named agents in SQL: CREATE, EXECUTE, SHOW and DROP AGENT are calls of these functions
 * (sql/parse/client-statements.ts). An agent is a row of the tenant with name, instructions and options; AGENT_RUN
 * runs it. Definitions are made and dropped in the transaction of the statement.
 */

import Type from "typebox";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { sqlError } from "../../protocol/errors.js";
import { nearestName } from "../../protocol/nearest-name.js";
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import type { DeferredContext, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { AGENTS } from "../../query/expr/functions/generation.js";
import { readCallOptions } from "../../session/call-options.js";
import { BOOL, JSONB, Json, TEXT, type Value } from "../../values/values.js";
import { leadOfRun } from "./agent-lead.js";
import { checkTools } from "./request-tools.js";
import { AGENT_OPTIONS, type AgentOptions } from "./run-agent.js";
import { AGENT_DAYS } from "./run-budget.js";

/** Exists from the first agent on. */
export const AGENTS_TABLE = `public."_agents"`;
const DEFINITION = `CREATE TABLE ${AGENTS_TABLE} (
  name text PRIMARY KEY,
  description text,
  instructions text NOT NULL,
  options jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
)`;
const NAME = /^[\p{L}_][\p{L}\p{N}_-]{0,62}$/u;
const TEXT_CHARACTERS_MAX = 100_000;
const AGENTS_MAX = 10_000;

const text = Type.Optional(Type.String({ maxLength: TEXT_CHARACTERS_MAX }));
const { format: _, ...runOptions } = AGENT_OPTIONS.properties;
/** What WITH may say: `instructions` also as persona, system_prompt or prompt. */
const OPTIONS = Strict({
  ...{ description: text, instructions: text, persona: text, system_prompt: text, prompt: text },
  ...runOptions,
});

type AgentContext = ExecContext & DeferredContext;
type Each = (args: readonly Value[], context: AgentContext) => Promise<Value>;

function each(name: string, args: ScalarFunction["args"], returns: ScalarFunction["returns"], work: Each) {
  const evaluate = async (columns: readonly (readonly Value[])[], count: number, context: DeferredContext) => {
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      values.push(
        await work(
          columns.map((column) => column[i]!),
          context as AgentContext,
        ),
      );
    }
    return values;
  };
  return deferredFn(name, args, returns, evaluate, { rowsMax: 1, strict: false });
}

const writing = (fn: ScalarFunction): ScalarFunction => Object.freeze({ ...fn, writes: true as const });

export const AGENT_FUNCTIONS: readonly ScalarFunction[] = [
  writing(each("create_agent", [TEXT, JSONB, TEXT], TEXT, create)),
  writing(each("drop_agent", [TEXT, BOOL], TEXT, drop)),
  each("execute_agent", [TEXT, TEXT], TEXT, execute),
  each("list_agents", [TEXT], JSONB, list),
];

const hasTable = ({ services }: AgentContext) => services.catalogView().table(null, "_agents") !== null;

async function create([given, options, mode]: readonly Value[], context: AgentContext): Promise<Value> {
  const name = agentName(given!);
  const {
    description = null,
    instructions,
    persona,
    system_prompt: systemPrompt,
    prompt,
    ...run
  } = readCallOptions("CREATE AGENT", OPTIONS, options as Json | null);
  checkTools(run);
  leadOfRun(run.lead);
  const said = instructions ?? persona ?? systemPrompt ?? prompt ?? "";
  if (!hasTable(context)) await context.run(DEFINITION, [], 0);
  const { rows } = await context.run(
    `SELECT count(*) FILTER (WHERE name = $1::text), count(*) FROM ${AGENTS_TABLE}`,
    [name],
    1,
  );
  const [same, all] = rows[0] as [number, number];
  if (same > 0 && mode === "if not exists") return `agent "${name}" already exists, skipping`;
  if (same > 0 && mode !== "replace") {
    throw sqlError("42710", `agent "${name}" already exists`, { hint: "CREATE OR REPLACE AGENT changes it." });
  }
  if (same === 0 && all >= AGENTS_MAX) throw sqlError("54000", `there are at most ${AGENTS_MAX} agents`);
  await context.run(
    `INSERT INTO ${AGENTS_TABLE} (name, description, instructions, options) VALUES ($1::text, $2::text, $3::text, $4::jsonb)
     ON CONFLICT (name) DO UPDATE SET description = excluded.description, instructions = excluded.instructions,
       options = excluded.options, updated_at = now()`,
    [name, description, said, new Json(run)],
    0,
  );
  return "CREATE AGENT";
}

async function drop([given, ifExists]: readonly Value[], context: AgentContext): Promise<Value> {
  const name = agentName(given!);
  const count = hasTable(context)
    ? (await context.run(`DELETE FROM ${AGENTS_TABLE} WHERE name = $1::text RETURNING name`, [name], 1)).count
    : 0;
  if (count > 0) return "DROP AGENT";
  if (ifExists === true) return `agent "${name}" does not exist, skipping`;
  throw await missing(name, context);
}

async function execute([given, task]: readonly Value[], context: AgentContext): Promise<Value> {
  const name = agentName(given!);
  if (task === null) throw sqlError("22004", "the task of an agent must not be null");
  const found = hasTable(context)
    ? await context.run(`SELECT instructions, options FROM ${AGENTS_TABLE} WHERE name = $1::text`, [name], 1)
    : null;
  const row = found?.rows[0];
  if (row === undefined) throw await missing(name, context);
  const [instructions, options] = row as [string, Json];
  return need(context, AGENTS).run(instructions, task as string, options, context, name);
}

/** All agents, or the one with that name, as objects. */
async function list([given]: readonly Value[], context: AgentContext): Promise<Value> {
  const name = given === null ? null : agentName(given!);
  const { rows } = hasTable(context)
    ? await context.run(
        `SELECT jsonb_build_object('name', name, 'description', description, 'model', options ->> 'model',
           'tools', options -> 'tools', 'instructions', instructions, 'options', options,
           'created_at', created_at, 'updated_at', updated_at)
         FROM ${AGENTS_TABLE} WHERE $1::text IS NULL OR name = $1::text ORDER BY name`,
        [name],
        AGENTS_MAX,
      )
    : { rows: [] };
  if (name !== null && rows.length === 0) throw await missing(name, context);
  const days = context.services.capability(AGENT_DAYS);
  const agents = rows.map(([agent]) => {
    const { value } = agent as Json;
    const { name: of, options } = value as { readonly name: string; readonly options: AgentOptions };
    return { ...(value as object), used_today: days?.(of, options.lead) ?? null };
  });
  return new Json(agents);
}

function agentName(given: Value): string {
  if (given === null) throw sqlError("22004", "the name of an agent must not be null");
  const name = given as string;
  if (NAME.test(name)) return name;
  throw sqlError("22023", `invalid name of an agent: "${name.slice(0, 80)}"`, {
    hint: "A name has 1 to 63 letters, digits, underscores and hyphens, and begins with a letter or an underscore.",
  });
}

async function missing(name: string, context: AgentContext): Promise<Error> {
  const { rows } = hasTable(context)
    ? await context.run(`SELECT name FROM ${AGENTS_TABLE}`, [], AGENTS_MAX)
    : { rows: [] };
  const near = nearestName(
    name,
    rows.map(([known]) => known as string),
  );
  const hint = near === null ? "SHOW AGENTS lists the agents." : `Did you mean ${near}?`;
  return sqlError("42704", `agent "${name}" does not exist`, { hint });
}
