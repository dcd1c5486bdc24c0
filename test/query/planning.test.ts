/**
 * Rules that plan by estimates, and those that make more of a query plannable: plans before and after each, against
 * test/golden/plan/<rule>.txt, with statistics of tables of known size.
 */
import t from "tap";
import type { StatisticsSource, TableStatistics } from "../../src/catalog/statistics.js";
import type { Expr } from "../../src/query/expr/expr.js";
import { AGGREGATE_FAMILIES } from "../../src/query/expr/functions/registry.js";
import { Cardinality } from "../../src/query/optimize/cardinality.js";
import { RULES } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { INT4, TEXT } from "../../src/values/values.js";
import { matchesGolden } from "./golden.js";
import {
  aggregate,
  aggregateFunction,
  and,
  col,
  distinct,
  filter,
  int,
  join,
  op,
  or,
  project,
  scan,
  subquery,
  table,
  text,
} from "./plan-builder.js";

const part = table({
  id: 1,
  name: "part",
  columns: [
    ["id", INT4, "not null"],
    ["brand", TEXT, "not null"],
    ["size", INT4],
  ],
  primaryKey: ["id"],
});
const line = table({
  id: 2,
  name: "line",
  columns: [
    ["order_id", INT4, "not null"],
    ["number", INT4, "not null"],
    ["part_id", INT4, "not null"],
    ["quantity", INT4],
  ],
  primaryKey: ["order_id", "number"],
});
const orders = table({
  id: 3,
  name: "orders",
  columns: [
    ["id", INT4, "not null"],
    ["customer_id", INT4, "not null"],
    ["total", INT4],
  ],
  primaryKey: ["id"],
});

const ROWS: Readonly<Record<string, number>> = { part: 1000, line: 100_000, orders: 25_000 };

/** Keys that differ, everything else of ten values. */
const STATISTICS: StatisticsSource = {
  of: (def): TableStatistics => {
    const rows = ROWS[def.name]!;
    const distinctOf = (name: string) =>
      name === "id" ? rows : name === "order_id" ? 25_000 : name === "part_id" ? 1000 : 10;
    const columns = def.columns.map(({ id, name }) => [
      id,
      { distinct: distinctOf(name), nullFraction: 0, common: [], histogram: [] },
    ]);
    return { rows, columns: Object.fromEntries(columns) };
  },
};

const eq = (a: Expr, b: Expr) => op(a, "=", b);

function joined() {
  const [l, o, p] = [scan(line, "l"), scan(orders, "o"), scan(part, "p")];
  return { l, o, p };
}

const few = (p: Plan): Plan => ({ ...p, filter: eq(col(p, "brand"), text("x")) }) as Plan;

type Cases = Readonly<Record<string, () => Plan>>;

const reorder: Cases = {
  "the filtered table first": () => {
    const { l, o, p } = joined();
    const lo = join("inner", l, o, eq(col(l, "order_id"), col(o, "id")));
    return join("inner", lo, few(p), eq(col(l, "part_id"), col(p, "id")));
  },
  "a semi join as early as it pays": () => {
    const { l, o, p } = joined();
    const lo = join("inner", l, o, eq(col(l, "order_id"), col(o, "id")));
    return join("semi", lo, few(p), eq(col(l, "part_id"), col(p, "id")));
  },
  "equal columns of three tables: any two may join": () => {
    const { l, o, p } = joined();
    const lo = join("inner", l, o, eq(col(l, "order_id"), col(o, "id")));
    return join("inner", lo, few(p), eq(col(o, "id"), col(p, "id")));
  },
  "a left join keeps its left side": () => {
    const { l, o, p } = joined();
    const lo = join("left", l, o, eq(col(l, "order_id"), col(o, "id")));
    return join("inner", lo, few(p), eq(col(l, "part_id"), col(p, "id")));
  },
  "two tables: unchanged": () => {
    const { l, o } = joined();
    return join("inner", l, o, eq(col(l, "order_id"), col(o, "id")));
  },
  "a full join: unchanged": () => {
    const { l, o, p } = joined();
    const lo = join("full", l, o, eq(col(l, "order_id"), col(o, "id")));
    return join("inner", lo, p, eq(col(l, "part_id"), col(p, "id")));
  },
};

const factor: Cases = {
  "a join condition in every branch": () => {
    const { l, p } = joined();
    const same = () => eq(col(l, "part_id"), col(p, "id"));
    const branch = (brand: string, quantity: number) =>
      and(same(), eq(col(p, "brand"), text(brand)), op(col(l, "quantity"), "<", int(quantity)));
    return filter(join("inner", l, p, null), or(branch("a", 5), branch("b", 9)));
  },
  "a branch that says no more": () => {
    const { l } = joined();
    const one = () => eq(col(l, "part_id"), int(1));
    return filter(l, or(one(), and(one(), eq(col(l, "quantity"), int(2)))));
  },
  "nothing in common: unchanged": () => {
    const { l, p } = joined();
    const plan = join("inner", l, p, null);
    return filter(plan, or(eq(col(l, "part_id"), int(1)), eq(col(p, "size"), int(2))));
  },
};

const SUM = aggregateFunction("sum", INT4);
const MAX = AGGREGATE_FAMILIES.get("max")![0]!.instantiate([INT4])!;

/** (SELECT fn(quantity) FROM line WHERE part_id = p.id) */
function ofPart(p: Plan, fn = SUM, counts = false): Expr {
  const l = scan(line, "l");
  const own = filter(l, eq(col(l, "part_id"), col(p, "id")));
  return subquery("scalar", aggregate(own, {}, { x: { fn, args: counts ? [] : [col(l, "quantity")] } }));
}

const decorrelate: Cases = {
  "an aggregate per outer row": () => {
    const p = scan(part, "p");
    return project(p, { id: col(p, "id"), sum: ofPart(p) });
  },
  "count of nothing is 0": () => {
    const p = scan(part, "p");
    return project(p, { n: ofPart(p, aggregateFunction("count"), true) });
  },
  "in a join's condition": () => {
    const { l, p } = joined();
    const below = op(col(l, "quantity"), "<", ofPart(p));
    return join("inner", l, p, and(eq(col(l, "part_id"), col(p, "id")), below));
  },
  "one outer row: unchanged": () => {
    const p = scan(part, "p");
    const one: Plan = { ...p, filter: eq(col(p, "id"), int(7)) } as Plan;
    const o = scan(orders, "o");
    const own = filter(o, eq(col(o, "id"), col(p, "id")));
    return project(one, { sum: subquery("scalar", aggregate(own, {}, { x: { fn: SUM, args: [col(o, "total")] } })) });
  },
};

/** Quantities of lines, by a column of theirs, joined to parts by it. */
function partsWithSums(p: Plan, by: string): Plan {
  const l = scan(line, "l");
  const sums = aggregate(l, { key: col(l, by) }, { sum: { fn: SUM, args: [col(l, "quantity")] } });
  return join("inner", p, sums, eq(col(p, "id"), col(sums, "key")));
}

const restrict: Cases = {
  "few keys, found by an index": () => {
    const p = scan(part, "p");
    return partsWithSums({ ...p, filter: eq(col(p, "id"), int(7)) } as Plan, "order_id");
  },
  "keys from a table joined further up": () => {
    const sums = partsWithSums(scan(part, "p"), "order_id");
    const o = scan(orders, "o");
    const one: Plan = { ...o, filter: eq(col(o, "id"), int(7)) } as Plan;
    return join("semi", sums, one, eq(col(sums, "id"), col(one, "id")));
  },
  "all keys: unchanged": () => partsWithSums(scan(part, "p"), "order_id"),
  "groups that are cheap, of rows that no index finds: unchanged": () => partsWithSums(few(scan(part, "p")), "part_id"),
};

const minMax: Cases = {
  "max of the primary key": () => {
    const o = scan(orders, "o");
    return aggregate(o, {}, { x: { fn: MAX, args: [col(o, "id")] } });
  },
  "no index: unchanged": () => {
    const o = scan(orders, "o");
    return aggregate(o, {}, { x: { fn: MAX, args: [col(o, "total")] } });
  },
};

const dropDistinct: Cases = {
  "a key among the columns": () => {
    const o = scan(orders, "o");
    return distinct(project(o, { id: col(o, "id"), total: col(o, "total") }));
  },
  "groups differ": () => {
    const o = scan(orders, "o");
    return distinct(aggregate(o, { c: col(o, "customer_id") }, { n: { fn: aggregateFunction("count") } }));
  },
  "part of a key: unchanged": () => {
    const l = scan(line, "l");
    return distinct(project(l, { id: col(l, "order_id") }));
  },
};

const CASES: Readonly<Record<string, Cases>> = {
  "factor-conditions": factor,
  "decorrelate-aggregates": { ...decorrelate },
  "drop-distinct": dropDistinct,
  "min-max-by-index": minMax,
  "reorder-joins": reorder,
  "restrict-groups": restrict,
};

for (const [name, cases] of Object.entries(CASES)) {
  t.test(name, async (t) => {
    const rule = RULES.find((one) => one.name === name)!;
    const printed = Object.entries(cases).map(([title, make]) => {
      const plan = make();
      const [before, after] = [plan, rule.apply(plan, new Cardinality(STATISTICS))].map((one) =>
        explainText(one).join("\n"),
      ) as [string, string];
      t.equal(before === after, title.endsWith("unchanged"), title);
      return `# ${title}\n${before}\n${before === after ? "" : `=>\n${after}\n`}`;
    });
    matchesGolden(t, `plan/${name}.txt`, printed.join("\n"));
  });
}

t.test("estimates follow the statistics", async (t) => {
  const cardinality = new Cardinality(STATISTICS);
  const { l, o, p } = joined();
  t.equal(cardinality.rows(l), 100_000);
  t.equal(cardinality.rows(few(p)), 100, "one of ten brands");
  t.equal(Math.round(cardinality.rows(join("inner", l, o, eq(col(l, "order_id"), col(o, "id"))))), 100_000);
  const semi = join("semi", o, l, eq(col(o, "id"), col(l, "order_id")));
  t.ok(cardinality.rows(semi) <= 25_000, "a semi join adds no rows");
});
