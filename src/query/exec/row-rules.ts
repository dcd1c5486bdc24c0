/**
 * Checks rows that no statement has bound checks for, as INSERT and UPDATE check theirs: NOT NULL, CHECK, domains, the
 * bounds of partitions, and what constraints of a graph ask. One per run over one table.
 */
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import type { ExecContext } from "./context.js";
import { GraphRequirements } from "./graph-requirements.js";
import { belongs, compileRoutes, type RouteProgram } from "./partition-router.js";
import { compileChecks, failedCheck, type RowCheck } from "./row-checks.js";
import { slotsOf } from "./slots.js";
import type { Row, TableWriter } from "./table-writer.js";

export class RowRuleChecks {
  private readonly columnIds: readonly number[];
  private readonly checks: readonly RowCheck[];
  private readonly domains: readonly Evaluate[];
  private readonly routes: RouteProgram;
  private readonly requirements: GraphRequirements;

  constructor(
    table: TableDef,
    private readonly writer: TableWriter,
    private readonly context: ExecContext,
  ) {
    const { bindTable, tx } = context;
    if (bindTable === null) throw sqlError("0A000", `checks of table "${table.name}" cannot be computed here`);
    const { columns, rules } = bindTable(table, tx);
    const { checks, domains, membership } = rules();
    const slotOf = slotsOf(columns);
    this.requirements = new GraphRequirements(table);
    this.columnIds = table.columns.map(({ id }) => id);
    this.checks = compileChecks(checks, slotOf);
    this.domains = domains.map((domain) => compileExpr(domain, slotOf));
    this.routes = compileRoutes(undefined, membership, slotOf);
  }

  /** Throws 23502, 23514, and ConstraintValidationFailed of a graph's. */
  check(row: Row): void {
    const { writer, context } = this;
    const batch = { columns: this.columnIds.map((id) => [row[id] ?? null]), length: 1 };
    for (const domain of this.domains) domain(batch, 0, context);
    writer.checkNotNull(row);
    const failed = failedCheck(this.checks, batch, 0, context);
    if (failed !== null) throw writer.checkViolation(row, failed);
    if (!belongs(this.routes, batch, 0, context)) throw writer.partitionViolation(row);
    this.requirements.checkRow(row);
  }
}
