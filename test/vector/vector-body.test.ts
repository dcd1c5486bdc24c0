/** Vectors change while other threads link them in the same memory: searches find exactly those of now, at any time. */
import { Worker } from "node:worker_threads";
import t from "tap";
import { type LinkJob, linkInSteps } from "../../src/vector/link-graph.js";
import { VectorBody } from "../../src/vector/vector-body.js";
import { VectorGraph } from "../../src/vector/vector-graph.js";
import { randomFrom } from "../fuzz/random.js";
import { sized } from "../lengths.js";
import { clusteredVectors, distanceOf } from "./vectors.js";

const DIMENSIONS = 16;
const LINK_MODULE = new URL("../../src/vector/link-graph.js", import.meta.url).href;

/** A body, and which of the vectors are in it. */
class Model {
  readonly bySlot = new Map<number, number>();
  readonly body: VectorBody;
  private next = 0;
  private readonly random = randomFrom(11);

  constructor(
    storage: "f32" | "int8" | "binary",
    readonly vectors: readonly Float32Array[],
    m = 8,
  ) {
    const vectorsAt = (slots: readonly number[]) => slots.map((slot) => vectors[this.bySlot.get(slot)!]);
    const definition = { metric: "l2", m, efConstruction: 4 * m, storage } as const;
    this.body = VectorBody.create(definition, { dimensions: vectors[0]!.length, isOfBits: false }, vectorsAt, 100);
  }

  add(): void {
    const slot = this.body.add(this.vectors[this.next]!);
    if (this.bySlot.has(slot)) throw new Error("a slot was given twice");
    this.bySlot.set(slot, this.next++);
  }

  change(): void {
    const slots = [...this.bySlot.keys()];
    const slot = slots[Math.floor(this.random() * slots.length)]!;
    if (this.random() < 0.5) {
      this.body.remove(slot);
      this.bySlot.delete(slot);
    }
    if (this.random() < 0.7) this.add();
  }

  /** What is wrong with an exact search, if anything. */
  allFound(): string {
    const { slots } = this.body.search(this.vectors[0]!, this.bySlot.size, 16_384, null);
    const found = [...slots].sort((a, b) => a - b);
    const wanted = [...this.bySlot.keys()].sort((a, b) => a - b);
    return found.join() === wanted.join() ? "" : `found ${found.length} of ${wanted.length}`;
  }

  /** Share of the present ones, `every`th, that a search for them finds first. */
  found(every = 1): number {
    const some = [...this.bySlot].filter((_, i) => i % every === 0);
    const right = some.filter(([slot, vector]) => {
      const [first] = this.body.search(this.vectors[vector]!, 1, 64, null).slots;
      return first === slot;
    });
    return right.length / some.length;
  }

  end(): void {
    for (const _ of this.body.end());
    while (this.body.hasWork) this.body.work();
  }
}

for (const storage of ["f32", "int8", "binary"] as const) {
  t.test(`linked by others, step by step, ${storage}`, async (t) => {
    const model = new Model(storage, clusteredVectors(4000, DIMENSIONS, 7));
    const { body } = model;
    for (let i = 0; i < 1500; i++) model.add();
    for (let i = 0; i < 100; i++) body.work();
    for (let i = 0; i < 100; i++) model.change();
    for (let round = 0; round < 2; round++) {
      t.ok(body.isWanted);
      const others = (body.begin(3) as readonly LinkJob[]).map((job) => linkInSteps(job));
      t.equal(others.length, 3);
      t.notOk(body.isWanted || body.hasWork, "what others do is not done here, too");
      t.throws(() => [...body.save()], /other threads/);
      let ended = 0;
      for (let step = 0; ended < others.length; step++) {
        ended = others.filter((other) => other.next().done === true).length;
        if (step % 2 === 0) model.change();
        if (step % 50 > 0) continue;
        const wrong = model.allFound();
        if (wrong !== "") t.fail(`step ${step}: ${wrong}`);
        if (body.waitingCount * 2 < body.count) {
          const share = model.found(40);
          if (share < 0.9) t.fail(`step ${step}: ${share} are found by themselves`);
        }
      }
      model.end();
      t.equal(body.count, model.bySlot.size);
      t.equal(body.waitingCount, 0);
      t.equal(model.allFound(), "");
      const share = model.found();
      t.ok(share > 0.95, `${share} are found by themselves`);
      for (let i = 0; i < 300; i++) model.change();
    }
    t.ok(body.begin(1).length === 1);
    body.stop();
    model.end();
    t.equal(body.waitingCount, 0, "what others have left is done here");
    t.equal(model.allFound(), "");
  });
}

async function inThread(job: LinkJob): Promise<void> {
  const code = `const { workerData } = require("node:worker_threads");
    import(${JSON.stringify(LINK_MODULE)}).then(({ linkGraph }) => linkGraph(workerData));`;
  const worker = new Worker(code, { eval: true, workerData: job });
  await new Promise<void>((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`exit code ${code}`))));
  });
}

t.test("linked by threads while it is searched and changed", async (t) => {
  const count = sized(8_000, 20_000);
  const vectors = clusteredVectors(1.5 * count, 32, 3);
  const model = new Model("int8", vectors, 16);
  const { body } = model;
  for (let i = 0; i < count; i++) model.add();
  let running = 3;
  const others = (body.begin(3) as readonly LinkJob[]).map((job) => inThread(job).finally(() => running--));
  let searches = 0;
  while (running > 0) {
    for (let i = 0; i < 5; i++) model.change();
    const share = model.found(count / 5);
    if (share < 0.8) t.fail(`${share} are found by themselves, ${body.waitingCount} wait`);
    searches++;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(others);
  const late = body.waitingCount;
  model.end();
  t.ok(searches > 5 && late < count, `${searches} rounds of searches meanwhile, ${late} vectors were left`);
  t.equal(body.count, model.bySlot.size);
  const share = model.found(10);
  t.ok(share > 0.97, `${share} are found by themselves`);
});

t.test("several threads link as well as one", async (t) => {
  const count = sized(4000, 7800);
  const vectors = clusteredVectors(count + 200, 32, 5);
  const queries = vectors.slice(count);
  const recalls = [];
  for (const threads of [1, 4]) {
    const graph = new VectorGraph({ dimensions: 32, metric: "cosine" });
    for (const vector of vectors.slice(0, count)) graph.append(vector);
    await Promise.all(graph.beginSharing(threads).map(inThread));
    for (const _ of graph.links.end());
    t.equal(graph.waitingCount, 0);
    let hits = 0;
    for (const query of queries) {
      const near = new Set(graph.exact(query, 10).slots);
      for (const slot of graph.search(query, 10, 32).slots) if (near.has(slot)) hits++;
    }
    recalls.push(hits / (10 * queries.length));
  }
  t.ok(recalls[1]! > recalls[0]! - 0.01 && recalls[0]! > 0.9, `recall ${recalls}`);
});

t.test("equal vectors, linked by threads, hide none of the others", async (t) => {
  const graph = new VectorGraph({ dimensions: 4, metric: "l2", m: 4, efConstruction: 16 });
  const few = clusteredVectors(50, 4, 9);
  for (let i = 0; i < 5000; i++) graph.append(few[i % 50]!);
  await Promise.all(graph.beginSharing(4).map(inThread));
  for (const _ of graph.links.end());
  for (const [i, vector] of few.entries()) {
    const { slots, distances } = graph.search(vector, 100, 100);
    t.same(
      [...slots].sort((a, b) => a - b),
      Array.from({ length: 100 }, (_, j) => 50 * j + i),
    );
    t.ok(distances.every((distance) => distance === 0));
  }
  const odd = new Uint32Array(Math.ceil(5000 / 32)).fill(0xaaaaaaaa);
  const { slots } = graph.search(few[1]!, 10, 64, odd);
  t.ok([...slots].every((slot) => slot % 2 === 1) && slots.length === 10, "filters find twins");
});

t.test("what is saved is of one moment, whatever changes while it is copied", async (t) => {
  const model = new Model("int8", clusteredVectors(6000, DIMENSIONS, 13));
  const { body } = model;
  for (let i = 0; i < 3000; i++) model.add();
  const [other] = (body.begin(1) as readonly LinkJob[]).map((job) => linkInSteps(job));
  for (let i = 0; i < 2500; i++) other!.next();
  for (let i = 0; i < 200; i++) model.change();
  body.stop();
  for (const _ of other!);
  for (const _ of body.end());
  t.ok(body.hasWork, "removed vectors are still to be taken out");
  const before = new Map(model.bySlot);
  const parts = body.saveNow();
  t.notOk(body.hasWork || body.isWanted);
  const saved: Uint8Array[] = [];
  for (const part of parts) {
    saved.push(part);
    for (let i = 0; i < 20; i++) model.change();
    const wrong = model.allFound();
    if (wrong !== "") t.fail(wrong);
  }
  body.saved();
  model.end();
  t.equal(model.allFound(), "");
  t.ok(model.found() > 0.95);
  const vectorsAt = (slots: readonly number[]) => slots.map((slot) => model.vectors[before.get(slot)!]);
  const steps = VectorBody.load(saved, vectorsAt, 100);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const loaded = step.value;
  t.equal(loaded.count, before.size);
  const all = () => [...loaded.search(model.vectors[0]!, before.size, 16_384, null).slots].sort((a, b) => a - b);
  const slots = [...before.keys()].sort((a, b) => a - b);
  t.same(all(), slots);
  while (loaded.hasWork) loaded.work();
  t.same(all(), slots);
  for (const slot of slots.slice(0, 500)) {
    loaded.remove(slot);
    before.delete(slot);
  }
  t.same(all(), slots.slice(500));
  const some = [...before].filter((_, i) => i % 10 === 0);
  const right = some.filter(([slot, at]) => loaded.search(model.vectors[at]!, 1, 64, null).slots[0] === slot);
  t.ok(right.length > 0.95 * some.length, `${right.length} of ${some.length} are found by themselves`);
});

t.test("a tenth deleted, a tenth replaced, while others link and after it: recall stays", async (t) => {
  const vectors = clusteredVectors(14_200, 32, 21);
  const queries = vectors.slice(14_000);
  const model = new Model("int8", vectors.slice(0, 14_000), 16);
  const { body, bySlot } = model;
  const recall = (): number => {
    let hits = 0;
    const all = [...bySlot];
    for (const query of queries) {
      const distances = Float64Array.from(all, ([, at]) => distanceOf("l2", vectors[at]!, query));
      const tenth = distances.toSorted()[9]!;
      const found = new Set(body.search(query, 10, 48, null).slots);
      hits += all.filter(([slot], i) => distances[i]! <= tenth && found.has(slot)).length;
    }
    return hits / (10 * queries.length);
  };
  const tenth = (): number[] => [...bySlot.keys()].filter((_, i) => i % 10 === 3);
  const remove = (slot: number): void => {
    body.remove(slot);
    bySlot.delete(slot);
  };
  const update = (slot: number): void => {
    remove(slot);
    model.add();
  };
  for (let i = 0; i < 10_000; i++) model.add();
  let others = (body.begin(2) as readonly LinkJob[]).map(inThread);
  await Promise.all(others);
  model.end();
  const before = recall();
  t.ok(before > 0.96, `${before} before`);
  for (const slot of tenth()) remove(slot);
  const deleted = recall();
  for (const slot of tenth()) update(slot);
  while (body.hasWork) body.work();
  const updated = recall();
  t.ok(
    deleted > before - 0.01 && updated > before - 0.01,
    `${before}, ${deleted} after DELETE, ${updated} after UPDATE`,
  );
  for (const slot of tenth()) update(slot);
  others = (body.begin(2) as readonly LinkJob[]).map(inThread);
  for (const slot of tenth()) remove(slot);
  for (const slot of tenth()) update(slot);
  const during = recall();
  await Promise.all(others);
  model.end();
  const after = recall();
  t.ok(during > before - 0.015 && after > before - 0.01, `${before}, ${during} while others link, ${after} after it`);
  t.equal(model.allFound(), "");
});
