/**
 * kill -9 while a branch is forked, another one merged and a third one deleted: each is done or not, what was
 * acknowledged is, and nothing is left of branches that are gone. And while long chains of branches are made short.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { FIRST_BRANCH } from "../../src/storage/branch-list.js";
import { entriesOf } from "../../src/storage/history-cursors.js";
import { SHARD_TENANT, SPACE, tenantOfKey } from "../../src/storage/keys.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import { sized } from "../lengths.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

t.setTimeout(3_600_000);

const ROUNDS = sized(1, 60);
const SEED = Number(process.env.SEED ?? 1);
const ROWS = 3000;
/** Branches of branches; more than may be asked. */
const CHAIN = 18;
/** Some commits are large ones, which the engine takes in parts. */
const FEW = 40;

type Kind = "fork" | "merge" | "delete";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());
const { fork, rows } = branchCalls(server);
const random = new SeededRandom(SEED);
/** Of each kind: acknowledged, and not acknowledged but done, or not done. */
const counts = Object.fromEntries(
  (["fork", "merge", "delete"] as const).map((kind) => [kind, { acknowledged: 0, done: 0, none: 0 }]),
) as Record<Kind, { acknowledged: number; done: number; none: number }>;

/** Whether a request was acknowledged before the server was killed, and after how long. */
async function ask(method: string, path: string, body: object | undefined, token: string) {
  const start = performance.now();
  try {
    const { status } = await server.call(method, path, body, { token });
    return { isDone: status < 300, ms: performance.now() - start };
  } catch {
    return { isDone: false, ms: performance.now() - start };
  }
}

t.test("a kill leaves all or nothing of a fork, a merge and a deletion", async (t) => {
  const token = await server.tenant("killed", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v int)");
  await rows(token, "CREATE INDEX item_v ON item (v)");
  await rows(token, `INSERT INTO item SELECT i, 0 FROM generate_series(1, ${ROWS}) i`);
  let [value, longestMs] = [0, 0];
  const contentOf = async (branch?: string) =>
    (await rows(token, "SELECT count(*), min(v), max(v), count(*) FILTER (WHERE v = 0) FROM item", branch)).join();
  const isThere = async (name: string) =>
    (await server.call("GET", `/v1/branches/${name}`, undefined, { token })).status === 200;
  for (let round = 1; round <= ROUNDS; round++) {
    const changed = random.chance(0.5) ? ROWS : FEW;
    value++;
    for (const name of [`m${round}`, `d${round}`]) {
      await fork(token, { name });
      await rows(token, `UPDATE item SET v = ${value} WHERE id <= ${changed}`, name);
    }
    const before = await contentOf();
    const merged = await contentOf(`m${round}`);
    const requests = {
      merge: () => ask("POST", `/v1/branches/m${round}/merge`, {}, token),
      delete: () => ask("DELETE", `/v1/branches/d${round}`, undefined, token),
      fork: () => ask("POST", "/v1/branches", { name: `f${round}` }, token),
    };
    const order = (Object.keys(requests) as Kind[]).sort(() => random.next() - 0.5);
    const asked = order.map(async (kind) => [kind, await requests[kind]()] as const);
    // The first rounds tell how long it takes.
    if (longestMs > 0 || ROUNDS === 1) await sleep(random.next() * (ROUNDS === 1 ? 30 : 1.3 * longestMs));
    else await Promise.race(asked);
    await server.kill();
    const answers = new Map(await Promise.all(asked));
    for (const { isDone, ms } of answers.values()) if (isDone) longestMs = Math.max(longestMs, ms);
    if (longestMs === 0) longestMs = 100;
    await server.boot();
    const now = await contentOf();
    const done = {
      merge: now === merged && before !== merged,
      delete: !(await isThere(`d${round}`)),
      fork: await isThere(`f${round}`),
    };
    for (const kind of order) {
      const count = counts[kind];
      const { isDone } = answers.get(kind)!;
      if (isDone) count.acknowledged++;
      else if (done[kind]) count.done++;
      else count.none++;
      t.ok(!isDone || done[kind], `round ${round}: an acknowledged ${kind} is there`);
    }
    t.ok(now === before || now === merged, `round ${round}: no half merge: ${now}, before ${before}, after ${merged}`);
    const byIndex = await rows(token, `SELECT count(*) FROM item WHERE v = ${value}`);
    t.same(byIndex, [[now === merged ? changed : 0]], `round ${round}: index entries, too`);
    if (!done.delete) t.equal(await contentOf(`d${round}`), merged, `round ${round}: what was not deleted is whole`);
    if (done.fork) {
      const forked = await contentOf(`f${round}`);
      t.ok(forked === before || forked === merged, `round ${round}: a fork is of one moment: ${forked}`);
    }
    t.equal(await contentOf(`m${round}`), merged, `round ${round}: the branch stays as it was`);
    await server.expect(200, "POST", `/v1/branches/m${round}/merge`, {}, { token });
    t.equal(await contentOf(), merged, `round ${round}: merged again`);
    for (const name of [`m${round}`, `d${round}`, `f${round}`]) {
      if (await isThere(name)) await server.expect(204, "DELETE", `/v1/branches/${name}`, undefined, { token });
    }
  }
  t.comment(JSON.stringify(counts));
});

t.test("a kill while long chains are made short leaves each branch as it was", async (t) => {
  const token = await server.tenant("chained", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v int)");
  await rows(token, "CREATE INDEX item_v ON item (v)");
  await rows(token, `INSERT INTO item SELECT i, 0 FROM generate_series(1, ${ROWS}) i`);
  const written = (depth: number) => `id BETWEEN ${depth * 100} AND ${depth * 100 + 499}`;
  for (let round = 1; round <= ROUNDS; round++) {
    const name = (depth: number) => `r${round}b${depth}`;
    for (let depth = 1; depth <= CHAIN; depth++) {
      await fork(token, { name: name(depth), ...(depth > 1 && { from: name(depth - 1) }) });
      await rows(token, `UPDATE item SET v = ${depth} WHERE ${written(depth)}`, name(depth));
      await rows(token, `DELETE FROM item WHERE id = ${depth}`, name(depth));
    }
    // The next fork waits for what is copied; so does nothing else.
    const asked = ask("POST", "/v1/branches", { name: name(CHAIN + 1), from: name(CHAIN) }, token);
    await sleep(random.next() * 600);
    await server.kill();
    await asked;
    await server.boot();
    for (let depth = 1; depth <= CHAIN; depth++) {
      const found = await rows(token, "SELECT v, count(*) FROM item GROUP BY v ORDER BY v", name(depth));
      const later = Math.min(500, ROWS - depth * 100 + 1);
      const others = Array.from({ length: depth - 1 }, (_, i) => [i + 1, 100]);
      const rest = ROWS - depth - 100 * (depth - 1) - later;
      t.same(found, [[0, rest], ...others, [depth, later]], `round ${round}, ${name(depth)}`);
      const byIndex = await rows(token, `SELECT count(*) FROM item WHERE v = ${depth}`, name(depth));
      t.same(byIndex, [[later]], `round ${round}, ${name(depth)}, by the index`);
    }
    for (let depth = CHAIN + 1; depth > 0; depth--)
      await server.call("DELETE", `/v1/branches/${name(depth)}`, undefined, { token });
  }
});

t.test("nothing is left of branches that are gone", async (t) => {
  // Dropped ranges are removed once no snapshot can see them.
  for (let tries = 0; ; tries++) {
    await sleep(500);
    await server.terminate();
    const left = await leftovers();
    if (left.length === 0 || tries === 20) {
      t.same(left, []);
      return;
    }
    await server.boot();
  }
});

/** Keys of branches, and what the engine has kept for them. */
async function leftovers(): Promise<string[]> {
  const found: string[] = [];
  for (const entry of readdirSync(server.directory, { recursive: true, encoding: "utf8" })) {
    const directory = join(server.directory, entry);
    if (!entry.endsWith("rocksdb") || !existsSync(join(directory, "CURRENT"))) continue;
    const engine = await RocksEngine.open({ directory });
    for (const { key } of entriesOf(engine.cursor({ gte: Buffer.alloc(0), lt: Buffer.alloc(8, 0xff) }))) {
      const kept: readonly number[] = [SPACE.history, SPACE.hidden, SPACE.since, SPACE.stamps, SPACE.flat];
      const isKept = tenantOfKey(key) === SHARD_TENANT && kept.includes(key[4]!);
      if (tenantOfKey(key) >= FIRST_BRANCH || isKept) found.push(Buffer.from(key).toString("hex"));
    }
    await engine.close();
  }
  return found;
}
