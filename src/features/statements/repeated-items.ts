/** Statements of a batch that repeat one text with other parameters: they are planned once. */
import type { Request } from "../../actor/request.js";
import { Repetition } from "../../session/repeated-run.js";
import type { Session } from "../../session/session.js";
import { countOutcome } from "../../session/sql-result.js";
import { type BatchResult, successOf } from "./batch-result.js";
import { possibleSets } from "./parameter-sets.js";
import { NO_PARAMETERS, runOf, type StatementBody } from "./run-body.js";
import { errorAt } from "./run-together.js";

/** The deadline is the batch's. */
export type BatchItem = string | Omit<StatementBody, "timeout_secs">;

export const bodyOf = (item: BatchItem): StatementBody => (typeof item === "string" ? { sql: item } : item);

/** How many of the items, from that one on, are the same statement. */
export function repeatsAt(items: readonly BatchItem[], first: number): number {
  const one = bodyOf(items[first]!);
  let end = first;
  while (end < items.length && isRepeat(one, bodyOf(items[end]!))) end++;
  return end - first;
}

function isRepeat(one: StatementBody, { sql, language, graph, parameters, params }: StatementBody): boolean {
  if (sql !== one.sql || language !== one.language || graph !== one.graph) return false;
  if (parameters !== undefined && params !== undefined) return false;
  if (possibleSets(parameters ?? params ?? NO_PARAMETERS) !== null) return false;
  // Errors name the field.
  return (params === undefined) === (one.params === undefined);
}

/**
 * Runs as many of the items of a transactional batch, from that one on, as repeat one statement. Null: it has to be run
 * once for each. Throws the error of the one that failed, with its place.
 */
export async function runRepeats(
  request: Request,
  session: Session,
  items: readonly BatchItem[],
  first: number,
  count: number,
  timeout: number | undefined,
): Promise<readonly BatchResult[] | null> {
  const started = performance.now();
  const bodies = items.slice(first, first + count).map(bodyOf);
  const repetition = new Repetition(bodies.map(({ parameters, params }) => parameters ?? params ?? NO_PARAMETERS));
  const run = runOf(request, bodies[0]!, { ...(timeout !== undefined && { timeout_secs: timeout }) });
  try {
    if (!(await session.executeRepeated(run, repetition))) return null;
  } catch (error) {
    throw errorAt(error, { statement: first + repetition.done });
  }
  const outcome = countOutcome(1, run.collector);
  // The time is shared among them.
  const since = performance.now() - (performance.now() - started) / count;
  const { notices } = repetition;
  const common = successOf(outcome, since);
  return bodies.map((_, i) => {
    const told = notices?.get(i);
    return told === undefined ? common : successOf({ ...outcome, notices: told }, since);
  });
}
