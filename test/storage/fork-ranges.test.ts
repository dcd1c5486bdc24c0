/** What is remembered of ranges of an origin and of what was written last: the same as what the engine has. */
import t from "tap";
import type { Cursor } from "../../src/storage/store.js";
import { Random } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import { CountingEngine, keyOf, ORIGIN, part, Run } from "./layered-run.js";

t.test("what an origin had in ranges at a fork is remembered, however it is read", async (t) => {
  const [branch, inner] = [101, 102];
  const names = Array.from({ length: 120 }, (_, i) => `r${String(i).padStart(3, "0")}`);
  for (let seed = 1; seed <= tries(6); seed++) {
    const random = new Random(seed);
    const run = new Run(random);
    await run.open();
    const put = async (tenant: number, name: string): Promise<void> => {
      const value = random.below(4) === 0 ? null : `${random.below(1e6)}`;
      const content = run.now.get(tenant)!;
      if (value === null) content.delete(name);
      else content.set(name, value);
      const sequence = await run.commit([
        { key: keyOf(tenant, name), value: value === null ? null : Buffer.from(value) },
      ]);
      run.remember(tenant, sequence);
    };
    for (const name of names) await put(ORIGIN, name);
    await run.fork(ORIGIN, branch, null);
    for (let round = 0; round < 6; round++) {
      if (round === 3) await run.fork(branch, inner, null);
      for (let i = 0; i < 150; i++) await put(ORIGIN, names[random.below(names.length)]!);
      for (let i = 0; i < 20; i++) await put(branch, names[random.below(names.length)]!);
      await run.flush();
      for (const [tenant, content] of run.now) {
        const readers = [0, 1, 2].map(() => new RandomReader(run, tenant, names));
        while (readers.some((reader) => reader.goOn())) {}
        for (const { found, low, high } of readers)
          t.strictSame(found, [...part(content, low, high)], `seed ${seed}, round ${round}, ${tenant}`);
      }
    }
    if (!t.passing()) break;
  }
});

/** Reads a range in pieces of any size, beside others. */
class RandomReader {
  readonly found: [string, string][] = [];
  readonly low: string;
  readonly high: string;
  private readonly cursor: Cursor;
  private isAtEnd = false;

  constructor(
    private readonly run: Run,
    tenant: number,
    names: readonly string[],
  ) {
    const from = run.random.below(names.length);
    [this.low, this.high] = [names[from]!, names[from + run.random.below(names.length - from)]!];
    this.cursor = run.layers.cursor({ gte: keyOf(tenant, this.low), lt: keyOf(tenant, this.high) });
  }

  goOn(): boolean {
    if (this.isAtEnd) return false;
    const { keys, values } = this.cursor.next(1 + this.run.random.below(40));
    for (const [i, key] of keys.entries())
      this.found.push([Buffer.from(key.subarray(5)).toString("latin1"), Buffer.from(values[i]!).toString()]);
    this.isAtEnd = keys.length === 0;
    if (this.isAtEnd) this.cursor.close();
    return !this.isAtEnd;
  }
}

t.test(
  "a range of a branch is not looked for again in its origin, and what was written last is not read",
  async (t) => {
    const engine = new CountingEngine();
    const run = new Run(new Random(1), engine);
    await run.open();
    const names = Array.from({ length: 100 }, (_, i) => `r${100 + i}`);
    const writeAll = async (tenant: number, value: string) => {
      for (const name of names) await run.commit([{ key: keyOf(tenant, name), value: Buffer.from(value) }]);
      await run.flush();
    };
    await writeAll(ORIGIN, "first");
    await run.fork(ORIGIN, 101, null);
    for (let i = 0; i < 5; i++) await writeAll(ORIGIN, `later ${i}`);
    const all = (tenant = 101): string[] => {
      const cursor = run.layers.cursor({ gte: keyOf(tenant, "r100"), lt: keyOf(tenant, "r200") });
      const { values } = cursor.next(1000);
      cursor.close();
      return values.map((value) => Buffer.from(value).toString());
    };
    const each = (value: string): string[] => names.map(() => value);
    for (let i = 0; i < 2; i++) t.strictSame(all(), each("first"));
    engine.read = 0;
    t.strictSame(all(), each("first"));
    t.equal(engine.read, 0, "the third time");
    await writeAll(101, "own");
    t.strictSame(all(ORIGIN), each("later 4"));
    engine.read = engine.got = 0;
    await writeAll(101, "own, later");
    await writeAll(ORIGIN, "last");
    t.equal(engine.read + engine.got, 0, "neither of what commits replace in a branch nor in its origin");
    t.strictSame(all(), each("own, later"));
  },
);

t.test(
  "a branch reads no more of its origin than it gives out, and nothing that was appended since the fork",
  async (t) => {
    const engine = new CountingEngine();
    const run = new Run(new Random(1), engine);
    await run.open();
    const rows = (from: number): string[] => Array.from({ length: 100 }, (_, i) => `tabl${from + i}`);
    const writeAll = async (tenant: number, names: readonly string[]): Promise<void> => {
      for (const name of names) await run.commit([{ key: keyOf(tenant, name), value: Buffer.from(name) }]);
      await run.flush();
    };
    await writeAll(ORIGIN, rows(100));
    await run.fork(ORIGIN, 101, null);
    await writeAll(ORIGIN, rows(200));
    await writeAll(101, ["tabl500"]);
    const read = (from: string, max: number): string[] => {
      const cursor = run.layers.cursor({ gte: keyOf(101, from), lt: keyOf(101, "tabm") });
      const { values } = cursor.next(max);
      cursor.close();
      return values.map((value) => Buffer.from(value).toString());
    };
    engine.read = 0;
    t.strictSame(read("tabl100", 10), rows(100).slice(0, 10));
    t.ok(engine.read <= 20, `${engine.read} entries were read for ten`);
    const last = run.layers.cursor({ gte: keyOf(101, "tabl"), lt: keyOf(101, "tabm"), reverse: true });
    t.equal(Buffer.from(last.next(1).values[0]!).toString(), "tabl500");
    last.close();
    engine.read = 0;
    t.strictSame(read("tabl199\x01", 10), ["tabl500"]);
    t.strictSame(read("tabl198", 10), ["tabl198", "tabl199", "tabl500"]);
    t.ok(engine.read <= 10, `${engine.read} entries were read of the last rows`);
  },
);
