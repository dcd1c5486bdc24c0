/** Window functions against frames worked out row by row from their definition. */
import fc from "fast-check";
import t from "tap";
import type { TableDef } from "../../src/catalog/table.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import type { SqlArray, Value } from "../../src/values/values.js";
import { tries } from "../lengths.js";
import { bindAll, catalogOf } from "../sql/tables.js";
import { openShard } from "../storage/shards.js";
import { Database } from "./run-plans.js";

await loadParser();

const shard = await openShard(t);
const CATALOG = catalogOf(shard.begin(), "create table t (id int primary key, g int, x int, v int)");
const DEF = CATALOG.table(null, "t") as TableDef;

function planOf(sql: string): Plan {
  const [bound] = bindAll(sql, CATALOG);
  if (bound?.kind !== "query") throw new Error(`${sql} is not a query`);
  return bound.plan;
}

interface Row {
  readonly id: number;
  readonly g: number | null;
  readonly x: number | null;
  readonly v: number | null;
}

interface Bound {
  readonly kind: "unbounded preceding" | "preceding" | "current row" | "following" | "unbounded following";
  readonly by: number;
}

interface Frame {
  readonly mode: "rows" | "range" | "groups";
  readonly start: Bound;
  readonly end: Bound;
  readonly exclude: string;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

const ORDER: readonly Bound["kind"][] = [
  "unbounded preceding",
  "preceding",
  "current row",
  "following",
  "unbounded following",
];

const bound = fc.record({ kind: fc.constantFrom(...ORDER), by: fc.nat(3) });

const frames: fc.Arbitrary<Frame> = fc
  .record({
    mode: fc.constantFrom("rows" as const, "range" as const, "groups" as const),
    start: bound,
    end: bound,
    exclude: fc.constantFrom("no others", "no others", "current row", "group", "ties"),
    descending: fc.boolean(),
    nullsFirst: fc.boolean(),
  })
  // What the grammar takes.
  .filter(
    ({ start, end }) =>
      start.kind !== "unbounded following" &&
      end.kind !== "unbounded preceding" &&
      ORDER.indexOf(start.kind) <= ORDER.indexOf(end.kind),
  );

const small = fc.option(fc.integer({ min: -3, max: 3 }));
const tables = fc
  .array(fc.record({ g: fc.option(fc.nat(2)), x: small, v: small }), { maxLength: 30 })
  .map((rows) => rows.map((row, i): Row => ({ id: i + 1, ...row })));

/** The rows of the partition that are in the frame of row `at`, by the manual's words. */
function frameOf(partition: readonly Row[], at: number, frame: Frame): Row[] {
  const current = partition[at]!;
  const groups = partition.map((_, i) => new Set(partition.slice(0, i + 1).map((row) => row.x)).size);
  const sign = frame.descending ? -1 : 1;
  const inside = (row: Row, i: number, { kind, by }: Bound, isStart: boolean): boolean => {
    if (kind.startsWith("unbounded")) return true;
    const distance = kind === "preceding" ? -by : kind === "following" ? by : 0;
    let position: number;
    if (frame.mode === "rows") position = i - at - distance;
    else if (frame.mode === "groups" || kind === "current row") position = groups[i]! - groups[at]! - distance;
    else if (row.x === null || current.x === null) position = groups[i]! - groups[at]!;
    else position = (row.x - current.x) * sign - distance;
    return isStart ? position >= 0 : position <= 0;
  };
  return partition.filter((row, i) => {
    if (!inside(row, i, frame.start, true) || !inside(row, i, frame.end, false)) return false;
    const peer = row.x === current.x;
    if (frame.exclude === "current row") return i !== at;
    if (frame.exclude === "group") return !peer;
    return frame.exclude !== "ties" || !peer || i === at;
  });
}

function expected(rows: readonly Row[], frame: Frame): Map<number, unknown[]> {
  const result = new Map<number, unknown[]>();
  for (const g of new Set(rows.map((row) => row.g))) {
    const rank = (x: number | null) => (x === null ? (frame.nullsFirst ? -1e9 : 1e9) : frame.descending ? -x : x);
    const partition = rows.filter((row) => row.g === g).sort((a, b) => rank(a.x) - rank(b.x) || a.id - b.id);
    partition.forEach((row, at) => {
      const inFrame = frameOf(partition, at, frame);
      const values = inFrame.flatMap(({ v }) => (v === null ? [] : [v]));
      const or = (value: number) => (values.length === 0 ? null : value);
      result.set(row.id, [
        or(values.reduce((sum, v) => sum + v, 0)),
        values.length,
        or(Math.min(...values)),
        or(Math.max(...values)),
        values.filter((v) => v > 0).length,
        inFrame[0]?.id ?? null,
        inFrame.at(-1)?.id ?? null,
        inFrame[1]?.id ?? null,
        inFrame.length === 0 ? null : inFrame.map(({ id }) => id),
        at + 1,
        partition.findIndex((other) => other.x === row.x) + 1,
        new Set(partition.slice(0, at + 1).map((other) => other.x)).size,
        partition[at - 1]?.v ?? null,
        at + 2 < partition.length ? partition[at + 2]!.v : -7,
      ]);
    });
  }
  return result;
}

function sqlOf(frame: Frame): string {
  const end = ({ kind, by }: Bound) => (kind === "preceding" || kind === "following" ? `${by} ${kind}` : kind);
  const nulls = frame.nullsFirst ? "NULLS FIRST" : "NULLS LAST";
  return `SELECT id, sum(v) OVER w, count(v) OVER w, min(v) OVER w, max(v) OVER w, count(*) FILTER (WHERE v > 0) OVER w,
    first_value(id) OVER w, last_value(id) OVER w, nth_value(id, 2) OVER w, array_agg(id) OVER w, row_number() OVER w,
    rank() OVER w, dense_rank() OVER w, lag(v) OVER w, lead(v, 2, -7) OVER w
    FROM t WINDOW w AS (PARTITION BY g ORDER BY x ${frame.descending ? "DESC" : ""} ${nulls}
      ${frame.mode} BETWEEN ${end(frame.start)} AND ${end(frame.end)} EXCLUDE ${frame.exclude})`;
}

const plain = (value: Value): unknown =>
  typeof value === "object" && value !== null && "elements" in value ? [...(value as SqlArray).elements] : value;

function difference(found: readonly (readonly Value[])[], model: Map<number, unknown[]>): string | null {
  if (found.length !== model.size) return `${found.length} rows instead of ${model.size}`;
  for (const [id, ...values] of found) {
    const [have, want] = [values.map(plain), model.get(id as number)];
    if (JSON.stringify(have) !== JSON.stringify(want)) {
      return `row ${id}: ${JSON.stringify(have)} instead of ${JSON.stringify(want)}`;
    }
  }
  return null;
}

t.test("frames of every kind hold the rows that the manual says", async (t) => {
  const database = await Database.open(t);
  let id = 100;
  fc.assert(
    fc.property(tables, frames, fc.constantFrom(1, 3, 1000), (rows, frame, batchRows) => {
      const def = { ...DEF, id: id++ };
      database.insert(
        def,
        rows.map(({ id, g, x, v }) => [id, g, x, v]),
      );
      const plan = optimize(planOver(planOf(sqlOf(frame)), def));
      const wrong = difference(database.rows(plan, { batchRows }), expected(rows, frame));
      if (wrong !== null) throw new Error(`${sqlOf(frame)}\n${wrong}`);
    }),
    { numRuns: tries(100), endOnFailure: true },
  );
  t.pass("all alike");
});

/** The plan over another table of the same shape. */
function planOver(plan: Plan, def: TableDef): Plan {
  if (plan.kind === "scan") return { ...plan, table: def };
  if (!("input" in plan)) throw new Error(plan.kind);
  return { ...plan, input: planOver(plan.input, def) } as Plan;
}

t.test("a large partition gives turns and stays within its memory", async (t) => {
  const database = await Database.open(t);
  database.insert(
    DEF,
    Array.from({ length: 5000 }, (_, i) => [i, i % 2, i % 100, i]),
  );
  const plan = optimize(planOf("SELECT sum(v) OVER (PARTITION BY g ORDER BY id) FROM t"));
  let turns = 0;
  const rows = await database.yieldingRows(plan, { yieldTurn: async () => void turns++ });
  // 1 + 3 + … + 4999
  t.equal(rows.at(-1)?.[0], 2500 * 2500);
  t.ok(turns > 5, `${turns} turns`);
  const growing = optimize(planOf("SELECT array_agg(v) OVER (ORDER BY id) FROM t"));
  t.equal(database.errorOf(growing, { memoryBytesMax: 4_000_000 }).details?.sqlstate, "53200");
});

t.test("a window function over 20000 sliding rows does not go through each frame again", async (t) => {
  const database = await Database.open(t);
  database.insert(
    DEF,
    Array.from({ length: 20_000 }, (_, i) => [i, 0, i, i % 7]),
  );
  const sql = `SELECT sum(v) OVER w, max(v) OVER w, count(*) OVER w FROM t
    WINDOW w AS (ORDER BY id ROWS BETWEEN 10000 PRECEDING AND CURRENT ROW)`;
  let checks = 0;
  const rows = database.rows(optimize(planOf(sql)), { checkpoint: () => void checks++ });
  t.equal(rows.length, 20_000);
  // Each row is stepped in and out a few times, not ten thousand.
  t.ok(checks < 1000, `${checks} looks at the clock`);
});
