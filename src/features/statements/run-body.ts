/** Runs statements as bodies of requests ask for them. Called by the routes of statements, transactions and graphs. */

import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { noticeText } from "../../protocol/notice.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import { Session } from "../../session/session.js";
import { clientOptions } from "../../session/session-options.js";
import { jsonRows, type Outcome, plainRows, type RowCollector } from "../../session/sql-result.js";
import type { Language, ParameterValues, StatementRun } from "../../session/statement-run.js";
import { ARROW_STREAM, ColumnStream } from "./column-stream.js";
import { type RowFormat, RowStream } from "./row-stream.js";

export interface StatementBody {
  readonly sql: string;
  readonly parameters?: ParameterValues;
  readonly params?: ParameterValues;
  readonly language?: Language;
  readonly graph?: string;
  readonly max_rows?: number;
  readonly timeout_secs?: number;
}

export const NO_PARAMETERS: readonly unknown[] = [];

/** A statement may run for the configured time, or for its request's time if that is shorter. */
function limitTime(request: Request, seconds: number | undefined): void {
  const { query, server } = request.partition.config;
  if (seconds === undefined && query.timeoutSeconds >= server.requestTimeout) return;
  request.limitTime(Math.min(seconds ?? Number.POSITIVE_INFINITY, query.timeoutSeconds));
}

/** The run that a statement's body asks for; shortens the request's deadline by the `timeout_secs` of its limits. */
export function runOf(
  request: Request,
  body: StatementBody,
  limits: Pick<StatementBody, "max_rows" | "timeout_secs"> = body,
  collector: RowCollector = request.wantsMsgpack ? plainRows : jsonRows,
): StatementRun {
  if (body.parameters !== undefined && body.params !== undefined) {
    throw new DbError("invalid_request", 'Send "parameters" or "params", not both.', { field: "params" });
  }
  limitTime(request, limits.timeout_secs);
  return {
    sql: body.sql,
    language: body.language,
    graph: body.graph,
    params: body.parameters ?? body.params ?? NO_PARAMETERS,
    paramsField: body.params === undefined ? undefined : "params",
    maxRows: limits.max_rows ?? request.tenant.partition.config.query.maxRows,
    collector,
    request,
  };
}

/** A text alone makes a shorter key for its plan. */
export function textOptionsOf({ language, graph }: Pick<StatementBody, "language" | "graph">) {
  if (language === undefined && graph === undefined) return NO_OPTIONS;
  return { ...(language !== undefined && { language }), ...(graph !== undefined && { graph }) };
}

const NO_OPTIONS = {};

/** Rows that are sent as they come, in one form or another. */
interface SentRows {
  readonly collector: RowCollector;
  readonly rowCount: number;
  finish(summary: object): Promise<void>;
  close(): void;
}

/** Runs one statement and sends its rows as they come. */
export async function executeStreamed(
  request: Request,
  body: StatementBody,
  format: RowFormat | typeof ARROW_STREAM,
  headers: readonly string[] = [],
): Promise<Answer<never>> {
  if (request.keepAnswer !== null) {
    throw new DbError(
      "invalid_request",
      "A streamed answer is not kept for repetition. Send it without an Idempotency-Key.",
    );
  }
  const session = new Session(request.tenant, clientOptions(request, "routes"));
  const stream =
    format === ARROW_STREAM
      ? new ColumnStream(request, "arrow", headers)
      : new RowStream(request, format as RowFormat, headers);
  return streamFrom(request, body, stream, async (run) => {
    const outcome = await session.execute(run, (tx) => request.commitPart(tx));
    await session.endTemporaries(request, (tx) => request.tenant.commit(tx));
    return outcome;
  });
}

/** `execute` runs the statement somewhere. */
export async function streamFrom(
  request: Request,
  body: StatementBody,
  stream: SentRows,
  execute: (run: StatementRun) => Outcome | Promise<Outcome>,
): Promise<Answer<never>> {
  const started = performance.now();
  try {
    const outcome = await execute(runOf(request, body, body, stream.collector));
    await stream.finish({
      row_count: stream.rowCount,
      ...(outcome.rowsAffected === null ? {} : { rows_affected: outcome.rowsAffected }),
      execution_time_ms: Math.round((performance.now() - started) * 1000) / 1000,
      truncated: outcome.truncated,
      ...(outcome.stats === null ? {} : { stats: outcome.stats }),
      ...(outcome.notices.length > 0 ? { notices: outcome.notices.map(noticeText) } : {}),
    });
    return STREAMED;
  } finally {
    stream.close();
  }
}
