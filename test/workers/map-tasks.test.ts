/** The thread that computes maps: a map ends with its request, and any numbers have places. */
import t from "tap";
import { type MapJob, mapVectors } from "../../src/vector/map/map-vectors.js";
import { mapTasks } from "../../workers/map-tasks.js";

function job(count: number, scale: (row: number) => number, more: Partial<MapJob> = {}): MapJob {
  const dimensions = 8;
  const codes = Int8Array.from({ length: count * dimensions }, (_, i) => ((i * 7919) % 255) - 127);
  const scales = Float32Array.from({ length: count }, (_, row) => scale(row));
  return { codes: [codes], scales: [scales], dimensions, byDirection: false, method: "neighbours", ...more };
}

const numbersOf = (json: string): number[] => JSON.parse(json);

t.test("a map ends when its request does, and the next one is computed", async (t) => {
  const maps = mapTasks();
  t.teardown(() => maps.end());
  const request = new AbortController();
  const long = maps.mapVectors(
    job(2_000, () => 1),
    request.signal,
  );
  const next = maps.mapVectors(
    job(20, () => 1),
    new AbortController().signal,
  );
  setImmediate(() => request.abort(new Error("cancelled")));
  await t.rejects(long, { message: "cancelled" });
  t.equal(numbersOf((await next).x).length, 20);
  await t.rejects(
    maps.mapVectors(
      job(20, () => 1),
      request.signal,
    ),
    { message: "cancelled" },
  );
});

t.test("vectors of very large and very small members have places", async (t) => {
  for (const scale of [1e30, 1e-30, 0]) {
    for (const [method, count] of [
      ["neighbours", 40],
      ["principal", 40],
    ] as const) {
      const { x, y } = mapVectors(job(count, () => scale, { method }));
      const places = [...numbersOf(x), ...numbersOf(y)];
      t.equal(places.length, 2 * count, `${method}, ${scale}`);
      t.ok(
        places.every((place) => Number.isFinite(place) && Math.abs(place) <= 1),
        "all are within the plane",
      );
      t.equal(new Set(numbersOf(x)).size > 1, scale > 0 || method === "neighbours", "they are apart");
    }
  }
  const outlier = mapVectors(job(40, (row) => (row === 3 ? 1e36 : 1)));
  t.ok([...numbersOf(outlier.x), ...numbersOf(outlier.y)].every(Number.isFinite));
});
