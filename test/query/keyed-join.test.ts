/** Joins that look rows up by a unique key, many at a time: they answer what the join row by row does. */
import t from "tap";
import { compilePlan } from "../../src/query/exec/compile-plan.js";
import { runToCompletion } from "../../src/query/exec/run.js";
import type { Expr } from "../../src/query/expr/expr.js";
import type { JoinType, Plan } from "../../src/query/plan/plan.js";
import { INT4, TEXT, type Value } from "../../src/values/values.js";
import { and, col, int, isNull, join, newColumn, op, or, table, values } from "./plan-builder.js";
import { Database, type RunOptions } from "./run-plans.js";

const part = table({
  id: 1,
  name: "part",
  columns: [
    ["id", INT4, "not null"],
    ["code", INT4],
    ["name", TEXT],
  ],
  primaryKey: ["id"],
  indexes: [{ name: "part_code", columns: ["code"], unique: true }],
});

function byCode(key: Expr, filterOf: (columns: Plan) => Expr | null): Plan {
  const columns = part.columns.map(({ name, type }) => newColumn(name, type));
  const plan: Plan = {
    kind: "pointget",
    table: part,
    alias: "part",
    columns,
    source: [0, 1, 2],
    index: part.indexes[0]!,
    key: [key],
    filter: null,
    rowKey: null,
  };
  return { ...plan, filter: filterOf(plan) } as Plan;
}

/** As EXPLAIN ANALYZE runs it: each operator by itself. */
async function byRow(database: Database, plan: Plan, options: RunOptions): Promise<readonly (readonly Value[])[]> {
  const program = compilePlan(plan, (_plan, open) => open);
  return (await runToCompletion(program, database.context(options), { maxRows: Number.POSITIVE_INFINITY })).rows;
}

t.test("keys that are there, missing, NULL, repeated, refused by filters and conditions", async (t) => {
  const database = await Database.open(t);
  const rows = Array.from({ length: 700 }, (_, i) => [i, i % 3 === 0 ? null : 2 * i, `part ${i}`]);
  database.insert(part, rows.slice(0, 600));
  database.commit();
  // Some are only in the transaction.
  database.insert(part, rows.slice(600));
  const given = Array.from({ length: 1500 }, (_, i) => [i % 11 === 0 ? null : (i * 7) % 1500, i]);
  const left = values(
    [
      ["a", INT4],
      ["n", INT4],
    ],
    given,
  );
  const [a, n] = [col(left, "a"), col(left, "n")];
  const filters: Readonly<Record<string, (plan: Plan) => Expr | null>> = {
    none: () => null,
    own: (plan) => op(col(plan, "id"), "<", int(500)),
    "of the left row": (plan) => or(op(col(plan, "id"), "<", n), isNull(n)),
  };
  for (const [what, filterOf] of Object.entries(filters)) {
    for (const type of ["inner", "left", "semi", "anti"] as readonly JoinType[]) {
      const right = byCode(a, filterOf);
      for (const condition of [null, and(op(n, "<", int(900)), op(col(right, "id"), ">", int(20)))]) {
        const plan = { ...join(type, left, right, condition), lateral: true } as Plan;
        const expected = await byRow(database, plan, {});
        t.ok(expected.length > 50, `${what}, ${type}: ${expected.length} rows`);
        t.same(database.rows(plan), expected);
        t.same(database.rows(plan, { batchRows: 7 }), expected, "in small batches");
        let asked = 0;
        const turns = { shouldYield: () => ++asked % 2 === 0, yieldTurn: async () => undefined };
        t.same((await database.start(plan, turns)).rows, expected, "in turns");
      }
    }
  }
});
