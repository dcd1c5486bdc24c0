/** Loads in files as part of a transaction: they go with it, with savepoints, and never hold a turn for long. */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { RowsAside } from "../../src/query/exec/rows-aside.js";
import { SpillArea } from "../../src/query/exec/spill/spill-area.js";
import { allocateMemory } from "../../src/storage/copy-bytes.js";
import { Load } from "../../src/storage/load.js";
import { LoadRun } from "../../src/storage/load-run.js";
import { FRAME_HEAD_BYTES } from "../../src/storage/operation-frame.js";
import { keyText } from "../../src/storage/ordered-map.js";
import type { Shard } from "../../src/storage/shard.js";
import { type LoadPart, partsOfRun } from "../../src/storage/sorted-run.js";
import { type RunFile, StoredRun } from "../../src/storage/stored-run.js";
import type { ShardTransaction } from "../../src/storage/transaction.js";
import { applyBacklog } from "./apply-backlog.js";
import { directory, openShard } from "./shards.js";

const PREFIX = Buffer.from("t");
const AT_ONCE = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: () => Promise.resolve() };

const keyOf = (n: number) => Buffer.from(`t${String(n).padStart(8, "0")}`, "latin1");
const numbers = (count: number, numberOf: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => numberOf(i));

/** Counts how often it is read. */
class CountedFile implements RunFile {
  length = 0;
  reads = 0;
  isOpen = true;
  private readonly descriptor: number;

  constructor(t: Test) {
    this.descriptor = openSync(join(directory(t), "rows"), "w+");
    t.teardown(() => this.close());
  }

  write(bytes: Uint8Array): void {
    this.length += writeSync(this.descriptor, bytes, 0, bytes.length, this.length);
  }

  read(into: Uint8Array, position: number): number {
    if (!this.isOpen) throw new Error("closed");
    this.reads++;
    return readSync(this.descriptor, into, 0, into.length, position);
  }

  close(): void {
    if (this.isOpen) closeSync(this.descriptor);
    this.isOpen = false;
  }
}

function drained<R>(steps: Generator<undefined, R>, eachStep: () => void = () => undefined): R {
  for (;;) {
    const { done, value } = steps.next();
    eachStep();
    if (done === true) return value as R;
  }
}

function sortedRun(rows: readonly number[], bytes: number): LoadRun {
  const run = new LoadRun(PREFIX);
  for (const n of rows) run.add(keyOf(n), Buffer.alloc(bytes, 7));
  drained(run.sort());
  return run;
}

/** The transaction gets the rows as a load in a file. */
function attach(t: Test, tx: ShardTransaction, rows: readonly number[], bytes = 100): CountedFile {
  const file = tx.holdFile(() => new CountedFile(t));
  const load = new Load(tx.snapshot, 1e9);
  load.takeStored([drained(StoredRun.of(sortedRun(rows, bytes), file, null))], file);
  tx.attach(load);
  return file;
}

/** Looks at the most reads of the file in one step; `between` runs after each. */
function counting(file: CountedFile, between: () => void = () => undefined) {
  const counted = { most: 0, steps: 0, before: file.reads };
  const stepped = () => {
    counted.most = Math.max(counted.most, file.reads - counted.before);
    counted.before = file.reads;
  };
  const turns = {
    checkpoint: stepped,
    shouldYield: () => true,
    yieldTurn: () => {
      counted.steps++;
      between();
      return Promise.resolve();
    },
  };
  return { counted, turns };
}

function put(shard: Shard, n: number, value: string): void {
  const tx = shard.begin();
  tx.put(keyOf(n), Buffer.from(value));
  tx.commit();
}

const shown = (tx: ShardTransaction, n: number) => {
  const value = tx.get(keyOf(n));
  return value === undefined ? undefined : Buffer.from(value).subarray(0, 5).toString("latin1");
};

t.test("few but large rows in a file make a large commit, and the file is closed after it", async (t) => {
  const shard = await openShard(t);
  const tx = shard.begin();
  const file = attach(
    t,
    tx,
    numbers(3, (i) => i),
    400_000,
  );
  t.ok(tx.isLarge);
  await tx.prepareCommit(AT_ONCE);
  tx.commit();
  shard.flush();
  t.ok(file.isOpen, "the engine reads it");
  await applyBacklog(shard);
  t.notOk(file.isOpen);
  const reader = shard.begin({ readOnly: true });
  t.equal(reader.get(keyOf(2))?.length, 400_000);
  reader.rollback();
  // Where nobody prepared the commit, memory has all of it.
  const small = shard.begin();
  const other = attach(t, small, [10, 11]);
  small.commit();
  t.notOk(other.isOpen);
  shard.flush();
  t.equal(shown(shard.begin({ readOnly: true }), 11), "\x07\x07\x07\x07\x07");
});

t.test("who takes a stored load part by part reads it once, in whatever order the parts are told of", (t) => {
  const file = new CountedFile(t);
  const rows = numbers(20_000, (i) => i);
  const run = sortedRun(rows, 100);
  const load = new Load(0, 1e9);
  load.takeStored([drained(StoredRun.of(run, file, null))], file);
  const parts = [...load.parts(256, 128 * 1024)];
  t.equal(file.reads, 0);
  t.ok(parts.every(({ length }) => length <= 256));
  const copied = (part: LoadPart) => {
    const memory = allocateMemory(part.bytes + FRAME_HEAD_BYTES * part.length);
    t.equal(part.copyFrames(memory, 0), memory.bytes.length);
    return memory.bytes;
  };
  const whole = Buffer.concat(parts.map(copied));
  const { reads } = file;
  t.ok(reads <= parts.length, `${reads} reads of ${parts.length} parts`);
  t.same(
    parts.map(({ firstKey, lastKey, puts }) => [keyText(firstKey), keyText(lastKey), puts]),
    parts.map(({ from, to }) => [keyText(keyOf(from)), keyText(keyOf(to - 1)), to - from]),
  );
  t.equal(file.reads, reads, "keys at the ends of parts are in memory");
  const inMemory = [...partsOfRun(run, 256, 128 * 1024)].map(copied);
  t.ok(whole.equals(Buffer.concat(inMemory)));
  t.end();
});

t.test("others write to the same table: the commit's own turn does not read the file", async (t) => {
  const shard = await openShard(t);
  // Holds all that follows in memory.
  const old = shard.begin({ readOnly: true });
  const tx = shard.begin();
  const file = attach(
    t,
    tx,
    numbers(20_000, (i) => 2 * i),
  );
  let next = 1;
  const other = () => {
    put(shard, 2 * ((next * 7919) % 20_000) + 1, "other");
    next++;
  };
  for (let i = 0; i < 3000; i++) other();
  const { counted, turns } = counting(file, () => counted.steps % 50 === 0 && other());
  await tx.prepareCommit(turns);
  t.ok(counted.most <= 20, `${counted.most} reads in a step`);
  const before = file.reads;
  tx.commit();
  t.ok(file.reads - before <= 64, `${file.reads - before} reads in the commit`);
  old.rollback();
  shard.flush();
  await applyBacklog(shard);
  t.notOk(file.isOpen);
});

t.test("another large commit of the same table beside it", async (t) => {
  for (const common of [null, 0, 19_999]) {
    const shard = await openShard(t);
    const tx = shard.begin();
    const other = shard.begin();
    const file = attach(
      t,
      tx,
      numbers(20_000, (i) => 3 * i),
    );
    const otherFile = attach(
      t,
      other,
      numbers(20_000, (i) => 3 * i + (i === common ? 0 : 1)),
    );
    await other.prepareCommit(AT_ONCE);
    other.commit();
    shard.flush();
    await applyBacklog(shard);
    const { counted, turns } = counting(file);
    await tx.prepareCommit(turns);
    t.ok(counted.most <= 20, `${counted.most} reads in a step`);
    const before = file.reads + otherFile.reads;
    if (common === null) t.doesNotThrow(() => tx.commit());
    else t.throws(() => tx.commit(), /could not serialize/);
    t.equal(file.reads + otherFile.reads, before);
    shard.flush();
    await applyBacklog(shard);
    t.notOk(file.isOpen);
    t.notOk(otherFile.isOpen);
  }
});

t.test("keys that others hold are looked for before", async (t) => {
  for (const held of [1, 0]) {
    const shard = await openShard(t);
    const holder = shard.begin({ isolation: "read committed" });
    holder.takeKeys({});
    for (let i = 0; i < 1000; i++) holder.put(keyOf(2 * ((i * 7919) % 20_000) + (i === 999 ? held : 1)), Buffer.of(1));
    const tx = shard.begin();
    const file = attach(
      t,
      tx,
      numbers(20_000, (i) => 2 * i),
    );
    const { counted, turns } = counting(file);
    await tx.prepareCommit(turns);
    t.ok(counted.most <= 20, `${counted.most} reads in a step`);
    const before = file.reads;
    if (held === 1) tx.commit();
    else t.throws(() => tx.commit(), /could not serialize/);
    t.equal(file.reads, before);
    holder.rollback();
  }
});

t.test("conflicts are found whenever the other commit was", async (t) => {
  for (const moment of ["before", "while", "after"]) {
    const shard = await openShard(t);
    const tx = shard.begin();
    const file = attach(
      t,
      tx,
      numbers(3000, (i) => i),
    );
    if (moment === "before") put(shard, 2999, "other");
    const { turns, counted } = counting(file, () => moment === "while" && counted.steps === 10 && put(shard, 5, "x"));
    await tx.prepareCommit(turns);
    t.ok(counted.steps > 10);
    if (moment === "after") put(shard, 0, "other");
    t.throws(() => tx.commit(), /could not serialize/, moment);
    t.notOk(file.isOpen);
  }
  const shard = await openShard(t);
  const tx = shard.begin();
  attach(
    t,
    tx,
    numbers(3000, (i) => i),
  );
  await tx.prepareCommit(AT_ONCE);
  tx.put(keyOf(5000), Buffer.from("late"));
  put(shard, 5000, "other");
  t.throws(() => tx.commit(), /could not serialize/, "a late write");
});

t.test("older snapshots keep what they saw of keys that the load has, too", async (t) => {
  const shard = await openShard(t);
  put(shard, 7, "first");
  put(shard, 8, "first");
  shard.flush();
  const first = shard.begin({ readOnly: true });
  put(shard, 7, "again");
  const second = shard.begin({ readOnly: true });
  const tx = shard.begin();
  const file = attach(
    t,
    tx,
    numbers(2000, (i) => i),
  );
  const { turns } = counting(file);
  await tx.prepareCommit(turns);
  tx.put(keyOf(8), Buffer.from("late!"));
  tx.commit();
  const loaded = "\x07\x07\x07\x07\x07";
  const check = (where: string) => {
    const third = shard.begin({ readOnly: true });
    t.same(
      [first, second, third].map((each) => shown(each, 7)),
      ["first", "again", loaded],
      where,
    );
    t.same(
      [first, second, third].map((each) => shown(each, 8)),
      ["first", "first", "late!"],
      where,
    );
    t.same(
      [first, second, third].map((each) => shown(each, 9)),
      [undefined, undefined, loaded],
      where,
    );
    third.rollback();
  };
  check("in memory");
  shard.flush();
  await applyBacklog(shard);
  check("in the engine");
  first.rollback();
  second.rollback();
  t.notOk(file.isOpen);
});

t.test("a load of keys that a large commit deletes, which the engine takes meanwhile, is seen", async (t) => {
  const shard = await openShard(t);
  const count = 3000;
  const first = shard.begin();
  for (let i = 0; i < count; i++) first.put(keyOf(i), Buffer.from("first"));
  await first.prepareCommit(AT_ONCE);
  first.commit();
  shard.flush();
  await applyBacklog(shard);
  const old = shard.begin({ readOnly: true });
  const deleting = shard.begin();
  for (let i = 0; i < count; i++) deleting.delete(keyOf(i));
  await deleting.prepareCommit(AT_ONCE);
  deleting.commit();
  shard.flush();
  const tx = shard.begin();
  attach(
    t,
    tx,
    numbers(count, (i) => i),
  );
  const prepared = tx.prepareCommit(AT_ONCE);
  for (let i = 0; i < 20; i++) await null;
  await applyBacklog(shard);
  await prepared;
  tx.commit();
  shard.flush();
  const reader = shard.begin({ readOnly: true });
  let seen = 0;
  for (let i = 0; i < count; i++) if (reader.get(keyOf(i)) !== undefined) seen++;
  t.equal(seen, count);
  t.equal(old.get(keyOf(0))?.toString(), "first");
  reader.rollback();
  old.rollback();
});

t.test("a rollback to a savepoint closes the files of later loads", async (t) => {
  const shard = await openShard(t);
  const tx = shard.begin();
  const kept = attach(t, tx, [1, 2]);
  const savepoint = tx.savepoint();
  for (let i = 0; i < 3; i++) {
    const file = attach(t, tx, [10, 11]);
    tx.rollbackTo(savepoint);
    t.notOk(file.isOpen);
  }
  const read = attach(t, tx, [20, 21]);
  const cursor = tx.scan({ gte: keyOf(0), lt: keyOf(99) });
  t.equal(cursor.next(1).keys.length, 1);
  tx.rollbackTo(savepoint);
  t.equal(cursor.next(10).keys.length, 3, "the cursor goes on");
  cursor.close();
  t.ok(read.isOpen);
  tx.rollbackTo(savepoint);
  t.notOk(read.isOpen);
  const frozen = attach(t, tx, [30]);
  const face = tx.frozen();
  tx.rollbackTo(savepoint);
  t.ok(face.get(keyOf(30)));
  t.ok(kept.isOpen);
  tx.rollback();
  t.notOk(frozen.isOpen);
  t.notOk(kept.isOpen);
});

t.test("rows of many bytes are merged some at a time", (t) => {
  const file = new CountedFile(t);
  const stored = (odd: number) =>
    drained(
      StoredRun.of(
        sortedRun(
          numbers(40, (i) => 2 * i + odd),
          100_000,
        ),
        file,
        null,
      ),
    );
  const runs = [stored(0), stored(1)];
  let most = 0;
  let length = file.length;
  const merged = drained(
    StoredRun.merged(runs, null, () => file),
    () => {
      most = Math.max(most, file.length - length);
      length = file.length;
    },
  );
  t.equal(merged.size, 80);
  t.ok(most <= 700_000, `${most} bytes in a step`);
  t.end();
});

t.test("keys are looked for in rows aside some at a time, each slab once in a while", async (t) => {
  const spill = new SpillArea(join(directory(t), "spill"), 1e9);
  const file = new CountedFile(t);
  spill.open = () => file as unknown as ReturnType<SpillArea["open"]>;
  const tx = { holdFile: (open: (held: object) => unknown) => open({}) };
  const context = { statement: { spilledBytes: 0 }, tx, ...AT_ONCE };
  const aside = new RowsAside(...([context, spill, {}, null] as unknown as ConstructorParameters<typeof RowsAside>));
  for (const odd of [0, 1]) {
    const rows = numbers(20_000, (i) => 3 * i + odd);
    await aside.add([{ key: null, run: sortedRun(rows, 100), rowOf: null }], false);
  }
  // Of 256 rows each.
  const slabs = file.length / 29_000;
  const wanted = numbers(3000, (i) => (i * 7919) % 60_000);
  let most = 0;
  let before = file.reads;
  const begin = file.reads;
  const missing = drained(aside.without(wanted.map((n) => keyText(keyOf(n)))), () => {
    most = Math.max(most, file.reads - before);
    before = file.reads;
  });
  t.same(
    [...missing].sort(),
    wanted
      .filter((n) => n % 3 === 2)
      .map((n) => keyText(keyOf(n)))
      .sort(),
  );
  t.ok(most <= 20, `${most} reads in a step`);
  t.ok(file.reads - begin <= 3 * slabs, `${file.reads - begin} reads of ${slabs} slabs`);
});
