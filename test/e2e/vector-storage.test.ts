/** Recall of each storage of vectors over HTTP, without and with a filter: whole, a byte and a bit per number. */
import t from "tap";
import { randomFrom } from "../fuzz/random.js";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const COUNT = sized(1500, 3000);
const DIMENSIONS = 64;
const K = 10;
const QUERIES = 25;
const CLOUDS = 30;
/** What each storage finds at least of the ten nearest. */
const LEAST = { none: 0.98, int8: 0.98, binary: 0.9 } as const;

const random = randomFrom(7);
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const centres = Array.from({ length: CLOUDS }, () => Array.from({ length: DIMENSIONS }, normal));
const near = () => centres[Math.floor(random() * CLOUDS)]!.map((x) => Number((x + 0.7 * normal()).toFixed(4)));
const vectors = Array.from({ length: COUNT }, near);
const queries = Array.from({ length: QUERIES }, near);

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

function nearest(query: readonly number[], passes: (n: number) => boolean): ReadonlySet<string> {
  const ranked = vectors.flatMap((vector, n) => (passes(n) ? [{ n, likeness: cosine(query, vector) }] : []));
  ranked.sort((a, b) => b.likeness - a.likeness);
  return new Set(ranked.slice(0, K).map(({ n }) => String(n)));
}

t.test("what each storage finds of the nearest", { timeout: 300_000 }, async (t) => {
  const server = await TestServer.shared();
  t.teardown(() => server.stop());
  const filters = [
    { filter: undefined, passes: () => true },
    { filter: { kind: 3 }, passes: (n: number) => n % 20 === 3 },
    { filter: { kind: { $lt: 10 } }, passes: (n: number) => n % 20 < 10 },
  ];
  for (const [quantization, least] of Object.entries(LEAST)) {
    const path = `/v1/vectors/collections/${quantization}`;
    const collection = { name: quantization, dimensions: DIMENSIONS, metric: "cosine", quantization };
    await server.expect(201, "POST", "/v1/vectors/collections", collection);
    for (let first = 0; first < COUNT; first += 500) {
      const part = vectors.slice(first, first + 500);
      const items = part.map((vector, i) => ({ id: `${first + i}`, vector, metadata: { kind: (first + i) % 20 } }));
      await server.expect(201, "POST", `${path}/vectors/batch`, { vectors: items });
    }
    const search = (body: object) => server.expect(200, "POST", `${path}/search`, { limit: K, ef: 96, ...body });
    for (;;) {
      await search({ vector: queries[0] });
      if ((await server.expect(200, "GET", path)).body.data.index.state === "ready") break;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    t.match((await server.expect(200, "GET", path)).body.data.index, { state: "ready", progress: 1 });
    for (const { filter, passes } of filters) {
      let hits = 0;
      let inOrder = true;
      for (const query of queries) {
        const found = (await search({ vector: query, filter })).body.data as { id: string; distance: number }[];
        const truth = nearest(query, passes);
        hits += found.filter(({ id }) => truth.has(id)).length;
        inOrder &&= found.every(({ distance }, i) => i === 0 || distance >= found[i - 1]!.distance);
        inOrder &&= found.every(
          ({ id, distance }) => Math.abs(1 - cosine(query, vectors[Number(id)]!) - distance) < 1e-4,
        );
      }
      const recall = hits / (K * QUERIES);
      t.ok(recall >= least, `${quantization}, filter ${JSON.stringify(filter)}: recall ${recall}`);
      t.ok(inOrder, "ranked by the exact distance, whatever the storage");
    }
  }
});
