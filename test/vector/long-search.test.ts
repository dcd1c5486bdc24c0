/**
 * Searches that take turns: what they find is of the moment at which they answer, whatever changed between their turns.
 */
import t from "tap";
import type { AddedSlots } from "../../src/vector/added-slots.js";
import type { Found } from "../../src/vector/found.js";
import type { LongSearch } from "../../src/vector/long-search.js";
import { VectorGraph } from "../../src/vector/vector-graph.js";
import { randomFrom } from "../fuzz/random.js";
import { bitmapOf, clusteredVectors, distanceOf } from "./vectors.js";

const DIMENSIONS = 16;
/** A hundred vectors. */
const ONCE_NUMBERS = 100 * DIMENSIONS;
const K = 10;

class Model {
  readonly held = new Map<number, Float32Array>();
  readonly graph: VectorGraph;
  /** How many vectors the graph has asked for. */
  read = 0;
  private readonly random = randomFrom(5);
  private next = 0;

  constructor(
    storage: "int8" | "binary",
    private readonly vectors: readonly Float32Array[],
  ) {
    const originals = (slots: readonly number[]) => {
      this.read += slots.length;
      return slots.map((slot) => this.held.get(slot));
    };
    this.graph = new VectorGraph({
      ...{ dimensions: DIMENSIONS, metric: "l2", m: 8, efConstruction: 40, storage, originals },
      onceNumbers: ONCE_NUMBERS,
    });
  }

  append(count: number): void {
    for (let i = 0; i < count; i++) {
      const vector = this.vectors[this.next++ % this.vectors.length]!;
      this.held.set(this.graph.append(vector), vector);
    }
  }

  remove(count: number): void {
    const slots = [...this.held.keys()];
    for (let i = 0; i < count; i++) this.take(slots[Math.floor(this.random() * slots.length)]!);
  }

  take(slot: number): void {
    if (this.held.delete(slot)) this.graph.remove(slot);
  }

  link(count: number): void {
    for (let i = 0; i < count && this.graph.linkOne(); i++);
  }

  /** Slots of the true nearest among those that pass. */
  truth(query: Float32Array, passes: (slot: number) => boolean = () => true): number[] {
    return [...this.held]
      .filter(([slot]) => passes(slot))
      .map(([slot, vector]) => ({ slot, distance: distanceOf("l2", vector, query) }))
      .sort((a, b) => a.distance - b.distance)
      .slice(0, K)
      .map(({ slot }) => slot);
  }
}

/** What the search answers, and how many steps it took; `change` comes between two of them. */
function inTurns(search: LongSearch, ask: () => Found, change: () => void = () => undefined) {
  for (let steps = 0; ; ) {
    const found = search.run(ask);
    if (found !== null) {
      search.close();
      return { slots: [...found.slots], steps };
    }
    for (let isDone = false; !isDone; steps++) {
      isDone = search.step();
      change();
    }
  }
}

/** Share of the true nearest that were found; equally near ones count alike. */
function recall({ held }: Model, query: Float32Array, found: readonly number[], truth: readonly number[]): number {
  const far = distanceOf("l2", held.get(truth.at(-1)!)!, query);
  return found.filter((slot) => distanceOf("l2", held.get(slot)!, query) <= far).length / truth.length;
}

t.test("vectors that wait are measured in turns, and the answer is of the end", async (t) => {
  const model = new Model("int8", clusteredVectors(12_000, DIMENSIONS, 3));
  const { graph } = model;
  model.append(4000);
  model.link(3000);
  model.remove(600);
  // Slots used before, and new ones, wait.
  model.append(3000);
  let found = 0;
  for (const query of clusteredVectors(20, DIMENSIONS, 3, 30)) {
    const search = graph.longSearch(query);
    const { slots, steps } = inTurns(
      search,
      () => graph.search(query, K, 64),
      () => {
        model.remove(5);
        model.append(5);
        model.link(4);
        // The nearest of all comes last.
        const moved = query.map((x) => x + 0.001);
        model.held.set(graph.append(moved), moved);
      },
    );
    t.ok(steps >= 20, `${steps} steps`);
    t.ok(
      slots.every((slot) => model.held.has(slot)),
      "none of the removed is found",
    );
    t.equal(new Set(slots).size, K);
    found += recall(model, query, slots, model.truth(query)) / 20;
  }
  t.ok(found > 0.97, `recall ${found}`);
});

for (const storage of ["int8", "binary"] as const) {
  t.test(`exact searches in turns are exact, ${storage}`, async (t) => {
    const model = new Model(storage, clusteredVectors(9000, DIMENSIONS, 4));
    const { graph } = model;
    model.append(3000);
    model.link(3000);
    for (const [i, query] of clusteredVectors(8, DIMENSIONS, 4).entries()) {
      const change = () => {
        model.remove(3);
        model.append(3);
      };
      const all = inTurns(graph.longSearch(query), () => graph.exact(query, K), change);
      t.ok(all.steps >= 20, `${all.steps} steps`);
      t.same(all.slots, model.truth(query));
      // Those found before are gone at last.
      let left = 60;
      const gone = inTurns(
        graph.longSearch(query),
        () => graph.exact(query, K),
        () => {
          if (--left === 0) for (const slot of model.truth(query)) model.take(slot);
        },
      );
      t.same(gone.slots, model.truth(query));
      const isThird = (slot: number): boolean => slot % 3 === i % 3;
      const third = bitmapOf([...Array(graph.slotCount).keys()].filter(isThird), graph.slotCount + 2000);
      const some = inTurns(graph.longSearch(query), () => graph.exact(query, K, third));
      t.same(some.slots, model.truth(query, isThird));
    }
  });
}

t.test("where removed vectors are in the way, all are measured in turns", async (t) => {
  const model = new Model("int8", clusteredVectors(20_000, DIMENSIONS, 6));
  const { graph } = model;
  model.append(12_000);
  model.link(12_000);
  const query = clusteredVectors(1, DIMENSIONS, 6)[0]!;
  graph.links.hold();
  for (const slot of graph.search(query, 3000, 3000).slots) model.take(slot);
  const { slots, steps } = inTurns(graph.longSearch(query), () => graph.search(query, K, 64));
  t.ok(steps > 50, `${steps} steps`);
  t.ok(recall(model, query, slots, model.truth(query)) >= 0.9);
  graph.links.release();
});

for (const storage of ["int8", "binary"] as const) {
  t.test(`what waits becomes the larger part between two turns, ${storage}`, async (t) => {
    const model = new Model(storage, clusteredVectors(20_000, DIMENSIONS, 6));
    const { graph } = model;
    model.append(6000);
    model.link(6000);
    const query = clusteredVectors(1, DIMENSIONS, 6)[0]!;
    const far = (count: number) => {
      for (const vector of clusteredVectors(count, DIMENSIONS, 78)) {
        const moved = vector.map((x) => x + 5);
        model.held.set(graph.append(moved), moved);
      }
    };
    far(5900);
    // int8 has exact searches of all that are measured, but not within a radius.
    const radius = 3;
    const ask = () => (storage === "int8" ? graph.withinRadius(query, radius, 1000) : graph.search(query, K, 64));
    let isFirst = true;
    const { slots } = inTurns(graph.longSearch(query), ask, () => {
      if (isFirst) far(300);
      isFirst = false;
    });
    const within = [...model.held.values()].filter((vector) => distanceOf("l2", vector, query) <= radius).length;
    if (storage === "int8") t.equal(slots.length, within);
    else t.ok(recall(model, query, slots, model.truth(query)) >= 0.3);
    t.ok(within >= K, "there are many near");
  });
}

t.test("more of what was remembered is gone than was to spare: it is measured again", async (t) => {
  const model = new Model("int8", clusteredVectors(20_000, DIMENSIONS, 6));
  const { graph } = model;
  model.append(12_000);
  model.link(12_000);
  const query = clusteredVectors(1, DIMENSIONS, 6)[0]!;
  graph.links.hold();
  for (const slot of graph.search(query, 3000, 3000).slots) model.take(slot);
  const ask = () => graph.search(query, K, 64);
  const { steps: usual } = inTurns(graph.longSearch(query), ask);
  let left = usual;
  const { slots, steps } = inTurns(graph.longSearch(query), ask, () => {
    if (--left === 0) for (const slot of graph.exact(query, 140).slots) model.take(slot);
  });
  t.ok(steps > usual, `${steps} steps in the place of ${usual}`);
  t.ok(recall(model, query, slots, model.truth(query)) >= 0.9);
  graph.links.release();
});

t.test("a filter is of more rows at the end than when it began", async (t) => {
  const model = new Model("int8", clusteredVectors(9000, DIMENSIONS, 4));
  const { graph } = model;
  model.append(3000);
  const isEven = (slot: number): boolean => slot % 2 === 0;
  const even = () => bitmapOf([...Array(graph.slotCount).keys()].filter(isEven), graph.slotCount);
  for (const query of clusteredVectors(5, DIMENSIONS, 4)) {
    const search = graph.longSearch(query);
    let allowed = even();
    let found = search.run(() => graph.exact(query, K, allowed));
    t.equal(found, null);
    for (let round = 0; found === null; found = search.run(() => graph.exact(query, K, allowed))) {
      for (let i = 0; i < 60 && round < 3; i++) {
        const moved = query.map((x) => x + 0.001 * (i + 1));
        model.held.set(graph.append(moved), moved);
      }
      if (round++ < 3) model.append(300);
      allowed = even();
      while (!search.step(allowed));
    }
    search.close();
    t.same([...found.slots], model.truth(query, isEven));
  }
});

t.test("vectors are read in turns, and those that changed meanwhile are read again", async (t) => {
  const model = new Model("binary", clusteredVectors(9000, DIMENSIONS, 4));
  const { graph } = model;
  model.append(6000);
  model.link(6000);
  for (const [ef, turnsMin] of [
    [1500, 3],
    [4000, 8],
  ] as const) {
    const query = clusteredVectors(1, DIMENSIONS, 4, ef)[0]!;
    model.read = 0;
    const search = graph.longSearch(query);
    let found: Found | null = null;
    let turns = 0;
    for (let before = 0; found === null; turns++, before = model.read) {
      found = search.run(() => graph.search(query, K, ef));
      t.ok(model.read - before <= 512, `${model.read - before} in a turn`);
      while (found === null && !search.step());
      // The nearest of all comes into a slot that may have been read before.
      for (const slot of turns < 2 ? model.truth(query).slice(0, 3) : []) model.take(slot);
      const moved = query.map((x) => x + 0.001 * (turns + 1));
      if (found === null) model.held.set(graph.append(moved), moved);
    }
    search.close();
    t.ok(turns >= turnsMin, `${turns} turns`);
    t.same([...found.slots].slice(0, turns - 1), model.truth(query).slice(0, turns - 1), "those that came are found");
  }
});

t.test("of all within a radius only those are read that may be", async (t) => {
  const model = new Model("int8", clusteredVectors(12_000, DIMENSIONS, 6));
  const { graph } = model;
  model.append(12_000);
  model.link(12_000);
  const query = clusteredVectors(1, DIMENSIONS, 6)[0]!;
  const near = model.truth(query);
  const radius = distanceOf("l2", model.held.get(near.at(-1)!)!, query) * 1.0001;
  model.read = 0;
  const all = graph.exact(query, 2000, undefined, (measured) => Math.sqrt(measured) > radius);
  t.same([...all.slots], near);
  t.ok(model.read < 200, `${model.read}`);
});

t.test("those added are kept for as long as a search needs them", async (t) => {
  const model = new Model("int8", clusteredVectors(20_000, DIMENSIONS, 6));
  const { graph } = model;
  model.append(3000);
  const { added } = (graph as unknown as { measures: { added: AddedSlots } }).measures;
  const query = clusteredVectors(1, DIMENSIONS, 6)[0]!;
  const begin = () => {
    const search = graph.longSearch(query);
    t.equal(
      search.run(() => graph.search(query, K, 64)),
      null,
    );
    return search;
  };
  // One begins before the other ends, again and again.
  let search = begin();
  for (let round = 0; round < 40; round++) {
    const next = begin();
    for (let i = 0; i < 1000; i++) {
      model.append(1);
      model.remove(1);
      if (i % 10 === 0) next.step();
    }
    search.close();
    search = next;
    t.ok(added.keptCount < 10_000, `${added.keptCount} of ${added.count}`);
  }
  t.same(inTurns(search, () => graph.exact(query, K)).slots, model.truth(query));
  t.equal(added.keptCount, 0);
});
