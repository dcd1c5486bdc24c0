/**
 * Expands GROUP BY lists with ROLLUP, CUBE and GROUPING SETS into plain sets (chapter 7.2.4 of PostgreSQL's manual):
 * each element is a list of sets, and a list of elements their cross product.
 */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { exprEquals } from "../../query/expr/walk.js";
import type { ExprNode, GroupingElement, SelectBody } from "../parse/ast-query.js";

/** PostgreSQL's bounds. */
const SETS_MAX = 4096;
const CUBE_MAX = 12;

export interface BoundGroups {
  /** Every group expression once. */
  readonly exprs: readonly Expr[];
  /** Positions among the expressions; null: one set of all of them. */
  readonly sets: readonly (readonly number[])[] | null;
}

type Sets = readonly (readonly number[])[];

export function expandGroups(body: SelectBody, bind: (node: ExprNode) => Expr): BoundGroups {
  const expander = new Expander(bind);
  let sets: Sets = [[]];
  for (const element of body.groupBy) {
    const further = expander.setsOf(element);
    if (sets.length * further.length > SETS_MAX) throw tooManySets(element);
    sets = sets.flatMap((set) => further.map((other) => union(set, other)));
  }
  if (body.groupDistinct) sets = distinct(sets);
  const { exprs } = expander;
  return { exprs, sets: sets.length === 1 ? null : sets };
}

class Expander {
  readonly exprs: Expr[] = [];

  constructor(private readonly bind: (node: ExprNode) => Expr) {}

  setsOf(element: GroupingElement): Sets {
    if (element.kind === "empty") return [[]];
    if (element.kind === "expr") return [this.positionsOf(element.expr)];
    if (element.kind === "sets") {
      const sets = element.items.flatMap((item) => this.setsOf(item));
      if (sets.length > SETS_MAX) throw tooManySets(element);
      return sets;
    }
    if (element.kind === "cube" && element.items.length > CUBE_MAX) {
      throw sqlError("54011", `CUBE is limited to ${CUBE_MAX} elements`, { position: element.position });
    }
    const items = element.items.map((item) => this.setsOf(item).flat());
    if (element.kind === "rollup") return [...items, []].map((_, i) => union(...items.slice(0, items.length - i)));
    // The bits of `absent` are the items that a set leaves out.
    return Array.from({ length: 2 ** items.length }, (_, absent) =>
      union(...items.filter((_item, at) => (absent & (1 << (items.length - 1 - at))) === 0)),
    );
  }

  /** `(a, b)` is one element of two expressions. */
  private positionsOf(node: ExprNode): number[] {
    const nodes = node.kind === "row" ? node.items : [node];
    return nodes.map((item) => {
      const expr = this.bind(item);
      const found = this.exprs.findIndex((other) => exprEquals(other, expr));
      return found >= 0 ? found : this.exprs.push(expr) - 1;
    });
  }
}

const union = (...sets: readonly (readonly number[])[]): number[] => [...new Set(sets.flat())];

function distinct(sets: Sets): Sets {
  const seen = new Set<string>();
  return sets.filter((set) => {
    const key = [...set].sort((a, b) => a - b).join();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function tooManySets(element: GroupingElement): Error {
  const position = element.kind === "empty" ? 0 : element.kind === "expr" ? element.expr.position : element.position;
  return sqlError("54001", `too many grouping sets present (maximum ${SETS_MAX})`, { position });
}
