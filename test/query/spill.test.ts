/**
 * Statements that need more than their memory sort, join and group on disk, with the same rows, and leave nothing
 * there.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import t, { type Test } from "tap";
import { sharedByNobody } from "../../src/actor/actor-shared.js";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { SpillArea } from "../../src/query/exec/spill/spill-area.js";
import { Session } from "../../src/session/session.js";
import { plainRows, type RowCollector, type Rows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { sized } from "../lengths.js";
import { directory, openShard } from "../storage/shards.js";

/**
 * In a whole run of the tests each query gets one of the sides with little memory, another one than the query before
 * it.
 */
const sidesOf = <T>(sides: readonly T[], place: number): readonly T[] => sized([sides[place % sides.length]!], sides);

const MIB = 1024 * 1024;
const ROWS = 30_000;

/** Collects rows as if they left at once, so that only the operators' memory counts. */
const uncounted: RowCollector = (shape) => {
  const rows = plainRows(shape);
  const append: Rows["append"] = (batch, count) => {
    rows.append(batch, count);
    return 0;
  };
  return { plain: rows.plain!, append };
};

interface Side {
  readonly area: SpillArea;
  readonly files: string;
  run(sql: string, cancelAfter?: number, collector?: RowCollector): Promise<readonly unknown[]>;
}

await loadParser();
const shard = await openShard(t);

/** The same tables for all tests; each test has its files in a folder of its own. */
function open(t: Test, spillBytesMax = 1024 * MIB): (memoryBytes: number, segmentBytes?: number) => Side {
  const files = join(directory(t), "spill");
  const area = new SpillArea(files, spillBytesMax);
  const side = (memoryBytes: number, segmentBytes = 0): Side => {
    const config = loadConfig({ env: { TESSERA_QUERY_MEMORY_BYTES_MAX: String(memoryBytes) } });
    const partition = new Partition(
      0,
      shard,
      config,
      () => undefined,
      sharedByNobody(config, { segments: new SegmentCache(segmentBytes), spill: area }),
    );
    const tenant = partition.tenant(7);
    const options = { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "statements" } as const;
    const session = new Session(tenant, options);
    return {
      area,
      files,
      async run(sql, cancelAfter = Number.POSITIVE_INFINITY, collector = uncounted) {
        let turns = 0;
        const request = {
          checkpoint: () => undefined,
          shouldYield: () => turns < 1e9 && ++turns % 5 === 0,
          yieldTurn: () => (turns > cancelAfter ? Promise.reject(new Error("cancelled")) : Promise.resolve()),
        };
        const run = { sql, params: [], maxRows: 1_000_000, collector, request };
        const outcome = await session.execute(run, (tx) => tenant.commit(tx));
        shard.flush();
        return outcome.rows.plain!;
      },
    };
  };
  return side;
}

async function fill(side: Side): Promise<void> {
  await side.run("CREATE TABLE big (a int PRIMARY KEY, k int, t text, n numeric(12,2))");
  await side.run("CREATE TABLE other (a int PRIMARY KEY, k int, u text)");
  for (let from = 0; from < ROWS; from += 1000) {
    const each = (row: (i: number) => string) => Array.from({ length: 1000 }, (_, i) => row(from + i)).join();
    await side.run(
      `INSERT INTO big VALUES ${each((i) => {
        const k = (i * 7919) % 10_007;
        return `(${i}, ${i % 97 === 0 ? "NULL" : k}, 'text ${(i * 31) % 5003} ${"x".repeat(i % 40)}', ${k / 100})`;
      })}`,
    );
    await side.run(
      `INSERT INTO other VALUES ${each((i) => `(${i}, ${i % 89 === 0 ? "NULL" : (i * 13) % 15_013}, 'u${i % 100}')`)}`,
    );
  }
}

await fill(open(t)(512 * MIB));

const QUERIES = [
  "SELECT * FROM big ORDER BY t, a DESC",
  "SELECT t, n FROM big ORDER BY n DESC NULLS FIRST, k, a",
  "SELECT k, count(*), sum(n), min(t), max(t) FROM big GROUP BY k ORDER BY k",
  "SELECT t, k, count(*), sum(n), max(a) FROM big GROUP BY t, k ORDER BY t, k",
  "SELECT a, t, count(DISTINCT k), min(n) FROM big GROUP BY t, a ORDER BY a",
  // Keys that have no place in typed arrays come when the memory is full.
  "SELECT CASE WHEN a > 25000 AND a % 100 < 9 THEN 9007199254740993 + a / 100 ELSE a END AS g, count(*), max(t) FROM big GROUP BY 1 ORDER BY 1",
  "SELECT t || k AS g, avg(n), max(a) FROM big GROUP BY t || k ORDER BY 1, 3",
  ...["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"].map(
    (join) => `SELECT x.a, y.a, x.t, y.u FROM big x ${join} other y ON x.k = y.k AND x.a % 3 <> 0 ORDER BY 1, 2`,
  ),
  "SELECT a, t FROM big x WHERE EXISTS (SELECT 1 FROM other y WHERE y.k = x.k AND y.u <> x.t) ORDER BY t, a",
  "SELECT a, t FROM big x WHERE NOT EXISTS (SELECT 1 FROM other y WHERE y.k = x.k AND y.u <> x.t) ORDER BY t, a",
  // Fewer rows to the left, by the estimates: the table is made of those.
  ...["", "NOT"].map(
    (not) =>
      `SELECT *, t || t FROM big x WHERE a > 50 AND ${not} EXISTS (SELECT 1 FROM other y WHERE y.k = x.k AND y.u <> x.t) ORDER BY t, a`,
  ),
];

/** Rows of WITH tables with several readers: one after the other, one within another, and one that stops early. */
const SHARED_QUERIES = [
  "WITH x AS MATERIALIZED (SELECT * FROM big) SELECT count(*), sum(a), max(t), (SELECT sum(n) FROM x WHERE t > 'text 3') FROM x",
  `WITH x AS MATERIALIZED (SELECT a, k, t || t AS t FROM big)
     SELECT 1, a, t FROM x WHERE a % 50 = 0 UNION ALL SELECT 2, k, t FROM x WHERE a % 50 = 1 ORDER BY 1, 2, 3`,
  // The inner reader goes to the end while the outer one has the first batch.
  `WITH x AS MATERIALIZED (SELECT * FROM big)
     SELECT a, t, n, (SELECT count(*) FROM x y WHERE y.k = x.a % 2) FROM x WHERE a % 500 = 0 ORDER BY 1`,
  `WITH x AS MATERIALIZED (SELECT * FROM big), y AS MATERIALIZED (SELECT t || 'y' AS t, a FROM x)
     SELECT (SELECT max(t) FROM y), l.a, r.t FROM x l JOIN y r ON l.a = r.a WHERE l.k < 50 ORDER BY 2`,
  `WITH x AS MATERIALIZED (SELECT * FROM big) SELECT (SELECT t FROM x LIMIT 1), (SELECT t FROM x OFFSET ${(2 * ROWS) / 3} LIMIT 1)`,
  // The rows of the query wait for the change.
  "WITH c AS (UPDATE other SET u = u WHERE a % 100 = 0 RETURNING a) SELECT big.*, c.a AS c FROM big LEFT JOIN c USING (a)",
];

/** As t.same, which takes twenty times as long for tens of thousands of rows; it shows what differs. */
function sameRows(t: Test, rows: readonly unknown[], expected: readonly unknown[], what: string): void {
  if (isDeepStrictEqual(rows, expected)) t.pass(what);
  else t.same(rows, expected, what);
}

t.test("rows of WITH tables go to disk", async (t) => {
  const side = open(t);
  const [small, onSegments, large] = [side(2 * MIB), side(2 * MIB, 64 * MIB), side(512 * MIB)];
  for (const [place, sql] of SHARED_QUERIES.entries()) {
    const expected = await large.run(sql);
    for (const { run, area } of sidesOf([small, onSegments], place)) {
      const before = area.bytesWritten;
      sameRows(t, await run(sql), expected, sql);
      t.ok(area.bytesWritten > before, `on disk: ${sql}`);
      t.equal(area.bytes, 0, "and none after it");
    }
    await t.rejects(small.run(sql, 70), /cancelled/, `cancelled: ${sql}`);
    t.equal(small.area.bytes, 0, "none after the end");
  }
});

t.test("rows are the same on disk and in memory", async (t) => {
  const side = open(t);
  // A chunk of a segment brings 4,096 groups at once, of which the share for going to disk has to have room.
  const [small, onSegments, large] = [side(2 * MIB), side(4.5 * MIB, 64 * MIB), side(512 * MIB)];
  for (const [place, sql] of QUERIES.entries()) {
    const expected = await large.run(sql);
    for (const { run, area } of sidesOf([small, onSegments], place)) {
      const before = area.bytesWritten;
      sameRows(t, await run(sql), expected, sql);
      // Columns of segments take less memory: some joins and sorts do without the disk.
      const written = area.bytesWritten - before;
      const isShort = run === onSegments.run && (sql.includes("EXISTS") || sql.startsWith("SELECT t, n FROM"));
      t.ok(written > 0 || isShort, `${written} bytes on disk: ${sql}`);
      t.equal(area.bytes, 0, "and none after it");
    }
  }
});

t.test("a statement that ends early leaves nothing", async (t) => {
  const side = open(t);
  const small = side(2 * MIB);
  for (const sql of QUERIES.filter((_, i) => i % sized(2, 1) === 0))
    await t.rejects(small.run(sql, 70), /cancelled/, sql);
  t.ok(small.area.bytesWritten > 0);
  t.equal(small.area.bytes, 0);
  t.same(readdirSync(small.files), []);
});

t.test("the files of one statement are bounded", async (t) => {
  const side = open(t, 100_000);
  await t.rejects(side(2 * MIB).run(QUERIES[0]!), { message: /temporary file size exceeds/ });
});

t.test("rows of a result count as memory of the statement", async (t) => {
  const side = open(t);
  const statement = side(MIB).run("SELECT * FROM big", Number.POSITIVE_INFINITY, plainRows);
  await t.rejects(statement, { message: "out of memory", details: { sqlstate: "53200" } });
});
