/** The file of a vector index: read piece by piece, equal to what was saved, and never believed when it is damaged. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readIndexFile, writeIndexFile, writtenKeys } from "../../src/derived/index-file.js";
import type { Turns } from "../../src/protocol/turns.js";
import { VectorBody } from "../../src/vector/vector-body.js";
import { vectorKind } from "../../src/vector/vector-kind.js";
import { randomFrom } from "../fuzz/random.js";
import { directory } from "../storage/shards.js";
import { clusteredVectors } from "./vectors.js";

const COUNT = 4000;
const DIMENSIONS = 64;
const INDEXED = { dimensions: DIMENSIONS, isOfBits: false };
const NAME = "vectors 1";
const METHOD = { metric: "cosine", m: 8, efConstruction: 32, storage: "f32" } as const;
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

const vectors = clusteredVectors(COUNT, DIMENSIONS, 17);
const originals = (slots: readonly number[]) => slots.map((slot) => vectors[slot]);
const kind = vectorKind({ vector: METHOD, columnIds: [1] } as never, INDEXED, () => null);

function grown(): VectorBody {
  const body = VectorBody.create(METHOD, INDEXED, originals);
  for (const vector of vectors) body.add(vector);
  while (body.hasWork) body.work();
  return body;
}

async function saved(path: string, saving: VectorBody): Promise<void> {
  const keys = vectors.map((_, i) => (i % 50 === 3 ? null : `key ${i}`));
  const pieces = [keys.slice(0, 9), keys.slice(9)].map(writtenKeys);
  const all = { pieces, count: keys.length, characters: keys.join("").length };
  const rest = { pieces: [writtenKeys(["r"])], count: 1, characters: 1 };
  const content = { definition: NAME, sequence: 9, keys: all, rest, body: saving.saveNow() };
  await writeIndexFile({ path }, content, () => Promise.resolve());
  saving.saved();
}

function read(path: string, turns: Turns, definition = NAME) {
  const told: string[] = [];
  const damaged = (reason: string) => void told.push(reason);
  const reading = readIndexFile({ path, definition, kind, itemsAt: originals, turns, damaged });
  return reading.then((file) => ({ file, told }));
}

t.test("what is read is what was saved", async (t) => {
  const path = join(directory(t), "1-2.idx");
  const body = grown();
  await saved(path, body);
  let yields = 0;
  const turns: Turns = {
    shouldYield: () => true,
    yieldTurn: () => {
      yields++;
      return settle();
    },
  };
  const { file, told } = await read(path, turns);
  t.same(told, []);
  t.ok(yields > readFileSync(path).length / 2 ** 20, `${yields} turns`);
  t.equal(file!.sequence, 9);
  t.same([file!.keys.at(2), file!.keys.at(3), file!.keys.slotCount, file!.rest], ["key 2", null, COUNT, ["r"]]);
  t.equal(file!.body.count, COUNT);
  for (const query of vectors.slice(0, 50)) {
    const [a, b] = [body.search(query, 10, 40, null), file!.body.search(query, 10, 40, null)];
    t.same([...a.slots], [...b.slots]);
  }
  t.same(await read(path, turns, "another"), { file: null, told: [] });
  t.same(await read(`${path}x`, turns), { file: null, told: [] });
  const ending: Turns = { shouldYield: () => true, yieldTurn: () => Promise.reject(new Error("the end")) };
  await t.rejects(read(path, ending), /the end/);
});

t.test("a changed byte and a cut are found", async (t) => {
  const path = join(directory(t), "1-2.idx");
  await saved(path, grown());
  const whole = readFileSync(path);
  const random = randomFrom(5);
  const turns: Turns = { shouldYield: () => false, yieldTurn: settle };
  const places = [
    0,
    9,
    14,
    60,
    whole.length - 1,
    ...Array.from({ length: 40 }, () => Math.floor(random() * whole.length)),
  ];
  for (const at of places) {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1 << Math.floor(random() * 8);
    writeFileSync(path, bytes);
    const { file, told } = await read(path, turns);
    // In the definition it says that the file is of another one.
    if (file !== null || told.length > 1) t.fail(`byte ${at}: ${told}`);
  }
  for (const length of [0, 5, 12, 100, whole.length >> 1, whole.length - 4, whole.length - 1]) {
    writeFileSync(path, whole.subarray(0, length));
    const { file, told } = await read(path, turns);
    t.ok(file === null && told.length === 1, `${length} bytes: ${told}`);
  }
  writeFileSync(path, Buffer.concat([whole, Buffer.alloc(7)]));
  t.equal((await read(path, turns)).file, null);
});
