/**
 * POST /v1/nl2sql/…: questions in plain language. Whoever writes the SQL, a provider or rules, only a SELECT that plans
 * is run: in a read-only session of the caller, within the caller's row cap and deadline.
 */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { SchemaFacts } from "../../ai/nl2sql/schema-facts.js";
import type { Provider } from "../../ai/providers/provider.js";
import type { InputOf } from "../../bodies/validate.js";
import { permissionDenied } from "../../catalog/rights.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer, TextAnswer } from "../../session/answer.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import { elapsedSince, jsonRows, type ResultShape } from "../../session/sql-result.js";
import type { StatementPlan } from "../../session/statement-plan.js";
import { planOnly } from "../statements/plan-only.js";
import { rowsOf } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { schemaFacts } from "./schema-facts.js";

export const nl2sqlHandlers = {
  "nl2sql.query": answerQuestion,
  "nl2sql.validate": validate,
} satisfies Handlers;

const PROVIDER_CONFIDENCE = 0.9;
const REPAIRED_CONFIDENCE = 0.7;
/** SQLSTATEs of a table and of a column that are not there. */
const GONE = new Set(["42P01", "42703"]);

interface Written {
  readonly sql: string;
  readonly confidence: number;
  readonly method: string;
  readonly shape: ResultShape;
}

async function answerQuestion(request: Request, { body }: InputOf<"nl2sql.query">): Promise<TextAnswer> {
  const started = performance.now();
  const question = body.question ?? body.query;
  if (question === undefined || (body.question !== undefined && body.query !== undefined)) {
    throw new DbError("invalid_request", 'Send the question as "question" or as "query".', { field: "question" });
  }
  request.limitTime(body.timeout_secs);
  const schema = tablesOf(request, body.tables ?? null);
  // Loaded with the first question: its words would lengthen every start.
  const { requireReading } = await import("../../ai/nl2sql/imperatives.js");
  requireReading(question, schema);
  const provider = request.partition.providers.forTenant(request.tenant, request.budget);
  if (body.method === "provider" && provider === null) {
    throw new DbError("invalid_request", "No AI provider is configured.", {
      field: "method",
      hint: 'Configure [query.ai_service], or send the method "rules".',
    });
  }
  const written =
    provider === null || body.method === "rules"
      ? await byRules(request, question, schema)
      : await byProvider(request, provider, question, body.model, schema);
  if (body.execute === false) return answer(written, "[]", started, false);
  const session = new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
  const maxRows = body.max_rows ?? request.tenant.partition.config.query.maxRows;
  const run = { sql: written.sql, language: "sql", params: [], maxRows, collector: jsonRows, request } as const;
  const outcome = await session.execute(run, (tx) => request.tenant.rollback(tx));
  return answer(written, `[${outcome.rows.json}]`, started, outcome.truncated);
}

function answer(
  { sql, confidence, method, shape }: Written,
  rows: string,
  started: number,
  truncated: boolean,
): TextAnswer {
  const head = JSON.stringify({ sql, confidence, method }).slice(0, -1);
  const tail = `"execution_time_ms":${elapsedSince(started)}${truncated ? ',"truncated":true' : ""}}`;
  return { json: `${head},"columns":${shape.columnsJson},"rows":${rows},${tail}` };
}

/** Throws not_found for a table that does not exist, and 42501 for one that the caller may not read. */
function tablesOf(request: Request, only: readonly string[] | null): SchemaFacts {
  const { schema, missing, isClosed } = withDefinitions(request, (catalog) => {
    const rights = rightsOfCaller(request.head)(catalog);
    const schema = schemaFacts(catalog, rights, only);
    const missing = only?.find((name) => !schema.tables.some((table) => table.name === name));
    const isClosed = catalog.tables().some((table) => table.name === missing && !rights.mayName(table));
    return { schema, missing, isClosed };
  });
  if (missing === undefined) return schema;
  if (isClosed) throw permissionDenied("table", missing);
  throw new DbError("not_found", `The table "${missing}" does not exist.`, { sqlstate: "42P01", field: "tables" });
}

async function byRules(request: Request, question: string, schema: SchemaFacts): Promise<Written> {
  const { matchQuestion } = await import("../../ai/nl2sql/match-question.js");
  const { sql, confidence } = await matchQuestion(question, schema, async (text, params) => {
    try {
      const rows = await rowsOf(request, { sql: text, params });
      if (request.shouldYield()) await request.yieldTurn();
      return rows;
    } catch (error) {
      // Dropped since the schema was read: there are no values there.
      if (error instanceof DbError && GONE.has(String(error.details?.sqlstate))) return [];
      throw error;
    }
  });
  return { sql, confidence, method: "rules", shape: planned(request, sql).shape! };
}

/** One attempt more when the first statement does not plan. */
async function byProvider(
  request: Request,
  provider: Provider,
  question: string,
  model: string | undefined,
  schema: SchemaFacts,
): Promise<Written> {
  const { SqlConversation } = await import("../../ai/nl2sql/ask-provider.js");
  const conversation = new SqlConversation(provider, model, question, schema);
  const method = provider.name;
  for (const confidence of [PROVIDER_CONFIDENCE, REPAIRED_CONFIDENCE]) {
    const reply = await conversation.ask(request.signal());
    request.checkpoint();
    if ("reason" in reply) throw new DbError("question_not_understood", reply.reason);
    const { sql } = reply;
    try {
      return { sql, confidence, method, shape: planned(request, sql).shape! };
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      if (confidence === REPAIRED_CONFIDENCE) {
        throw new DbError("question_not_understood", `The provider's SQL cannot be used: ${error.message}`, { sql });
      }
      conversation.complain(error.message);
    }
  }
  throw new Error("the last attempt answers or throws");
}

/**
 * The statement's plan. Throws an error that says what is wrong with it, and when it is anything but a SELECT that
 * writes nothing.
 */
function planned(request: Request, sql: string): StatementPlan {
  const plan = planOnly(request, sql, "sql");
  const { bound } = plan;
  if (bound.kind !== "query" || bound.command !== "select" || !bound.readOnly) {
    throw new DbError("query_error", "Only a SELECT statement that changes nothing can be run.", { sqlstate: "25006" });
  }
  return plan;
}

/** Any statement may be asked about; warnings say what running it would do. */
function validate(request: Request, { body }: InputOf<"nl2sql.validate">): Answer<ResponseOf<"nl2sql.validate">> {
  try {
    const { bound, parameterTypes } = planOnly(request, body.sql, "sql");
    const warnings: string[] = [];
    if (bound.kind !== "query") warnings.push(`The statement is not a query: ${bound.kind}.`);
    else if (!bound.readOnly) warnings.push("The statement changes data.");
    if (parameterTypes.length > 0) warnings.push(`The statement has ${parameterTypes.length} parameter(s).`);
    return { plain: { is_valid: true, errors: [], warnings } };
  } catch (error) {
    if (!(error instanceof DbError) || error.status >= 500) throw error;
    return { plain: { is_valid: false, errors: [error.message], warnings: [] } };
  }
}
