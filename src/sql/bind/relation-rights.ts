/**
 * Who may read and change a relation that a statement names, and which of its rows. Binders of FROM and of
 * data-modifying statements call it wherever a name becomes a relation, so a plan holds no table that was not asked for
 * here. Without roles in the tenant it does nothing.
 */
import { actingAsRole, permissionDenied, type Rights, rightsOf } from "../../catalog/rights.js";
import type { Privilege } from "../../catalog/role.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { TableDef } from "../../catalog/table.js";
import type { ViewDef } from "../../catalog/view.js";
import type { ColumnId, Expr } from "../../query/expr/expr.js";
import { columnsOf, walkExpr } from "../../query/expr/walk.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { childrenOf, exprsOfPlan, subqueriesOf } from "../../query/plan/walk.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";

/** null: everybody may do everything, or the engine itself asks. */
export function checkedRights({ rights }: BindEnvironment): Rights | null {
  return rights?.matter === true ? rights : null;
}

/** Throws 42501. A view's own names were looked up when it was made. */
export function requireSchema(schema: string, env: Pick<BindEnvironment, "catalog">, rights: Rights): void {
  if (isTemporarySchema(schema)) return;
  const id = env.catalog.schemaId(schema);
  if (id !== null) rights.require(id, schema, "U", "schema");
}

/** Throws 42501 unless the view may be read. */
export function requireView(view: ViewDef, binding: Binding): void {
  const rights = checkedRights(binding.env);
  if (rights === null) return;
  requireSchema(view.schema, binding.env, rights);
  rights.require(view.id, view.name, "r", "view");
}

/** Throws 42501 unless all of the table may be read. */
export function requireWholeReadable(table: TableDef, env: BindEnvironment): void {
  const rights = checkedRights(env);
  if (rights === null) return;
  requireSchema(table.schema, env, rights);
  rights.require(table.id, table.name, "r");
}

/** The owner's rights, which a view's query runs with; what nobody owns lends none. */
export function ownersRights(relationId: number, env: BindEnvironment): BindEnvironment {
  const rights = checkedRights(env);
  if (rights === null) return env;
  const access = rights.catalog.accessTo(relationId);
  if (access === null || access.invoker) return env;
  const owner = rights.catalog.roleById(access.owner);
  if (owner === null) throw permissionDenied("view", String(relationId));
  const { refusesPolicies } = rights.acting;
  const acting = { ...actingAsRole(owner), ...(refusesPolicies && { refusesPolicies }) };
  return { ...env, rights: rightsOf(rights.catalog, acting), asked: env.asked ?? rights };
}

/** Throws 42501 unless the columns may be given values; `columns` null: the privilege is about whole rows. */
export function requireChange(
  relation: { readonly id: number; readonly name: string; readonly schema: string },
  privilege: Privilege,
  columns: readonly number[] | null,
  what: "table" | "view",
  env: BindEnvironment,
): void {
  const rights = checkedRights(env);
  if (rights === null) return;
  requireSchema(relation.schema, env, rights);
  const may = rights.columns(relation.id, privilege);
  if (may === "all") return;
  const covers = columns !== null && may.size > 0 && columns.every((id) => may.has(id));
  if (!covers) throw permissionDenied(what, relation.name);
}

/** Throws 42501 for an expression that reads a column of the row that may not be read. */
export function requireReadable(
  table: Pick<TableDef, "id" | "name" | "columns">,
  row: readonly OutputColumn[],
  exprs: readonly (Expr | null)[],
  env: BindEnvironment,
  what: "table" | "view" = "table",
): void {
  const rights = checkedRights(env);
  if (rights === null) return;
  const may = rights.columns(table.id, "r");
  if (may === "all") return;
  // A view's columns go by other numbers: it is read as a whole, or not at all.
  const closed = new Set(table.columns.flatMap(({ id }, i) => (what === "table" && may.has(id) ? [] : [row[i]!.id])));
  for (const expr of exprs) {
    if (expr === null) continue;
    for (const id of columnsOf(expr)) if (closed.has(id)) throw permissionDenied(what, table.name);
  }
}

/** Throws 42501 if the statement reads a column that its role may not read. */
export function refuseDenied(plan: Plan, binding: Binding): void {
  binding.deniedSettled = true;
  if (binding.denied.size > 0) refuseDeniedRows(plan, binding);
}

/** Throws 42501 if a subquery of one of these conditions, which may be in no plan, reads such a column. */
export function refuseDeniedIn(conditions: readonly Expr[], binding: Binding): void {
  if (binding.denied.size === 0) return;
  for (const condition of conditions) {
    walkExpr(condition, (node) => {
      if (node.kind === "subquery") refuseDeniedRows(node.plan, binding);
    });
  }
}

/** A plan whose rows are all read. */
function refuseDeniedRows(plan: Plan, binding: Binding): void {
  const refuse = (id: ColumnId) => {
    const table = binding.denied.get(id);
    if (table !== undefined) throw permissionDenied("table", table);
  };
  const visit = (node: Plan): void => {
    // Policies and views' owners read what the statement may not.
    if (node.kind !== "scan" && !(node.kind === "filter" && node.trusted)) {
      for (const expr of exprsOfPlan(node)) for (const id of columnsOf(expr)) refuse(id);
    }
    const children = childrenOf(node);
    if (READS_ALL.has(node.kind)) for (const child of children) for (const { id } of child.columns) refuse(id);
    for (const child of children) visit(child);
    for (const subquery of subqueriesOf(node)) refuseDeniedRows(subquery.plan, binding);
  };
  for (const { id } of plan.columns) refuse(id);
  visit(plan);
}

/** Nodes whose rows go on by position, or are compared as a whole. */
const READS_ALL: ReadonlySet<Plan["kind"]> = new Set(["setop", "recursive", "distinct", "with", "insert"]);
