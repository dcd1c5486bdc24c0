/** Keys of branches: what is looked for at the end of a range, what goes with a branch, what is read of the past. */
import t from "tap";
import { boundOf } from "../../src/storage/cursor-bound.js";
import { branchKey } from "../../src/storage/history-keys.js";
import { prefixRange, SHARD_TENANT, SPACE, tenantOfKey, tenantPrefix } from "../../src/storage/keys.js";
import { LayeredEngine } from "../../src/storage/layered-engine.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import { type Entries, readSome } from "../../src/storage/store.js";
import { applyBacklog } from "./apply-backlog.js";

const ORIGIN = 7;

function keyOf(tenant: number, name: string): Buffer {
  return Buffer.concat([tenantPrefix(tenant), Buffer.of(2), Buffer.from(name)]);
}

class Run {
  private constructor(
    readonly memory: MemoryEngine,
    readonly layers: LayeredEngine,
    private readonly shard: Shard,
  ) {}

  static async open(): Promise<Run> {
    const memory = new MemoryEngine();
    const layers = new LayeredEngine(memory);
    let micros = 1_000_000;
    const log = new MemoryCommitLog();
    return new Run(memory, layers, await Shard.open({ engine: layers, layers, log, now: () => ++micros }));
  }

  commit(writes: readonly (readonly [key: Buffer, value: string | null])[]): void {
    const tx = this.shard.begin();
    for (const [key, value] of writes) {
      if (value === null) tx.delete(key);
      else tx.put(key, Buffer.from(value));
    }
    tx.commit();
  }

  fork(origin: number, tenant: number): void {
    this.commit([[branchKey(tenant), JSON.stringify({ origin, start: null })]]);
  }

  get sequence(): number {
    return this.shard.committedSequence;
  }

  async flush(): Promise<void> {
    this.shard.flush();
    await applyBacklog(this.shard);
  }
}

t.test("nothing that is kept for a branch is left when it goes, whatever is written beside", async (t) => {
  const run = await Run.open();
  run.commit([[keyOf(ORIGIN, "a"), "one"]]);
  run.fork(ORIGIN, 100);
  await run.flush();
  run.commit([[keyOf(ORIGIN, "a"), "two"]]);
  await run.flush();
  // All of one turn.
  run.commit([
    [keyOf(ORIGIN, "a"), "three"],
    [keyOf(100, "b"), null],
  ]);
  run.commit([
    [keyOf(ORIGIN, "c"), "of the same commit"],
    [branchKey(100), null],
  ]);
  await run.flush();
  const { keys } = run.memory.cursor({ gte: Buffer.alloc(0), lt: Buffer.alloc(8, 0xff) }).next(1e6);
  const spaces: readonly number[] = [SPACE.history, SPACE.hidden, SPACE.since, SPACE.stamps, SPACE.flat];
  t.same(
    keys.filter((key) => tenantOfKey(key) === SHARD_TENANT && spaces.includes(key[4]!)),
    [],
  );
});

t.test("the greatest key of a branch is found again without what its origin has appended", async (t) => {
  const run = await Run.open();
  const key = (tenant: number, i: number) => keyOf(tenant, `a${String(i).padStart(5, "0")}`);
  const put = async (tenant: number, from: number, to: number) => {
    run.commit(Array.from({ length: to - from }, (_, i) => [key(tenant, from + i), "v"] as const));
    await run.flush();
  };
  await put(ORIGIN, 0, 10);
  run.fork(ORIGIN, 100);
  await run.flush();
  run.fork(100, 101);
  await run.flush();
  for (let from = 10; from < 6000; from += 1000) await put(ORIGIN, from, from + 1000);
  await run.flush();
  const range = { ...prefixRange(keyOf(100, "a")), reverse: true };
  const bounds = Array.from({ length: 40 }, () => boundOf(run.layers.cursor(range))!);
  t.same(bounds.at(-1), key(100, 9), "it comes nearer each time, and is exact in the end");
  t.ok(Buffer.compare(bounds[0]!, key(100, 9)) > 0, "the first time would take long");
  const cursor = run.layers.cursor(range);
  const found = readSome(cursor, 3);
  cursor.close();
  t.same(
    found?.keys,
    [9, 8, 7].map((i) => key(100, i)),
    "at once",
  );
  await put(100, 20, 22);
  await run.flush();
  t.same(boundOf(run.layers.cursor(range)), key(100, 21), "what the branch appends comes first");
  t.equal(run.layers.cursor(range).next(100).keys.length, 12);
  for (let i = 0; i < 40; i++) boundOf(run.layers.cursor({ ...prefixRange(keyOf(101, "a")), reverse: true }));
  t.same(
    boundOf(run.layers.cursor({ ...prefixRange(keyOf(101, "a")), reverse: true })),
    key(101, 9),
    "and of a branch of it",
  );
  t.same(boundOf(run.layers.cursor({ ...prefixRange(keyOf(100, "z")), reverse: true })), null);
  t.same(boundOf(run.layers.cursor({ ...prefixRange(keyOf(100, "z")), reverse: true })), null, "there was nothing");
});

t.test("of rows that were written very often since a fork, few entries are read", async (t) => {
  const run = await Run.open();
  let read = 0;
  const open = run.memory.cursor.bind(run.memory);
  run.memory.cursor = (range) => {
    const cursor = open(range);
    const next = (max: number): Entries => {
      const entries = cursor.next(max);
      read += entries.keys.length;
      return entries;
    };
    return { next, close: () => cursor.close() };
  };
  const [rows, times] = [50, 200];
  const name = (row: number) => String(row).padStart(3, "0");
  const writeEach = async (step: number, value: string) => {
    const written = Array.from({ length: rows }, (_, row) => row).filter((row) => row % step === 0);
    run.commit(written.map((row) => [keyOf(ORIGIN, name(row)), `${value} of ${row}`] as const));
    await run.flush();
  };
  await writeEach(1, "first");
  run.fork(ORIGIN, 100);
  await run.flush();
  const start = run.sequence;
  // Half of the rows have one replaced entry, half have hundreds.
  for (let i = 0; i < times; i++) await writeEach(i === 0 ? 1 : 2, `${i}`);
  const cases: [string, Pick<LayeredEngine, "cursor">, number, string, string][] = [
    ["the branch", run.layers, 100, "first", "first"],
    ["the past", run.layers.asOf(start), ORIGIN, "first", "first"],
    ["the past, half way", run.layers.asOf(start + times / 2), ORIGIN, `${times / 2 - 1}`, "0"],
    ["the past, at the end", run.layers.asOf(run.sequence), ORIGIN, `${times - 1}`, "0"],
  ];
  for (const [what, engine, tenant, often, once] of cases) {
    for (const reverse of [false, true]) {
      read = 0;
      const cursor = engine.cursor({ ...prefixRange(keyOf(tenant, "")), reverse });
      const found = cursor.next(2 * rows).values.map((value) => Buffer.from(value).toString());
      cursor.close();
      const expected = Array.from({ length: rows }, (_, row) => `${row % 2 === 0 ? often : once} of ${row}`);
      t.same(found, reverse ? expected.reverse() : expected, `${what} ${reverse ? "backwards" : ""}`);
      t.ok(read < 30 * rows, `${what} ${reverse ? "backwards" : ""}: ${read} entries`);
    }
  }
});
