/** Functions that have texts written: GENERATE and AGENT_RUN. Who writes them is behind the session's services. */
import { DbError } from "../../../protocol/errors.js";
import { JSONB, Json, TEXT, type Value } from "../../../values/values.js";
import type { DeferredContext, EvalContext, ScalarFunction } from "../expr.js";
import { deferredFn } from "./define.js";

/** Calls that are made together: so many prompts are sent before a LIMIT stops the others. */
const PROMPTS_MAX = 16;

type Columns = readonly (readonly Value[])[];

function generateRows([prompts, options]: Columns, count: number, { services, ...rest }: DeferredContext) {
  if (services.generateTexts === undefined) throw new DbError("not_supported", "GENERATE is not available here.");
  const calls = Array.from({ length: count }, (_, i) => ({
    prompt: prompts![i] as string,
    options: (options?.[i] ?? null) as Json | null,
  }));
  return services.generateTexts(calls, { services, ...rest });
}

async function runAgents([personas, tasks, options]: Columns, count: number, context: DeferredContext) {
  const { services } = context;
  if (services.runAgent === undefined) throw new DbError("not_supported", "AGENT_RUN is not available here.");
  const answers: Value[] = [];
  for (let i = 0; i < count; i++) {
    const given = (options?.[i] ?? null) as Json | null;
    answers.push(await services.runAgent(personas![i] as string, tasks![i] as string, given, context));
  }
  return answers;
}

const checking = (fn: "GENERATE" | "AGENT_RUN", at: number) => ({
  check: (args: readonly (Value | undefined)[], { services }: EvalContext): void => {
    const options = args[at];
    if (options instanceof Json) services.checkGeneration?.(fn, options);
  },
});

/** Options are a JSON object. */
export const GENERATION_FUNCTIONS: readonly ScalarFunction[] = [
  deferredFn("generate", [TEXT], TEXT, generateRows, { rowsMax: PROMPTS_MAX }),
  deferredFn("generate", [TEXT, JSONB], TEXT, generateRows, { rowsMax: PROMPTS_MAX, ...checking("GENERATE", 1) }),
  deferredFn("agent_run", [TEXT, TEXT], TEXT, runAgents, { rowsMax: 1 }),
  deferredFn("agent_run", [TEXT, TEXT, JSONB], TEXT, runAgents, { rowsMax: 1, ...checking("AGENT_RUN", 2) }),
];
