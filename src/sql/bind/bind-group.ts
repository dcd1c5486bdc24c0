/**
 * Grouping: GROUP BY, and what the expressions above it may still refer to. `Grouping.apply` replaces every expression
 * that equals a group expression by the group's column, and refuses every other column of the query.
 */
import { DbError, sqlError } from "../../protocol/errors.js";
import type { ColumnExpr, ColumnId, Expr, SubqueryExpr } from "../../query/expr/expr.js";
import { exprEquals, inputsOf, mapExpr, walkExpr, withInputs } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { AggregatePlan, GroupingSets, OutputColumn, Plan } from "../../query/plan/plan.js";
import { exprsOfPlan, mapExprsOfPlan, mapPlan, outerColumnsOf, walkPlan } from "../../query/plan/walk.js";
import type { ExprNode, SelectBody } from "../parse/ast-query.js";
import type { AggregateCollector, GroupingCall } from "./aggregate-collector.js";
import type { ExprContext } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { type Binding, mayBeNull } from "./binding.js";
import { resolveUnknown } from "./coerce.js";
import { type BoundGroups, expandGroups } from "./grouping-sets.js";
import type { Scope, ScopeItem } from "./scope.js";
import { checkComparable, positionKey } from "./sort-key.js";

interface NamedExpr {
  readonly name: string;
  readonly expr: Expr;
}

/** The group expressions; null without GROUP BY. A bare name means an input column before an output column. */
export function bindGroups(body: SelectBody, targets: readonly NamedExpr[], context: ExprContext): BoundGroups | null {
  if (body.groupBy.length === 0) return null;
  return expandGroups(body, (node) => {
    const expr = groupExpr(node, targets, context);
    checkComparable(expr.type, node.position);
    return expr;
  });
}

function groupExpr(node: ExprNode, targets: readonly NamedExpr[], context: ExprContext): Expr {
  const { scope, binding } = context;
  const { position } = node;
  const aggregates = scope.aggregates;
  const before = aggregates?.calls.length ?? 0;
  const output = positionKey(node, targets, "GROUP BY") ?? outputByName(node, targets, scope);
  if (output !== null) {
    if (aggregates?.columns.some((column) => mentionsColumn(output.expr, column.id))) {
      throw sqlError("42803", "aggregate functions are not allowed in GROUP BY", { position });
    }
    if (scope.windows?.columnIds().some((id) => mentionsColumn(output.expr, id))) {
      throw sqlError("42P20", "window functions are not allowed in GROUP BY", { position });
    }
    return resolveUnknown(output.expr, binding);
  }
  const expr = resolveUnknown(bindExpr(node, context), binding);
  if ((aggregates?.calls.length ?? 0) > before) {
    throw sqlError("42803", "aggregate functions are not allowed in GROUP BY", { position });
  }
  return expr;
}

function mentionsColumn(expr: Expr, id: ColumnId): boolean {
  return (expr.kind === "column" && expr.id === id) || inputsOf(expr).some((input) => mentionsColumn(input, id));
}

function outputByName(node: ExprNode, targets: readonly NamedExpr[], scope: Scope): NamedExpr | null {
  if (node.kind !== "column" || node.path.length !== 1 || node.star) return null;
  const name = node.path[0]!;
  const isInput = scope.items.some((item) => item.unqualified && item.columns.some((column) => column.name === name));
  if (isInput) return null;
  const named = targets.filter((target) => target.name === name);
  if (named.length > 1 && !named.every((target) => exprEquals(target.expr, named[0]!.expr))) {
    throw sqlError("42702", `GROUP BY "${name}" is ambiguous`, { position: node.position });
  }
  return named[0] ?? null;
}

export class Grouping {
  private readonly groups: { readonly expr: Expr; readonly column: OutputColumn }[];
  /** Columns of the query that may stand above the grouping by themselves: those of its aggregates and windows. */
  private readonly allowed: ReadonlySet<ColumnId>;

  constructor(
    private readonly given: BoundGroups,
    private readonly aggregates: AggregateCollector,
    private readonly scope: Scope,
    private readonly binding: Binding,
  ) {
    this.groups = given.exprs.map((expr) => ({ expr, column: this.groupColumn(expr) }));
    this.allowed = new Set([...aggregates.columnIds(), ...(scope.windows?.columnIds() ?? [])]);
  }

  private groupColumn(expr: Expr): OutputColumn {
    const name = expr.kind === "column" ? expr.name : "group";
    return this.binding.newColumn(name, expr.type, this.given.sets !== null || mayBeNull(expr, this.binding));
  }

  /** The expression over groups and aggregates. Throws 42803 for any other column of this query. */
  apply(expr: Expr): Expr {
    const group = this.groups.find((other) => exprEquals(other.expr, expr));
    if (group !== undefined) return columnExpr(group.column);
    if (expr.kind === "column") return this.column(expr);
    if (expr.kind === "subquery") return this.subquery(expr);
    return withInputs(
      expr,
      inputsOf(expr).map((input) => this.apply(input)),
    );
  }

  private column(expr: ColumnExpr): Expr {
    if (this.allowed.has(expr.id)) return expr;
    const owner = this.scope.ownerOf(expr.id);
    // Not one of this query: it belongs to an enclosing one.
    if (owner === null) return expr;
    if (this.dependsOnKey(owner.item)) {
      const column = this.groupColumn(expr);
      this.groups.push({ expr, column });
      return columnExpr(column);
    }
    const position = this.binding.positionOf(expr);
    const name = owner.item.name === null ? owner.name : `${owner.item.name}.${owner.name}`;
    const message = `column "${name}" must appear in the GROUP BY clause or be used in an aggregate function`;
    throw sqlError("42803", message, position === undefined ? undefined : { position });
  }

  /** A row is the only one of its group when the group has the whole primary key of its table. */
  private dependsOnKey({ table, columns }: ScopeItem): boolean {
    if (table === null || table.primaryKey === null) return false;
    return table.primaryKey.every((columnId) => {
      const index = table.columns.findIndex((column) => column.id === columnId);
      const at = this.groups.findIndex(({ expr }) => exprEquals(expr, columns[index]!.expr));
      return at >= 0 && (this.given.sets?.every((set) => set.includes(at)) ?? true);
    });
  }

  /** A subquery's references to this query's columns become references to groups. */
  private subquery(expr: SubqueryExpr): Expr {
    const input = expr.input === null ? null : this.apply(expr.input);
    const plan = expr.plan;
    const replaced = new Map<ColumnId, Expr>();
    for (const id of outerColumnsOf(plan)) {
      const owner = this.scope.ownerOf(id);
      if (owner !== null) replaced.set(id, this.outerColumn(owner.expr, plan));
    }
    if (replaced.size === 0) return input === expr.input ? expr : Object.freeze({ ...expr, input });
    const next = replaceColumns(plan, replaced);
    return Object.freeze({ ...expr, input, plan: next, outer: [...outerColumnsOf(next)] });
  }

  /** `plan`: of the subquery that reads it. */
  private outerColumn(expr: Expr, plan: Plan): Expr {
    try {
      return this.apply(expr);
    } catch (error) {
      const owner = expr.kind === "column" ? this.scope.ownerOf(expr.id) : null;
      if (owner === null) throw error;
      const name = owner.item.name === null ? owner.name : `${owner.item.name}.${owner.name}`;
      const position = this.firstPosition(plan, owner.expr);
      const message = `subquery uses ungrouped column "${name}" from outer query`;
      throw sqlError("42803", message, position === undefined ? undefined : { position });
    }
  }

  /** Where the subquery's text first names the column. */
  private firstPosition(plan: Plan, column: Expr): number | undefined {
    let first: number | undefined;
    const note = (position: number | undefined): void => {
      if (position !== undefined && (first === undefined || position < first)) first = position;
    };
    walkPlan(plan, (node) => {
      for (const expr of exprsOfPlan(node)) {
        walkExpr(expr, (part) => {
          if (part.kind === "subquery") note(this.firstPosition(part.plan, column));
          else if (exprEquals(part, column)) note(this.binding.positionOf(part));
        });
      }
    });
    return first;
  }

  /** Call after every expression went through `apply`, which may add groups. */
  plan(input: Plan): AggregatePlan {
    const { calls } = this.aggregates;
    for (const call of calls) for (const expr of call.direct ?? []) this.checkDirect(expr);
    const groupings = this.aggregates.groupings.map((grouping) => this.groupsOf(grouping));
    const grouping = this.groupingSets(groupings);
    const groups = this.groups.map((group) => group.expr);
    const columns = [
      ...this.groups.map((group) => group.column),
      ...this.aggregates.columns,
      ...this.aggregates.groupings.map(({ column }) => column),
    ];
    return Object.freeze({ kind: "aggregate", input, groups, calls, columns, ...(grouping && { grouping }) });
  }

  /** Groups that `apply` added depend on a key that all sets have. */
  private groupingSets(groupings: readonly (readonly number[])[]): GroupingSets | null {
    const { exprs, sets } = this.given;
    if (sets === null && groupings.length === 0) return null;
    const added = this.groups.slice(exprs.length).map((_, i) => exprs.length + i);
    const all = (sets ?? [exprs.map((_, i) => i)]).map((set) => [...set, ...added]);
    // The last argument of GROUPING is the lowest bit; a bit is set where the group is left out.
    const mask = (set: readonly number[], groups: readonly number[]) =>
      groups.reduce((bits, group) => bits * 2 + (set.includes(group) ? 0 : 1), 0);
    return { sets: all, masks: groupings.map((groups) => all.map((set) => mask(set, groups))) };
  }

  private groupsOf({ args, position }: GroupingCall): number[] {
    return args.map((arg) => {
      const group = this.groups.findIndex(({ expr }) => exprEquals(expr, arg));
      if (group >= 0) return group;
      const message = "arguments to GROUPING must be grouping expressions of the associated query level";
      throw sqlError("42803", message, { position: this.binding.positionOf(arg) ?? position });
    });
  }

  private checkDirect(expr: Expr): void {
    try {
      this.apply(expr);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      const hint = "Direct arguments of an ordered-set aggregate must use only grouped columns.";
      throw new DbError(error.code, error.message, { ...error.details, hint });
    }
  }
}

/** The plan, its subqueries included, with columns of enclosing queries replaced. */
function replaceColumns(plan: Plan, replaced: ReadonlyMap<ColumnId, Expr>): Plan {
  return mapPlan(plan, (node) =>
    mapExprsOfPlan(node, (expr) =>
      mapExpr(expr, (part) => {
        if (part.kind === "column") return replaced.get(part.id) ?? part;
        if (part.kind !== "subquery" || !part.outer.some((id) => replaced.has(id))) return part;
        const inner = replaceColumns(part.plan, replaced);
        return Object.freeze({ ...part, plan: inner, outer: [...outerColumnsOf(inner)] });
      }),
    ),
  );
}
