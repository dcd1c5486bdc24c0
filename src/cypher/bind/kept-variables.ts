/**
 * WITH in a query inside another (EXISTS, COUNT, COLLECT, and CALL with variables in parentheses): the variables around
 * it stay visible. A query that reads sees them as columns of the query around it. One that writes has columns of its
 * own for them, which its clauses keep up to date, so each WITH hands these on.
 */
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import type { Clause, ProjectionClause, ProjectionItem } from "../parse/ast.js";
import { hasAggregate } from "./aggregate-collector.js";
import { bindProjection } from "./bind-projection.js";
import type { Around, Binding, Rows } from "./binding.js";
import { project } from "./rows.js";
import { columnsOfEntity, entityIn, type Variable, type Variables } from "./variables.js";

/** `later`: the clauses behind this one. */
export function bindWith(
  clause: ProjectionClause,
  later: readonly Clause[],
  rows: Rows,
  binding: Binding,
  { kept, start }: Around,
): Rows {
  if (kept.size === 0) return bindProjection(clause, rows, binding);
  if (start === undefined) {
    const { plan, scope } = bindProjection(clause, rows, binding, kept);
    return { plan, scope: new Map([...kept, ...scope]) };
  }
  if (!isOneGroup(clause)) return bindProjection(handingOn(clause, kept), rows, binding);
  const { plan, scope } = bindProjection(clause, rows, binding, kept);
  if (binding.tables.length === 0) return imported(kept, { plan, scope }, binding);
  // What the call began with may be out of date by now, and there is no row to take the newest from.
  const lost = [...kept.keys()].find((name) => mentions([clause.where, clause.orderBy, later], name));
  if (lost === undefined) return { plan, scope };
  const what = `after a clause that writes, a WITH of aggregates alone does not hand on \`${lost}\`: name it in the WITH`;
  throw binding.error(clause.position, "UndefinedVariable", what);
}

/** Grouping by what is the same in all rows changes nothing where there are other keys. */
function handingOn(clause: ProjectionClause, kept: Variables): ProjectionClause {
  if (clause.star) return clause;
  const given = new Set(clause.items.map(({ name }) => name));
  const { position } = clause;
  const missing = [...kept.keys()]
    .filter((name) => !given.has(name))
    .map((name): ProjectionItem => ({ expr: { kind: "variable", name, position }, alias: null, name, position }));
  return { ...clause, items: [...clause.items, ...missing] };
}

/** It gives a row even where there are none before it. */
const isOneGroup = ({ star, items }: ProjectionClause): boolean =>
  !star && items.every(({ expr }) => hasAggregate(expr));

function mentions(node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false;
  if ("kind" in node && node.kind === "variable" && "name" in node && node.name === name) return true;
  return Object.values(node).some((part) => mentions(part, name));
}

/** The variables in further columns of the rows. */
export function imported(outer: Variables, rows: Rows, binding: Binding): Rows {
  const made = [...outer].flatMap(([name, variable]) => {
    if (variable.kind === "value") return [{ name, expr: variable.expr }];
    return columnsOfEntity(variable).map((column) => ({ name: column.name, expr: columnExpr(column) }));
  });
  if (made.length === 0) return rows;
  const plan: Plan = project(rows.plan, made, rows.plan.columns, binding);
  const scope = new Map<string, Variable>(rows.scope);
  let at = 0;
  for (const [name, variable] of outer) {
    const width = variable.kind === "value" ? 1 : columnsOfEntity(variable).length;
    const own = plan.columns.slice(at, at + width);
    at += width;
    if (variable.kind === "value") scope.set(name, { kind: "value", expr: columnExpr(own[0]!) });
    else scope.set(name, entityIn(variable.kind, own));
  }
  return { plan, scope };
}
