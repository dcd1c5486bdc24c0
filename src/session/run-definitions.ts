/**
 * Runs statements that change definitions or statistics, in the transaction of the statement. Called by
 * statement-runner.ts.
 */
import type { Author } from "../catalog/author.js";
import type { CatalogView } from "../catalog/catalog-view.js";
import { actingAsRole, onLead, rightsOf } from "../catalog/rights.js";
import { sqlError } from "../protocol/errors.js";
import { withOneCascade } from "../protocol/notice.js";
import { analyzeTable } from "../query/exec/analyze-table.js";
import type { ExecContext } from "../query/exec/context.js";
import { need } from "../query/expr/capability.js";
import { TRAINED_MODELS } from "../query/expr/functions/models.js";
import type { BoundAnalyze, BoundDdl, BoundDdlSteps } from "../sql/bind/bound-statement.js";
import type { ShardTransaction } from "../storage/transaction.js";
import { AuditedDefinitions } from "./audited-definitions.js";
import { callsToCheck, checkCalls } from "./check-calls.js";
import type { ExecutionScope } from "./execution-scope.js";
import { runDdl } from "./run-ddl.js";
import type { SessionNames } from "./session-names.js";
import { type Outcome, textOutcome } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";
import type { StatementRun } from "./statement-run.js";
import { isInTemporary, isTemporary, openTemporaries } from "./temporary-relations.js";
import { UnseenRows } from "./unseen-rows.js";

interface Definitions extends Pick<BoundDdlSteps, "steps" | "notices"> {
  /** Null: that of the first step. */
  readonly tag: string | null;
  /** Of what was bound already: what it is, where it may not be run. */
  readonly refusedAs?: string;
  /** Calls in what was bound already. */
  readonly checks?: StatementPlan["checks"];
}

/** Of a definition that was bound with its statement. Only CREATE TABLE AS has parameters: those of its query. */
export function definitionOf({ checks }: Pick<StatementPlan, "checks">, bound: BoundDdl): Definitions {
  return { tag: null, refusedAs: bound.command.kind, steps: [() => bound], notices: [], checks };
}

/** Each step is bound against the definitions that the one before it left. */
export async function runDefinitions(
  scope: ExecutionScope,
  { tag, refusedAs, steps, notices, checks = [] }: Definitions,
  run: StatementRun,
  tx: ShardTransaction,
): Promise<Outcome> {
  scope.requireWritable(refusedAs ?? tag ?? "definition");
  const { tenant, names, block } = scope;
  const { catalog } = tenant;
  const told = [...notices];
  const audit = new AuditedDefinitions();
  let lastTag = tag;
  let rowsFilled: number | undefined;
  for (const step of steps) {
    const calls = [...checks];
    const bound = step({ ...names.environment(catalog.view(tx), run.own), parameterTypes: [], calls });
    if (bound === null) continue;
    const context = scope.contextFor(tx, run.request, []);
    if (block.isOpen) block.constraints?.refusePending(bound.command, catalog.view(tx));
    if (isInTemporary(bound.command)) await openTemporaries(names, tx, run.request);
    if (!isTemporary(bound.command)) names.rights(catalog.view(tx)).requireDefining();
    if (bound.command.kind === "access") await requireTrained(bound.command.models ?? [], context);
    const query = bound.stored ?? bound.rows;
    await checkCalls(query ? callsToCheck(query) : calls, bound.parameters ?? [], context);
    const done = await audit.run(bound.command, context, () =>
      runDdl(
        bound,
        catalog,
        scope.internalStatements(),
        context,
        tenant.positionOf,
        authorOf(bound, names, catalog.view(tx), run.own),
        (table) => new UnseenRows(table, tenant, tx, context),
      ),
    );
    lastTag ??= done.tag;
    if (bound.command.kind === "create table") rowsFilled = done.rowsFilled;
    told.push(...done.notices);
    // A statement may have thousands of steps (ALTER TABLE … ADD COLUMN …, ADD COLUMN …).
    context.checkpoint();
    if (context.shouldYield()) await context.yieldTurn();
  }
  audit.note(scope.contextFor(tx, run.request, []));
  const outcome = textOutcome("result", [lastTag ?? ""], run.collector, withOneCascade(told));
  return rowsFilled === undefined ? outcome : { ...outcome, rowsFilled };
}

function authorOf({ maker }: BoundDdl, names: SessionNames, catalog: CatalogView, own?: true): Author | null {
  if (maker === undefined) return names.author(catalog, own);
  const rights = rightsOf(catalog, onLead(actingAsRole(maker), names.acting(catalog).lead));
  return { rights, maker: maker.id, database: names.database };
}

/** Throws 42704 for a model that the tenant has not trained. */
async function requireTrained(names: readonly string[], context: ExecContext): Promise<void> {
  if (names.length === 0) return;
  const trained = new Set((await need(context, TRAINED_MODELS)()).map(([name]) => name));
  const missing = names.find((name) => !trained.has(name));
  if (missing !== undefined) throw sqlError("42704", `model "${missing}" does not exist`);
}

export async function analyze(
  scope: ExecutionScope,
  bound: BoundAnalyze,
  run: StatementRun,
  tx: ShardTransaction,
): Promise<Outcome> {
  scope.requireWritable(bound.tag);
  const { tenant } = scope;
  const { checkpoint, shouldYield, yieldTurn } = run.request;
  const { segments } = tenant.partition;
  const work = { tx, tenantNumber: tenant.number, segments, checkpoint, shouldYield, yieldTurn };
  for (const table of bound.tables) tenant.statistics.put(table, await analyzeTable(work, table), "statement", tx);
  tenant.plans.clear();
  return textOutcome("result", [bound.tag], run.collector, bound.notices);
}
