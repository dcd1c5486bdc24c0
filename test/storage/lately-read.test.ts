/** What a commit replaces is not read again where it was read lately, and is right whatever is written between. */
import t from "tap";
import { prefixRange, tenantPrefix } from "../../src/storage/keys.js";
import type { Cursor } from "../../src/storage/store.js";
import { Random } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import { CountingEngine, keyOf, ORIGIN, part, Run, read } from "./layered-run.js";

const NAMES = Array.from({ length: 80 }, (_, i) => `k${String(i).padStart(3, "0")}`);
const BRANCH = 100;

t.test("rows that a cursor has read are what commits replace, whatever is written meanwhile", async (t) => {
  for (let seed = 1; seed <= tries(20); seed++) {
    const random = new Random(seed);
    const run = new Run(random);
    await run.open();
    await run.keep(ORIGIN);
    const put = async (tenant: number, from: number, to: number) => {
      const content = run.now.get(tenant)!;
      const writes = NAMES.slice(from, to).map((name) => {
        const value = random.below(4) === 0 ? null : `${random.below(1e6)}`;
        if (value === null) content.delete(name);
        else content.set(name, value);
        return { key: keyOf(tenant, name), value: value === null ? null : Buffer.from(value) };
      });
      run.remember(tenant, await run.commit(writes));
    };
    await put(ORIGIN, 0, NAMES.length);
    await run.fork(ORIGIN, BRANCH, null);
    // Its past is kept, too.
    await run.fork(BRANCH, BRANCH + 1, null);
    const open: Cursor[] = [];
    for (let step = 0; step < 60; step++) {
      const tenant = random.below(2) === 0 ? ORIGIN : BRANCH;
      const from = random.below(NAMES.length);
      const to = from + 1 + random.below(30);
      const what = random.below(5);
      if (what < 2) {
        await put(tenant, from, to);
        if (random.below(2) === 0) await run.flush();
      } else if (what === 2) {
        const range = { gte: keyOf(tenant, NAMES[from]!), lt: prefixRange(tenantPrefix(tenant)).lt };
        open.push(run.layers.cursor(range));
      } else for (const cursor of open) cursor.next(8 + random.below(16));
      if (open.length > 3) open.shift()!.close();
    }
    await run.flush();
    for (const [tenant, past] of run.past) {
      for (const [sequence, content] of past) {
        const found = read(run.layers.asOf(sequence), tenant, "", null, false);
        t.strictSame([...found], [...part(content, "", null)], `seed ${seed}: ${tenant} after ${sequence}`);
      }
    }
    if (!t.passing()) break;
  }
});

t.test("what was read is known no more once it was written, also when what was written is forgotten", async (t) => {
  const run = new Run(new Random(1));
  await run.open();
  await run.keep(ORIGIN);
  // So long that the last ones of a few dozen are remembered.
  const longValue = (text: string) => Buffer.alloc(64 * 1024, text);
  const write = async (from: number, to: number, text: string) => {
    for (const name of NAMES.slice(from, to)) await run.commit([{ key: keyOf(ORIGIN, name), value: longValue(text) }]);
    await run.flush();
  };
  await write(0, NAMES.length, "a");
  const cursor = run.layers.cursor(prefixRange(tenantPrefix(ORIGIN)));
  const { keys } = cursor.next(16);
  t.same(keys.at(3), keyOf(ORIGIN, NAMES[3]!));
  await write(3, 4, "b");
  await write(20, 21, "b");
  // Opened before: not what is there now.
  t.equal(cursor.next(16).keys.length, 16);
  cursor.close();
  for (let i = 0; i < 2; i++) await write(40, NAMES.length, "c");
  const before = run.shard.committedSequence;
  await write(0, 30, "d");
  const past = run.layers.asOf(before);
  const found = NAMES.slice(0, 30).map((name) => Buffer.from(past.get(keyOf(ORIGIN, name))!).toString("latin1", 0, 1));
  t.equal(found.join(""), "aaabaaaaaaaaaaaaaaaabaaaaaaaaa");
});

t.test("an update of rows that were just read does not read them again", async (t) => {
  const run = new Run(new Random(1), new CountingEngine());
  const memory = run.memory as CountingEngine;
  await run.open();
  await run.keep(ORIGIN);
  const writes = (value: string) => NAMES.map((name) => ({ key: keyOf(ORIGIN, name), value: Buffer.from(value) }));
  await run.commit(writes("one"));
  await run.flush();
  // What was written last is known otherwise.
  await run.open();
  const update = async (value: string): Promise<number> => {
    [memory.read, memory.got] = [0, 0];
    await run.commit(writes(value));
    await run.flush();
    return memory.read + memory.got;
  };
  const cursor = run.layers.cursor(prefixRange(tenantPrefix(ORIGIN)));
  t.equal(cursor.next(NAMES.length).keys.length, NAMES.length);
  cursor.close();
  const before = run.shard.committedSequence;
  t.ok((await update("two")) < NAMES.length / 2, "nothing is read");
  await run.open();
  t.ok((await update("three")) >= NAMES.length, "what nobody has read is");
  t.same(
    [...new Set(read(run.layers.asOf(before), ORIGIN, "", null, false).values())],
    ["one"],
    "what was replaced is kept",
  );
});
