/**
 * Runs a statement for a tool, in a transaction of its own. Whether it may write is decided by its plan, not by its
 * text. A dry run does everything but the commit.
 */
import Type from "typebox";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { isRefusedToReader } from "../../session/reader.js";
import { Session } from "../../session/session.js";
import { clientOptions } from "../../session/session-options.js";
import { jsonRows, type Outcome, resultAnswer } from "../../session/sql-result.js";
import type { StatementText } from "../../session/statement-run.js";
import type { BoundStatement } from "../../sql/bind/bound-statement.js";
import type { ToolContext, ToolResult } from "./tool.js";

export interface ToolStatement extends StatementText {
  /** Absent: the server's row cap. */
  readonly maxRows?: number | undefined;
  /** Nothing is kept, and the answer has the plan. */
  readonly dryRun?: boolean | undefined;
}

/** `{columns, rows, …}` as POST /v1/query/execute answers. */
export async function runStatement(context: ToolContext, statement: ToolStatement): Promise<ToolResult> {
  if (statement.dryRun !== true) return (await runOnce(context, statement)).result;
  const rehearsal = { ...context, request: onlyRehearsing(context.request) };
  const { result, isQuery } = await runOnce(rehearsal, statement);
  const explained = isQuery ? await runOnce(rehearsal, { ...statement, sql: `EXPLAIN ${statement.sql}` }) : null;
  const plan = explained === null ? null : (JSON.parse(explained.result) as { rows: unknown[][] }).rows.flat();
  return `{"dry_run":true,"plan":${JSON.stringify(plan)},${result.slice(1)}`;
}

/** The same request, but what would act outside of the statement's transaction is refused before it does. */
function onlyRehearsing(request: Request): Request {
  const refuse = (): never => {
    throw new DbError(
      "invalid_request",
      "A dry run starts no agents and no trainings: what they do cannot be taken back.",
      {
        field: "dry_run",
      },
    );
  };
  return Object.create(request, {
    checkAgents: { value: refuse },
    hasActed: { get: () => false, set: refuse },
  }) as Request;
}

async function runOnce(
  { request, readOnly }: ToolContext,
  { maxRows, dryRun, ...text }: ToolStatement,
): Promise<{ readonly result: ToolResult; readonly isQuery: boolean }> {
  const started = performance.now();
  const { tenant } = request;
  let isQuery = false;
  const options = clientOptions(request, "routes");
  // Language models call tools: what is installed for all tenants is not theirs to change.
  const session = new Session(tenant, {
    ...options,
    readOnly: options.readOnly || readOnly,
    managesModels: false,
  });
  const planned = ({ kind }: BoundStatement): void => {
    isQuery = kind === "query";
  };
  const rowsMax = maxRows ?? tenant.partition.config.query.maxRows;
  const run = { ...text, maxRows: rowsMax, collector: jsonRows, request, planned };
  let outcome: Outcome;
  try {
    outcome = await session.execute(run, (tx) => (dryRun === true ? tenant.rollback(tx) : request.commitPart(tx)));
  } catch (error) {
    throw readOnly && !request.readOnly ? withRemedy(error) : error;
  }
  await session.endTemporaries(request, (tx) => tenant.commit(tx));
  return { result: resultAnswer(outcome, started).json!, isQuery };
}

/** An argument of tools that change something by a statement. */
export const dryRunArgument = Type.Optional(
  Type.Boolean({ description: "Nothing is kept; the answer says what would have happened, with the plan." }),
);

/** The tool does not write although the caller may. */
function withRemedy(error: unknown): unknown {
  // What roles refuse is not for the other tool either.
  if (!(error instanceof DbError) || !isRefusedToReader(error)) return error;
  return new DbError("forbidden", "This tool only reads, but the statement writes. Use the tool execute.", {
    ...error.details,
  });
}
