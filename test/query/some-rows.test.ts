/** Few rows of a stored column have the values that the whole column has in them, and nothing of it stays in memory. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { columnOf, valueAt } from "../../src/query/exec/segments/column.js";
import { KeyCollector, type SomeRows } from "../../src/query/exec/segments/segment.js";
import { ColumnFile, ColumnFileWriter } from "../../src/query/exec/segments/stored/column-file.js";
import { CachedPages, PageCache } from "../../src/query/exec/segments/stored/page-cache.js";
import { BOOL, FLOAT8, INT4, INT8, type SqlType, TEXT, type Value } from "../../src/values/values.js";

const folder = mkdtempSync(join(tmpdir(), "tessera-test-"));
t.teardown(() => rmSync(folder, { recursive: true }));

const ROWS = 1000;
const rowsOf = (value: (row: number) => Value): Value[] => Array.from({ length: ROWS }, (_, row) => value(row));
const orNull = (row: number, value: Value): Value => (row % 7 === 3 ? null : value);

/** Stored as they are, in one, two and four bytes; with and without NULLs; texts that repeat, and others. */
const COLUMNS: readonly (readonly [SqlType, Value[]])[] = [
  [INT4, rowsOf((row) => 1_000_000 + ((row * 37) % 200))],
  [INT4, rowsOf((row) => orNull(row, -5 * ((row * 7919) % 3001)))],
  [INT4, rowsOf((row) => ((row * 48_271) % 4_000_000_000) - 2_000_000_000)],
  [INT8, rowsOf((row) => 5_000_000_000 + row * 1_000_003)],
  [INT8, rowsOf((row) => orNull(row, 3))],
  [FLOAT8, rowsOf((row) => orNull(row, row / 7))],
  [FLOAT8, rowsOf((row) => (row % 3 === 0 ? Number.NaN : row % 3 === 1 ? Number.NEGATIVE_INFINITY : -0))],
  [BOOL, rowsOf((row) => orNull(row, row % 2 === 0))],
  [TEXT, rowsOf((row) => orNull(row, `kind ${row % 9}`))],
  [TEXT, rowsOf((row) => orNull(row, `größe ${row}`))],
  [TEXT, rowsOf(() => null)],
];

function fileOf(name: string): string {
  const path = join(folder, name);
  const writer = new ColumnFileWriter(path);
  const keys = new KeyCollector(0);
  for (let row = 0; row < ROWS; row++) keys.add(Buffer.from(String(row).padStart(4, "0")));
  const columns = COLUMNS.map(([type, values], id) => [id, { type, column: columnOf(type, values, ROWS) }] as const);
  writer.add({ from: "0", to: "1" }, keys.take(), new Map(columns));
  writer.finish();
  return path;
}

function pagesOf(path: string): { readonly pages: CachedPages; readonly cache: PageCache } {
  const cache = new PageCache(() => 1e9);
  return { cache, pages: new CachedPages(new ColumnFile(path, 0).segments[0]!, cache, (id) => COLUMNS[id]![0]) };
}

const valuesIn = ({ column, places }: SomeRows): Value[] => places.map((place) => valueAt(column, place));

t.test("few rows are read without the column, many with it, and what is in memory is used", async (t) => {
  const { pages, cache } = pagesOf(fileOf("whole.columns"));
  const few = Array.from({ length: 100 }, (_, i) => (i * 271) % ROWS).sort((a, b) => a - b);
  const check = (id: number, rows: readonly number[]) => {
    const expected = rows.map((row) => COLUMNS[id]![1][row]!);
    t.same(valuesIn(pages.someRows(id, rows)), expected, `column ${id}, ${rows.length} rows`);
  };
  for (const id of COLUMNS.keys()) check(id, few);
  t.equal(cache.bytes, 0);
  for (const id of COLUMNS.keys()) check(id, [ROWS - 1]);
  t.equal(cache.bytes, 0);
  const many = Array.from({ length: ROWS / 2 }, (_, i) => 2 * i);
  for (const id of COLUMNS.keys()) check(id, many);
  t.ok(COLUMNS.every((_, id) => pages.isRead(id)));
  const { misses } = cache;
  for (const id of COLUMNS.keys()) check(id, few);
  t.equal(cache.misses, misses);
});

t.test("a page whose checksum does not match is noticed", async (t) => {
  const path = fileOf("damaged.columns");
  const bytes = readFileSync(path);
  bytes.fill(0xa5, 8, bytes.length / 2);
  writeFileSync(path, bytes);
  t.throws(() => pagesOf(path).pages.someRows(0, [1, 2, 3]), { message: /checksum of a page/ });
});
