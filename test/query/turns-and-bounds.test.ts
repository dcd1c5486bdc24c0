/** Long statements: turns of the actor's loop, cancellation, memory bounds, and programs shared by several runs. */
import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { compilePlan } from "../../src/query/exec/compile-plan.js";
import { runToCompletion } from "../../src/query/exec/run.js";
import { partsOf } from "../../src/query/expr/value-parts.js";
import { unitsOf } from "../../src/query/expr/work.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { arrayOf, INT4, TEXT } from "../../src/values/values.js";
import type { Variant } from "../../src/values/variant.js";
import {
  aggregate,
  aggregateFunction,
  asc,
  big,
  bool,
  col,
  distinct,
  filter,
  hashJoin,
  int,
  join,
  limit,
  not,
  op,
  param,
  project,
  scan,
  setOp,
  sort,
  subquery,
  table,
} from "./plan-builder.js";
import { Database } from "./run-plans.js";

const T = table({
  id: 1,
  name: "t",
  columns: [
    ["id", INT4],
    ["s", TEXT],
  ],
  primaryKey: ["id"],
});

const ROWS = 5000;

async function filled(t: Parameters<typeof Database.open>[0]): Promise<Database> {
  const database = await Database.open(t);
  database.insert(
    T,
    Array.from({ length: ROWS }, (_, i) => [i, `row number ${i}`]),
  );
  database.commit();
  return database;
}

t.test("a point get neither waits nor asks for a turn", async (t) => {
  const database = await filled(t);
  const read = scan(T);
  const plan: Plan = {
    kind: "pointget",
    table: T,
    alias: "t",
    source: [1],
    columns: [read.columns[1]!],
    index: "primary key",
    key: [param(0, INT4)],
    filter: null,
    rowKey: null,
  };
  const shouldYield = () => t.fail("asked for a turn") as never;
  t.strictSame(database.rows(plan, { params: [77], shouldYield }), [["row number 77"]]);
});

t.test("a scan gives the loop back between batches, also when its filter refuses every row", async (t) => {
  const database = await filled(t);
  const read = scan(T);
  let turns = 0;
  const yieldTurn = async () => void turns++;
  const none = { ...read, filter: not(bool(true)) } as Plan;
  t.strictSame(await database.yieldingRows(none, { yieldTurn }), []);
  t.ok(turns >= 4, `${turns} turns`);
});

t.test("a loop join of many pairs gives the loop back", async (t) => {
  const database = await filled(t);
  const [a, b] = [scan(T, "a"), scan(T, "b")];
  const few = { ...a, filter: op(col(a, "id"), "<", int(4)) } as Plan;
  let turns = 0;
  const yieldTurn = async () => void turns++;
  const plan = join("inner", few, b, op(op(col(a, "id"), "+", int(9999)), "<", col(b, "id")));
  t.strictSame(await database.yieldingRows(plan, { yieldTurn }), []);
  t.ok(turns > (4 * ROWS) / 1024, `${turns} turns`);
});

t.test("cancellation ends every kind of long statement", async (t) => {
  const database = await filled(t);
  const [a, b] = [scan(T, "a"), scan(T, "b")];
  const id = col(a, "id");
  const plans: Record<string, Plan> = {
    scan: a,
    sort: sort(a, asc(col(a, "s"))),
    aggregate: aggregate(a, { id }, { n: { fn: aggregateFunction("count") } }),
    "loop join": join("inner", a, b, op(id, "<", col(b, "id"))),
    "hash join": hashJoin("inner", a, b, [id, col(b, "id")], null),
    union: setOp("union", false, a, b),
    subquery: project(limit(a, big(1)), {
      n: subquery("scalar", aggregate(b, {}, { n: { fn: aggregateFunction("count") } })),
    }),
  };
  for (const [name, plan] of Object.entries(plans)) {
    let checks = 0;
    const checkpoint = () => {
      if (++checks > 3) throw new DbError("request_timeout");
    };
    await t.rejects(async () => database.start(plan, { checkpoint }), { code: "request_timeout" }, name);
    const yieldTurn = () => Promise.reject(new DbError("cancelled"));
    await t.rejects(
      async () => database.start(plan, { shouldYield: () => true, yieldTurn }),
      { code: "cancelled" },
      name,
    );
  }
});

t.test("operators that keep rows stay within the statement's memory", async (t) => {
  const database = await filled(t);
  const [a, b] = [scan(T, "a"), scan(T, "b")];
  const id = col(a, "id");
  const s = col(a, "s");
  const keeping: Record<string, Plan> = {
    sort: sort(a, asc(s)),
    aggregate: aggregate(a, { s }, { n: { fn: aggregateFunction("count") } }),
    "loop join": join("inner", a, b, null),
    "hash join": hashJoin("inner", a, b, [id, col(b, "id")], null),
    distinct: distinct(a),
    except: setOp("except", false, a, b),
    collected: aggregate(a, {}, { n: { fn: aggregateFunction("count"), distinct: true, args: [s] } }),
  };
  for (const [name, plan] of Object.entries(keeping)) {
    const error = database.errorOf(plan, { memoryBytesMax: 100_000 });
    t.match(error, { message: "out of memory", details: { sqlstate: "53200", hint: /100000 bytes/ } }, name);
  }
  const top: Plan = { kind: "topn", input: a, keys: [asc(s)], limit: big(10), offset: null, columns: a.columns };
  t.equal(database.rows(top, { memoryBytesMax: 100_000 }).length, 10, "top-N keeps few rows");
  t.equal(database.rows(filter(a, bool(true)), { memoryBytesMax: 0 }).length, ROWS, "a filter keeps none");
});

t.test("memory is given back when a statement ends", async (t) => {
  const database = await filled(t);
  const [a, b] = [scan(T, "a"), scan(T, "b")];
  const id = col(a, "id");
  const joined = hashJoin("inner", sort(a, asc(col(a, "s"))), b, [id, col(b, "id")], null);
  const context = database.context();
  await runToCompletion(compilePlan(distinct(joined)), context, { maxRows: 10 });
  t.equal(context.statement.memoryBytes, 0);
  t.ok(context.statement.memoryBytesPeak > 100_000);
});

/** Rows with `id` among the elements of the parameter. */
const amongPlan = (reverse: boolean): Plan => {
  const { columns } = scan(T);
  return {
    kind: "indexscan",
    table: T,
    alias: "t",
    source: [0],
    columns: [columns[0]!],
    index: "primary key",
    prefix: [],
    keySets: [param(0, arrayOf(INT4))],
    keyArrays: true,
    lower: null,
    upper: null,
    filter: null,
    reverse,
    rowKey: null,
  };
};

t.test(
  "keys that a client sends by the thousand are looked up in order, once each, with turns in between",
  async (t) => {
    const database = await filled(t);
    const COUNT = 20_000;
    const elements = Array.from({ length: COUNT }, (_, i) => (i % 100 === 0 ? null : (i * 7919) % 10_007));
    const params = [{ elements, dimensions: [COUNT], lowerBounds: [1] }];
    const found = [...new Set(elements)].filter((id): id is number => id !== null && id < ROWS).sort((a, b) => a - b);
    let turns = 0;
    const yieldTurn = async () => void turns++;
    for (const reverse of [false, true]) {
      const rows = await database.yieldingRows(amongPlan(reverse), { params, yieldTurn });
      t.strictSame(
        rows.map(([id]) => id),
        reverse ? found.toReversed() : found,
      );
    }
    // Each key is encoded, sorted and taken: a look at the clock after some dozens, whatever is found.
    t.ok(turns > (2 * COUNT) / 64, `${turns} turns`);
    t.strictSame(database.rows(amongPlan(false), { params }).length, found.length, "also without waiting");
  },
);

t.test("keys that a client sends count as the statement's memory", async (t) => {
  const database = await filled(t);
  const COUNT = 20_000;
  const elements = Array.from({ length: COUNT }, (_, i) => i);
  const params = [{ elements, dimensions: [COUNT], lowerBounds: [1] }];
  const error = database.errorOf(amongPlan(false), { params, memoryBytesMax: 1_000_000 });
  t.match(error, { details: { sqlstate: "53200" } });
  const context = database.context({ params });
  await runToCompletion(compilePlan(amongPlan(false)), context, { maxRows: 10 });
  t.equal(context.statement.memoryBytes, 0, "and are given back");
});

t.test("the row cap cuts the result and says so", async (t) => {
  const database = await filled(t);
  t.match(database.result(scan(T), { maxRows: 10 }), { truncated: true, rows: { length: 10 } });
  t.match(database.result(scan(T), { maxRows: ROWS }), { truncated: false, rows: { length: ROWS } });
});

t.test("concurrent runs of one program do not meet", async (t) => {
  const database = await filled(t);
  const [a, b] = [scan(T, "a"), scan(T, "b")];
  const pairs = hashJoin("inner", a, b, [col(a, "id"), col(b, "id")], null);
  const program = compilePlan(filter(sort(pairs, asc(col(a, "s"))), op(col(a, "id"), "<", param(0, INT4))));
  const runs = [10, 200, 3000].map((below) => {
    let steps = 0;
    const context = database.context({
      params: [below],
      shouldYield: () => ++steps % 2 === 0,
      yieldTurn: () => new Promise((resolve) => setImmediate(resolve)),
    });
    return runToCompletion(program, context, { maxRows: Number.POSITIVE_INFINITY });
  });
  const results = await Promise.all(runs);
  t.strictSame(
    results.map((result) => result.rows.length),
    [10, 200, 3000],
  );
});

t.test("what a list costs is known when its parts were counted", async (t) => {
  const list: Variant[] = Array.from({ length: 1000 }, () => [1]);
  t.equal(partsOf(list), 2001);
  list.length = 1;
  t.equal(unitsOf(list), 2001, "it is not looked through again");
});
