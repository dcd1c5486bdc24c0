/**
 * Vectors are stored in batches, replaced and removed while the server is killed with SIGKILL at random moments and
 * started again. Every acknowledged vector must be found by its id and by search, before its index is made and after;
 * no other may be. KILL_VECTORS, KILL_DIMENSIONS and KILL_ROUNDS make it larger (50,000 of 384, with start-up times).
 */
import t, { type Test } from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const VECTORS = Number(process.env.KILL_VECTORS ?? sized(500, 2400));
const DIMENSIONS = Number(process.env.KILL_DIMENSIONS ?? 16);
const KILLS = Number(process.env.KILL_ROUNDS ?? sized(1, 3));
const BATCH = 20;
const CONCURRENCY = 8;
/** Of the vectors, those that are looked for one by one. */
const SEARCHED = sized(25, 150);
const COLLECTION = "/v1/vectors/collections/item";

/** Of a vector that was written: what may be stored. Several where an answer did not come. */
type Versions = readonly (number | null)[];

/** Far apart for different seeds, so that the nearest to a vector is the vector. */
function vectorOf(id: number, version: number): number[] {
  let state = Math.imul(id + 1, 0x9e3779b1) ^ Math.imul(version + 1, 0x85ebca6b);
  return Array.from({ length: DIMENSIONS }, () => {
    state = (state + 0x6d2b79f5) | 0;
    const z = Math.imul(state ^ (state >>> 15), 1 | state);
    return ((z ^ (z >>> 13)) >> 8) / 2 ** 20;
  });
}

t.test("acknowledged vectors survive SIGKILL", async (t) => {
  const server = await TestServer.start();
  t.teardown(() => server.stop());
  await server.expect(201, "POST", "/v1/vectors/collections", { name: "item", dimensions: DIMENSIONS, metric: "l2" });
  const stored = new Map<number, Versions>();
  let restarting: Promise<void> | null = null;
  const restart = async (): Promise<void> => {
    await server.kill();
    await server.boot();
    restarting = null;
  };

  /** Whether it was acknowledged; otherwise it may have happened. */
  const attempt = async (method: string, path: string, body: object): Promise<boolean> => {
    try {
      const { status } = await server.call(method, COLLECTION + path, body);
      return status === 200 || status === 201;
    } catch {
      return false;
    }
  };
  const write = async (ids: readonly number[], version: number | null): Promise<void> => {
    const done =
      version === null
        ? await attempt("DELETE", "/vectors", { ids: ids.map(String) })
        : await attempt("POST", "/vectors/batch", {
            vectors: ids.map((id) => ({ id: String(id), vector: vectorOf(id, version), metadata: { version } })),
            on_conflict: "replace",
          });
    for (const id of ids) stored.set(id, done ? [version] : [...(stored.get(id) ?? [null]), version]);
  };
  const search = (id: number, version: number) =>
    server.call("POST", `${COLLECTION}/search`, { vector: vectorOf(id, version), k: 1 });

  const batches = Math.ceil(VECTORS / BATCH);
  const killAt = Array.from({ length: KILLS }, (_, i) =>
    Math.floor(((i + 0.25 + Math.random() / 2) * batches) / KILLS),
  );
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < batches) {
      if (restarting !== null) await restarting;
      const batch = next++;
      if (killAt.includes(batch)) restarting ??= restart();
      const ids = Array.from({ length: BATCH }, (_, i) => batch * BATCH + i);
      await write(ids, 0);
      // Some are replaced, some removed, and a search has the index made and kept up.
      if (batch % 3 === 0) await write(ids.slice(0, BATCH / 2), 1);
      if (batch % 5 === 0) await write(ids.slice(BATCH / 4, BATCH / 2 + 2), null);
      if (batch % 10 === 0) await search(batch, 0).catch(() => null);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, writer));
  if (restarting !== null) await restarting;
  await restart();

  const check = async (t: Test): Promise<void> => {
    const rows = await server.call("POST", "/v1/query/execute", {
      sql: "SELECT id, metadata ->> 'version', vector FROM item",
      max_rows: 10 * VECTORS,
    });
    const found = new Map<number, number>();
    for (const [id, version, vector] of rows.body.data.rows) {
      found.set(Number(id), Number(version));
      const wanted = vectorOf(Number(id), Number(version));
      if ((vector as number[]).some((x, i) => Math.fround(x) !== Math.fround(wanted[i]!))) t.fail(`${id} is another`);
    }
    t.same(
      [...stored].filter(([id, versions]) => !versions.includes(found.get(id) ?? null)),
      [],
      "by id",
    );
    t.same(
      [...found.keys()].filter((id) => !stored.has(id)),
      [],
      "nothing came from nowhere",
    );
    const missed: unknown[] = [];
    const ghosts: unknown[] = [];
    const step = Math.max(1, Math.floor(stored.size / SEARCHED));
    for (const [i, id] of [...stored.keys()].entries()) {
      if (i % step !== 0) continue;
      for (const version of [0, 1]) {
        const [nearest] = (await search(id, version)).body.data;
        const isThere = found.get(id) === version;
        if (isThere && nearest.id !== String(id)) missed.push([id, version, nearest.id]);
        if (!isThere && nearest.distance < 1e-6) ghosts.push([id, version, nearest.id]);
      }
    }
    t.ok(missed.length <= 2 && ghosts.length === 0, `${missed.length} missed, ${ghosts.length} ghosts`, {
      missed,
      ghosts,
    });
  };
  const began = performance.now();
  const first = await search(0, 0);
  t.equal(first.status, 200);
  const answeredMs = performance.now() - began;
  await t.test("before the index is ready", check);
  for (;;) {
    await search(0, 0);
    const { data } = (await server.expect(200, "GET", COLLECTION)).body;
    if (data.index.state === "ready") break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await t.test("after", check);
  t.comment(`${stored.size} vectors, ${KILLS} kills; first search after the start ${answeredMs.toFixed(0)} ms`);
});
