/** Graphs find out how many candidates their searches must keep. */
import t from "tap";
import { EF_LEAST } from "../../src/vector/calibration.js";
import { VectorBody } from "../../src/vector/vector-body.js";
import { VectorGraph } from "../../src/vector/vector-graph.js";
import { open } from "../conformance/sql-adapter.js";
import { randomFrom } from "../fuzz/random.js";
import { clusteredVectors } from "./vectors.js";

/** Nothing is near anything, so a walk must keep many. */
function uniformVectors(count: number, dimensions: number, seed: number): Float32Array[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => Float32Array.from({ length: dimensions }, () => 2 * random() - 1));
}

function graphOf(vectors: readonly Float32Array[], storage: "int8" | "binary" = "int8"): VectorGraph {
  const originals = (slots: readonly number[]) => slots.map((slot) => vectors[slot]);
  const dimensions = vectors[0]!.length;
  const graph = new VectorGraph({ dimensions, metric: "l2", storage, m: 4, efConstruction: 32, originals });
  for (const vector of vectors) graph.add(vector);
  return graph;
}

function calibrate({ calibration }: VectorGraph): number {
  let steps = 0;
  for (; calibration.isDue; steps++) calibration.step();
  return steps;
}

/** The share of the ten nearest that is found. */
function recallOf(graph: VectorGraph, queries: readonly Float32Array[], ef: number): number {
  let hits = 0;
  for (const query of queries) {
    const near = new Set(graph.exact(query, 10).slots);
    for (const slot of graph.search(query, 10, ef).slots) if (near.has(slot)) hits++;
  }
  return hits / (10 * queries.length);
}

t.test("the least that finds nearly all", async (t) => {
  const vectors = uniformVectors(8200, 16, 3);
  const queries = vectors.slice(8000);
  const graph = graphOf(vectors.slice(0, 8000));
  calibrate(graph);
  const chosen = graph.calibration.lengthFor(10);
  t.ok(recallOf(graph, queries, EF_LEAST) < 0.9, "the usual number is too small for these");
  const found = recallOf(graph, queries, chosen);
  t.ok(found >= 0.95, `${chosen} find ${found}`);
  const fewer = recallOf(graph, queries, chosen / 2);
  t.ok(fewer < 0.95, `${chosen / 2} would find ${fewer}`);
  t.equal(graph.calibration.lengthFor(110), chosen + 100, "for more, as many more");
  t.equal(graph.calibration.lengthFor(10_000), chosen + 9_990);
});

t.test("where vectors have near ones, the usual number is enough", async (t) => {
  const graph = graphOf(clusteredVectors(2000, 16, 1));
  t.ok(calibrate(graph) > 100);
  t.equal(graph.calibration.lengthFor(10), EF_LEAST);
});

t.test("where no walk finds enough, all are measured, unless they would have to be read", async (t) => {
  const vectors = uniformVectors(1500, 64, 2);
  const graph = graphOf(vectors);
  calibrate(graph);
  t.equal(graph.calibration.lengthFor(10), Number.POSITIVE_INFINITY);
  const binary = graphOf(vectors, "binary");
  calibrate(binary);
  const length = binary.calibration.lengthFor(10);
  t.ok(length > EF_LEAST && length < 1000, `${length}`);
});

t.test("equal vectors say nothing", async (t) => {
  const graph = graphOf(Array.from({ length: 1200 }, (_, i) => Float32Array.of(i % 3, 1, 2)));
  calibrate(graph);
  t.equal(graph.calibration.lengthFor(10), EF_LEAST);
});

t.test("it is part of what is saved, reckons with growth, and is done again when most vectors are new", async (t) => {
  const vectors = uniformVectors(9000, 16, 3);
  const graph = graphOf(vectors.slice(0, 4000));
  calibrate(graph);
  const chosen = graph.calibration.lengthFor(10);
  const originals = (slots: readonly number[]) => slots.map((slot) => vectors[slot]);
  const loaded = VectorGraph.load(graph.save(), { originals });
  t.equal(loaded.calibration.lengthFor(10), chosen);
  t.notOk(loaded.calibration.isDue);
  for (const vector of vectors.slice(4000, 7900)) loaded.append(vector);
  t.notOk(loaded.calibration.isDue);
  const grown = loaded.calibration.lengthFor(10);
  t.ok(grown > chosen * 1.2 && grown < chosen * 2, `${chosen}, then ${grown}`);
  for (let slot = 0; slot < 200; slot++) {
    loaded.remove(slot);
    loaded.append(vectors[slot]!);
  }
  t.ok(loaded.calibration.isDue, "although there are no more vectors than before");
});

t.test("it stops for others that link, and for a save, and goes on", async (t) => {
  const vectors = uniformVectors(3000, 16, 4);
  const itemsAt = (slots: readonly number[]) => slots.map((slot) => vectors[slot]);
  const body = VectorBody.create(
    { metric: "l2", m: 4, efConstruction: 32, storage: "f32" },
    { dimensions: 16, isOfBits: false },
    itemsAt,
    100,
  );
  for (const vector of vectors.slice(0, 2000)) body.add(vector);
  while (body.waitingCount > 0) body.work();
  t.ok(body.hasWork, "it is to be measured");
  for (let step = 0; step < 50; step++) body.work();
  for (const _ of body.saveNow());
  t.notOk(body.hasWork);
  body.saved();
  for (let step = 0; step < 3; step++) body.work();
  for (const vector of vectors.slice(2000)) body.add(vector);
  t.ok(body.begin(1).length === 1);
  t.notOk(body.hasWork);
  body.stop();
  for (const _ of body.end());
  let steps = 0;
  for (; body.hasWork; steps++) body.work();
  t.ok(steps > 1000);
  t.ok(body.candidates > EF_LEAST, `${body.candidates}`);
});

t.test("interrupted again and again, it finds the same", async (t) => {
  const graph = graphOf(uniformVectors(3000, 16, 3));
  const other = graphOf(uniformVectors(3000, 16, 3));
  calibrate(graph);
  const chosen = graph.calibration.lengthFor(10);
  t.ok(chosen > EF_LEAST, `${chosen}`);
  let interrupted = 0;
  for (let steps = 1; other.calibration.isDue; steps++) {
    other.calibration.step();
    if (steps % 20 > 0) continue;
    other.calibration.pause();
    interrupted++;
  }
  t.ok(interrupted > 30, `${interrupted}`);
  t.equal(other.calibration.lengthFor(10), chosen);
});

t.test("in statements: searches keep as many as were found to be needed, or as they are told", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = uniformVectors(1100, 32, 5).map((vector, i) => `(${i}, ${i % 2 === 0}, '[${[...vector].join()}]')`);
  await database.exec("CREATE TABLE item (id int PRIMARY KEY, even bool, v vector(32))");
  await database.exec(`INSERT INTO item VALUES ${rows.join()}`);
  await database.exec("CREATE INDEX near ON item USING hnsw (v vector_l2_ops) WITH (m = 2, ef_construction = 4)");
  const life = "SELECT state, candidates FROM tessera_search_indexes";
  for (let turn = 0; (await database.exec(life)).rows[0]![0] !== "ready" && turn < 10_000; turn++)
    await new Promise((resolve) => setImmediate(resolve));
  t.same((await database.exec(life)).rows, [["ready", "1100"]], "all are measured");
  const queries = uniformVectors(12, 32, 6).map((vector) => `[${[...vector].join()}]`);
  const recall = async (where: string): Promise<number> => {
    let hits = 0;
    for (const query of queries) {
      const ids = async (order: string) => {
        const sql = `SELECT id FROM item WHERE ${where} ORDER BY ${order} LIMIT 10`;
        return (await database.exec(sql, [query])).rows.map(([id]) => id);
      };
      const near = new Set(await ids("(v <-> $1) + 0"));
      hits += (await ids("v <-> $1")).filter((id) => near.has(id!)).length;
    }
    return hits / (10 * queries.length);
  };
  t.equal(await recall("true"), 1);
  t.equal(await recall("even"), 1, "of those that pass a filter");
  await database.exec("BEGIN; UPDATE item SET even = true WHERE id < 50");
  t.equal(await recall("true"), 1, "beside rows of the transaction's own");
  await database.exec("ROLLBACK; SET hnsw.ef_search = 20");
  t.ok((await recall("true")) < 0.8, "as told");
  await database.exec("RESET hnsw.ef_search");
  t.equal(await recall("true"), 1);
  await database.exec("DROP INDEX near");
  await database.exec(
    "CREATE INDEX ON item USING hnsw (v vector_l2_ops) WITH (m = 2, ef_construction = 4, ef_search = 20)",
  );
  for (let turn = 0; (await database.exec(life)).rows[0]![0] !== "ready" && turn < 10_000; turn++)
    await new Promise((resolve) => setImmediate(resolve));
  t.ok((await recall("true")) < 0.8, "as the index's definition says");
});
