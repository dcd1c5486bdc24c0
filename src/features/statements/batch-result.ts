/** What a batch answers: a result per statement, as JSON text or as values. */

import { errorBody } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import type { DbError } from "../../protocol/errors.js";
import type { Answer } from "../../session/answer.js";
import { type Outcome, resultAnswer } from "../../session/sql-result.js";

/** Of one statement of a batch: as JSON text, or as a value. */
export type BatchResult = string | PlainResult;
type PlainResult = ResponseOf<"query.batch">["results"][number];

export function successOf(outcome: Outcome, startedMs: number): BatchResult {
  const { plain, json } = resultAnswer(outcome, startedMs);
  const { rowsAffected } = outcome;
  if (json === undefined) {
    return { type: "success", data: plain!, ...(rowsAffected === null ? {} : { rows_affected: rowsAffected }) };
  }
  const affected = rowsAffected === null ? "" : `,"rows_affected":${rowsAffected}`;
  return `{"type":"success","data":${json}${affected}}`;
}

export function failureOf(error: DbError, { wantsMsgpack }: Request): BatchResult {
  const result = { type: "error", error: errorBody(error) } as const;
  return wantsMsgpack ? result : JSON.stringify(result);
}

export const hasFailed = (result: BatchResult): boolean =>
  typeof result === "string" ? result.startsWith('{"type":"error"') : "error" in result;

export function batchAnswer(results: readonly BatchResult[], started: number): Answer<ResponseOf<"query.batch">> {
  const elapsed = Math.round((performance.now() - started) * 1000) / 1000;
  if (results.every((result) => typeof result === "string")) {
    return { json: `{"results":[${results.join(",")}],"total_execution_time_ms":${elapsed}}` };
  }
  const plain = results.map((result) => (typeof result === "string" ? (JSON.parse(result) as PlainResult) : result));
  return { plain: { results: plain, total_execution_time_ms: elapsed } };
}
