/** The aggregates of one WITH or RETURN: each is computed once and then is a column. Used by bind-projection.ts. */
import { cypherAggregate } from "../../query/expr/cypher/registry.js";
import type { Expr } from "../../query/expr/expr.js";
import { resolveAggregate } from "../../query/expr/resolve.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { AggregateCall, OutputColumn } from "../../query/plan/plan.js";
import type { Expr as ExprNode, FunctionCall } from "../parse/ast.js";
import { type AggregateNode, type AggregateTaker, type Binding, contextOf } from "./binding.js";
import { sameExpr } from "./same-expr.js";
import type { Variables } from "./variables.js";

/** count(*). */
export const COUNT_ALL = resolveAggregate("count", []).fn;

/** Null: it is something else. */
export function aggregateIn(node: ExprNode): AggregateNode | null {
  if (node.kind === "count-all") return node;
  return node.kind === "call" && cypherAggregate(node.name) !== null ? node : null;
}

/** Whether there is an aggregate in the expression; subqueries have their own. */
export function hasAggregate(node: ExprNode): boolean {
  if (aggregateIn(node) !== null) return true;
  if (node.kind === "subquery" || node.kind === "pattern" || node.kind === "pattern-comprehension") return false;
  return partsOf(node).some(hasAggregate);
}

/** The expressions right below a node, whatever its kind. */
function partsOf(node: ExprNode): ExprNode[] {
  const parts: ExprNode[] = [];
  const look = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) look(item);
    else if (typeof value === "object" && value !== null) {
      if ("kind" in value && !INNER_KINDS.has(value.kind)) parts.push(value as ExprNode);
      else for (const item of Object.values(value)) look(item);
    }
  };
  for (const value of Object.values(node)) look(value);
  return parts;
}

/** Items of a map projection, which are no expressions themselves. */
const INNER_KINDS = new Set<unknown>(["entry", "all"]);

export class AggregateCollector implements AggregateTaker {
  readonly calls: AggregateCall[] = [];
  readonly columns: OutputColumn[] = [];
  private readonly nodes: AggregateNode[] = [];

  /** `scope`: of the rows that are grouped. */
  constructor(
    private readonly binding: Binding,
    private readonly scope: Variables,
  ) {}

  /** The column that has the aggregate's value. */
  add(node: AggregateNode): Expr {
    let place = this.nodes.findIndex((other) => sameExpr(node, other));
    if (place < 0) {
      place = this.nodes.push(node) - 1;
      const call = this.callOf(node);
      this.calls.push(call);
      const name = node.kind === "call" ? node.name.toLowerCase() : "count";
      this.columns.push(this.binding.newColumn(name, call.fn.returns));
    }
    return columnExpr(this.columns[place]!);
  }

  private callOf(node: AggregateNode): AggregateCall {
    const plain = { distinct: false, filter: null, orderBy: [] };
    if (node.kind === "count-all") return { fn: COUNT_ALL, args: [], ...plain };
    const { fn, directArgs } = cypherAggregate(node.name)!;
    const args = node.args.map((arg) => this.argument(arg, node));
    const values = args.slice(0, args.length - directArgs);
    const direct = args.slice(args.length - directArgs);
    return { fn, args: values, ...plain, distinct: node.distinct, ...(direct.length > 0 && { direct }) };
  }

  /** Entities are counted by their ids. */
  private argument(node: ExprNode, call: FunctionCall): Expr {
    const variable = node.kind === "variable" ? this.scope.get(node.name) : undefined;
    if (variable !== undefined && variable.kind !== "value" && call.name.toLowerCase() === "count") {
      return columnExpr(variable.columns.id);
    }
    return this.binding.bind.expr(node, contextOf(this.binding, this.scope));
  }
}
