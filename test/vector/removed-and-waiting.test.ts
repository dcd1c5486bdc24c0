/** Vectors that wait do not hide that removed ones have taken the places of a walk's list; none is found twice. */
import t, { type Test } from "tap";
import { type LinkJob, linkInSteps } from "../../src/vector/link-graph.js";
import { VectorBody } from "../../src/vector/vector-body.js";
import { clusteredVectors, distanceOf } from "./vectors.js";

const DIMENSIONS = 16;
const K = 10;

class Rows {
  readonly held = new Map<number, Float32Array>();
  readonly body: VectorBody;

  constructor(storage: "int8" | "binary" = "int8", m = 16, efConstruction = 100) {
    const vectorsAt = (slots: readonly number[]) => slots.map((slot) => this.held.get(slot));
    this.body = VectorBody.create(
      { metric: "l2", storage, m, efConstruction },
      { dimensions: DIMENSIONS, isOfBits: false },
      vectorsAt,
    );
  }

  add(vectors: readonly Float32Array[]): void {
    for (const vector of vectors) this.held.set(this.body.add(vector), vector);
  }

  link(): void {
    while (this.body.hasWork) this.body.work();
  }

  remove(slots: Iterable<number>): void {
    for (const slot of slots) {
      this.held.delete(slot);
      this.body.remove(slot);
    }
  }

  /** Nearest first. */
  truth(query: Float32Array): { slot: number; distance: number }[] {
    return [...this.held]
      .map(([slot, vector]) => ({ slot, distance: distanceOf("l2", vector, query) }))
      .sort((a, b) => a.distance - b.distance);
  }
}

const far = (count: number): Float32Array[] =>
  clusteredVectors(count, DIMENSIONS, 77).map((vector) => vector.map((x) => x + 5));

/** The nearest are removed while nobody may change links, and others wait that are far away. */
function removedNearby(waiting: number): { rows: Rows; query: Float32Array } {
  const rows = new Rows();
  rows.add(clusteredVectors(8000, DIMENSIONS, 6));
  rows.link();
  const query = clusteredVectors(1, DIMENSIONS, 6)[0]!;
  for (const _ of rows.body.saveNow());
  const nearest = rows.truth(query).slice(0, 300);
  rows.remove(nearest.map(({ slot }) => slot));
  rows.add(far(waiting));
  return { rows, query };
}

function checkNearest(t: Test, rows: Rows, query: Float32Array, isInTurns: boolean, when: string): void {
  const truth = rows.truth(query);
  const search = rows.body.longSearch(query);
  const ask = () => rows.body.search(query, K, 100, null);
  let found = isInTurns ? search.run(ask) : ask();
  while (found === null) {
    while (!search.step());
    found = search.run(ask);
  }
  search.close();
  const near = new Set(truth.slice(0, K).map(({ slot }) => slot));
  const hits = found.slots.filter((slot) => near.has(slot)).length;
  t.ok(hits >= 9, `${when}: ${hits} of the ${K} nearest`);
  const radius = truth[3]!.distance + 1e-6;
  t.equal(rows.body.within(query, radius, 1000).slots.length, 4, `${when}: all within the radius`);
}

for (const waiting of [100, 1000]) {
  t.test(`removed vectors are in the way, and ${waiting} others wait`, async (t) => {
    const { rows, query } = removedNearby(waiting);
    for (const isInTurns of [false, true]) checkNearest(t, rows, query, isInTurns, "while it is saved");
    rows.body.saved();
    checkNearest(t, rows, query, false, "before one is taken out");
    rows.link();
    checkNearest(t, rows, query, false, "at last");
  });
}

t.test("a radius beyond which the walk's own list does not reach", async (t) => {
  const { rows, query } = removedNearby(200);
  const truth = rows.truth(query);
  for (const count of [1, 50, 200]) {
    const radius = truth[count - 1]!.distance + 1e-6;
    const { slots } = rows.body.within(query, radius, 1000);
    t.ok(slots.length >= 0.95 * count, `${slots.length} of ${count}`);
    t.equal(rows.body.within(query, radius, 10).slots.length, Math.min(10, count), "those nearest of them");
  }
});

t.test("slots used again and linked by other threads are found once", async (t) => {
  const rows = new Rows("int8", 8, 40);
  const { body } = rows;
  rows.add(clusteredVectors(8000, DIMENSIONS, 6));
  rows.link();
  rows.remove([...rows.held.keys()].slice(0, 3500));
  rows.link();
  rows.add(clusteredVectors(3500, DIMENSIONS, 9));
  const [job] = body.begin(1) as readonly LinkJob[];
  const steps = linkInSteps(job!);
  for (let i = 0; i < 3300; i++) steps.next();
  const queries = clusteredVectors(40, DIMENSIONS, 9);
  const check = (query: Float32Array, when: string) => {
    const { slots, complete } = body.search(query, 64, 64, null);
    t.same([new Set(slots).size, complete], [64, true], when);
  };
  check(queries[0]!, "while they link");
  body.stop();
  for (const _ of steps);
  for (const _ of body.end());
  t.ok(body.waitingCount > 0, "some still wait");
  for (const query of queries) check(query, "after they have ended");
});
