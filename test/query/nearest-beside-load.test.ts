/**
 * Vector searches that begin while the engine takes a large commit wait for it, and search then: they give the right
 * rows, and do not read all of the table.
 */
import t, { type Test } from "tap";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { plainRows } from "../../src/session/sql-result.js";
import type { Shard } from "../../src/storage/shard.js";
import { settle } from "../derived/index-store.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { openShard } from "../storage/shards.js";
import { SIZES, Side } from "./segment-histories.js";

/** More than a search takes as corrections. */
const ROWS = 5200;

type Language = "sql" | "cypher";

class Database {
  private constructor(
    readonly language: Language,
    readonly shard: Shard,
    readonly side: Side,
  ) {}

  static async open(t: Test, language: Language): Promise<Database> {
    const shard = await openShard(t);
    return new Database(language, shard, await Side.open(t, new SegmentCache(1e9, SIZES), shard));
  }

  /** Each session runs one statement at a time. */
  async ask(session: number, sql: string): Promise<string> {
    const { side, language } = this;
    const tenant = side.partition.tenant(7);
    const params = language === "sql" ? [] : {};
    const request = {
      checkpoint: () => undefined,
      shouldYield: () => false,
      yieldTurn: () => Promise.resolve(),
    };
    const { rows } = await side
      .session(session)
      .execute({ sql, language, params, maxRows: 10_000, collector: plainRows, request }, (tx) => tenant.commit(tx));
    return rows.plain!.map((row) => row.join("|")).join("\n");
  }

  async write(sql: string): Promise<void> {
    await this.ask(0, sql);
    this.side.flush();
  }

  /** What the search answers and what it does, begun before the engine has a row of the load. */
  async besideLoad(t: Test, load: string, search: string, measure: string): Promise<[string, string]> {
    await this.ask(0, search);
    await this.write(load);
    t.ok(this.shard.hasBacklog);
    let answers = 0;
    const asked = [search, `${measure} ${search}`].map(async (sql, i) => {
      const answer = await this.ask(1 + i, sql);
      answers++;
      return answer;
    });
    // Whoever read the table would be ready by then.
    for (let turn = 0; turn < 200; turn++) await settle();
    t.equal(answers, 0, "they wait");
    await applyBacklog(this.shard);
    return (await Promise.all(asked)) as [string, string];
  }
}

for (const [name, seeds] of [
  ["a few rows", 3],
  ["more rows", 40],
] as const) {
  t.test(`the nearest, of a table that had ${name} before`, async (t) => {
    const database = await Database.open(t, "sql");
    const rows = (from: number, to: number) =>
      `INSERT INTO v SELECT i, ARRAY[i, 1]::real[]::vector(2) FROM generate_series(${from}, ${to}) i`;
    await database.write("CREATE TABLE v (id int PRIMARY KEY, e vector(2))");
    await database.write("CREATE INDEX v_e ON v USING hnsw (e vector_l2_ops)");
    await database.write(rows(1, seeds));
    const search = "SELECT id FROM v ORDER BY e <-> '[70.1,1]' LIMIT 3";
    const load = rows(seeds + 1, seeds + ROWS);
    const [found, measured] = await database.besideLoad(t, load, search, "EXPLAIN ANALYZE");
    t.equal(found, "70\n71\n69");
    t.match(measured, /Vector Search .*actual .*rows=3 /);
  });
}

t.test("those within a distance", async (t) => {
  const database = await Database.open(t, "cypher");
  const nodes = (from: number, to: number) =>
    `UNWIND range(${from}, ${to}) AS i CREATE (:D {n: i, embedding: [cos(i / 1000.0), sin(i / 1000.0)]})`;
  await database.write(nodes(0, 0));
  const options = "OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}";
  await database.write(`CREATE VECTOR INDEX d FOR (d:D) ON (d.embedding) ${options}`);
  await database.write(nodes(1, 40));
  const search = "MATCH (a:D {n: 0})-[:SIMILAR_TO > 0.99999]-(b:D) RETURN b.n ORDER BY b.n";
  const [found, measured] = await database.besideLoad(t, nodes(41, 40 + ROWS), search, "PROFILE");
  t.equal(found, "1\n2\n3\n4");
  t.match(measured, /Vector Search .*rows=5 /, "and the node itself");
});
