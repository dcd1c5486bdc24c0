/** The face of the vector index: what is found is there, allowed and at its true distance, whatever was done before. */
import fc from "fast-check";
import t from "tap";
import { VectorGraph } from "../../src/vector/vector-graph.js";
import { randomFrom } from "../fuzz/random.js";
import { bitmapOf, clusteredVectors, distanceOf, METRICS, STORAGES } from "./vectors.js";

type Step =
  | { readonly kind: "add"; readonly vector: Float32Array }
  | { readonly kind: "remove"; readonly which: number }
  | { readonly kind: "search"; readonly query: Float32Array; readonly k: number; readonly filter: number };

function steps(dimensions: number): fc.Arbitrary<Step[]> {
  // Few values, so that equal vectors are frequent.
  const element = fc.integer({ min: -3, max: 3 }).map((x) => x / 2);
  const vector = fc.array(element, { minLength: dimensions, maxLength: dimensions }).map((x) => Float32Array.from(x));
  return fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant("add" as const), vector }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), which: fc.nat(1000) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant("search" as const),
          query: vector,
          k: fc.integer({ min: 1, max: 12 }),
          // Slots whose number it divides are allowed; 0: all.
          filter: fc.nat(4),
        }),
      },
    ),
    { maxLength: 120 },
  );
}

t.test("any order of adds, removes and searches", async () => {
  const parameters = fc.record({
    dimensions: fc.integer({ min: 1, max: 9 }),
    metric: fc.constantFrom(...METRICS),
    storage: fc.constantFrom(...STORAGES),
    m: fc.integer({ min: 2, max: 5 }),
    owner: fc.boolean(),
  });
  const cases = parameters.chain((p) => fc.tuple(fc.constant(p), steps(p.dimensions)));
  fc.assert(
    fc.property(cases, ([{ owner, ...p }, steps]) => {
      const held = new Map<number, Float32Array>();
      const originals = (slots: readonly number[]) => slots.map((slot) => held.get(slot));
      const graph = new VectorGraph({ ...p, efConstruction: 20, ...(owner ? { originals } : {}) });
      for (const step of steps) {
        if (step.kind === "add") {
          const slot = graph.add(step.vector);
          if (held.has(slot)) throw new Error(`slot ${slot} given twice`);
          held.set(slot, step.vector);
        } else if (step.kind === "remove") {
          const slot = [...held.keys()][step.which % Math.max(1, held.size)];
          if (slot === undefined) continue;
          if (!graph.remove(slot) || graph.remove(slot)) throw new Error("a slot is removed once");
          held.delete(slot);
        } else checkSearch(graph, held, step.query, step.k, step.filter);
        if (graph.count !== held.size) throw new Error(`count ${graph.count}, not ${held.size}`);
      }
    }),
    { numRuns: 300 },
  );
});

function checkSearch(
  graph: VectorGraph,
  held: ReadonlyMap<number, Float32Array>,
  query: Float32Array,
  k: number,
  filter: number,
): void {
  const isAllowed = (slot: number) => filter === 0 || slot % filter === 0;
  const allSlots = Array.from({ length: graph.slotCount }, (_, slot) => slot);
  const allowed = filter === 0 ? undefined : bitmapOf(allSlots.filter(isAllowed), graph.slotCount);
  const truth = [...held]
    .filter(([slot]) => isAllowed(slot))
    .map(([, vector]) => distanceOf(graph.metric, query, vector))
    .filter((distance) => !Number.isNaN(distance))
    .sort((a, b) => a - b);
  const ofAll = graph.exactOf(query, k, held.keys());
  for (const found of [graph.search(query, k, 20, allowed), graph.exact(query, k, allowed), ofAll]) {
    if (new Set(found.slots).size !== found.slots.length) throw new Error("a slot was found twice");
    for (const [i, slot] of found.slots.entries()) {
      const vector = held.get(slot);
      if (vector === undefined || (found !== ofAll && !isAllowed(slot)))
        throw new Error(`slot ${slot} must not be found`);
      const expected = distanceOf(graph.metric, query, vector);
      if (!(Math.abs(found.distances[i]! - expected) <= 1e-5 * Math.max(1, Math.abs(expected)) * tolerance(graph)))
        throw new Error(`distance ${found.distances[i]}, not ${expected}`);
      if (i > 0 && found.distances[i]! < found.distances[i - 1]!) throw new Error("not sorted");
    }
  }
  const exact = graph.exact(query, k, allowed);
  if (exact.slots.length !== Math.min(k, truth.length)) throw new Error(`${exact.slots.length} of ${truth.length}`);
  for (const [i, distance] of exact.distances.entries())
    if (Math.abs(distance - truth[i]!) > 1e-5 * Math.max(1, Math.abs(truth[i]!)) * tolerance(graph))
      throw new Error(`${i}: distance ${distance}, not ${truth[i]}`);
}

/** The root of a rounding error near zero is larger than the error. */
function tolerance(graph: VectorGraph): number {
  return graph.metric === "l2" ? 10 : 1;
}

t.test("dimensions 1 and 1536", async (t) => {
  for (const storage of STORAGES) {
    const line = new VectorGraph({ dimensions: 1, metric: "l2", storage });
    for (let i = 0; i < 300; i++) line.add(Float32Array.of(i));
    // All signs are equal here: what binary storage finds is anybody's guess.
    if (storage !== "binary") t.same([...line.search(Float32Array.of(41.4), 3, 64).slots], [41, 42, 40], storage);
    const wide = new VectorGraph({ dimensions: 1536, metric: "cosine", storage });
    const vectors = clusteredVectors(200, 1536, 1);
    for (const vector of vectors) wide.add(vector);
    for (const [slot, vector] of vectors.entries()) {
      const found = wide.search(vector, 1, 64);
      t.equal(found.slots[0], slot);
      t.ok(Math.abs(found.distances[0]!) < 1e-5);
    }
  }
});

t.test("zero vectors have no cosine distance", async (t) => {
  const graph = new VectorGraph({ dimensions: 3, metric: "cosine" });
  const zero = graph.add(new Float32Array(3));
  const other = graph.add(Float32Array.of(0, 2, 0));
  t.equal(graph.count, 2);
  t.same(graph.vector(zero), new Float32Array(3));
  t.same(graph.vector(other), Float32Array.of(0, 1, 0), "vectors are kept normalised");
  t.same([...graph.search(Float32Array.of(1, 1, 1), 5, 10).slots], [other]);
  t.same([...graph.exact(Float32Array.of(1, 1, 1), 5).slots], [other]);
  t.equal(graph.search(new Float32Array(3), 5, 10).slots.length, 0);
  t.ok(graph.remove(zero));
  t.equal(graph.add(Float32Array.of(1, 0, 0)), zero, "its slot is used again");
  t.equal(graph.search(Float32Array.of(1, 0.1, 0), 1, 10).slots[0], zero);
});

t.test("within a radius", async (t) => {
  const vectors = clusteredVectors(4_000, 8, 11);
  const graph = new VectorGraph({ dimensions: 8, metric: "l2" });
  for (const vector of vectors) graph.add(vector);
  for (const radius of [0.5, 1, 2, 50]) {
    const query = vectors[17]!;
    const truth = vectors.map((vector) => distanceOf("l2", query, vector)).filter((d) => d <= radius);
    const found = graph.withinRadius(query, radius, 5_000);
    t.ok(found.slots.length >= truth.length * 0.97 && found.slots.length <= truth.length, `${radius}`);
    t.ok(found.distances.every((distance) => distance <= radius));
    t.equal(graph.withinRadius(query, radius, 3).slots.length, Math.min(3, truth.length));
  }
});

t.test("codes alone: exact searches are exact, whatever the vectors are like, and read few of them", async (t) => {
  const random = randomFrom(17);
  const kinds: Record<string, () => Float32Array> = {
    even: () => Float32Array.from({ length: 40 }, () => random() - 0.5),
    // The codes of all other members are zero.
    "one member alone": () => Float32Array.from({ length: 40 }, (_, i) => (i === 0 ? 1000 : random() - 0.5)),
    "of all sizes": () =>
      Float32Array.from({ length: 40 }, () => (random() - 0.5) * 10 ** Math.floor(6 * random() - 3)),
    alike: () => Float32Array.from({ length: 40 }, () => 1 + random() * 1e-4),
  };
  for (const [kind, make] of Object.entries(kinds)) {
    for (const metric of ["cosine", "l2", "dot"] as const) {
      const vectors = Array.from({ length: 1_200 }, make);
      let reads = 0;
      const originals = (slots: readonly number[]) => {
        reads += slots.length;
        return slots.map((slot) => vectors[slot]);
      };
      const codes = new VectorGraph({ dimensions: 40, metric, storage: "int8", originals });
      for (const vector of vectors) codes.append(vector);
      const every = [...vectors.keys()];
      const third = every.filter((slot) => slot % 3 === 0);
      for (let i = 0; i < 8; i++) {
        const query = i < 4 ? vectors[i]! : make();
        // By the vectors' own distances: which vectors are found may differ where two are as far.
        const check = (slots: readonly number[], k: number, found: ArrayLike<number>, what: string): void => {
          const far = slots.map((slot) => distanceOf(metric, query, vectors[slot]!)).sort((a, b) => a - b);
          const wrong = far.slice(0, k).find((x, j) => !(Math.abs(found[j]! - x) <= 1e-5 * Math.max(1, Math.abs(x))));
          t.equal(wrong, undefined, `${kind}, ${metric}: ${what}`);
        };
        check(every, 10, codes.exact(query, 10).distances, "all");
        check(every, 10, codes.search(query, 10, 10).distances, "none is linked");
        check(third, 5, codes.exact(query, 5, bitmapOf(third, vectors.length)).distances, "filtered");
        check(third, 5, codes.exactOf(query, 5, third).distances, "of these");
      }
      if (kind === "even") t.ok(reads / 32 < 120, `${reads / 32} reads a search`);
      t.ok(codes.holdsCode(7, vectors[7]!), "it knows a vector by its code");
      if (kind === "even") t.notOk(codes.holdsCode(7, vectors[8]!));
    }
  }
});

t.test("what it refuses", async (t) => {
  const graph = new VectorGraph({ dimensions: 3, metric: "dot" });
  t.throws(() => graph.add(Float32Array.of(1, 2)), { message: "expected 3 dimensions, not 2" });
  t.throws(() => graph.add(Float32Array.of(1, Number.NaN, 2)), { message: "NaN not allowed in vector" });
  t.throws(() => graph.search(Float32Array.of(1, Infinity, 2), 1, 1), {
    message: "infinite value not allowed in vector",
  });
  t.throws(() => graph.search(Float32Array.of(1, 2, 3), 0, 1), {
    message: /^k of a vector index must be a whole number from 1 to/,
  });
  t.throws(() => new VectorGraph({ dimensions: 0, metric: "l2" }), { message: /^dimensions of/ });
  t.throws(() => new VectorGraph({ dimensions: 2, metric: "l9" as "l2" }), { message: /unknown vector metric "l9"/ });
  t.equal(graph.count, 0);
  t.equal(graph.remove(0), false);
});

t.test("a full index refuses, keeps what it has and takes more after a removal", async (t) => {
  const graph = new VectorGraph({ dimensions: 64, metric: "l2", bytesMax: 1_500_000 });
  const vectors = clusteredVectors(5_000, 64, 12);
  t.throws(
    () => {
      for (const vector of vectors) graph.add(vector);
    },
    { message: /the vector index is full/ },
  );
  t.ok(graph.bytes <= 1_500_000);
  const { count } = graph;
  t.ok(count > 1_000);
  t.equal(graph.search(vectors[5]!, 1, 32).slots[0], 5);
  for (let slot = 5; slot < 25; slot++) t.ok(graph.remove(slot));
  const slot = graph.add(vectors[4_999]!);
  t.equal(graph.search(vectors[4_999]!, 1, 32).slots[0], slot);
  t.equal(graph.count, count - 19);
  t.throws(() => new VectorGraph({ dimensions: 64, metric: "l2", bytesMax: 1_000 }), /full/);
});
