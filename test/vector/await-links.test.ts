/** Who stores many vectors waits while too many are to be linked, and no longer than the number of its own allows. */
import t, { type Test } from "tap";
import { AwaitedLinks, awaitLinks, WAITING_MAX } from "../../src/derived/await-links.js";
import type { DerivedIndex } from "../../src/derived/derived-index.js";
import { rowPrefix } from "../../src/storage/keys.js";
import type { ShardTransaction } from "../../src/storage/transaction.js";
import { shardWithRows } from "../derived/index-store.js";

/** How long it waits, and how often it looks. */
async function waited(
  progress: (looks: number) => { hasWork: boolean; waiting: number } | null,
  vectors: number,
  isOver = () => false,
): Promise<{ ms: number; looks: number }> {
  let looks = 0;
  const began = performance.now();
  await awaitLinks(() => progress(looks++), vectors, isOver);
  return { ms: performance.now() - began, looks };
}

t.test("until few wait", async (t) => {
  const { looks } = await waited((look) => ({ hasWork: true, waiting: WAITING_MAX + 3 - look }), 500);
  t.equal(looks, 4);
});

t.test("not where few wait, nobody links, or there is no index", async (t) => {
  t.equal((await waited(() => ({ hasWork: true, waiting: WAITING_MAX }), 500)).looks, 1);
  t.equal((await waited(() => ({ hasWork: false, waiting: 2 * WAITING_MAX }), 500)).looks, 1);
  t.equal((await waited(() => null, 500)).looks, 1);
});

t.test("as long as its own vectors count for, and not after its end", async (t) => {
  const behind = () => ({ hasWork: true, waiting: 2 * WAITING_MAX });
  const { ms } = await waited(behind, 20);
  t.ok(ms >= 40 - 1, `${ms} ms`);
  t.ok((await waited(behind, 1)).looks <= 2, "a single one hardly waits");
  let ends = 0;
  t.equal((await waited(behind, 1e6, () => ++ends > 2)).looks, 3);
});

const VECTORS = rowPrefix(7, 3);
const OTHERS = rowPrefix(7, 4);

/** An index of the first table in which so many wait, of them in the body. */
function indexWith(waitingCount: number, entries = 0, state = "ready"): DerivedIndex {
  const body = { waitingCount, hasWork: waitingCount > 0, longWork: { isAway: false } };
  return { place: { rowPrefix: VECTORS }, state, body, entries: { size: entries } } as unknown as DerivedIndex;
}

const keyOf = (prefix: Uint8Array, i: number) => Buffer.concat([prefix, Buffer.from(`w${String(i).padStart(6, "0")}`)]);

/** Whether a transaction that does this is one that waits. */
async function waits(t: Test, index: DerivedIndex, write: (tx: ShardTransaction) => void): Promise<boolean> {
  const shard = await shardWithRows(100);
  t.teardown(() => shard.close());
  const tx = shard.begin() as ShardTransaction;
  write(tx);
  const links = new AwaitedLinks();
  links.note([index], tx.own!);
  tx.commit();
  let looks = 0;
  const done = links.done(() => ++looks > 0);
  await done;
  return done !== null;
}

const put = (prefix: Uint8Array, rows: number) => (tx: ShardTransaction) => {
  for (let i = 0; i < rows; i++) tx.put(keyOf(prefix, i), Buffer.from("x"));
};

t.test("a transaction that stores many rows of the index's table waits", async (t) => {
  const behind = indexWith(WAITING_MAX + 1);
  t.equal(await waits(t, behind, put(VECTORS, 64)), true);
  t.equal(await waits(t, behind, put(VECTORS, 63)), false, "few rows");
  t.equal(await waits(t, behind, put(OTHERS, 500)), false, "rows of another table");
  t.equal(await waits(t, indexWith(WAITING_MAX), put(VECTORS, 500)), false, "the index is not behind");
  t.equal(await waits(t, indexWith(10, WAITING_MAX), put(VECTORS, 500)), true, "what is not in the body yet counts");
  t.equal(await waits(t, indexWith(WAITING_MAX + 1, 0, "dropped"), put(VECTORS, 500)), false, "it is no more");
  const remove = (tx: ShardTransaction) => {
    for (let i = 0; i < 100; i++) tx.delete(Buffer.concat([VECTORS, Buffer.from(`k${i}`)]));
  };
  t.equal(await waits(t, behind, remove), false, "nothing that is removed is to be linked");
});

t.test("rows of a load count, as COPY and INSERT of many rows write them", async (t) => {
  const load = (prefix: Uint8Array) => (tx: ShardTransaction) => {
    const writes = tx.beginLoad()!;
    const run = writes.run(prefix);
    for (let i = 0; i < 200; i++) writes.add(run, keyOf(prefix, i), Buffer.from("x"));
    for (const _ of writes.sort());
    tx.attach(writes);
  };
  t.equal(await waits(t, indexWith(WAITING_MAX + 1), load(VECTORS)), true);
  t.equal(await waits(t, indexWith(WAITING_MAX + 1), load(OTHERS)), false);
});
