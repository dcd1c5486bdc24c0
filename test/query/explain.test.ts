/** EXPLAIN's two forms: the tree as text with its subqueries, and JSON with the same names. */
import t from "tap";
import { optimize } from "../../src/query/optimize/optimize.js";
import { explainJson, explainText } from "../../src/query/plan/explain.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { INT4, INT8, TEXT } from "../../src/values/values.js";
import {
  aggregate,
  aggregateFunction,
  and,
  asc,
  big,
  col,
  desc,
  filter,
  isNull,
  limit,
  op,
  param,
  project,
  scan,
  sort,
  subquery,
  table,
  text,
} from "./plan-builder.js";
import { insertPlan } from "./run-plans.js";

const T = table({
  id: 1,
  name: "t",
  columns: [
    ["id", INT8],
    ["a", INT4],
    ["b", TEXT],
  ],
  primaryKey: ["id"],
});

function query(): Plan {
  const [outer, inner, other] = [scan(T, "x"), scan(T, "y"), scan(T, "z")];
  const largest = aggregate(other, {}, { n: { fn: aggregateFunction("sum", INT4), args: [col(other, "a")] } });
  const counted = aggregate(
    filter(inner, op(col(inner, "a"), "=", col(outer, "a"))),
    {},
    { n: { fn: aggregateFunction("count") } },
  );
  const kept = filter(
    outer,
    and(op(col(outer, "id"), "<", param(0, INT8)), op(subquery("scalar", counted), ">", subquery("scalar", largest))),
  );
  return limit(sort(project(kept, { b: col(outer, "b"), a: col(outer, "a") }), asc(text("k"))), big(5));
}

t.test("text", async (t) => {
  t.equal(
    explainText(query()).join("\n"),
    `
Limit
  Limit: 5
  ->  Sort
        Sort Key: 'k'::text
        ->  Project
              Output: x.b, x.a
              ->  Filter
                    Filter: ((x.id < $1) AND ((SubPlan 1) > (InitPlan 2)))
                    ->  Seq Scan on t x
                    SubPlan 1
                      ->  Aggregate
                            Calls: count(*)
                            ->  Filter
                                  Filter: (y.a = x.a)
                                  ->  Seq Scan on t y
                    InitPlan 2
                      ->  Aggregate
                            Calls: sum(z.a)
                            ->  Seq Scan on t z`.trim(),
  );
});

t.test("sort keys say where NULLs go when it is not the default", async (t) => {
  const rows = scan(T);
  const [a, b] = [col(rows, "a"), col(rows, "b")];
  t.equal(
    explainText(sort(rows, asc(a), desc(a), asc(b, true), desc(b, false)))[1],
    "  Sort Key: a, a DESC, b NULLS FIRST, b DESC NULLS LAST",
  );
});

t.test("JSON", async (t) => {
  const rows = scan(T);
  const plan = filter(rows, and(op(col(rows, "id"), "=", param(0, INT8)), isNull(col(rows, "b"))));
  t.strictSame(explainJson(optimize(plan)), {
    "Node Type": "Point Get",
    "Relation Name": "t",
    Schema: "public",
    Alias: "t",
    "Index Name": "t_pkey",
    "Index Cond": "(id = $1)",
    Filter: "(b IS NULL)",
  });
  t.match(explainJson(query()), {
    "Node Type": "Limit",
    Limit: "5",
    Plans: [{ Plans: [{ Plans: [{ Plans: [{ Alias: "x" }, { "Subplan Name": "SubPlan 1" }, {}] }] }] }],
  });
});

t.test("changes", async (t) => {
  const plan = insertPlan(T, [[1, 2, "x"]]);
  const onConflict = { existing: [], excluded: [], assignments: [], where: null };
  t.strictSame(explainText(plan), ["Insert on t", "  ->  Values Scan", "        Rows: 1"]);
  t.strictSame(explainText({ ...plan, onConflict: { ...onConflict, index: "primary key", action: "nothing" } }), [
    "Insert on t",
    "  Conflict Resolution: NOTHING",
    "  Conflict Arbiter Indexes: t_pkey",
    "  ->  Values Scan",
    "        Rows: 1",
  ]);
});
