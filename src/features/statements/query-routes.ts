/** POST /v1/query/…: one statement, a batch, prepared statements. */

import type { Handler } from "../../actor/handler.js";
import { type Answer, errorBody, STREAMED } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import type { Input } from "../../actor/validate.js";
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { after } from "../../query/exec/operator.js";
import { ownerName } from "../../session/owner.js";
import { requireReading } from "../../session/reader.js";
import { Session, type SessionOptions } from "../../session/session.js";
import { jsonRows, type Outcome, plainRows, type RowCollector, resultAnswer } from "../../session/sql-result.js";
import type { Language, ParameterValues, StatementRun } from "../../session/statement-run.js";
import { isLibraryAdmin } from "../models/library-admin.js";
import { LongDocument } from "./long-document.js";
import { msgpackResult, ndjsonResult, type RowFormat, RowStream } from "./row-stream.js";

export interface StatementBody {
  readonly sql: string;
  readonly parameters?: ParameterValues;
  readonly params?: ParameterValues;
  readonly language?: Language;
  readonly graph?: string;
  readonly max_rows?: number;
  readonly timeout_secs?: number;
}

const NO_PARAMETERS: readonly unknown[] = [];

export const queryHandlers = {
  "query.execute": (request, { body }) => {
    const format = streamFormat(request);
    return format === null ? executeAlone(request, body) : executeStreamed(request, body, format);
  },
  "query.batch": (request, { body }) => executeBatch(request, body),
  "query.prepare": prepare,
  "query.exec": (request, { body }) => {
    const { sql, language, graph } = request.tenant.prepared.get(ownerName(request.head), body.statement_id);
    return executeAlone(request, { ...body, sql, ...textOptionsOf({ language, graph }) });
  },
  "query.close": (request, { body }) => ({
    plain: { closed: request.tenant.prepared.remove(ownerName(request.head), body.statement_id) },
  }),
} satisfies Partial<Record<EndpointName, Handler>>;

export function sessionOptions(request: Request, control: SessionOptions["control"]): SessionOptions {
  const { readOnly, head } = request;
  const { username: user, tenantId: tenantName } = head;
  return { isolation: null, readOnly, user, tenantName, control, managesModels: isLibraryAdmin(head) };
}

/** A statement may run as long as the configuration says, or as its request does where that is less. */
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
    ...textOptionsOf(body),
    params: body.parameters ?? body.params ?? NO_PARAMETERS,
    maxRows: limits.max_rows ?? request.tenant.partition.config.query.maxRows,
    collector,
    request,
  };
}

/** A text alone makes a shorter key for its plan. */
function textOptionsOf({ language, graph }: Pick<StatementBody, "language" | "graph">) {
  if (language === undefined && graph === undefined) return NO_OPTIONS;
  return { ...(language !== undefined && { language }), ...(graph !== undefined && { graph }) };
}

const NO_OPTIONS = {};

function executeAlone(request: Request, body: StatementBody): Answer | Promise<Answer> {
  const started = performance.now();
  const session = new Session(request.tenant, sessionOptions(request, "routes"));
  let answer: Answer | null = null;
  // What is kept by its Idempotency-Key is one document.
  const long = request.wantsMsgpack || request.keepAnswer !== null ? null : new LongDocument(request);
  const run = runOf(request, body, body, long?.collector);
  const outcome = session.execute(run, (tx, done) => {
    if (long?.begun) request.commitPart(tx);
    else {
      answer = resultAnswer(done, started);
      request.commit(tx, answer);
    }
  });
  return after(outcome, (done) => {
    const reply = long?.begun ? long.finish(done, started) : (answer ?? resultAnswer(done, started));
    const ending = session.endTemporaries(request, (tx) => request.tenant.commit(tx));
    return ending === undefined ? reply : ending.then(() => reply);
  });
}

const STREAMED_FORMATS: readonly RowFormat[] = [ndjsonResult, msgpackResult];

/** The form in which the client wants rows as they come; null: it wants one document. */
function streamFormat(request: Request): RowFormat | null {
  const [accept] = request.head.media;
  if (accept === undefined) return null;
  return STREAMED_FORMATS.find(({ contentType }) => accept.includes(contentType)) ?? null;
}

/** Runs one statement and sends its rows as they come. */
export async function executeStreamed(
  request: Request,
  body: StatementBody,
  format: RowFormat,
  headers: readonly string[] = [],
): Promise<Answer> {
  if (request.keepAnswer !== null) {
    throw new DbError("invalid_request", "A streamed answer is not kept: send no Idempotency-Key with it.");
  }
  const session = new Session(request.tenant, sessionOptions(request, "routes"));
  return streamFrom(request, body, new RowStream(request, format, headers), async (run) => {
    const outcome = await session.execute(run, (tx) => request.commitPart(tx));
    await session.endTemporaries(request, (tx) => request.tenant.commit(tx));
    return outcome;
  });
}

/** `execute` runs the statement somewhere. */
export async function streamFrom(
  request: Request,
  body: StatementBody,
  stream: RowStream,
  execute: (run: StatementRun) => Outcome | Promise<Outcome>,
): Promise<Answer> {
  const started = performance.now();
  try {
    const outcome = await execute(runOf(request, body, body, stream.collector));
    await stream.finish({
      row_count: stream.rowCount,
      ...(outcome.rowsAffected === null ? {} : { rows_affected: outcome.rowsAffected }),
      execution_time_ms: Math.round((performance.now() - started) * 1000) / 1000,
      truncated: outcome.truncated,
      ...(outcome.stats === null ? {} : { stats: outcome.stats }),
      ...(outcome.notices.length > 0 ? { notices: outcome.notices } : {}),
    });
    return STREAMED;
  } finally {
    stream.close();
  }
}

interface BatchBody extends Omit<StatementBody, "sql" | "parameters" | "params"> {
  readonly statements?: readonly (string | StatementBody)[];
  readonly queries?: readonly (string | StatementBody)[];
  readonly transactional?: boolean;
  readonly stop_on_error?: boolean;
}

/**
 * Statements run in order. Unless `transactional`, each has its own transaction (BEGIN … COMMIT among them make one
 * of several) and a failed one is reported in its place while the others go on. A transaction that is still open at
 * the end is rolled back and reported. With `stop_on_error` nothing runs after the first that fails.
 */
async function executeBatch(request: Request, body: BatchBody): Promise<Answer> {
  const items = body.statements ?? body.queries;
  if (items === undefined || (body.statements !== undefined && body.queries !== undefined)) {
    throw new DbError("invalid_request", 'Send either "statements" or "queries".', { field: "statements" });
  }
  const started = performance.now();
  const transactional = body.transactional === true;
  const session = new Session(request.tenant, sessionOptions(request, transactional ? "routes" : "statements"));
  if (transactional) session.begin({});
  const results: BatchResult[] = [];
  const answer = (): Answer => batchAnswer(results, started);
  let stopped = false;
  try {
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      const run = runOf(request, typeof item === "string" ? { sql: item } : item, limitsOf(item, body));
      const running = runItem(request, session, run, i, transactional);
      const result = running instanceof Promise ? await running : running;
      results.push(result);
      stopped = body.stop_on_error === true && hasFailed(result);
      if (stopped) break;
      // Statements that end at once never give way by themselves.
      if (request.shouldYield()) await request.yieldTurn();
    }
    if (transactional) {
      await session.prepareCommit(request);
      session.commit((tx) => request.commit(tx, answer()));
    } else if (session.inTransaction && !stopped) {
      throw new DbError(
        "transaction_aborted",
        "The batch ended inside a transaction, which was rolled back; end it with COMMIT.",
        { sqlstate: "25P01" },
      );
    }
    return answer();
  } finally {
    if (session.inTransaction) session.rollback();
    await session.endTemporaries(request, (tx) => request.tenant.commit(tx));
  }
}

/** Of one statement of a batch: as JSON text, or as a value. */
type BatchResult = string | object;

/** What an item says of its rows counts more than what the batch says. */
function limitsOf(item: string | StatementBody, batch: BatchBody): Pick<StatementBody, "max_rows" | "timeout_secs"> {
  return typeof item === "string" || item.max_rows === undefined ? batch : { ...batch, max_rows: item.max_rows };
}

const hasFailed = (result: BatchResult): boolean =>
  typeof result === "string" ? result.startsWith('{"type":"error"') : "error" in result;

/** In a transactional batch an error ends the whole; it says which statement it was. */
function runItem(
  request: Request,
  session: Session,
  run: StatementRun,
  index: number,
  transactional: boolean,
): BatchResult | Promise<BatchResult> {
  const started = performance.now();
  const failed = (error: unknown): BatchResult => {
    if (!(error instanceof DbError) || error.code === "cancelled" || error.code === "request_timeout") throw error;
    if (transactional) throw new DbError(error.code, error.message, { ...error.details, statement: index });
    const result = { type: "error", error: errorBody(error) };
    return request.wantsMsgpack ? result : JSON.stringify(result);
  };
  const succeeded = (outcome: Outcome): BatchResult => {
    const { plain, json } = resultAnswer(outcome, started);
    const { rowsAffected } = outcome;
    if (json === undefined) {
      return { type: "success", data: plain, ...(rowsAffected === null ? {} : { rows_affected: rowsAffected }) };
    }
    const affected = rowsAffected === null ? "" : `,"rows_affected":${rowsAffected}`;
    return `{"type":"success","data":${json}${affected}}`;
  };
  try {
    const outcome = session.execute(run, (tx) => request.commitPart(tx));
    return outcome instanceof Promise ? outcome.then(succeeded).catch(failed) : succeeded(outcome);
  } catch (error) {
    return failed(error);
  }
}

function batchAnswer(results: readonly BatchResult[], started: number): Answer {
  const elapsed = Math.round((performance.now() - started) * 1000) / 1000;
  if (results.every((result) => typeof result === "string")) {
    return { json: `{"results":[${results.join(",")}],"total_execution_time_ms":${elapsed}}` };
  }
  return { plain: { results, total_execution_time_ms: elapsed } };
}

async function prepare(request: Request, { body }: Input): Promise<Answer> {
  const { tenant } = request;
  const text = { sql: body.sql, ...textOptionsOf(body) };
  // To name the default graph for the first time makes it.
  const tx = tenant.partition.shard.begin();
  let answer: Answer;
  try {
    const session = new Session(tenant, sessionOptions(request, "routes"));
    const plan = session.planFor({ ...text, params: NO_PARAMETERS }, tenant.catalog.view(tx), tx);
    if (request.readOnly) requireReading(plan.bound);
    await session.check(plan, tx, request);
    const parameterCount = plan.parameterTypes.length;
    const { id } = tenant.prepared.add(ownerName(request.head), { ...text, parameterCount }, body.name);
    answer = {
      plain: { statement_id: id, param_count: parameterCount, parameter_count: parameterCount, sql: body.sql },
    };
  } catch (error) {
    tenant.rollback(tx);
    throw error;
  }
  if (request.readOnly) tenant.rollback(tx);
  else request.commit(tx, answer);
  return answer;
}
