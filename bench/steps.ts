/**
 * How long each kind of statement keeps the actor's loop: the CPU time between two looks at the clock, in each of its
 * phases. CPU time, because a clock also counts what other programs do; the least of some runs, because garbage is
 * collected at any time. ROWS (20,000) shows what grows with the rows.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Partition } from "../src/actor/partition.js";
import { loadConfig } from "../src/config/load-config.js";
import { SegmentCache } from "../src/query/exec/segments/segment-cache.js";
import { Session } from "../src/session/session.js";
import { plainRows } from "../src/session/sql-result.js";
import { threadCpuMs } from "../src/session/thread-cpu.js";
import { loadParser } from "../src/sql/parse/parse.js";
import { openShardOnDisk } from "../src/storage/shard-on-disk.js";

const ROWS = Number(process.env.ROWS ?? 20_000);
const RUNS = 3;

class Client {
  readonly session: Session;
  /** CPU milliseconds of the last statement's longest step, and of all. */
  longestMs = 0;
  totalMs = 0;
  private lastLook = 0;

  private constructor(private readonly partition: Partition) {
    const options = { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "statements" } as const;
    this.session = new Session(partition.tenant(7), options);
  }

  static async open(directory: string): Promise<Client> {
    await loadParser();
    const config = loadConfig({ env: {} });
    const shard = await openShardOnDisk(directory, {});
    return new Client(new Partition(0, shard, config, () => undefined, new SegmentCache(1e9)));
  }

  close(): Promise<void> {
    return this.partition.shard.close();
  }

  async run(sql: string): Promise<void> {
    this.longestMs = 0;
    this.totalMs = 0;
    this.lastLook = threadCpuMs()!;
    const request = {
      checkpoint: () => undefined,
      shouldYield: () => {
        this.look();
        return true;
      },
      yieldTurn: () => {
        this.look();
        return Promise.resolve();
      },
    };
    const tenant = this.partition.tenant(7);
    await this.session.execute({ sql, params: [], maxRows: 1e6, collector: plainRows, request }, (tx) =>
      tenant.commit(tx),
    );
    this.look();
    const { shard } = this.partition;
    shard.flush();
    // As the actor does it, between requests.
    if (shard.hasBacklog)
      await this.partition.applyBacklog({ shouldYield: () => false, yieldTurn: () => Promise.resolve() });
  }

  private look(): void {
    const now = threadCpuMs()!;
    this.longestMs = Math.max(this.longestMs, now - this.lastLook);
    this.totalMs += now - this.lastLook;
    this.lastLook = threadCpuMs()!;
  }
}

const QUERIES: Readonly<Record<string, string>> = {
  scan: "SELECT * FROM m WHERE b < 3",
  "sort by text": "SELECT id FROM m ORDER BY t",
  "sort and skip": `SELECT id FROM m ORDER BY b, t OFFSET ${ROWS - 5}`,
  "group by text": "SELECT t, count(*) FROM m GROUP BY t",
  "group by number": "SELECT id, count(*) FROM m GROUP BY id",
  "grouping sets": "SELECT t, b, count(*), sum(id) FROM m GROUP BY GROUPING SETS ((t), (b), ())",
  "ordered aggregate": "SELECT length(string_agg(t, ',' ORDER BY b, id DESC)) FROM m",
  "ordered aggregate in grouping sets": "SELECT b, array_agg(t ORDER BY id DESC) FROM m GROUP BY ROLLUP (b)",
  "aggregate of distinct values": "SELECT count(DISTINCT t), count(DISTINCT id) FROM m",
  "ordered set": "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f), mode() WITHIN GROUP (ORDER BY b) FROM m",
  distinct: "SELECT DISTINCT t, b FROM m",
  "hash join": "SELECT count(*) FROM m x JOIN m y ON x.t = y.t AND x.b = y.b",
  "full join": "SELECT count(y.t) FROM m x FULL JOIN m y ON x.id = y.id + 100",
  "merge join": "SELECT count(t) FROM (SELECT id, x.t FROM m x FULL JOIN m y USING (id) ORDER BY id OFFSET 0) z",
  "merge join of repeated keys":
    "SELECT count(*) FROM (SELECT b, id FROM m WHERE id < 5000 ORDER BY b) x JOIN (SELECT b, id FROM m WHERE id < 5000 ORDER BY b) y ON x.b = y.b AND x.id = y.id + 1",
  "long list": `SELECT count(*) FROM m WHERE id IN (${Array.from({ length: 10_000 }, (_, i) => i * 2)})`,
  "anti join": "SELECT count(*) FROM m x WHERE NOT EXISTS (SELECT FROM m y WHERE y.t = x.t AND y.id <> x.id)",
  "not in": "SELECT count(*) FROM m x WHERE id NOT IN (SELECT b FROM m)",
  union: "SELECT t FROM m UNION SELECT t || 'x' FROM m",
  except: "SELECT t, b FROM m EXCEPT SELECT t, b FROM m WHERE b > 3",
  "intersect all": "SELECT t FROM m INTERSECT ALL SELECT t FROM m WHERE b > 3",
  window: "SELECT rank() OVER (PARTITION BY b ORDER BY t), lag(t) OVER (ORDER BY id) FROM m",
  "window frame": "SELECT sum(f) OVER (ORDER BY id ROWS 10 PRECEDING), count(*) OVER () FROM m",
  "window over values":
    "SELECT max(t) OVER (ORDER BY b RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM m WHERE id < 5000",
  recursion: `WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${ROWS / 10}) SELECT sum(n) FROM r`,
  "wide recursion":
    "WITH RECURSIVE r (n, k) AS (SELECT id, 0 FROM m UNION SELECT n, k + 1 FROM r WHERE k < 2) SELECT count(*) FROM r",
  "with table": "WITH w AS MATERIALIZED (SELECT * FROM m) SELECT count(*) FROM w a JOIN w b USING (id)",
  series: `SELECT count(*) FROM generate_series(1, ${ROWS}) n WHERE n % 2 = 0`,
  unnest: "SELECT count(*) FROM m, unnest(ARRAY[1, 2, 3]) u",
  lateral: "SELECT count(*) FROM m x, LATERAL (SELECT id FROM m y WHERE y.id = x.id + 1) z",
};

/** Run once each, in this order. */
const CHANGES: Readonly<Record<string, string>> = {
  "insert from a query": "INSERT INTO n SELECT id, b, t FROM m",
  "insert with conflicts": "INSERT INTO n SELECT id, b, t FROM m ON CONFLICT (id) DO UPDATE SET b = excluded.b + 1",
  "insert into partitions": "INSERT INTO p SELECT id, b FROM m",
  update: "UPDATE n SET t = t || 'x' WHERE id % 2 = 0",
  "update of keys": "UPDATE n SET id = -id",
  merge: "MERGE INTO n USING m ON n.id = -m.id WHEN MATCHED AND m.b < 3 THEN DELETE WHEN MATCHED THEN UPDATE SET b = 0",
  "create index": "CREATE INDEX ni ON n (t)",
  "covering index": "CREATE INDEX nc ON n (b) INCLUDE (t)",
  "unique index": "CREATE UNIQUE INDEX nu ON n (id, b)",
  "rewriting alter table": "ALTER TABLE n ALTER COLUMN b TYPE bigint USING b + 1",
  "added check": "ALTER TABLE n ADD CHECK (b >= 0)",
  "added foreign key":
    "ALTER TABLE n ADD COLUMN mid int; UPDATE n SET mid = -id; ALTER TABLE n ADD FOREIGN KEY (mid) REFERENCES m",
  "create table as": "CREATE TABLE c AS SELECT * FROM m",
  "materialized view": "CREATE MATERIALIZED VIEW v AS SELECT b, t FROM m",
  refresh: "REFRESH MATERIALIZED VIEW v",
  "immutable table": "INSERT INTO i SELECT id, t FROM m",
  "verify table": "VERIFY TABLE i",
  analyze: "ANALYZE m",
  "deferred keys": "BEGIN; INSERT INTO d SELECT id, id FROM m; COMMIT",
  delete: "DELETE FROM n",
  "delete with cascade": "DELETE FROM m WHERE id % 2 = 0",
  truncate: "TRUNCATE c",
  "drop table": "DROP TABLE c",
};

const SCHEMA = [
  "CREATE TABLE m (id int PRIMARY KEY, b int, t text, f float8)",
  "CREATE TABLE n (id int PRIMARY KEY, b int, t text)",
  "CREATE TABLE p (id int, b int) PARTITION BY LIST (b)",
  ...Array.from({ length: 10 }, (_, i) => `CREATE TABLE p${i} PARTITION OF p FOR VALUES IN (${i})`),
  "CREATE IMMUTABLE TABLE i (id int PRIMARY KEY, t text)",
  "CREATE TABLE d (id int PRIMARY KEY, r int REFERENCES m ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED)",
  "CREATE INDEX ON d (r)",
  `INSERT INTO m SELECT i, i % 10, md5((i * 7919 % 65537)::text), i * 0.5 FROM generate_series(1, ${ROWS}) i`,
];

function report(name: string, longestMs: number, totalMs: number): void {
  console.log(`  ${name.padEnd(36)} ${longestMs.toFixed(1).padStart(8)} ${totalMs.toFixed(0).padStart(8)}`);
}

export async function steps(): Promise<void> {
  if (threadCpuMs() === null) throw new Error("This system does not tell the CPU time of a thread.");
  const directory = mkdtempSync(join(tmpdir(), "tessera-steps-"));
  const client = await Client.open(join(directory, "partition-0"));
  console.log(`\nlongest step of statements over ${ROWS} rows, CPU ms\n  ${"".padEnd(36)}  longest    total`);
  for (const sql of SCHEMA) await client.run(sql);
  for (const [name, sql] of Object.entries(QUERIES)) {
    let longest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < RUNS; i++) {
      await client.run(sql);
      longest = Math.min(longest, client.longestMs);
    }
    report(name, longest, client.totalMs);
  }
  for (const [name, text] of Object.entries(CHANGES)) {
    let longest = 0;
    let total = 0;
    for (const sql of text.split("; ")) {
      await client.run(sql);
      longest = Math.max(longest, client.longestMs);
      total += client.totalMs;
    }
    report(name, longest, total);
  }
  await client.close();
  rmSync(directory, { recursive: true, force: true });
}
