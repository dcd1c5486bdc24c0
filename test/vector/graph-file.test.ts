/** Saved graphs: loaded ones answer and go on alike; anything damaged is refused. */
import t from "tap";
import { DamagedGraphError } from "../../src/vector/graph-file.js";
import type { VectorGraphOptions } from "../../src/vector/graph-parameters.js";
import { VectorGraph } from "../../src/vector/vector-graph.js";
import { randomFrom } from "../fuzz/random.js";
import { clusteredVectors, METRICS, STORAGES } from "./vectors.js";

/** A graph with removals and used-again slots behind it. */
function grown(options: Omit<VectorGraphOptions, "dimensions">, vectors: readonly Float32Array[]): VectorGraph {
  const graph = new VectorGraph({ ...options, dimensions: vectors[0]!.length });
  for (const [i, vector] of vectors.entries()) {
    graph.add(vector);
    if (i % 5 === 4) graph.remove(i >> 1);
  }
  return graph;
}

const savedBytes = (graph: VectorGraph): Buffer => Buffer.concat([...graph.save()]);

t.test("a loaded graph is the saved one", async (t) => {
  const vectors = clusteredVectors(800, 20, 1);
  for (const metric of METRICS) {
    for (const storage of STORAGES) {
      const graph = grown({ metric, storage, seed: 7 }, vectors);
      const bytes = savedBytes(graph);
      const loaded = VectorGraph.load([bytes]);
      t.equal(Buffer.compare(savedBytes(loaded), bytes), 0, "it saves the same bytes");
      t.same([loaded.count, loaded.metric, loaded.storage, loaded.m], [graph.count, metric, storage, 16]);
      for (const graphs of [graph, loaded]) for (const vector of vectors.slice(0, 40)) graphs.add(vector);
      graph.remove(3);
      loaded.remove(3);
      for (const query of clusteredVectors(20, 20, 1))
        t.same(loaded.search(query, 10, 40), graph.search(query, 10, 40));
      t.equal(Buffer.compare(savedBytes(loaded), savedBytes(graph)), 0, "it goes on in the same way");
    }
  }
});

t.test("in pieces of any length", async (t) => {
  const graph = grown({ metric: "l2" }, clusteredVectors(2_000, 40, 2));
  const bytes = savedBytes(graph);
  const random = randomFrom(3);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = Math.floor(random() * 100_000);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  t.equal(Buffer.compare(savedBytes(VectorGraph.load(pieces)), bytes), 0);
});

t.test("the empty graph", async (t) => {
  const bytes = savedBytes(new VectorGraph({ dimensions: 5, metric: "dot" }));
  t.ok(bytes.length < 80_000, `${bytes.length}`);
  const loaded = VectorGraph.load([bytes]);
  t.equal(loaded.count, 0);
  t.equal(loaded.add(Float32Array.of(1, 2, 3, 4, 5)), 0);
});

t.test("vectors that the owner keeps", async (t) => {
  const vectors = clusteredVectors(500, 16, 4);
  const originals = (slots: readonly number[]) => slots.map((slot) => vectors[slot]);
  const graph = new VectorGraph({ dimensions: 16, metric: "cosine", storage: "int8", originals });
  for (const vector of vectors) graph.add(vector);
  const bytes = savedBytes(graph);
  const loaded = VectorGraph.load([bytes], { originals });
  t.same(loaded.search(vectors[9]!, 5, 40), graph.search(vectors[9]!, 5, 40));
  t.throws(() => VectorGraph.load([bytes]), /elsewhere/);
});

t.test("the same seed gives the same graph, another one another", async (t) => {
  const vectors = clusteredVectors(600, 12, 5);
  const bytes = savedBytes(grown({ metric: "l2", seed: 1 }, vectors));
  t.equal(Buffer.compare(savedBytes(grown({ metric: "l2", seed: 1 }, vectors)), bytes), 0);
  t.not(Buffer.compare(savedBytes(grown({ metric: "l2", seed: 2 }, vectors)), bytes), 0);
});

t.test("a changed byte, a missing end and a longer one are refused", async (t) => {
  const bytes = savedBytes(grown({ metric: "cosine" }, clusteredVectors(300, 10, 6)));
  const random = randomFrom(7);
  const places = [...Array.from({ length: 80 }, (_, i) => i), ...Array.from({ length: 200 }, () => random())];
  for (const place of places) {
    const at = place < 1 && place > 0 ? Math.floor(place * bytes.length) : place;
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1 << Math.floor(random() * 8);
    t.throws(() => VectorGraph.load([damaged]), DamagedGraphError, `byte ${at}`);
  }
  for (const length of [0, 10, 64, 70, bytes.length - 1])
    t.throws(() => VectorGraph.load([bytes.subarray(0, length)]), DamagedGraphError, `${length} bytes`);
  t.throws(() => VectorGraph.load([bytes, Buffer.of(0)]), DamagedGraphError);
});

t.test("a file of an older format is refused: it does not say how many candidates searches need", async (t) => {
  const bytes = savedBytes(grown({ metric: "l2" }, clusteredVectors(300, 10, 6)));
  bytes.writeUInt32LE(bytes.readUInt32LE(4) - 1, 4);
  t.throws(() => VectorGraph.load([bytes]), { name: "DamagedGraphError", message: /format 3, not 4/ });
});

t.test("a graph that is changed while it is saved", async (t) => {
  const vectors = clusteredVectors(3_000, 40, 8);
  const graph = grown({ metric: "l2" }, vectors);
  const pieces = graph.save();
  pieces.next();
  pieces.next();
  graph.add(vectors[0]!);
  t.throws(() => pieces.next(), /was changed/);
});
