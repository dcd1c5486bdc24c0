/** Indexes beside the writing of their files, and what a start makes of the files. */

import t from "tap";
import { rowPrefix } from "../../src/storage/keys.js";
import { DataKey } from "../../src/storage/tenant-keys.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { CountedReads } from "../storage/counted-reads.js";
import { directory } from "../storage/shards.js";
import { alone, held, PLACE, PREFIX, settle, shardWithRows, stored, TENANT, wordRow } from "./index-store.js";
import { KIND } from "./words.js";

t.test("work that comes while an index is saved is done afterwards, though a search has put the rows in", async (t) => {
  const store = await shardWithRows(10_000);
  let isWaiting = false;
  let goOn = (): void => undefined;
  const durable = () => {
    isWaiting = true;
    return new Promise<void>((resolve) => {
      goOn = resolve;
    });
  };
  const indexes = alone({ store, directory: directory(t), durable });
  while (!isWaiting) {
    indexes.find(PLACE, KIND);
    await settle();
  }
  const index = indexes.find(PLACE, KIND)!;
  indexes.applied([wordRow("new")]);
  t.ok(index.fold(() => false));
  t.ok(index.body.hasWork);
  goOn();
  await indexes.idle();
  t.notOk(index.body.hasWork);
  t.equal(indexes.progress(TENANT, 4)?.waiting, 0);
  const closed = indexes.close();
  while (!index.state.startsWith("dropped")) {
    goOn();
    await settle();
  }
  await closed;
  await store.close();
});

t.test("what arrives while an index is saved is put in meanwhile, so that the engine need not wait", async (t) => {
  const store = await shardWithRows(10_000);
  let goOn: (() => void) | null = null;
  const durable = () =>
    new Promise<void>((resolve) => {
      goOn = resolve;
    });
  const indexes = alone({ store, directory: directory(t), durable });
  while (goOn === null) {
    indexes.find(PLACE, KIND);
    await settle();
  }
  const index = indexes.find(PLACE, KIND)!;
  for (let round = 0; round < 2; round++) {
    indexes.applied(Array.from({ length: 2500 }, (_, n) => wordRow(`new${round}/${n}`)));
    t.ok(indexes.isBehind);
    for (let turn = 0; turn < 3000 && indexes.isBehind; turn++) await settle();
    t.notOk(indexes.isBehind, "although the file is still being written");
  }
  const closed = indexes.close();
  while (index.state !== "dropped") {
    (goOn as () => void)();
    await settle();
  }
  await closed;
  t.equal(index.count, 15_000);
  await store.close();
});

t.test("a saved index that a large commit has left behind compares its rows, and gives way meanwhile", async (t) => {
  const files = directory(t);
  const store = await shardWithRows(300);
  const before = alone({ store, directory: files });
  before.find(PLACE, KIND);
  await before.idle();
  await before.close();
  const tx = store.begin();
  for (let i = 0; i < 900; i++) tx.put(Buffer.concat([PREFIX, Buffer.from(`k${i}`)]), Buffer.from(`new${i}`));
  for (let i = 0; i < 20_000; i++)
    tx.put(Buffer.concat([rowPrefix(TENANT, 2), Buffer.from(`o${i}`)]), Buffer.from("x"));
  await tx.prepareCommit({ checkpoint: () => {}, shouldYield: () => false, yieldTurn: settle });
  tx.commit();
  store.flush();
  await applyBacklog(store);
  const reads = new CountedReads(store.log);
  for (const [replayBytesMax, isCompared] of [
    [1e6, false],
    [100_000, true],
  ] as const) {
    const yieldTurn = () => {
      reads.turn();
      return settle();
    };
    const indexes = alone({
      ...{ store, directory: files, replayBytesMax },
      turnsOf: () => ({ shouldYield: () => true, yieldTurn }),
    });
    indexes.find(PLACE, KIND);
    await indexes.idle();
    const index = indexes.find(PLACE, KIND)!;
    t.equal(index.rowsRead, isCompared ? 900 : 0, isCompared ? "the rows are read" : "the log is enough");
    t.strictSame([...held(index)].sort(), [...stored(store.engine)].sort());
    indexes.endWork();
  }
  t.ok(reads.most > 0 && reads.most <= 256, `${reads.most} operations are read in a turn`);
  await store.close();
});

t.test("a key is made for an index that is saved, and for none that is only looked for", async (t) => {
  const store = await shardWithRows(300);
  let key: DataKey | null = null;
  let made = 0;
  const known = () => key;
  const of = () => {
    if (key === null) made++;
    key ??= new DataKey(TENANT, made, new Uint8Array(32).fill(made));
    return key;
  };
  const files = directory(t);
  const rowsRead = async () => {
    const warn = (message: string) => t.fail(message);
    const indexes = alone({ store, directory: files, keys: { known, of }, warn });
    indexes.find(PLACE, KIND);
    await indexes.idle();
    const before = made;
    const { rowsRead } = indexes.find(PLACE, KIND)!;
    await indexes.close();
    return { rowsRead, before };
  };
  t.strictSame(await rowsRead(), { rowsRead: 300, before: 0 });
  t.equal(made, 1, "its end saves it");
  t.strictSame(await rowsRead(), { rowsRead: 0, before: 1 }, "the file is read");
  key = null;
  t.strictSame(await rowsRead(), { rowsRead: 300, before: 1 }, "without the key there is nothing to read");
  await store.close();
});
