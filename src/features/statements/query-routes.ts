/** POST /v1/query/…: one statement, a batch, prepared statements. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { after } from "../../query/exec/operator.js";
import type { Answer } from "../../session/answer.js";
import { ownerName } from "../../session/owner.js";
import { requireReading } from "../../session/reader.js";
import { Session } from "../../session/session.js";
import { clientOptions } from "../../session/session-options.js";
import { type Outcome, resultAnswer } from "../../session/sql-result.js";
import type { StatementRun } from "../../session/statement-run.js";
import { type BatchResult, batchAnswer, failureOf, hasFailed, successOf } from "./batch-result.js";
import { ARROW_STREAM } from "./column-stream.js";
import { LongDocument } from "./long-document.js";
import { executeSets, executeSetsIn, possibleSets } from "./parameter-sets.js";
import { type BatchItem, bodyOf, repeatsAt, runRepeats } from "./repeated-items.js";
import { msgpackResult, ndjsonResult, type RowFormat } from "./row-stream.js";
import { executeStreamed, NO_PARAMETERS, runOf, type StatementBody, textOptionsOf } from "./run-body.js";
import { errorAt } from "./run-together.js";

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
} satisfies Handlers;

type Executed = Answer<ResponseOf<"query.execute">>;

function executeAlone(request: Request, body: StatementBody): Executed | Promise<Executed> {
  const sets = possibleSets(body.parameters ?? body.params ?? NO_PARAMETERS);
  if (sets === null) return executeOne(request, body);
  const started = performance.now();
  let answer: Executed = {};
  const ran = executeSets(request, runOf(request, body), sets, (outcome) => {
    answer = resultAnswer(outcome, started);
    return answer;
  });
  return ran.then((outcome) => (outcome === null ? executeOne(request, body) : answer));
}

function executeOne(request: Request, body: StatementBody): Executed | Promise<Executed> {
  const started = performance.now();
  const session = new Session(request.tenant, clientOptions(request, "routes"));
  let answer: Executed | null = null;
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
function streamFormat(request: Request): RowFormat | typeof ARROW_STREAM | null {
  const [accept] = request.head.media;
  if (accept === undefined) return null;
  if (accept.includes(ARROW_STREAM)) return ARROW_STREAM;
  return STREAMED_FORMATS.find(({ contentType }) => accept.includes(contentType)) ?? null;
}

interface BatchBody extends Omit<StatementBody, "sql" | "parameters" | "params"> {
  readonly statements?: readonly BatchItem[];
  readonly queries?: readonly BatchItem[];
  readonly transactional?: boolean;
  readonly stop_on_error?: boolean;
}

/**
 * Statements run in order. Unless `transactional`, each has its own transaction (BEGIN … COMMIT among them make one
 * of several) and a failed one is reported in its place while the others go on. A transaction that is still open at
 * the end is rolled back and reported. With `stop_on_error` nothing runs after the first that fails.
 */
async function executeBatch(request: Request, body: BatchBody): Promise<Answer<ResponseOf<"query.batch">>> {
  const items = body.statements ?? body.queries;
  if (items === undefined || (body.statements !== undefined && body.queries !== undefined)) {
    throw new DbError("invalid_request", 'Send either "statements" or "queries".', { field: "statements" });
  }
  const started = performance.now();
  const transactional = body.transactional === true;
  const session = new Session(request.tenant, clientOptions(request, transactional ? "routes" : "statements"));
  if (transactional) session.begin({});
  const results: BatchResult[] = [];
  const answer = () => batchAnswer(results, started);
  let stopped = false;
  try {
    // Statements before this one are run one by one.
    let aloneBefore = 0;
    for (let i = 0; i < items.length; i++) {
      const repeats = transactional && i >= aloneBefore ? repeatsAt(items, i) : 1;
      if (repeats > 1) {
        const done = await runRepeats(request, session, items, i, repeats, body.timeout_secs);
        if (done !== null) {
          for (const result of done) results.push(result);
          i += repeats - 1;
          continue;
        }
        aloneBefore = i + repeats;
      }
      const item = items[i]!;
      const run = runOf(request, bodyOf(item), limitsOf(item, body));
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

/** An item's own row options take precedence over the batch's. */
function limitsOf(item: BatchItem, batch: BatchBody): Pick<StatementBody, "max_rows" | "timeout_secs"> {
  return typeof item === "string" || item.max_rows === undefined ? batch : { ...batch, max_rows: item.max_rows };
}

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
    if (transactional) throw errorAt(error, { statement: index });
    if (!(error instanceof DbError) || error.code === "cancelled" || error.code === "request_timeout") throw error;
    return failureOf(error, request);
  };
  const succeeded = (outcome: Outcome): BatchResult => successOf(outcome, started);
  const execute = () => session.execute(run, (tx) => request.commitPart(tx));
  try {
    const sets = possibleSets(run.params);
    const outcome =
      sets === null ? execute() : executeSetsIn(request, session, run, sets).then((done) => done ?? execute());
    return outcome instanceof Promise ? outcome.then(succeeded).catch(failed) : succeeded(outcome);
  } catch (error) {
    return failed(error);
  }
}

async function prepare(
  request: Request,
  { body }: InputOf<"query.prepare">,
): Promise<Answer<ResponseOf<"query.prepare">>> {
  const { tenant } = request;
  const text = { sql: body.sql, ...textOptionsOf(body) };
  // To name the default graph for the first time makes it.
  const tx = tenant.partition.shard.begin();
  let answer: Answer<ResponseOf<"query.prepare">>;
  try {
    const session = new Session(tenant, clientOptions(request, "routes"));
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
