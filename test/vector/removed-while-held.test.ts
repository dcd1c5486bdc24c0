/**
 * Vectors are removed while a graph is saved or linked by other threads: none comes back, none takes another's place.
 */
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import t from "tap";
import { type LinkJob, linkInSteps } from "../../src/vector/link-graph.js";
import { VectorBody } from "../../src/vector/vector-body.js";
import { clusteredVectors } from "./vectors.js";

const LINK_MODULE = new URL("../../src/vector/link-graph.js", import.meta.url).href;
const DIMENSIONS = 16;
const DEFINITION = { metric: "l2", storage: "int8", m: 16, efConstruction: 64 } as const;

class Rows {
  readonly vectors: (Float32Array | undefined)[] = [];
  readonly vectorsAt = (slots: readonly number[]) => slots.map((slot) => this.vectors[slot]);
  readonly body = VectorBody.create(DEFINITION, { dimensions: DIMENSIONS, isOfBits: false }, this.vectorsAt);

  add(vectors: readonly Float32Array[]): void {
    for (const vector of vectors) this.vectors[this.body.add(vector)] = vector;
  }

  remove(slots: Iterable<number>): void {
    for (const slot of slots) {
      this.body.remove(slot);
      this.vectors[slot] = undefined;
    }
  }

  link(): void {
    while (this.body.hasWork) this.body.work();
  }

  save(): Uint8Array[] {
    const parts = [...this.body.saveNow()];
    this.body.saved();
    return parts;
  }

  load(parts: readonly Uint8Array[]): VectorBody {
    const steps = VectorBody.load(parts, this.vectorsAt);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }
}

t.test("a search finds as many as are wanted while removed vectors are still in the graph", async (t) => {
  const vectors = clusteredVectors(4001, DIMENSIONS, 3);
  const query = vectors.pop()!;
  const rows = new Rows();
  const { body } = rows;
  rows.add(vectors);
  rows.link();
  body.saveNow();
  for (const removed of [100, 300, 1000, 2590]) {
    rows.remove(body.search(query, removed, removed, null).slots);
    const { slots, complete } = body.search(query, 10, 64, null);
    t.same([slots.length, complete], [10, true], `${body.count} are left`);
    const all = Uint32Array.from(rows.vectors.keys()).filter((slot) => rows.vectors[slot] !== undefined);
    const near = new Set(body.nearestOf(query, 10, all).slots);
    const hits = slots.filter((slot) => near.has(slot)).length;
    t.ok(hits >= 8, `${hits} of the 10 nearest of ${body.count}`);
    const even = new Uint32Array(Math.ceil(4000 / 32)).fill(0x55555555);
    for (const [slot, vector] of rows.vectors.entries())
      if (vector === undefined) even[slot >>> 5]! &= ~(1 << (slot & 31));
    const left = all.filter((slot) => slot % 2 === 0).length;
    t.equal(body.search(query, 10, 64, even).slots.length, Math.min(10, left), `${left} pass`);
  }
  t.equal(body.search(query, 10, 64, null).slots.length, Math.min(10, body.count));
});

t.test("added while it is saved: each is found once, and takes one place of the list", async (t) => {
  const vectors = clusteredVectors(6000, DIMENSIONS, 4);
  const rows = new Rows();
  const { body } = rows;
  rows.add(vectors.slice(0, 3000));
  rows.link();
  rows.add(vectors.slice(3000, 3010));
  const [job] = body.begin(1) as readonly LinkJob[];
  const steps = linkInSteps(job!);
  rows.add(vectors.slice(3010));
  for (const _ of steps);
  const query = vectors[3005]!;
  const { slots } = body.search(query, 64, 64, null);
  t.equal(new Set(slots).size, 64);
  for (const _ of body.end());
});

t.test("what is removed during one save is not in the next one's file", async (t) => {
  const vectors = clusteredVectors(2001, DIMENSIONS, 5);
  const query = vectors.pop()!;
  const rows = new Rows();
  const { body } = rows;
  rows.add(vectors);
  rows.link();
  const near = [...body.search(query, 100, 200, null).slots];
  const first = body.saveNow();
  const before = rows.vectors.slice();
  rows.remove(near);
  const saved = [...first];
  body.saved();
  const loaded = rows.load(rows.save());
  t.equal(loaded.count, 1900);
  t.same(
    near.filter((slot) => loaded.has(slot)),
    [],
  );
  while (loaded.hasWork) loaded.work();
  t.equal(loaded.search(query, 10, 64, null).slots.length, 10);
  for (const slot of near) rows.vectors[slot] = before[slot];
  const older = rows.load(saved);
  t.equal(older.count, 2000, "the first one's is of before");
  t.ok(near.every((slot) => older.has(slot)));
});

t.test("thousands of waiting vectors are removed while others link: that ends", async (t) => {
  const rows = new Rows();
  const { body } = rows;
  rows.add(clusteredVectors(6000, DIMENSIONS, 6));
  const [job] = body.begin(1) as readonly LinkJob[];
  rows.remove(Array.from({ length: 5000 }, (_, i) => 1000 + i));
  for (const _ of linkInSteps(job!));
  for (const _ of body.end());
  t.equal(body.waitingCount, 5000);
  t.notOk(body.isWanted, "none of those can be linked");
  rows.link();
  t.equal(body.waitingCount, 0);
  t.equal(body.count, 1000);
});

/** Where the infos of a new graph's slots are (wasm/layout.ts): the first in which a ring of its own begins. */
function infosAt(memory: WebAssembly.Memory): number {
  const words = new Uint32Array(memory.buffer);
  const isInfo = (at: number, slot: number) => words[at + 3] === slot && words[at + 4] === slot;
  for (let at = 64; at < words.length - 24; at++)
    if ([1, 2, 3].every((slot) => isInfo(at + 6 * slot, slot)) && isInfo(at, 0)) return 4 * at;
  throw new Error("there are no slots");
}

t.test("a thread does not wait for ever for another that ended with a lock held", async (t) => {
  const rows = new Rows();
  const { body } = rows;
  rows.add(clusteredVectors(3000, DIMENSIONS, 8));
  const [job] = body.begin(1) as readonly LinkJob[];
  const locks = new Uint8Array(job!.memory.buffer);
  const infos = infosAt(job!.memory);
  for (let slot = 0; slot < 16; slot++) locks[infos + 24 * slot + 11] = 1;
  const code = `const { workerData } = require("node:worker_threads");
    import(${JSON.stringify(LINK_MODULE)}).then(({ linkGraph }) => linkGraph(workerData));`;
  const worker = new Worker(code, { eval: true, workerData: job });
  let ended = false;
  const failed = new Promise<unknown>((resolve) => {
    worker.once("error", resolve);
    worker.once("exit", resolve);
  }).finally(() => {
    ended = true;
  });
  // A stop before the thread links its first vector, that of slot 1, would let it end as usual.
  while (locks[infos + 24 + 10] === 0 && !ended) await setTimeout(10);
  t.notOk(ended, "while nobody wants an end, it waits");
  body.stop();
  t.match(await failed, /unreachable/);
});
