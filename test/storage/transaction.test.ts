/** What a user of transactions relies on, one promise per test, on every engine. */
import t from "tap";
import { TRANSACTION_BYTES_MAX } from "../../src/protocol/limits.js";
import { commit, content, ENGINES, get, key, openShard, put, rows, scan } from "./shards.js";

for (const [name, open] of Object.entries(ENGINES)) {
  t.test(`on the ${name} engine`, async (t) => {
    const fresh = async () => openShard(t, { engine: await open(t) });

    t.test("write skew is refused, and succeeds when run again", async (t) => {
      const shard = await fresh();
      commit(shard, ["a", "on call"], ["b", "on call"]);
      shard.flush();
      const [first, second] = [shard.begin(), shard.begin()];
      for (const doctor of [first, second]) t.same([get(doctor, "a"), get(doctor, "b")], ["on call", "on call"]);
      put(first, "a", "off");
      put(second, "b", "off");
      first.commit();
      shard.flush();
      const refused = { code: "serialization_failure", message: /read\/write dependencies/ };
      t.throws(() => second.commit(), refused);
      t.throws(() => second.get(key("a")), { code: "transaction_aborted" });
      const again = shard.begin();
      t.equal(get(again, "a"), "off");
    });

    t.test("a scan for one half of the entries gives the same rows, whatever memory adds", async (t) => {
      for (const isolation of ["serializable", "read committed"] as const) {
        const shard = await fresh();
        for (let i = 100; i < 200; i += 2) commit(shard, [`k${i}`, `v${i}`]);
        shard.flush();
        const own = shard.begin({ isolation });
        const compare = (count: number) => {
          const read = (only?: "keys" | "values") => {
            const cursor = own.scan({ gte: key("k"), lt: key("l"), ...(only && { only }) });
            const { keys, values } = cursor.next(1000);
            cursor.close();
            return { keys: keys.map(String), values: values.map(String) };
          };
          const both = read();
          t.equal(both.keys.length, count);
          t.same(read("keys").keys, both.keys);
          t.same(read("values").values, both.values);
          t.equal(read("values").keys.length, count);
        };
        compare(50);
        for (let i = 100; i < 200; i += 3) put(own, `k${i}`, "own");
        own.delete(key("k104"));
        compare(66);
        own.rollback();
      }
    });

    t.test("a phantom in a scanned range is refused, one beyond what was read is not", async (t) => {
      const shard = await fresh();
      commit(shard, ["a", "1"], ["m", "1"], ["z", "1"]);
      const whole = shard.begin();
      scan(whole, "a", "n");
      put(whole, "sum", "2");
      const partial = shard.begin();
      const cursor = partial.scan({ gte: key("a"), lt: key("zz") });
      t.same(rows(cursor, 1), ["a=1"]);
      put(partial, "first", "a");
      commit(shard, ["c", "1"]);
      t.throws(() => whole.commit(), { code: "serialization_failure" });
      t.doesNotThrow(() => partial.commit(), "it has only seen the first row");
    });

    t.test("a reader that got fewer rows than it asked for has seen the end", async (t) => {
      const shard = await fresh();
      commit(shard, ["a", "1"]);
      const reader = shard.begin();
      t.same(rows(reader.scan({ gte: key("a"), lt: key("zz") }), 10), ["a=1"]);
      put(reader, "count", "1");
      commit(shard, ["b", "1"]);
      t.throws(() => reader.commit(), { code: "serialization_failure" });
    });

    t.test("snapshot isolation refuses lost updates only", async (t) => {
      const shard = await fresh();
      commit(shard, ["a", "1"], ["b", "1"]);
      const [skewed, lost] = [shard.begin({ isolation: "snapshot" }), shard.begin({ isolation: "repeatable read" })];
      get(skewed, "a");
      put(skewed, "b", "2");
      put(lost, "a", "3");
      commit(shard, ["a", "2"]);
      t.doesNotThrow(() => skewed.commit());
      t.throws(() => lost.commit(), { message: "could not serialize access due to concurrent update" });
    });

    t.test("a snapshot stays as it was while others commit, flush and delete", async (t) => {
      const shard = await fresh();
      commit(shard, ["a", "1"], ["b", "1"], ["c", "1"]);
      const old = shard.begin({ readOnly: true });
      shard.flush();
      const cursor = old.scan({ gte: key("a"), lt: key("z") });
      t.same(rows(cursor, 1), ["a=1"]);
      for (let round = 2; round < 6; round++) {
        commit(shard, ["a", String(round)], ["bb", String(round)]);
        const deletion = shard.begin();
        deletion.delete(key("b"));
        deletion.delete(key("c"));
        deletion.commit();
        if (round % 2 === 0) shard.flush();
        t.same(scan(old, "a", "z"), ["a=1", "b=1", "c=1"]);
        t.same(scan(old, "a", "z", true), ["c=1", "b=1", "a=1"]);
      }
      t.same(rows(cursor), ["b=1", "c=1"], "also for a cursor that was open all the time");
      t.same(old.getMany([key("b"), key("bb"), key("a")]).map(String), ["1", "undefined", "1"]);
      old.commit();
      shard.flush();
      t.same(content(shard), ["a=5", "bb=5"]);
      t.equal(shard.metrics.versionBytes, 0);
    });

    t.test("of several old snapshots each sees its own, also when the oldest ends", async (t) => {
      const shard = await fresh();
      const readers = [];
      for (let round = 0; round < 6; round++) {
        commit(shard, ["a", String(round)]);
        shard.flush();
        readers.push(shard.begin({ readOnly: true }));
      }
      for (let ended = 0; ended < 5; ended++) {
        readers[ended]!.rollback();
        const seen = readers.slice(ended + 1).map((reader) => get(reader, "a"));
        t.same(seen, ["1", "2", "3", "4", "5"].slice(ended));
      }
    });

    t.test("scans see own writes as of the call, not later ones", async (t) => {
      const shard = await fresh();
      commit(shard, ["a", "1"], ["b", "1"], ["c", "1"]);
      const update = shard.begin();
      update.delete(key("b"));
      put(update, "bb", "2");
      const cursor = update.scan({ gte: key("a"), lt: key("z") });
      const seen: string[] = [];
      for (let row = rows(cursor, 1); row.length > 0; row = rows(cursor, 1)) {
        seen.push(row[0]!);
        put(update, `${row[0]!.split("=")[0]}x`, "new");
        if (seen.length > 10) break;
      }
      t.same(seen, ["a=1", "bb=2", "c=1"], "every row once");
      t.same(scan(update), ["a=1", "ax=new", "bb=2", "bbx=new", "c=1", "cx=new"]);
      update.rollback();
      t.same(content(shard), ["a=1", "b=1", "c=1"]);
    });

    t.test("savepoints nest, and rolling back to one keeps it", async (t) => {
      const shard = await fresh();
      const transaction = shard.begin();
      put(transaction, "a", "1");
      const outer = transaction.savepoint();
      put(transaction, "a", "2");
      const inner = transaction.savepoint();
      transaction.delete(key("a"));
      put(transaction, "b", "1");
      transaction.rollbackTo(inner);
      t.same(scan(transaction), ["a=2"]);
      transaction.rollbackTo(outer);
      t.same(scan(transaction), ["a=1"]);
      t.throws(() => transaction.rollbackTo(inner), { message: /does not exist/ });
      put(transaction, "c", "1");
      transaction.rollbackTo(outer);
      transaction.release(outer);
      t.throws(() => transaction.release(outer), { message: /does not exist/ });
      transaction.commit();
      t.same(content(shard), ["a=1"]);
    });

    t.test("read committed sees other commits from statement to statement, but loses no update", async (t) => {
      const shard = await fresh();
      commit(shard, ["a", "1"]);
      const transaction = shard.begin({ isolation: "read committed" });
      t.equal(get(transaction, "a"), "1");
      commit(shard, ["a", "2"]);
      shard.flush();
      t.equal(get(transaction, "a"), "1");
      transaction.refresh();
      t.equal(get(transaction, "a"), "2");
      put(transaction, "a", "3");
      commit(shard, ["a", "4"]);
      transaction.refresh();
      t.throws(() => transaction.commit(), { code: "serialization_failure" });
    });
  });
}

t.test("a read-only transaction refuses writes", async (t) => {
  const shard = await openShard(t);
  const transaction = shard.begin({ readOnly: true });
  t.throws(() => put(transaction, "a", "1"), { code: "read_only_transaction" });
  t.equal(transaction.dirty, false);
});

t.test("a transaction's changes are bounded, what savepoints keep included", async (t) => {
  const shard = await openShard(t);
  const transaction = shard.begin();
  const half = Buffer.alloc(TRANSACTION_BYTES_MAX / 2 - 100);
  transaction.put(key("a"), half);
  transaction.put(key("a"), half);
  transaction.put(key("a"), half);
  const savepoint = transaction.savepoint();
  transaction.put(key("a"), half);
  t.throws(() => transaction.put(key("a"), half), { code: "query_error", message: /exceed/ });
  transaction.rollbackTo(savepoint);
  t.doesNotThrow(() => transaction.put(key("b"), half));
});

t.test("old snapshots that need too much memory are ended, with a reason", async (t) => {
  const shard = await openShard(t, { versionBytesMax: 100_000 });
  const [old, newer] = [shard.begin({ readOnly: true }), shard.begin()];
  put(newer, "own", "1");
  for (let i = 0; i < 100; i++) commit(shard, [`k${i}`, "x".repeat(500)]);
  shard.flush();
  t.doesNotThrow(() => get(old, "k1"));
  for (let i = 0; i < 100; i++) commit(shard, [`k${i}`, "y".repeat(500)]);
  shard.flush();
  t.throws(() => get(old, "k1"), { code: "transaction_aborted", message: /too much was changed/ });
  t.throws(() => newer.commit(), { code: "transaction_aborted" });
  t.equal(shard.metrics.versionBytes, 0);
  t.equal(shard.metrics.abortedForMemory, 2);
});

t.test("an old snapshot beyond memory is ended alone where that is enough", async (t) => {
  const shard = await openShard(t, { versionBytesMax: 460_000 });
  const write = (from: number, to: number) => {
    for (let i = from; i < to; i++) commit(shard, [`k${i}`, "x".repeat(100)]);
    shard.flush();
  };
  const old = shard.begin({ readOnly: true });
  write(0, 1450);
  const newer = shard.begin({ readOnly: true });
  write(1450, 2050);
  t.throws(() => get(old, "k1"), { code: "transaction_aborted" });
  t.equal(get(newer, "k1"), "x".repeat(100));
  t.equal(get(newer, "k2000"), undefined);
  t.equal(shard.metrics.abortedForMemory, 1);
});

t.test("versions that nobody needs go, also while the oldest snapshot stays the same", async (t) => {
  const shard = await openShard(t);
  const old = shard.begin({ readOnly: true });
  for (let i = 0; i < 1000; i++) commit(shard, [`k${i}`, "x"]);
  shard.flush();
  shard.begin({ readOnly: true });
  commit(shard, ["again", "x"]);
  shard.flush();
  old.rollback();
  for (let i = 0; i < 8; i++) {
    commit(shard, ["again", `${i}`]);
    shard.flush();
  }
  t.ok(shard.metrics.versionBytes < 10_000, `${shard.metrics.versionBytes}`);
});

t.test("very many reads are merged, and conflicts are still found", async (t) => {
  const shard = await openShard(t);
  commit(shard, ["k00042", "1"]);
  for (const text of ["k00042", "k49999"]) {
    const reader = shard.begin();
    for (let i = 0; i < 50_000; i++) reader.get(key(`k${String(i).padStart(5, "0")}`));
    put(reader, "out", "1");
    commit(shard, [text, "2"]);
    t.throws(() => reader.commit(), { code: "serialization_failure" });
  }
  const reader = shard.begin();
  for (let i = 0; i < 50_000; i++) reader.get(key(`k${String(i).padStart(5, "0")}`));
  put(reader, "out", "1");
  commit(shard, ["zzz", "2"]);
  t.doesNotThrow(() => reader.commit(), "a write far from all reads is no conflict");
});

t.test("a closed shard ends its transactions and refuses new ones", async (t) => {
  const shard = await openShard(t);
  const transaction = shard.begin();
  const cursor = transaction.scan({ gte: key("a"), lt: key("b") });
  await shard.close();
  t.throws(() => transaction.get(key("a")), { code: "shutting_down" });
  t.same(rows(cursor), []);
  t.throws(() => shard.begin(), { code: "shutting_down" });
});
