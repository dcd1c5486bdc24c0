/** Writes beside a cache, single ones and those of loads, against a plain map. */
import fc from "fast-check";
import t from "tap";
import { inSteps } from "../../src/storage/in-steps.js";
import { LoadRun } from "../../src/storage/load-run.js";
import { NewerWrites } from "../../src/storage/newer-writes.js";
import { keyText } from "../../src/storage/ordered-map.js";
import { PackedKeys } from "../../src/storage/packed-keys.js";
import { tries } from "../lengths.js";

const TURNS = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: async () => {} };
const PREFIX = Buffer.from("rows");
const KEYS = 64;
const EACH = 30;

const keyOf = (number: number): Buffer => Buffer.concat([PREFIX, Buffer.from([number])]);
const textOf = (number: number): string => keyText(keyOf(number));

type Step =
  | { readonly kind: "set"; readonly key: number; readonly isDeleted: boolean }
  | { readonly kind: "load"; readonly keys: readonly number[]; readonly cuts: readonly number[] }
  | { readonly kind: "note" }
  | { readonly kind: "forget noted" | "forget all"; readonly from: number; readonly to: number };

const key = fc.integer({ min: 0, max: KEYS - 1 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("set" as const), key, isDeleted: fc.boolean() }),
    fc.record({
      kind: fc.constant("load" as const),
      keys: fc.uniqueArray(key, { minLength: 1, maxLength: 40 }),
      cuts: fc.array(key, { maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant("note" as const) }),
    fc.record({ kind: fc.constantFrom("forget noted" as const, "forget all" as const), from: key, to: key }),
  ),
  { minLength: 5, maxLength: 60, size: "max" },
);

interface ModelWrite {
  readonly value: string | null;
}

class Model {
  readonly writes = new NewerWrites();
  /** Each write is an object of its own, so that two deletions can be told apart. */
  readonly map = new Map<string, ModelWrite>();
  private noted = { writes: this.writes.clone(), map: new Map(this.map) };
  private values = 0;
  loads = 0;

  do(step: Step): void {
    if (step.kind === "set") this.set(textOf(step.key), keyOf(step.key), step.isDeleted);
    else if (step.kind === "load") this.load(step.keys, step.cuts);
    else if (step.kind === "note") this.noted = { writes: this.writes.clone(), map: new Map(this.map) };
    else {
      const [from, to] = [textOf(step.from), textOf(step.to)];
      if (step.kind === "forget all") this.forgetAll(from, to);
      else this.forgetNoted(from, to);
    }
  }

  private set(text: string, key: Uint8Array, isDeleted: boolean): void {
    const value = isDeleted ? null : Buffer.from(String(this.values++));
    const before = this.writes.set(text, { key, value });
    t.equal(before !== false, this.map.has(text), "whether the key was there");
    this.map.set(text, { value: value === null ? null : value.toString() });
  }

  private load(keys: readonly number[], cuts: readonly number[]): void {
    const run = new LoadRun(PREFIX);
    for (const number of keys) run.add(keyOf(number), number % 5 === 0 ? null : Buffer.from(String(this.values++)));
    inSteps(TURNS, run.sort());
    const ends = [...new Set(cuts.filter((cut) => cut > 0 && cut < run.size)), run.size].sort((a, b) => a - b);
    let from = 0;
    for (const to of ends) {
      const noted = this.writes.addLoad(run, { from, to }, EACH);
      if (noted !== null) this.loads++;
      for (let place = from; place < to; place++) {
        const { key, value } = run.operationAt(place);
        const text = keyText(key);
        if (noted === null) this.writes.set(text, { key, value });
        this.map.set(text, { value: value === null ? null : Buffer.from(value).toString() });
      }
      from = to;
    }
  }

  private forgetAll(from: string, to: string): void {
    this.writes.takeLoadsOf(this.writes, from, to);
    if (from < to) this.writes.takeRange(from, to);
    for (const text of [...this.map.keys()]) if (text >= from && text < to) this.map.delete(text);
  }

  /** As after a build: what was there when it began, and is not newer now. */
  private forgetNoted(from: string, to: string): void {
    const { writes, map } = this.noted;
    this.writes.takeLoadsOf(writes, from, to);
    for (const [text, operation] of writes.singlesFrom(from)) {
      if (text >= to) break;
      this.writes.take(text, operation);
    }
    for (const [text, write] of map) {
      if (text >= from && text < to && this.map.get(text) === write) this.map.delete(text);
    }
  }

  inOrder(): [string, string | null][] {
    return Array.from(this.map, ([text, { value }]): [string, string | null] => [text, value]).sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
  }
}

const shown = (entries: Iterable<[string, { readonly value: Uint8Array | null }]>): [string, string | null][] =>
  Array.from(entries, ([text, { value }]) => [text, value === null ? null : Buffer.from(value).toString()]);

/** As a manifest has them: without what all begin with. */
function packed(writes: NewerWrites): string[] {
  const keys = new PackedKeys();
  inSteps(TURNS, writes.packKeys(PREFIX.length, keys));
  const bytes = Buffer.concat(keys.parts());
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; at += 2 + bytes.readUInt16LE(at))
    texts.push(bytes.toString("latin1", at + 2, at + 2 + bytes.readUInt16LE(at)));
  t.equal(texts.length, keys.count);
  return texts;
}

t.test("any history of single writes, loads and what was forgotten", async (t) => {
  let loads = 0;
  fc.assert(
    fc.property(steps, key, key, (history, low, high) => {
      const model = new Model();
      for (const step of history) model.do(step);
      loads += model.loads;
      const { writes } = model;
      const expected = model.inOrder();
      t.same(shown(writes.entries()), expected);
      t.same(
        [...writes.keys()],
        expected.map(([text]) => text),
      );
      t.same(
        [...new Set(packed(writes))].sort(),
        [...model.map.keys()].map((text) => text.slice(PREFIX.length)).sort(),
      );
      const [from, to] = [textOf(low), textOf(high)];
      t.same(
        shown(writes.entries(from)),
        expected.filter(([text]) => text >= from),
      );
      t.same(shown(writes.entriesReversed(to, undefined, true)), expected.filter(([text]) => text < to).reverse());
      const inside = expected.filter(([text]) => text >= from && text < to);
      t.equal(writes.countIn(from, to, KEYS), inside.length);
      t.equal(writes.hasIn(from, to), inside.length > 0);
      t.equal(writes.isEmpty, writes.size === 0);
      t.ok(writes.size >= expected.length);
      for (let number = 0; number < KEYS; number++) {
        const found = writes.get(textOf(number));
        t.equal(writes.has(textOf(number)), model.map.has(textOf(number)));
        if (found !== undefined) t.same(shown([[textOf(number), found]])[0]![1], model.map.get(textOf(number))!.value);
      }
    }),
    { numRuns: tries(300) },
  );
  t.ok(loads > 100, "most loads stay as they are");
});

t.test("a clone stays as it was", async (t) => {
  const writes = new NewerWrites();
  const run = new LoadRun(PREFIX);
  for (let i = 0; i < 20; i++) run.add(keyOf(i), Buffer.from("load"));
  writes.set(textOf(30), { key: keyOf(30), value: Buffer.from("single") });
  t.same(writes.addLoad(run, { from: 0, to: 20 }, EACH), []);
  t.equal(writes.loadBytes, 20 * EACH);
  const clone = writes.clone();
  const before = shown(clone.entries());
  t.equal(before.length, 21);
  writes.set(textOf(3), { key: keyOf(3), value: null });
  writes.takeRange(textOf(30), textOf(31));
  t.equal(writes.takeLoadsOf(clone, textOf(5), textOf(10)), 5);
  t.equal(writes.loadBytes, 15 * EACH);
  t.same(shown(clone.entries()), before);
  t.equal(writes.countIn(textOf(0), textOf(40), 40), 15);
  t.equal(writes.countIn(textOf(0), textOf(40), 7), 8, "it stops beyond the most that matters");
});

t.test("where many single writes lie between those of a load, each is noted by itself", async (t) => {
  const writes = new NewerWrites();
  for (let i = 0; i < 40; i++) writes.set(textOf(i), { key: keyOf(i), value: null });
  const run = new LoadRun(PREFIX);
  for (let i = 0; i < 40; i++) run.add(keyOf(i), Buffer.from("load"));
  t.equal(writes.addLoad(run, { from: 0, to: 40 }, EACH), null);
  t.same(shown(writes.entries())[0], [textOf(0), null]);
});

t.test("keys of all lengths are packed", async (t) => {
  const lengths = [1, 255, 256, 37_856, 65_000, 60_000, 65_535 - PREFIX.length];
  const keys = lengths.map((length) => Buffer.concat([PREFIX, Buffer.alloc(length, length % 251)]));
  const expected = keys.map((key) => keyText(key).slice(PREFIX.length)).sort();
  const singles = new NewerWrites();
  for (const key of keys) singles.set(keyText(key), { key, value: null });
  const run = new LoadRun(PREFIX);
  for (const key of keys) run.add(key, Buffer.from("load"));
  inSteps(TURNS, run.sort());
  const loads = new NewerWrites();
  t.same(loads.addLoad(run, { from: 0, to: run.size }, EACH), []);
  for (const writes of [singles, loads]) {
    t.ok(Buffer.from(packed(writes).sort().join()).equals(Buffer.from(expected.join())));
  }
});
