/** What a transaction has read that is not on disk yet. */
import t from "tap";
import { rowPrefix } from "../../src/storage/keys.js";
import { UnsyncedKeys } from "../../src/storage/unsynced-keys.js";
import { HeldLog } from "./held-log.js";
import { openShard } from "./shards.js";

const TABLE = rowPrefix(7, 1);
const rowKey = (row: number) => Buffer.concat([TABLE, Buffer.of(row)]);

t.test("a transaction tells the newest commit that it has read and that is not on disk", async (t) => {
  const log = new HeldLog();
  const shard = await openShard(t, { log });
  const write = (row: number) => {
    const tx = shard.begin();
    tx.put(rowKey(row), Buffer.of(1));
    return tx.commit();
  };
  const first = write(1);
  const second = write(2);
  shard.flush();
  const reading = (read: (tx: ReturnType<typeof shard.begin>) => unknown) => {
    const tx = shard.begin({ isolation: "read committed" });
    read(tx);
    const { newestSeen } = tx;
    tx.rollback();
    return newestSeen;
  };
  t.equal(
    reading((tx) => tx.get(rowKey(3))),
    0,
  );
  t.equal(
    reading((tx) => tx.get(rowKey(1))),
    first,
  );
  t.equal(
    reading((tx) => tx.getMany([rowKey(3), rowKey(1), rowKey(2)])),
    second,
  );
  t.equal(
    reading((tx) => tx.put(rowKey(1), Buffer.of(2))),
    0,
    "its own writes are no reads",
  );
  t.equal(
    reading((tx) => tx.scan({ gte: TABLE, lt: rowKey(255) }).close()),
    second,
    "a range may have had anything in it",
  );
  await log.onDisk();
  t.equal(
    reading((tx) => tx.get(rowKey(1))),
    0,
    "it is on disk",
  );
  const definition = shard.begin();
  definition.put(Buffer.from("\0\0\0\x07\x01table"), Buffer.of(1));
  const third = definition.commit();
  t.equal(
    reading((tx) => tx.get(rowKey(1))),
    third,
    "definitions are read by everybody",
  );
  shard.flush();
  await log.onDisk();
  t.equal(
    reading((tx) => tx.get(rowKey(1))),
    0,
  );
});

t.test("commits that never came to be are forgotten, and earlier ones of their keys are not", (t) => {
  const keys = new UnsyncedKeys();
  const [a, b] = [rowKey(1), rowKey(2)].map((key) => ({ key, text: key.toString("latin1") })) as [
    { key: Buffer; text: string },
    { key: Buffer; text: string },
  ];
  keys.add(5, [a]);
  keys.add(6, [a, b]);
  t.equal(keys.seenAt(b.text), 6);
  keys.undo(6);
  t.equal(keys.seenAt(a.text), 5);
  keys.add(6, [b]);
  keys.synced(5);
  t.same([keys.seenAt(a.text), keys.seenAt(b.text), keys.isEmpty], [0, 6, false]);
  keys.synced(6);
  t.ok(keys.isEmpty);
  t.end();
});
