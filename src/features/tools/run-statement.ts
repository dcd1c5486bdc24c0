/** Runs a statement for a tool, in a transaction of its own. Whether it may write is decided by its plan, not by its text. */
import { DbError } from "../../protocol/errors.js";
import { isRefusedToReader } from "../../session/reader.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import { jsonRows, type Outcome, resultAnswer } from "../../session/sql-result.js";
import type { StatementText } from "../../session/statement-run.js";
import type { ToolContext, ToolResult } from "./tool.js";

export interface ToolStatement extends StatementText {
  /** Absent: the server's row cap. */
  readonly maxRows?: number | undefined;
}

/** `{columns, rows, …}` as POST /v1/query/execute answers. */
export async function runStatement(
  { request, readOnly }: ToolContext,
  { maxRows, ...text }: ToolStatement,
): Promise<ToolResult> {
  const started = performance.now();
  const { tenant } = request;
  const options = sessionOptions(request, "routes");
  // Language models call tools: what is installed for all tenants is not theirs to change.
  const session = new Session(tenant, {
    ...options,
    readOnly: options.readOnly || readOnly,
    managesModels: false,
  });
  const run = { ...text, maxRows: maxRows ?? tenant.partition.config.query.maxRows, collector: jsonRows, request };
  let outcome: Outcome;
  try {
    outcome = await session.execute(run, (tx) => request.commitPart(tx));
  } catch (error) {
    throw readOnly && !request.readOnly ? withRemedy(error) : error;
  }
  await session.endTemporaries(request, (tx) => tenant.commit(tx));
  return resultAnswer(outcome, started).json!;
}

/** The tool does not write although the caller may. */
function withRemedy(error: unknown): unknown {
  // What roles refuse is not for the other tool either.
  if (!(error instanceof DbError) || !isRefusedToReader(error)) return error;
  return new DbError("forbidden", "This tool only reads, but the statement writes. Use the tool execute.", {
    ...error.details,
  });
}
