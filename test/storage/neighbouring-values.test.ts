/** Keys that are read together have the values that each would have alone, however they lie. */
import t from "tap";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { neighbouringValues } from "../../src/storage/neighbouring-values.js";
import { Random } from "../fuzz/random.js";

const KEYS = 3000;

function keyOf(table: number, row: number): Buffer {
  const key = Buffer.alloc(13);
  key.writeUInt32BE(7, 0);
  key.writeUInt32BE(table, 5);
  key.writeUInt32BE(row, 9);
  return key;
}

/** A store of which cursors and look-ups are counted. */
class Counted extends MemoryEngine {
  looked = 0;
  stepped = 0;

  override getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    this.looked += keys.length;
    return super.getMany(keys);
  }

  override cursor(range: Parameters<MemoryEngine["cursor"]>[0]): ReturnType<MemoryEngine["cursor"]> {
    const cursor = super.cursor(range);
    const next = (max: number) => {
      const entries = cursor.next(max);
      this.stepped += entries.keys.length;
      return entries;
    };
    return { next, close: () => cursor.close() };
  }
}

function filled(): Counted {
  const engine = new Counted();
  const operations = [];
  for (const table of [1, 2]) {
    for (let row = 0; row < KEYS; row++) {
      if (row % 7 !== 3) operations.push({ key: keyOf(table, row), value: Buffer.from(`${table}/${row}`) });
    }
  }
  engine.write(operations);
  return engine;
}

t.test("the values are those of each key", async (t) => {
  const engine = filled();
  const random = new Random(5);
  for (let round = 0; round < 200; round++) {
    const keys: Buffer[] = [];
    while (keys.length < 1 + random.below(400)) {
      const [table, from] = [1 + random.below(2), random.below(KEYS)];
      const [step, count] = [1 + random.below(6), 1 + random.below(150)];
      // Upwards, downwards, beyond the last row, and the same key again.
      for (let i = 0; i < count; i++) keys.push(keyOf(table, Math.abs(from + (round % 5 === 0 ? -i : i) * step)));
      if (random.below(3) === 0) keys.push(keys.at(-1)!);
    }
    const found = neighbouringValues(engine, keys).map((value) => value?.toString());
    const alone = keys.map((key) => engine.get(key)?.toString());
    t.strictSame(found, alone, `round ${round}`);
    if (!t.passing()) break;
  }
});

t.test("neighbours are read by a cursor, and keys far apart are looked up", async (t) => {
  const engine = filled();
  const near = Array.from({ length: 1000 }, (_, i) => keyOf(1 + Math.floor(i / 500), 100 + (i % 500)));
  neighbouringValues(engine, near);
  t.equal(engine.looked, 0, "two tables, each from its first key to its last");
  engine.stepped = 0;
  const far = Array.from({ length: 200 }, (_, i) => keyOf(1, i * 14));
  neighbouringValues(engine, far);
  t.ok(engine.looked > 190 && engine.stepped <= 16, `${engine.looked} looked up, ${engine.stepped} entries read`);
});

t.test("no cursor goes over the space between keys, where many entries may have been removed", async (t) => {
  const engine = new Counted();
  const keys = Array.from({ length: 61 }, (_, i) => keyOf(1, i * 6000));
  engine.write(keys.map((key) => ({ key, value: key })));
  t.strictSame(neighbouringValues(engine, keys).map(String), keys.map(String));
  t.same([engine.looked, engine.stepped], [keys.length, 0]);
});
