/**
 * Random histories, forks of forks, reads of the past, range deletes and crashes against a plain model: a map per
 * tenant, copied at every commit. Commits of three writes and more are large, and the engine takes them in parts.
 */
import t, { type Test } from "tap";
import { NO_ORIGIN } from "../../src/storage/branch-list.js";
import { boundOf } from "../../src/storage/cursor-bound.js";
import type { Engine } from "../../src/storage/engine.js";
import { FLAT_DEPTH } from "../../src/storage/flat-branches.js";
import {
  branchKey,
  bytesKey,
  flatKey,
  flatPrefix,
  flatRecordKey,
  hiddenKey,
  hiddenPrefix,
  hiddenRange,
  historyRecordKey,
  horizonKey,
  readBesideKey,
  readReplacedKey,
  replacedKey,
  replacedPrefix,
  sinceKey,
  stampKey,
} from "../../src/storage/history-keys.js";
import { putHorizon } from "../../src/storage/history-records.js";
import { prefixRange, tenantPrefix } from "../../src/storage/keys.js";
import { type Cursor, type KeyRange, readSome } from "../../src/storage/store.js";
import { Random } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import { type Content, CountingEngine, keyOf, NAMES, ORIGIN, part, Run, read } from "./layered-run.js";

function check(t: Test, run: Run, engine: Engine, tenant: number, content: Content, what: string): void {
  const low = NAMES[run.random.below(NAMES.length)]!;
  const high = run.random.below(2) === 0 ? null : NAMES[run.random.below(NAMES.length)]!;
  for (const reverse of [false, true]) {
    const got = read(engine, tenant, low, high, reverse);
    if (low <= (high ?? low)) t.strictSame([...got], [...part(content, low, high)], what);
  }
  for (const name of NAMES) {
    const value = engine.get(keyOf(tenant, name));
    if (Buffer.from(value ?? "").toString() !== (content.get(name) ?? "")) t.fail(`${what}: ${JSON.stringify(name)}`);
  }
}

t.test("the past and branches are what a model says, also after a crash", async (t) => {
  for (let seed = 1; seed <= tries(30); seed++) {
    const run = new Run(new Random(seed));
    await run.open();
    for (let i = 0; i < 4; i++) await run.write(ORIGIN);
    if (run.random.below(2) === 0) await run.keep(ORIGIN);
    for (let step = 0; step < 40; step++) {
      const tenants = [...run.now.keys()];
      const tenant = tenants[run.random.below(tenants.length)]!;
      if (run.random.below(8) === 0) run.save();
      const what = run.random.below(12);
      if (what < 8) await run.write(tenant);
      else if (what === 8) await run.flush();
      else if (what === 9 && tenants.length < 5) await run.fork(tenant, 100 + tenants.length, null);
      else if (what === 10 && run.past.has(tenant) && tenants.length < 5) {
        const at = [...run.past.get(tenant)!.keys()];
        await run.fork(tenant, 100 + tenants.length, at[run.random.below(at.length)]!);
      } else if (what === 11) {
        // What has not reached the engine is replayed; a large commit may be there in part.
        if (run.random.below(2) === 0) run.shard.flush();
        else await run.flush();
        if (run.shard.hasBacklog) {
          await run.shard.backlogReady();
          run.shard.applySome();
        }
        if (run.random.below(2) === 0) run.rewind();
        await run.open();
      }
    }
    await run.flush();
    for (const [tenant, content] of run.now) check(t, run, run.layers, tenant, content, `seed ${seed}: ${tenant} now`);
    for (const tenant of run.now.keys()) {
      if (tenant !== ORIGIN) checkBytes(t, run, tenant, `seed ${seed}: ${tenant} holds`);
    }
    for (const [tenant, past] of run.past) {
      for (const [sequence, content] of past) {
        check(t, run, run.layers.asOf(sequence), tenant, content, `seed ${seed}: ${tenant} after ${sequence}`);
      }
    }
    if (!t.passing()) break;
  }
});

t.test("chains of branches are made short, and each branch stays what a model says, also after a crash", async (t) => {
  for (let seed = 1; seed <= tries(20); seed++) {
    const run = new Run(new Random(seed));
    const { random } = run;
    await run.open();
    for (let i = 0; i < 4; i++) await run.write(ORIGIN);
    let next = 100;
    const some = () => run.layers.flat.some(1 + random.below(4));
    for (let step = 0; step < 80; step++) {
      const tenants = [...run.now.keys()];
      const tenant = tenants[random.below(tenants.length)]!;
      if (random.below(12) === 0) run.save();
      const what = random.below(20);
      if (what < 7) await run.write(tenant);
      // Most often one of the last, so that chains are long.
      else if (what < 11 && tenants.length < 12)
        await run.fork(tenants[Math.max(0, tenants.length - 1 - random.below(3))]!, next++, null);
      else if (what === 11 && run.past.has(tenant) && tenants.length < 12) {
        const at = [...run.past.get(tenant)!.keys()];
        await run.fork(tenant, next++, at[random.below(at.length)]!);
      } else if (what === 12) await run.flush();
      else if (what === 13 && tenant !== ORIGIN && run.layers.branches.forksOf(tenant).size === 0) {
        await run.flush();
        await run.end(tenant);
      } else if (what === 14) {
        if (random.below(2) === 0) run.shard.flush();
        else await run.flush();
        if (random.below(2) === 0) run.rewind();
        await run.open();
      } else some();
      const read = tenants[random.below(tenants.length)]!;
      if (what % 4 === 0 && run.now.has(read)) {
        await run.flush();
        check(t, run, run.layers, read, run.now.get(read)!, `seed ${seed}, step ${step}: ${read}`);
      }
    }
    await run.flush();
    while (some());
    for (const [tenant, content] of run.now) {
      const { layers } = run;
      check(t, run, layers, tenant, content, `seed ${seed}: ${tenant} now`);
      t.ok(layers.flat.depthOf(tenant) <= FLAT_DEPTH, `seed ${seed}: ${tenant} asks ${layers.flat.depthOf(tenant)}`);
      if (tenant === ORIGIN) continue;
      checkBytes(t, run, tenant, `seed ${seed}: what was copied for ${tenant} is not its own`);
      const keys = NAMES.map((name) => keyOf(tenant, name));
      const found = layers.getMany(keys).map((value) => value && Buffer.from(value).toString());
      t.same(
        found,
        NAMES.map((name) => content.get(name)),
        `seed ${seed}: ${tenant}, all at once`,
      );
    }
    for (const [tenant, past] of run.past) {
      const [sequence, content] = [...past][random.below(past.size)]!;
      check(t, run, run.layers.asOf(sequence), tenant, content, `seed ${seed}: ${tenant} after ${sequence}`);
    }
    // Those without branches of their own first.
    while (run.now.size > 1) {
      const last = [...run.now.keys()].find((each) => each !== ORIGIN && run.layers.branches.forksOf(each).size === 0)!;
      await run.end(last);
    }
    const kept = { gte: flatPrefix(0), lt: flatPrefix(2 ** 31) };
    t.same(run.memory.cursor({ ...kept, only: "keys" }).next(10).keys, [], `seed ${seed}: nothing is left`);
    if (!t.passing()) break;
  }
});

t.test("a step that makes a chain short ends early where values are large", async (t) => {
  const run = new Run(new Random(1));
  await run.open();
  await run.write(ORIGIN);
  const names = Array.from({ length: 30 }, (_, i) => `k${10 + i}`);
  const largeValue = (tenant: number, name: string) => Buffer.alloc(100_000, `${tenant} ${name} `);
  for (let tenant = 101; tenant <= 101 + FLAT_DEPTH; tenant++) {
    await run.fork(tenant === 101 ? ORIGIN : tenant - 1, tenant, null);
    for (const name of names) await run.commit([{ key: keyOf(tenant, name), value: largeValue(tenant, name) }]);
    await run.flush();
  }
  const copied = () =>
    run.memory.cursor({ gte: flatPrefix(0), lt: flatPrefix(2 ** 31), only: "keys" }).next(1000).keys.length;
  let most = 0;
  for (let before = 0; run.layers.flat.some(64); before = copied()) most = Math.max(most, copied() - before);
  t.equal(copied(), names.length);
  t.ok(most <= 8, `${most} in one step`);
  const last = 101 + FLAT_DEPTH;
  t.ok(run.layers.flat.depthOf(last) <= FLAT_DEPTH);
  for (let tenant = 101; tenant <= last; tenant++)
    for (const name of names)
      t.ok(largeValue(tenant, name).equals(run.layers.get(keyOf(tenant, name))!), `${name} of ${tenant}`);
});

/** A branch is never said to hold less than it does, and not much more once it was counted. */
function checkBytes(t: Test, run: Run, tenant: number, what: string): void {
  const held = heldBytes(run, tenant);
  t.ok(run.layers.bytesOf(tenant) >= held, `${what}: not below what there is`);
  while (run.layers.countSome(10));
  const counted = run.layers.bytesOf(tenant);
  t.ok(counted >= held && 0.75 * counted <= held, `${what}: ${counted} for ${held}`);
}

/** Of a branch: its entries, and its markers of deletions. */
function heldBytes({ memory }: Run, tenant: number): number {
  let bytes = 0;
  const whole = prefixRange(tenantPrefix(tenant));
  for (const range of [whole, hiddenRange(whole)]) {
    const cursor = memory.cursor(range);
    const { keys, values } = cursor.next(10_000);
    for (let i = 0; i < keys.length; i++) bytes += keys[i]!.length + values[i]!.length;
    cursor.close();
  }
  return bytes;
}

t.test("a branch whose range was removed at once, or that nobody has counted, is counted anew", async (t) => {
  const branch = 101;
  for (let seed = 1; seed <= 20; seed++) {
    const run = new Run(new Random(seed));
    await run.open();
    await run.write(ORIGIN);
    await run.fork(ORIGIN, branch, null);
    const write = async () => {
      for (let i = 0; i < 3; i++) await run.write(branch);
      await run.flush();
    };
    for (let i = 0; i < 3; i++) await write();
    const before = run.layers.bytesOf(branch);
    if (seed % 2 === 0) {
      run.layers.clear({ gte: keyOf(branch, "a"), lt: keyOf(branch, "b") });
      t.equal(run.layers.bytesOf(branch), before, "what is not counted yet counts as before");
    } else run.memory.write([{ key: bytesKey(branch), value: null }]);
    if (seed % 3 > 0 || seed % 2 === 1) await run.open();
    let steps = 0;
    while (run.layers.countSome(1 + run.random.below(3))) {
      if (++steps < 5) await write();
      if (steps === 3) await run.open();
    }
    checkBytes(t, run, branch, `seed ${seed}`);
    await run.open();
    t.notOk(run.layers.countSome(1), "once");
    checkBytes(t, run, branch, `seed ${seed}, opened again`);
  }
});

t.test(
  "a branch that began empty is written like a tenant, and its bytes are counted when somebody asks",
  async (t) => {
    const branch = 101;
    for (let seed = 1; seed <= 20; seed++) {
      const run = new Run(new Random(seed));
      await run.open();
      await run.write(ORIGIN);
      const record = (quotaBytes: number | null) => {
        const value = Buffer.from(JSON.stringify({ origin: NO_ORIGIN, start: null, quotaBytes }));
        return run.commit([{ key: branchKey(branch), value }]);
      };
      await record(null);
      await run.flush();
      run.now.set(branch, new Map());
      const write = async () => {
        for (let i = 0; i < 3; i++) await run.write(branch);
        await run.flush();
      };
      const counted = async () => {
        for (let steps = 0; run.layers.countSome(1 + run.random.below(3)); steps++) if (steps < 4) await write();
      };
      for (let i = 0; i < 4; i++) {
        await write();
        t.ok(run.layers.bytesOf(branch) >= heldBytes(run, branch), `seed ${seed}, never below what there is`);
        if (run.random.below(2) === 0) await counted();
        if (run.random.below(3) === 0) await run.open();
      }
      check(t, run, run.layers, branch, run.now.get(branch)!, `seed ${seed}`);
      t.notOk(run.layers.keepsHistory, "nobody's past is kept for it");
      const hidden = run.memory.cursor({ ...prefixRange(hiddenPrefix(branch)), only: "keys" });
      t.equal(hidden.next(1).keys.length, 0, "no markers");
      if (seed % 2 === 0) await run.open();
      await record(1e6);
      await run.flush();
      await counted();
      t.equal(run.layers.bytesOf(branch), heldBytes(run, branch), `seed ${seed}, exact with a quota`);
      await write();
      t.equal(run.layers.bytesOf(branch), heldBytes(run, branch), `seed ${seed}, and it stays so`);
    }
  },
);

t.test("a key that was written very often is stepped over", async (t) => {
  const run = new Run(new Random(1));
  await run.open();
  await run.keep(ORIGIN);
  const write = (name: string, value: string) => run.commit([{ key: keyOf(ORIGIN, name), value: Buffer.from(value) }]);
  let before = 0;
  for (const [first, count] of [
    [0, 200],
    [200, 300],
    [500, 70],
  ] as const) {
    for (let i = first; i < first + count; i++) before = await write("b", `${i}`);
    for (const name of ["a", "c"]) await write(name, `${first}`);
    await run.flush();
    for (const reverse of [false, true]) {
      const found = [...read(run.layers.asOf(before), ORIGIN, "", null, reverse)];
      const others = first === 0 ? [] : [first === 200 ? "0" : "200"];
      const expected = [...others.map((v) => ["a", v]), ["b", `${first + count - 1}`], ...others.map((v) => ["c", v])];
      t.strictSame(found, expected, `${first} ${reverse}`);
    }
  }
  const middle = [...read(run.layers.asOf(2), ORIGIN, "", null, true)];
  t.strictSame(middle, [["b", "0"]], "the first of many");
});

t.test("a cursor that drops very many entries says that it has nothing yet", async (t) => {
  const run = new Run(new Random(1), new CountingEngine());
  const memory = run.memory as CountingEngine;
  await run.open();
  const name = (i: number) => `${i}`.padStart(6, "0");
  const put = (tenant: number, i: number, value: string | null) => ({
    key: keyOf(tenant, name(i)),
    value: value === null ? null : Buffer.from(value),
  });
  const count = 20_000;
  const writes = (tenant: number, value: string | null) =>
    Array.from({ length: count }, (_, i) => put(tenant, i, value)).filter((_, i) => i !== 15_000 || value !== null);
  await run.commit(writes(ORIGIN, "old"));
  await run.fork(ORIGIN, 100, null);
  memory.deleted = 0;
  await run.commit(writes(100, null));
  await run.flush();
  t.ok(memory.deleted < 10, "what a branch has of its origin leaves no markers of deletions");
  await run.fork(100, 101, null);
  const before = run.shard.committedSequence;
  // Replaced entries of the past that a reader of now has no use for, and those of a reader of the past.
  await run.commit(writes(ORIGIN, "new"));
  await run.flush();
  const tx = run.shard.begin();
  for (const { key } of writes(ORIGIN, null)) tx.delete(key);
  const cases: [string, (range: KeyRange) => Cursor, number][] = [
    ["a branch", (range) => run.layers.cursor(range), 100],
    ["a branch of a branch", (range) => run.layers.cursor(range), 101],
    ["its past", (range) => run.layers.asOf(before).cursor(range), 100],
    ["a transaction's own deletions", (range) => tx.scan(range), ORIGIN],
  ];
  for (const [what, open, tenant] of cases) {
    for (const reverse of [false, true]) {
      const cursor = open({ ...prefixRange(tenantPrefix(tenant)), reverse });
      const found: string[] = [];
      let turns = 0;
      for (; ; turns++) {
        memory.read = 0;
        const entries = readSome(cursor, 10);
        if (memory.read > 5000) t.fail(`${what}: ${memory.read} entries in a turn`);
        if (entries?.keys.length === 0) break;
        for (const key of entries?.keys ?? []) found.push(Buffer.from(key.subarray(5)).toString());
      }
      cursor.close();
      memory.read = 0;
      const bound = Buffer.from(boundOf(open({ ...prefixRange(tenantPrefix(tenant)), reverse }))!);
      t.ok(memory.read < 10_000, `${what}: ${memory.read} entries for a bound`);
      const order = Buffer.compare(bound, keyOf(tenant, name(15_000)));
      t.ok(reverse ? order >= 0 : order <= 0, `${what}: nothing comes before ${bound.toString("latin1")}`);
      t.same(found, [name(15_000)], `${what} ${reverse ? "backwards" : ""}`);
      t.ok(turns > 10, `${what}: in ${turns} turns`);
    }
  }
  tx.rollback();
});

t.test("the bound of a cursor is not behind what it has found", async (t) => {
  const run = new Run(new Random(1));
  await run.open();
  const put = (tenant: number, i: number, value: string | null) => ({
    key: keyOf(tenant, `${i}`.padStart(6, "0")),
    value: value === null ? null : Buffer.from(value),
  });
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const boundFrom = (tenant: number) => {
    const bound = boundOf(run.layers.cursor({ ...prefixRange(tenantPrefix(tenant)), reverse: true }))!;
    return Number(Buffer.from(bound.subarray(-6)).toString());
  };
  await run.commit([put(ORIGIN, 900_000, "a"), put(ORIGIN, 900_001, "a")]);
  await run.fork(ORIGIN, 100, null);
  await run.commit(range(1, 3000).map((i) => put(ORIGIN, i, "new")));
  await run.commit([put(100, 900_001, null)]);
  await run.flush();
  t.ok(boundFrom(100) >= 900_000, "a row of the origin, before many that came after the fork");
  await run.fork(100, 101, null);
  await run.commit([...range(1, 3000).map((i) => put(100, i, "own")), put(100, 3001, "own"), put(100, 3002, "own")]);
  await run.fork(100, 102, null);
  await run.commit([put(100, 900_000, null), ...range(1, 3000).map((i) => put(100, i, null)), put(102, 900_000, null)]);
  await run.commit([put(102, 3002, null), ...range(1, 3000).map((i) => put(102, i, null))]);
  await run.flush();
  t.ok(boundFrom(102) >= 3001, "a row of a branch, before many that are deleted");
});

t.test("several keys at once, and the commit of a number", async (t) => {
  const run = new Run(new Random(3));
  await run.open();
  for (let i = 0; i < 3; i++) await run.write(ORIGIN);
  await run.fork(ORIGIN, 100, null);
  const start = run.shard.committedSequence;
  const stamps: [number, number][] = [];
  for (let i = 0; i < 200; i++) {
    await run.write(i % 5 === 0 ? 100 : ORIGIN);
    if (i % 5 !== 0) stamps.push([run.shard.committedSequence, run.micros]);
  }
  await run.flush();
  const keys = (tenant: number) => NAMES.map((name) => keyOf(tenant, name));
  const text = (values: readonly (Uint8Array | undefined)[]) =>
    values.map((each) => each && Buffer.from(each).toString());
  const one = (engine: Pick<Engine, "get">, tenant: number) => text(keys(tenant).map((key) => engine.get(key)));
  t.same(text(run.layers.getMany([...keys(100), ...keys(ORIGIN)])), [
    ...one(run.layers, 100),
    ...one(run.layers, ORIGIN),
  ]);
  for (const sequence of [start, start + 50, start + 199, start + 200]) {
    const past = run.layers.asOf(sequence);
    t.same(text(past.getMany(keys(ORIGIN))), one(past, ORIGIN), `after ${sequence}`);
  }
  for (const [sequence, micros] of stamps) {
    t.same(run.layers.stampOf(ORIGIN, sequence), { sequence, micros }, `commit ${sequence}`);
  }
  for (const [i, [sequence, micros]] of stamps.entries()) {
    t.same(run.layers.commitAt(ORIGIN, micros), { sequence, micros }, `at the time of ${sequence}`);
    const next = stamps[i + 1]?.[1] ?? micros + 1000;
    t.same(run.layers.commitAt(ORIGIN, next - 1), { sequence, micros }, `until the one after ${sequence}`);
  }
  t.equal(run.layers.commitAt(ORIGIN, 999_999), null, "before all");
  const [last] = stamps.at(-1)!;
  t.equal(run.layers.stampOf(ORIGIN, last + 1000)!.sequence, last, "the one before");
  t.equal(run.layers.stampOf(ORIGIN, 0), null, "older than what is kept");
});

t.test("from which commit on the past can be read is a record, and only what is older is forgotten", async (t) => {
  const run = new Run(new Random(6));
  await run.open();
  await run.keep(ORIGIN);
  for (let i = 0; i < 30; i++) await run.write(ORIGIN);
  await run.flush();
  const { committedSequence: newest } = run.shard;
  await run.fork(ORIGIN, 100, newest - 12);
  await run.flush();
  const move = async (sequence: number): Promise<void> => {
    const tx = run.shard.begin();
    putHorizon(tx, ORIGIN, run.layers.stampOf(ORIGIN, sequence) ?? { sequence, micros: 0 });
    tx.commit();
    await run.flush();
  };
  const begins = (): number => run.layers.oldestOf(ORIGIN)!.sequence;
  const replaced = (): number => run.memory.cursor(prefixRange(replacedPrefix(ORIGIN))).next(1000).keys.length;
  const before = replaced();
  await move(newest - 20);
  t.equal(begins(), newest - 20);
  t.throws(() => run.layers.requireReadable(ORIGIN, newest - 21), "nobody reads what is older");
  t.equal(replaced(), before, "which is still there");
  let from: Uint8Array | null = null;
  do from = run.layers.forget(ORIGIN, from, 4);
  while (from !== null);
  const left = replaced();
  t.ok(left < before && left > 0, `${left} of ${before} are left`);
  await move(newest - 25);
  t.equal(begins(), newest - 20, "it never goes back");
  await move(newest - 5);
  t.equal(begins(), newest - 12, "what a branch begins with stays");
  await run.open();
  t.equal(begins(), newest - 12, "also after a start");
  for (const [sequence, content] of run.past.get(ORIGIN)!) {
    if (sequence >= begins()) check(t, run, run.layers.asOf(sequence), ORIGIN, content, `after ${sequence}`);
  }
  check(t, run, run.layers, 100, run.now.get(100)!, "the branch");
});

t.test("commits are looked for forwards only", async (t) => {
  // Backwards, RocksDB steps over what was removed below, one entry after the other.
  const run = new Run(new Random(4));
  await run.open();
  await run.fork(ORIGIN, 100, null);
  for (let i = 0; i < 20; i++) await run.write(ORIGIN);
  await run.flush();
  const cursor = run.memory.cursor.bind(run.memory);
  run.memory.cursor = (range) => {
    t.not(range.reverse, true);
    return cursor(range);
  };
  t.equal(run.layers.stampOf(ORIGIN, 1e6)!.sequence, run.layers.commitAt(ORIGIN, 1e15)!.sequence);
});

t.test("the bytes of the keys", async (t) => {
  const key = Buffer.from("0000000702610062", "hex");
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  t.equal(hex(replacedKey(key, 258)), "000000000800000007" + "026100ff62" + "0001" + "000000000102");
  t.same(readReplacedKey(replacedKey(key, 258)), { key, sequence: 258 });
  t.equal(hex(hiddenKey(key)), "000000000900000007" + "026100ff62");
  t.equal(hex(flatKey(key)), "000000000d00000007" + "026100ff62");
  for (const made of [hiddenKey(key), flatKey(key)]) t.same(readBesideKey(made), key);
  t.equal(hex(flatRecordKey(7)), `000000000b00000007${hex(Buffer.from("flat"))}`);
  t.equal(hex(stampKey(7, 258)), "000000000a00000007" + "0000000000000102");
  t.equal(hex(sinceKey(7, "branch")), `000000000b00000007${hex(Buffer.from("branch"))}`);
  t.equal(hex(bytesKey(7)), `000000000b00000007${hex(Buffer.from("bytes"))}`);
  t.equal(hex(branchKey(7)), `0000000000${hex(Buffer.from("branch/7"))}`);
  t.equal(hex(historyRecordKey(7)), `0000000000${hex(Buffer.from("history/7"))}`);
  t.equal(hex(horizonKey(7)), `0000000000${hex(Buffer.from("horizon/7"))}`);
});
