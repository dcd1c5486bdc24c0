/** The table, the neighbour's waits, the report and the page cache of bench/growth. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { chart } from "../../bench/growth/chart.js";
import { waitsBetween } from "../../bench/growth/neighbour-reads.js";
import { diskBytesOf, dropFromPageCache } from "../../bench/growth/page-cache.js";
import { type GrowthResult, markdown } from "../../bench/growth/report.js";
import type { SideResult, Step } from "../../bench/growth/run-side.js";
import { COLUMNS, tableRows } from "../../bench/growth/table.js";

const ROWS = 2000;

t.test("the table is the same each time, with the values that it says", (t) => {
  const body = [...tableRows(ROWS)];
  t.same(body, [...tableRows(ROWS)]);
  t.ok(body.every((row) => row.length === COLUMNS.length));
  t.equal(body.length, ROWS);
  const distinct = (column: number): number => new Set(body.map((row) => row[column])).size;
  t.equal(distinct(1), 100, "the integer to group by");
  t.equal(distinct(2), ROWS, "the integer to order by has no ties");
  t.equal(distinct(5), ROWS, "no two names are the same");
  t.ok(distinct(6) > 1000 && distinct(6) <= 5000, "some thousand texts to group by");
  t.ok(
    body.every((row) => Number.isInteger(4 * Number(row[4]))),
    "sums of x are exact",
  );
  t.ok(
    body.some((row) => String(row[5]).includes("forest")),
    "LIKE finds some",
  );
  t.end();
});

t.test("a step is charged with the reads that were due in it", (t) => {
  const samples = [
    [100, 1],
    [200, 50],
    [300, 2],
    [400, 9],
  ] as const;
  t.same(waitsBetween(samples, 150, 350), { requests: 2, p50Ms: 50, p99Ms: 50, maxMs: 50 });
  t.equal(waitsBetween(samples, 101, 199), null);
  t.end();
});

const step = (name: string, kind: Step["kind"], milliseconds: number, rows: number): Step => ({
  ...{ name, kind, milliseconds, rows, cpuMilliseconds: 10, answer: [], error: null, neighbour: null },
});

function sideOf(id: string, name: string, rows: number, factor: number): SideResult {
  return {
    ...{
      id,
      name,
      version: "1",
      memory: { peak: 2 ** 20 },
      diskBytes: 2 ** 21,
      importedBytes: 2 ** 22,
      loadAverage: 1,
    },
    pageCache: id === "tessera" ? { left: 0, of: 2 ** 23 } : null,
    steps: [
      step("import", "other", 100 * factor, rows),
      step("count(*), first", "first read", 40 * factor, rows),
      step("count(*), second", "second read", 10 * factor, rows),
      { ...step("UPDATE of 10%", "write", 20 * factor, rows / 10), neighbour: null },
    ],
  };
}

const result: GrowthResult = {
  date: "2026-01-02",
  machine: {
    ...{ processor: "P", cores: 2, memoryGib: 8, system: "S", node: "v20", loadGenerator: "g" },
    ...{ appendMs: 1, overwriteMs: 1, loadAverage: 0 },
  },
  loadAverageAfter: 0,
  waitSeconds: 1,
  sizes: [10_000, 100_000].map((rows) => ({
    rows,
    csvBytes: 2 ** 20,
    sides: [sideOf("tessera", "Tessera", rows, rows / 10_000), sideOf("postgres", "PostgreSQL", rows, 2)],
    differences: rows === 10_000 ? ["10000 rows, count(*)"] : [],
  })),
};

t.test("the report has times, ratios, means and the cost of a row", (t) => {
  const text = markdown(result);
  t.match(text, /## 10,000 rows/);
  t.ok(text.includes("| count(*), first | 40.0 | 80.0 | 0.500 |  |"), "times and the ratio to PostgreSQL");
  t.ok(text.includes("| geometric mean of 1 writes | 200 | 40.0 | 5.00 |  |"), "means of the larger size");
  t.ok(text.includes("| UPDATE of 10% | 20.0 | 20.0 | 40.0 | 4.00 |"), "microseconds a row, of a tenth of the rows");
  t.match(text, /Tessera: 8\.00 MiB of files were taken out of the page cache, 0 MiB stayed/);
  t.match(text, /PostgreSQL: its files could not be taken out of the page cache/);
  t.match(text, /\*\*Different answers\*\*: 10000 rows, count/);
  t.end();
});

t.test("means leave out what failed somewhere", (t) => {
  const [first] = result.sizes;
  const failed = { ...step("DELETE of 10%", "write", Number.NaN, 1000), error: "no" };
  const sides = first!.sides.map((side, i) => ({
    ...side,
    steps: [...side.steps, i === 0 ? failed : step("DELETE of 10%", "write", 5, 1000)],
  }));
  const text = markdown({ ...result, sizes: [{ ...first!, sides }] });
  t.ok(text.includes("| DELETE of 10% | failed | 5.00 |  |  |"));
  t.ok(text.includes("| geometric mean of 1 writes | 20.0 | 40.0 | 0.50 |  |"));
  t.match(text, /- Tessera, DELETE of 10%: no/);
  t.end();
});

t.test("the chart has a panel for each step that costs by rows, and a line for each system", (t) => {
  const svg = chart(result);
  t.equal(svg.match(/<polyline/g)?.length, 8);
  t.match(svg, /UPDATE of 10%/);
  t.notMatch(svg, /NaN|undefined/);
  t.end();
});

t.test("a folder's files leave the page cache", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tessera-test-growth-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "data"), Buffer.alloc(1 << 20, 7));
  t.ok(diskBytesOf(folder) >= 1 << 20);
  const dropped = dropFromPageCache(folder);
  if (dropped !== null) t.equal(dropped.of, 1 << 20);
  t.end();
});
