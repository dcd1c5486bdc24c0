/** INSERT … SELECT of many rows makes records of columns: they must be those that values would make. */
import t from "tap";
import { type FrameColumn, textDictionaryFrames } from "../../src/query/exec/column-frames.js";
import { TextDictionary } from "../../src/query/exec/segments/column.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { textsOf } from "../../src/query/exec/segments/text-column.js";
import { memoryOf } from "../../src/storage/copy-bytes.js";
import type { SqlType } from "../../src/values/values.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { Random } from "./random-plans.js";
import { CREATE, SIZES, Side, write } from "./segment-histories.js";

const ROWS = 2500;
const BOTH = SIZES.recordsBefore;

/** The engine takes what was committed. */
async function settle(side: Side): Promise<void> {
  const { shard } = side.partition;
  side.flush();
  await applyBacklog(shard);
}

/** A side with segments of a table of all types and one without, with the same rows. */
async function sides(t: Parameters<typeof Side.open>[0], seed: number): Promise<readonly [Side, Side]> {
  const random = new Random(seed);
  const on = await Side.open(t, new SegmentCache(1e9, { ...SIZES, segmentRows: 700 }));
  const off = await Side.open(t, new SegmentCache(0));
  const both = async (sql: string) => {
    for (const side of [on, off]) {
      await side.run(0, sql);
      await settle(side);
    }
  };
  await both(CREATE);
  const texts = ["'abc'", "NULL", "'ünï 😀'", `'${"long ".repeat(60)}'`];
  for (let from = 0; from < ROWS; from += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => {
      const n = from + i;
      const pick = (...values: readonly string[]) => values[random.below(values.length)]!;
      return `(${n}, ${n % 7}, ${pick(...texts)}, ${pick("1.25", "-0.5", "NULL")}, ${pick("DATE '2020-01-01'", "'infinity'", "NULL")},
        ${pick("'NaN'", "0.1", "-0.0", "1e30")}, ${pick("1", "9007199254740993", "-5", "4000000000", "NULL")}, ${pick("true", "false", "NULL")},
        ${pick("1.5", "'NaN'", "12345678901234567890")}, ${pick("'[1,2]'", "NULL")}, ${random.below(5) === 0 ? "NULL" : `'é text ${n}'`})`;
    });
    await both(`INSERT INTO m VALUES ${rows.join()}`);
  }
  for (let i = 0; i < 40; i++) await both(write(random));
  // Segments are made by scans.
  for (let i = 0; i < BOTH; i++)
    await on.run(
      0,
      "SELECT count(a), count(b), count(t), count(n), count(d), count(f), count(l), count(o), count(v), count(w), count(u) FROM m",
    );
  return [on, off];
}

const COPIES = [
  "CREATE TABLE c AS SELECT * FROM m",
  "CREATE TABLE c AS SELECT u, b + 1 AS b, a, t || 'x' AS t, d, l FROM m WHERE a % 3 > 0",
  "CREATE TABLE c (a bigint PRIMARY KEY, u varchar(30), o text, f real, d timestamp, dropped int, n numeric(12,1));\
   ALTER TABLE c DROP COLUMN dropped; ALTER TABLE c ADD COLUMN added text DEFAULT 'd'; CREATE INDEX ON c (o, a);\
   INSERT INTO c (u, a, o, f, d, n) SELECT u, 100 * a::bigint + b, t, f, d, n FROM m",
  "CREATE TABLE c (a int, b int, u text NOT NULL); INSERT INTO c SELECT a, b, u FROM m WHERE u IS NOT NULL OR a > 2000",
  "CREATE TABLE c (a int, b int, CHECK (b < 5)); INSERT INTO c SELECT a, b FROM m WHERE b < 5 OR a > 2000",
  "CREATE TABLE c (a int PRIMARY KEY, b int); INSERT INTO c SELECT a % 2000, b FROM m",
  "CREATE TABLE c (a int, s int GENERATED ALWAYS AS (a * 2) STORED, u text); INSERT INTO c (a, u) SELECT a, u FROM m",
];

t.test("copies have the same rows with and without columns", async (t) => {
  const [on, off] = await sides(t, 7);
  for (const copy of COPIES) {
    const answers: string[][] = [];
    for (const side of [on, off]) {
      const found: string[] = [];
      await side.run(0, "DROP TABLE IF EXISTS c");
      for (const sql of copy.split(";")) {
        found.push(await side.run(0, sql));
        await settle(side);
      }
      found.push(await side.run(0, "SELECT c::text FROM c"));
      answers.push(found);
    }
    t.same(answers[0], answers[1], copy);
    const failed = answers[0]!.filter((answer) => answer.startsWith("error"));
    t.equal(failed.length, /NOT NULL|CHECK|% 2000/.test(copy) ? 1 : 0, failed.join());
  }
  t.ok(on.segments.built > 0);
});

const TEXT = { name: "text", modifier: null } as SqlType;

/** The frames of all rows, end to end, and which row is the first NULL. */
function framesOf(frames: FrameColumn, rows: number): { readonly firstNull: number; readonly bytes: string } {
  const all = Int32Array.from({ length: rows }, (_, i) => i);
  const sizes = new Int32Array(rows);
  const firstNull = frames.measure(all, rows, sizes);
  const next = new Int32Array(rows);
  let end = 1;
  for (let i = 0; i < rows; i++) {
    next[i] = end;
    end += sizes[i]!;
  }
  const bytes = new Uint8Array(end);
  frames.write(all, 0, rows, memoryOf(bytes), next, { places: new Int32Array(rows), at: 0, bit: 1 });
  return { firstNull, bytes: Buffer.from(bytes).toString("hex") };
}

t.test("a dictionary of texts is copied without making its values", async (t) => {
  const values = ["abc", null, "ünï 😀", "", "long ".repeat(60)];
  const codes = Uint8Array.from({ length: 50 }, (_, i) => (i * 7) % values.length);
  const stored = new TextDictionary(codes, textsOf(values, values.length)!);
  Object.defineProperty(stored, "values", { get: () => t.fail("nobody needs the values") });
  const plain = { kind: "dictionary", codes, values, bytes: 0 } as const;
  const expected = framesOf(textDictionaryFrames(TEXT, plain), codes.length);
  t.equal(expected.firstNull, codes.indexOf(1));
  t.same(framesOf(textDictionaryFrames(TEXT, stored), codes.length), expected);
});
