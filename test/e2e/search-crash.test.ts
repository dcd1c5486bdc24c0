/**
 * Crashes and indexes for search over HTTP: rows with vectors and texts are written in bulk while the server is killed
 * with SIGKILL and started again, its index files whole, damaged, missing or old. Every acknowledged row is found by
 * key, by filter, by text and by vector; rows that are gone never come back. KILL_ROUNDS makes it longer, and so does
 * `make properties`.
 */
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const ROUNDS = Number(process.env.KILL_ROUNDS ?? sized(1, 5));
const DIMENSIONS = 8;
const BATCH = 250;
/** Enough for a commit in parts. */
const IMPORTED = 1500;
/** Rows acknowledged between two kills, at least. */
const ROUND_ROWS = sized(600, 1500);
/** Looked for one by one: so many of the last rows, and of all. */
const SEARCHED = sized(4, 30);
/** Below it the server looks at all vectors, without a graph. */
const START_ROWS = 10_500;

const TREATMENTS = ["damaged", "old", "missing", "whole", "half-written"];

t.setTimeout(300_000);

/** No two are equal. */
function vectorOf(id: number): number[] {
  return Array.from({ length: DIMENSIONS }, (_, i) => {
    const mixed = Math.imul(Math.imul(id, 0x9e3779b1) ^ (i * 0x85ebca6b), 0xc2b2ae35) >>> 0;
    return Math.round((mixed / 2 ** 32) * 1e6) / 1e6;
  });
}

const wordOf = (id: number) => `word${id}x`;

function valuesOf(ids: readonly number[]): string {
  return ids.map((id) => `(${id}, '[${vectorOf(id)}]', 'the text of ${wordOf(id)}', ${id % 7})`).join(", ");
}

function indexFiles(directory: string): string[] {
  const found: string[] = [];
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    if (/\.idx(?:\.new)?$/.test(name)) found.push(join(directory, name));
  }
  return found;
}

class Writer {
  readonly acknowledged = new Set<number>();
  readonly unknown = new Set<number>();
  /** Removed for certain, and perhaps. */
  readonly removed = new Set<number>();
  readonly maybeRemoved = new Set<number>();
  next = 1;
  isStopped = false;

  constructor(private readonly server: TestServer) {}

  private take(count: number): number[] {
    const ids = Array.from({ length: count }, (_, i) => this.next + i);
    this.next += count;
    return ids;
  }

  async insert(): Promise<void> {
    const ids = this.take(BATCH);
    await this.settle(ids, () => this.server.sql(`INSERT INTO item (id, v, body, kind) VALUES ${valuesOf(ids)}`));
  }

  async import(): Promise<void> {
    const ids = this.take(IMPORTED);
    const lines = ids.map((id) =>
      JSON.stringify({ id, v: `[${vectorOf(id)}]`, body: `the text of ${wordOf(id)}`, kind: id % 7 }),
    );
    const headers = { "content-type": "application/octet-stream" };
    await this.settle(ids, () =>
      this.server.call("POST", "/v1/data/import/ndjson?table=item", lines.join("\n"), { headers }),
    );
  }

  async remove(): Promise<void> {
    const ids = [...this.acknowledged].filter((id) => id % 11 === 3 && !this.removed.has(id)).slice(-20);
    if (ids.length === 0) return void (await sleep(5));
    try {
      const reply = await this.server.sql(`DELETE FROM item WHERE id IN (${ids})`);
      for (const id of ids) {
        this.acknowledged.delete(id);
        if (reply.status === 200) this.removed.add(id);
        else this.maybeRemoved.add(id);
      }
    } catch {
      for (const id of ids) {
        this.acknowledged.delete(id);
        this.maybeRemoved.add(id);
      }
    }
  }

  private async settle(ids: readonly number[], write: () => Promise<{ status: number; body: unknown }>): Promise<void> {
    try {
      const { status, body } = await write();
      if (status === 200) for (const id of ids) this.acknowledged.add(id);
      else if (this.isStopped) for (const id of ids) this.unknown.add(id);
      else throw new Error(`a write answered ${status}: ${JSON.stringify(body).slice(0, 300)}`);
    } catch (error) {
      if (!this.isStopped) throw error;
      for (const id of ids) this.unknown.add(id);
    }
  }

  /** Until it is stopped, by a kill among the requests that are in flight. */
  run(): Promise<unknown> {
    const over = async (write: () => Promise<void>) => {
      while (!this.isStopped) await write();
    };
    const ways = [() => this.insert(), () => this.insert(), () => this.import(), () => this.remove()];
    return Promise.all(ways.map(over));
  }
}

async function check(t: Test, server: TestServer, writer: Writer, round: string): Promise<void> {
  const page = async (sql: string) =>
    (await server.expect(200, "POST", "/v1/query/execute", { sql, max_rows: 1_000_000 })).body.data.rows as [number][];
  const stored = new Set((await page("SELECT id FROM item")).map(([id]) => id));
  const { acknowledged, unknown, removed, maybeRemoved } = writer;
  t.same(
    [...acknowledged].filter((id) => !stored.has(id)),
    [],
    `${round}: acknowledged rows are there`,
  );
  t.same(
    [...stored].filter((id) => removed.has(id) || !(acknowledged.has(id) || unknown.has(id) || maybeRemoved.has(id))),
    [],
    `${round}: no others are`,
  );
  for (let kind = 0; kind < 7; kind++) {
    const found = await page(`SELECT id FROM item WHERE kind = ${kind}`);
    t.equal(found.length, [...stored].filter((id) => id % 7 === kind).length, `${round}: by filter, kind ${kind}`);
  }
  await checkSearches(t, server, writer, [...stored].slice(-4), stored, round);
  await bothReady(server);
  const ids = [...stored];
  const some = [...ids.slice(-SEARCHED), ...ids.filter((_, i) => i % Math.ceil(ids.length / SEARCHED) === 0)];
  await checkSearches(t, server, writer, some, stored, `${round}, indexes ready`);
}

async function checkSearches(
  t: Test,
  server: TestServer,
  writer: Writer,
  some: readonly number[],
  stored: ReadonlySet<number>,
  round: string,
): Promise<void> {
  const missed: string[] = [];
  for (const id of some) {
    const byText = await server.rows("SELECT id FROM item WHERE MATCH (body) AGAINST ($1)", [wordOf(id)]);
    if (JSON.stringify(byText) !== `[[${id}]]`) missed.push(`text ${id}: ${JSON.stringify(byText)}`);
    // So many that the walk through the graph looks at enough not to miss the nearest.
    const byVector = await server.rows("SELECT id FROM item ORDER BY v <-> $1 LIMIT 500", [`[${vectorOf(id)}]`]);
    if (byVector[0]?.[0] !== id) missed.push(`vector ${id}: ${JSON.stringify(byVector[0])}`);
    const filtered = "SELECT id FROM item WHERE kind = $2 ORDER BY v <-> $1 LIMIT 500";
    const byBoth = await server.rows(filtered, [`[${vectorOf(id)}]`, id % 7]);
    if (byBoth[0]?.[0] !== id) missed.push(`vector with a filter ${id}: ${JSON.stringify(byBoth[0])}`);
  }
  t.same(missed, [], `${round}: ${some.length} rows are found by text and by vector`);
  const ghosts: unknown[] = [];
  for (const id of [...writer.removed].slice(-10)) {
    ghosts.push(...(await server.rows("SELECT id FROM item WHERE MATCH (body) AGAINST ($1)", [wordOf(id)])));
    const near = await server.rows("SELECT id FROM item ORDER BY v <-> $1 LIMIT 3", [`[${vectorOf(id)}]`]);
    ghosts.push(...near.filter(([found]) => !stored.has(found as number)));
  }
  t.same(ghosts, [], `${round}: nothing that is gone comes back`);
}

async function bothReady(server: TestServer): Promise<void> {
  for (;;) {
    const { body } = await server.expect(200, "GET", "/v1/schema/tables/item/indexes");
    const search = (body.data ?? body).filter((index: { progress?: unknown }) => index.progress !== undefined);
    if (
      search.length === 2 &&
      search.every((index: { progress: { state: string } }) => index.progress.state === "ready")
    )
      return;
    await sleep(50);
  }
}

t.test("acknowledged rows are found by every way after SIGKILL", { timeout: 300_000 }, async (t) => {
  const server = await TestServer.start();
  t.teardown(() => server.stop());
  await server.rows("CREATE TABLE item (id integer PRIMARY KEY, v vector(8) NOT NULL, body text, kind integer)");
  const writer = new Writer(server);
  while (writer.next < START_ROWS) await writer.insert();
  await server.rows("CREATE INDEX near ON item USING hnsw (v vector_l2_ops)");
  await server.rows("CREATE INDEX words ON item USING text (body)");
  await bothReady(server);
  t.pass("an index on a table with rows is made when it is created");
  await server.terminate();
  t.equal(indexFiles(server.directory).length, 2, "a clean end saves them");
  await server.boot();
  await check(t, server, writer, "after a clean end");

  for (let round = 0; round < ROUNDS; round++) {
    const old = indexFiles(server.directory).filter((path) => path.endsWith(".idx"));
    for (const path of old) copyFileSync(path, `${path}.old`);
    writer.isStopped = false;
    const enough = writer.acknowledged.size + ROUND_ROWS;
    const running = writer.run();
    while (writer.acknowledged.size < enough) await sleep(5);
    await sleep(Math.random() * 300);
    writer.isStopped = true;
    await server.kill();
    await running;
    // The two files are treated differently; in five rounds each has been treated in every way.
    const treatments = old.map((_, i) => TREATMENTS[(2 * round + i) % TREATMENTS.length]!);
    for (const [i, path] of old.entries()) {
      const what = treatments[i];
      if (what === "missing") rmSync(path, { force: true });
      if (what === "old") copyFileSync(`${path}.old`, path);
      if (what === "half-written") writeFileSync(`${path}.new`, "TESSIDX1 and no more");
      if (what === "damaged" && existsSync(path)) {
        const bytes = readFileSync(path);
        bytes[Math.floor(Math.random() * bytes.length)]! ^= 4;
        writeFileSync(path, bytes);
      }
      rmSync(`${path}.old`, { force: true });
    }
    await server.boot();
    await check(t, server, writer, `round ${round}, files ${treatments.join(" and ")}`);
    // Now and then the next files are those of a clean end.
    if (round % 2 === 0 && round + 1 < ROUNDS) {
      await bothReady(server);
      await server.terminate();
      await server.boot();
    }
  }
  t.comment(`${writer.acknowledged.size} acknowledged, ${writer.unknown.size} unknown, ${writer.removed.size} removed`);
  await server.rows("DROP INDEX near");
  await server.rows("DROP TABLE item");
  // What is dropped goes with its file.
  while (indexFiles(server.directory).length > 0) await sleep(20);
});
