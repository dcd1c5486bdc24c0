/** The row that INSERT and UPDATE store: defaults of its columns, its CHECK constraints, and RETURNING over it. */

import { missingColumn } from "../../catalog/did-you-mean.js";
import { changedByCypher } from "../../catalog/graph.js";
import type { CheckDef, ColumnDef, TableDef } from "../../catalog/table.js";
import type { DomainDef } from "../../catalog/type.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { someExpr } from "../../query/expr/walk.js";
import type { BoundCheck, Returning } from "../../query/plan/change-plans.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { isNamedOid } from "../../values/catalog-types.js";
import { UNKNOWN } from "../../values/values.js";
import type { AssignmentTarget, ReturningNames } from "../parse/ast.js";
import type { ExprNode, TargetNode } from "../parse/ast-query.js";
import { contextOf } from "./bind-context.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { bindTargets, originsOf } from "./bind-select.js";
import { type Binding, mayBeNull } from "./binding.js";
import { coerceAssignment, constant, resolveUnknown } from "./coerce.js";
import { itemOf } from "./row-item.js";
import { Scope, type ScopeItem } from "./scope.js";
import { parseStored } from "./stored-names.js";
import { withName } from "./system/define-function.js";
import { NO_SYSTEM_COLUMNS } from "./system-columns.js";

/** Definitions are immutable, so the trees of their expressions are kept with them. */
const parsed = new WeakMap<ColumnDef | CheckDef, ExprNode>();

function parsedOf(definition: ColumnDef | CheckDef, sql: string, schema: string): ExprNode {
  let node = parsed.get(definition);
  if (node === undefined) {
    node = parseStored(sql, schema);
    parsed.set(definition, node);
  }
  return node;
}

/** What a column holds that a statement gives no value: its DEFAULT or NULL. */
export function defaultOf(column: ColumnDef, { schema }: Pick<TableDef, "schema">, binding: Binding): Expr {
  if (column.defaultSql === null) return domainDefault(column, binding);
  const context = contextOf(binding, new Scope(null), "DEFAULT expressions");
  const expr = bindExpr(parsedOf(column, column.defaultSql, schema), context);
  return coerceAssignment(expr, column, binding, 0);
}

/** What UPDATE stores in a column with ON UPDATE that it gives no value. */
export function onUpdateOf(column: ColumnDef, { schema }: TableDef, binding: Binding): Expr {
  const context = contextOf(binding, new Scope(null), "DEFAULT expressions");
  return coerceAssignment(bindExpr(parseStored(column.onUpdateSql!, schema), context), column, binding, 0);
}

/** Of a domain its DEFAULT; NULL otherwise, which a domain may refuse. */
function domainDefault(column: ColumnDef, binding: Binding): Expr {
  for (let user = column.type.user; user?.kind === "domain"; user = user.base?.user) {
    const domain = binding.env.catalog.typeById(user.id) as DomainDef;
    if (domain.defaultSql === null) continue;
    const context = contextOf(binding, new Scope(null), "DEFAULT expressions");
    return coerceAssignment(bindExpr(parseStored(domain.defaultSql, domain.schema), context), column, binding, 0);
  }
  return coerceAssignment(constant(UNKNOWN, null), column, binding, 0);
}

/** The columns of a row as it will be stored, under fresh ids. */
export function rowColumnsOf(table: TableDef, binding: Binding): OutputColumn[] {
  return table.columns.map((column) => {
    const nullable = !column.notNull && !table.primaryKey?.includes(column.id);
    return binding.newColumn(column.name, column.type, nullable);
  });
}

/** CHECK constraints over the row; NOT NULL is the executor's. */
export function bindChecks(table: TableDef, rowColumns: readonly OutputColumn[], binding: Binding): BoundCheck[] {
  if (table.checks.length === 0) return [];
  const row = itemOf(table, table.name, rowColumns);
  return table.checks.map((check) => {
    const scope = new Scope(null);
    scope.items = [row];
    const context = { ...contextOf(binding, scope, "check constraints"), subqueries: false };
    return { name: check.name, predicate: bindBoolean(parsedOf(check, check.sql, table.schema), "CHECK", context) };
  });
}

/** Row security is checked before all else, as it tells least. */
export function inOrder(ofRelation: readonly BoundCheck[], ofTable: readonly BoundCheck[]): readonly BoundCheck[] {
  const isPolicy = ({ policy }: BoundCheck) => policy !== undefined;
  return [...ofRelation.filter(isPolicy), ...ofTable, ...ofRelation.filter((check) => !isPolicy(check))];
}

/** Of generated columns, over the row: what has to be waited for before the row can be written. */
export function waitingGenerated(
  table: TableDef,
  rowColumns: readonly OutputColumn[],
  binding: Binding,
): { readonly generated?: readonly Expr[] } {
  const { answersAtOnce } = binding.env;
  if (answersAtOnce === undefined) return {};
  const waits = (expr: Expr) => expr.kind === "call" && expr.fn.deferred !== undefined && !answersAtOnce(expr);
  const generated = table.columns.flatMap((column) => {
    if (!column.generatedSql) return [];
    const scope = new Scope(null);
    scope.items = [itemOf(table, table.name, rowColumns)];
    const context = { ...contextOf(binding, scope, "stored expressions"), subqueries: false };
    const expr = bindExpr(parsedOf(column, column.generatedSql, table.schema), context);
    return someExpr(expr, waits) ? [expr] : [];
  });
  return generated.length === 0 ? {} : { generated };
}

export interface BoundReturning {
  readonly returning: Returning | null;
  readonly columns: readonly OutputColumn[];
}

/** A row before or after the change. */
type RowVersion = Pick<ScopeItem, "columns" | "hidden">;

/**
 * Makes OLD and NEW visible in RETURNING, under their names or those of WITH (OLD AS …, NEW AS …): the row before and
 * after the change. A relation of the statement that has one of the names hides it. Throws 42712.
 */
export function addVersions(
  scope: Scope,
  names: ReturningNames | undefined,
  before: RowVersion,
  after: RowVersion,
): void {
  const add = (name: string, given: string | null, { columns, hidden }: RowVersion): void => {
    const called = given ?? name;
    if (scope.items.some((item) => item.qualifiable && item.name === called)) {
      if (given !== null) throw sqlError("42712", `table name "${called}" specified more than once`);
      return;
    }
    const shown = { columns, ...(hidden && { hidden }), table: null, isVersion: true } as const;
    const item = { name: called, schema: null, ...shown, unqualified: false, qualifiable: true };
    scope.items = [...scope.items, item];
  };
  add("old", names?.old ?? null, before);
  add("new", names?.new ?? null, after);
}

/** The row that is not there: OLD of INSERT, NEW of DELETE. */
export function noRow({ columns, hidden }: RowVersion): RowVersion {
  const none = columns.map(({ name, expr }) => ({ name, expr: constant(expr.type, null) }));
  return { columns: none, ...(hidden && { hidden: NO_SYSTEM_COLUMNS }) };
}

/** `scope` has the stored row first and, for UPDATE and DELETE, what else FROM or USING brought. */
export function bindReturning(
  nodes: readonly TargetNode[] | null,
  rowColumns: readonly OutputColumn[],
  scope: Scope,
  binding: Binding,
): BoundReturning {
  if (nodes === null) return { returning: null, columns: [] };
  const targets = bindTargets(nodes, contextOf(binding, scope, "RETURNING")).map((target) => ({
    ...target,
    expr: shown(resolveUnknown(target.expr, binding)),
  }));
  const exprs = targets.map((target) => target.expr);
  const origins = originsOf(targets, scope, binding);
  const columns = targets.map(({ name, expr }, i) => {
    const column = binding.newColumn(name, expr.type, mayBeNull(expr, binding));
    binding.setOrigin(column.id, origins[i]);
    return origins[i] === null ? column : { ...column, origin: origins[i]! };
  });
  return { returning: { rowColumns, exprs }, columns };
}

const shown = (expr: Expr) => (isNamedOid(expr.type.element ?? expr.type) ? withName(expr) : expr);

/** The column that INSERT or UPDATE names, or names a part of. Throws 42703. */
export function targetColumn(table: TableDef, target: AssignmentTarget): ColumnDef {
  const { name, position } = target;
  const column = table.columns.find((other) => other.name === name);
  if (column === undefined) throw missingColumn(name, table, position);
  return column;
}

/** Throws 42809 for a table whose rows only REFRESH changes, or only Cypher. */
export function checkChangeable(table: TableDef): TableDef {
  if (table.collection?.kind === "graph") throw changedByCypher(table.schema, 0);
  if (table.materialized) throw sqlError("42809", `cannot change materialized view "${table.name}"`);
  return table;
}
