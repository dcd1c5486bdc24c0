/**
 * Functions that have texts written: GENERATE and AGENT_RUN. Who writes them is behind the capabilities GENERATION and
 * AGENTS.
 */
import { JSONB, Json, TEXT, type Value } from "../../../values/values.js";
import { Capability, need } from "../capability.js";
import type { DeferredContext, EvalContext, ScalarFunction } from "../expr.js";
import { deferredFn } from "./define.js";

export interface Generation {
  /** A text for each prompt, by the tenant's provider or a bundled model; some are under way at a time. */
  texts(
    calls: readonly { readonly prompt: string; readonly options: Json | null }[],
    context: DeferredContext,
  ): Promise<readonly string[]>;
  /** Throws an error that says what is wrong with the options of GENERATE, the name of a model among them. */
  check(options: Json): void;
}

export interface Agents {
  /** Has a model work on a task with tools, as the caller of the statement. `name`: the agent's, if it has one. */
  run(
    persona: string,
    task: string,
    options: Json | null,
    context: DeferredContext,
    name?: string | null,
  ): Promise<string>;
  /** Throws an error that says what is wrong with the options of AGENT_RUN. */
  check(options: Json): void;
}

export const GENERATION = new Capability<Generation>("GENERATE is not available here.");
export const AGENTS = new Capability<Agents>("AGENT_RUN is not available here.", true);

/** Calls that are made together: at most this many prompts are sent before a LIMIT stops the others. */
const PROMPTS_MAX = 16;

type Columns = readonly (readonly Value[])[];

function generateRows([prompts, options]: Columns, count: number, context: DeferredContext) {
  const calls = Array.from({ length: count }, (_, i) => ({
    prompt: prompts![i] as string,
    options: (options?.[i] ?? null) as Json | null,
  }));
  return need(context, GENERATION).texts(calls, context);
}

async function runAgents([personas, tasks, options]: Columns, count: number, context: DeferredContext) {
  const agents = need(context, AGENTS);
  const answers: Value[] = [];
  for (let i = 0; i < count; i++) {
    const given = (options?.[i] ?? null) as Json | null;
    answers.push(await agents.run(personas![i] as string, tasks![i] as string, given, context));
  }
  return answers;
}

const checking = (capability: Capability<Generation> | Capability<Agents>, at: number) => ({
  check: (args: readonly (Value | undefined)[], { services }: EvalContext): void => {
    const options = args[at];
    if (options instanceof Json) services.capability<Generation | Agents>(capability)?.check(options);
  },
});

/** Options are a JSON object. */
export const GENERATION_FUNCTIONS: readonly ScalarFunction[] = [
  deferredFn("generate", [TEXT], TEXT, generateRows, { rowsMax: PROMPTS_MAX }),
  deferredFn("generate", [TEXT, JSONB], TEXT, generateRows, { rowsMax: PROMPTS_MAX, ...checking(GENERATION, 1) }),
  deferredFn("agent_run", [TEXT, TEXT], TEXT, runAgents, { rowsMax: 1 }),
  deferredFn("agent_run", [TEXT, TEXT, JSONB], TEXT, runAgents, { rowsMax: 1, ...checking(AGENTS, 2) }),
];
