/** A load whose runs share a prefix, in memory and in a file, is read as one ordered map. */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import { inSteps } from "../../src/storage/in-steps.js";
import { Load } from "../../src/storage/load.js";
import { keyText, STOP_WALK } from "../../src/storage/ordered-map.js";
import { packOperations, unpackOperations } from "../../src/storage/packed-operations.js";
import { type RunFile, StoredRun } from "../../src/storage/stored-run.js";
import { tries } from "../lengths.js";
import { directory } from "./shards.js";

const TURNS = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: async () => {} };
const PREFIXES = [Buffer.from("a1"), Buffer.from("b1"), Buffer.from("b2")];

interface Write {
  readonly prefix: number;
  readonly run: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

const WRITES = fc.uniqueArray(
  fc.record({
    prefix: fc.nat({ max: 2 }),
    run: fc.nat({ max: 2 }),
    key: fc.uint8Array({ maxLength: 3 }),
    value: fc.option(fc.uint8Array({ maxLength: 40_000, size: "small" })),
  }),
  { selector: ({ prefix, key }) => `${prefix} ${Buffer.from(key).toString("hex")}`, maxLength: 60 },
);

function keyOf({ prefix, key }: Pick<Write, "prefix" | "key">): Buffer {
  return Buffer.concat([PREFIXES[prefix]!, key]);
}

class File implements RunFile {
  length = 0;
  private readonly descriptor: number;

  constructor(path: string) {
    this.descriptor = openSync(path, "w+");
  }

  write(bytes: Uint8Array): void {
    this.length += writeSync(this.descriptor, bytes, 0, bytes.length, this.length);
  }

  read(into: Uint8Array, position: number): number {
    return readSync(this.descriptor, into, 0, into.length, position);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

/** Three runs of each prefix, in memory or, stored and `merged`, as one in the file. */
function loadOf(writes: readonly Write[], file: RunFile | null): Load {
  const load = new Load(0, 1e9);
  const runs = PREFIXES.map((prefix) => [0, 1, 2].map(() => load.run(prefix)));
  for (const write of writes) load.add(runs[write.prefix]![write.run]!, keyOf(write), write.value);
  inSteps(TURNS, load.sort());
  if (file === null) return load;
  const stored = new Load(0, 1e9);
  const steps = function* (): Generator<undefined, void> {
    const merged: StoredRun[] = [];
    for (const [p, parts] of runs.entries()) {
      const each: StoredRun[] = [];
      for (const run of parts) each.push(yield* StoredRun.of(run, file, (place) => 100 * p + run.numberAt(place)));
      for (const [r, one] of each.entries()) {
        for (let place = 0; place < one.size; place++) {
          if (one.rowNumberAt(place) !== 100 * p + parts[r]!.numberAt(place)) throw new Error("another row");
        }
      }
      merged.push(yield* StoredRun.merged(each, null, () => file));
    }
    stored.takeStored(merged, file);
  };
  inSteps(TURNS, steps());
  return stored;
}

t.test("entries in both directions, by key, and as parts", (t) => {
  const folder = directory(t);
  let files = 0;
  fc.assert(
    fc.property(WRITES, fc.boolean(), fc.nat({ max: 2 }), fc.uint8Array({ maxLength: 3 }), (writes, isStored, p, k) => {
      const load = loadOf(writes, isStored ? new File(join(folder, `${files++}`)) : null);
      const wanted = writes
        .map((write) => ({
          text: keyText(keyOf(write)),
          value: write.value && Buffer.from(write.value).toString("hex"),
        }))
        .sort((a, b) => (a.text < b.text ? -1 : 1));
      const shown = (entries: Iterable<readonly [string, { readonly value: Uint8Array | null }]>) =>
        Array.from(entries, ([text, { value }]) => ({ text, value: value && Buffer.from(value).toString("hex") }));
      const bound = keyText(keyOf({ prefix: p, key: k }));
      const same = (found: unknown, expected: unknown, what: string): void => {
        if (JSON.stringify(found) !== JSON.stringify(expected)) t.same(found, expected, what);
      };
      same(
        shown(load.entries(bound)),
        wanted.filter(({ text }) => text >= bound),
        "from the bound on",
      );
      same(shown(load.entriesReversed(bound)), wanted.filter(({ text }) => text < bound).reverse(), "before it");
      same(load.size, wanted.length, "size");
      same(
        load.has(bound),
        wanted.some(({ text }) => text === bound),
        "by key",
      );
      for (const { text, value } of wanted) {
        const found = load.get(text)!.value;
        same(found && Buffer.from(found).toString("hex"), value, "value");
      }
      const first = wanted.find(({ text }) => text >= bound);
      const seen: string[] = [];
      load.forRange(bound, "c", false, (text) => {
        seen.push(text);
        return STOP_WALK;
      });
      same(seen[0], first?.text, "range");
      const copied: { text: string; value: string | null }[] = [];
      for (const part of load.parts(7, 500)) {
        unpackOperations(packOperations([part]), (key, value) => {
          copied.push({ text: keyText(key), value: value && Buffer.from(value).toString("hex") });
        });
      }
      same(
        copied.sort((a, b) => (a.text < b.text ? -1 : 1)),
        wanted,
        "frames",
      );
      for (const { low, high } of load.ranges()) same(low < high, true, "ranges");
      load.release();
    }),
    { numRuns: tries(150) },
  );
  t.ok(files > 10, `${files} files`);
  t.end();
});
