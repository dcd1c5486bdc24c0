/**
 * Random plans over three small tables, with NULLs, duplicates, every kind of join, and subqueries: for tests that
 * compare two ways of running the same plan. Everything follows from the seed.
 */

import type { Expr } from "../../src/query/expr/expr.js";
import type { JoinType, OutputColumn, Plan } from "../../src/query/plan/plan.js";
import { INT4, INT8, type Value } from "../../src/values/values.js";
import {
  aggregate,
  aggregateFunction,
  and,
  asc,
  big,
  desc,
  distinct,
  filter,
  inList,
  int,
  isNull,
  join,
  limit,
  not,
  op,
  or,
  param,
  project,
  scan,
  setOp,
  sort,
  subquery,
  table,
} from "./plan-builder.js";

export const TABLES = {
  t: table({
    id: 1,
    name: "t",
    columns: [
      ["id", INT4, "not null"],
      ["a", INT4],
      ["b", INT4],
    ],
    primaryKey: ["id"],
    indexes: [
      { name: "t_a_b", columns: ["a", "b"] },
      { name: "t_b", columns: ["b"], descending: true },
    ],
  }),
  u: table({
    id: 2,
    name: "u",
    columns: [
      ["k", INT4, "not null"],
      ["l", INT4, "not null"],
      ["c", INT8],
    ],
    primaryKey: ["k", "l"],
    indexes: [{ name: "u_c", columns: ["c"], unique: true }],
  }),
  heap: table({
    id: 3,
    name: "heap",
    columns: [
      ["x", INT4],
      ["y", INT8],
    ],
  }),
};

export const PARAMS: readonly Value[] = [3, null];

/** Rows for the three tables. */
export function randomRows(seed: number): Readonly<Record<keyof typeof TABLES, readonly (readonly Value[])[]>> {
  const random = new Random(seed);
  const maybe = (below: number): Value => (random.below(5) === 0 ? null : random.below(below));
  const count = random.below(14);
  const cs = random.shuffled([null, null, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  return {
    t: Array.from({ length: count }, (_, id) => [id, maybe(4), maybe(6)]),
    u: Array.from({ length: random.below(12) }, (_, i) => [i % 4, Math.floor(i / 4), cs[i]!]),
    heap: Array.from({ length: random.below(10) }, () => [maybe(5), maybe(9)]),
  };
}

/** A linear congruential generator (Numerical Recipes, chapter 7.1): reproducible everywhere. */
export class Random {
  constructor(private state: number) {}

  below(bound: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * bound);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.below(1 << 20) }))
      .sort((x, y) => x.at - y.at)
      .map(({ item }) => item);
  }
}

type Columns = readonly OutputColumn[];

const columnExpr = ({ id, type, name }: OutputColumn): Expr => ({ kind: "column", id, type, name });

/** A plan whose columns are all int4 or int8. `outer`: columns of enclosing rows that it may read. */
export function randomPlan(random: Random, depth: number, outer: Columns = []): Plan {
  const base = (): Plan => scan(random.pick(Object.values(TABLES)));
  if (depth === 0) return base();
  const input = (down = 1) => randomPlan(random, depth - down, outer);
  switch (random.below(10)) {
    case 0:
      return base();
    case 1:
    case 2:
    case 3: {
      const below = input();
      return filter(below, randomPredicate(random, below.columns, outer, depth));
    }
    case 4:
      return randomProject(random, input());
    case 5:
    case 6:
      return randomJoin(random, depth, outer);
    case 7:
      return randomAggregate(random, input(), outer);
    case 8: {
      const op_ = random.pick(["union", "intersect", "except"] as const);
      const one = (plan: Plan) => project(plan, { v: random.pick(plan.columns.map(columnExpr)) });
      const [left, right] = [one(input()), one(input())];
      if (left.columns[0]!.type !== right.columns[0]!.type) return distinct(left);
      return setOp(op_, random.below(2) === 0, left, right);
    }
    default: {
      const below = input();
      const keys = random
        .shuffled(below.columns)
        .map((column) => (random.below(2) === 0 ? asc : desc)(columnExpr(column), random.below(2) === 0));
      return limit(sort(below, ...keys), big(random.below(6)), random.below(2) === 0 ? null : big(random.below(3)));
    }
  }
}

function randomProject(random: Random, input: Plan): Plan {
  const columns = random.shuffled(input.columns).slice(0, 1 + random.below(3));
  const exprs: [string, Expr][] = columns.map((column, i) => {
    const expr = columnExpr(column);
    return [`p${i}`, random.below(3) === 0 ? op(expr, "+", int(1)) : expr];
  });
  const made = project(input, Object.fromEntries(exprs));
  // A column that is only passed on keeps its id, as the binder does it.
  const kept = made.columns.map((column, i) => {
    const expr = exprs[i]![1];
    return expr.kind === "column" ? { ...column, id: expr.id } : column;
  });
  return { ...made, columns: kept } as Plan;
}

const JOIN_TYPES: readonly JoinType[] = ["inner", "inner", "left", "left", "right", "full", "semi", "anti"];

function randomJoin(random: Random, depth: number, outer: Columns): Plan {
  const left = randomPlan(random, depth - 1, outer);
  const type = random.pick(JOIN_TYPES);
  const mayBeLateral = type !== "right" && type !== "full" && random.below(4) === 0;
  const right = randomPlan(random, depth - 1, mayBeLateral ? [...outer, ...left.columns] : outer);
  const both = [...left.columns, ...right.columns];
  const equal = op(columnExpr(random.pick(left.columns)), "=", columnExpr(random.pick(right.columns)));
  const more = () => randomPredicate(random, both, outer, depth - 1);
  const condition = random.pick([() => null, () => equal, () => equal, () => and(equal, more()), more])();
  return join(type, left, right, condition);
}

function randomAggregate(random: Random, input: Plan, outer: Columns): Plan {
  const groups = random.shuffled(input.columns).slice(0, random.below(3));
  const argument = columnExpr(random.pick(input.columns));
  const sum = aggregateFunction("sum", INT4);
  const filtered = random.below(2) === 0 ? null : randomPredicate(random, input.columns, outer, 0);
  return aggregate(input, Object.fromEntries(groups.map((column, i) => [`g${i}`, columnExpr(column)])), {
    rows: { fn: aggregateFunction("count"), filter: filtered },
    ...(argument.type === INT4 ? { total: { fn: sum, args: [argument], distinct: random.below(2) === 0 } } : {}),
  });
}

export function randomPredicate(random: Random, columns: Columns, outer: Columns, depth: number): Expr {
  const own = columnExpr(random.pick(columns));
  const other = () => randomValue(random, columns, outer);
  const next = () => randomPredicate(random, columns, outer, depth - 1);
  const simple = () => op(own, random.pick(["=", "=", "=", "<", "<=", ">", ">=", "<>"]), other());
  if (depth <= 0) return simple();
  switch (random.below(9)) {
    case 0:
      return and(next(), next());
    case 1:
      return or(next(), next());
    case 2:
      return not(next());
    case 3:
      return isNull(own, random.below(2) === 0);
    case 4:
      return inList(own, [1, 2, random.below(2) === 0 ? null : 3].map(int), random.below(3) === 0);
    case 5:
      return randomSubquery(random, own, [...outer, ...columns], depth - 1);
    default:
      return simple();
  }
}

function randomSubquery(random: Random, own: Expr, outer: Columns, depth: number): Expr {
  const below = randomPlan(random, Math.min(depth, 1), random.below(2) === 0 ? outer : []);
  const column = columnExpr(random.pick(below.columns));
  const correlated = filter(below, op(column, "=", columnExpr(random.pick(outer))));
  const plan = random.below(2) === 0 ? correlated : below;
  const one = project(plan, { v: column });
  const within = () => subquery("in", one, { input: own, symbol: random.pick(["=", "="]) });
  switch (random.below(5)) {
    case 0:
      return subquery("exists", plan);
    case 1:
      return not(subquery("exists", plan));
    case 2:
      return within();
    case 3:
      return not(within());
    default: {
      const counted = aggregate(plan, {}, { n: { fn: aggregateFunction("count") } });
      return op(subquery("scalar", counted), ">=", own);
    }
  }
}

function randomValue(random: Random, columns: Columns, outer: Columns): Expr {
  switch (random.below(5)) {
    case 0:
      return columnExpr(random.pick(columns));
    case 1:
      return outer.length === 0 ? int(1) : columnExpr(random.pick(outer));
    case 2:
      return param(random.below(5) === 0 ? 1 : 0, random.pick([INT4, INT8]));
    default:
      return random.below(2) === 0 ? int(random.below(6)) : big(random.below(6));
  }
}
