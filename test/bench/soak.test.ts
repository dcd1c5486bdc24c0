/** What a soak concludes from its figures: growth, slowing down, failures. */
import t from "tap";
import type { WindowReport } from "../../bench/soak/load.js";
import type { Sample } from "../../bench/soak/samples.js";
import { countFailures, floors, growths, judge, leastSquares, quantile, slowdowns } from "../../bench/soak/verdict.js";

const MIB = 2 ** 20;
const SECONDS = 3600;

/** A sawtooth of 100 MiB as of garbage collection, and what `grown` says beside it. */
function samples(grown: (second: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: SECONDS }, (_, second) => ({
    second,
    rssBytes: 600 * MIB + (second % 20) * 5 * MIB,
    heapBytes: [80 * MIB + (second % 7) * 3 * MIB, 30 * MIB],
    handles: 60 + (second % 5),
    threads: 20,
    dataBytes: 100 * MIB,
    cpuSeconds: second * 0.2,
    loadAverage: 1,
    ...grown(second),
  }));
}

const verdictOf = (grown: (second: number) => Partial<Sample>): Record<string, boolean> =>
  Object.fromEntries(growths(samples(grown)).map(({ what, flat }) => [what, flat]));

t.test("least squares", async (t) => {
  const line = leastSquares([0, 10, 20, 30].map((x) => [x, 5 + 2 * x]));
  t.equal(line.slope, 2 * 3600);
  t.equal(line.mean, 35);
  t.ok(line.slopeError < 1e-6, "points on a line leave no doubt");
  // By hand: y = 0 1 0 1 at 0 1 2 3 has slope 0.2, residual sum 0.8, so the error is 1.96 × √(0.4 / 5).
  const doubtful = leastSquares([0, 1, 0, 1].map((y, x) => [x, y]));
  t.ok(Math.abs(doubtful.slope / 3600 - 0.2) < 1e-9);
  t.ok(Math.abs(doubtful.slopeError / 3600 - 1.96 * Math.sqrt(0.08)) < 1e-9);
  t.equal(leastSquares([[0, 1]]).slope, 0);
  t.equal(leastSquares([]).slopeError, Number.POSITIVE_INFINITY);
  t.same(
    floors([
      [1, 9],
      [29, 4],
      [30, 7],
    ]),
    [
      [15, 4],
      [45, 7],
    ],
  );
});

t.test("what is flat and what grows", async (t) => {
  const flat = verdictOf(() => ({}));
  t.same(
    Object.values(flat),
    Object.values(flat).map(() => true),
    "a sawtooth is flat",
  );
  t.same(Object.keys(flat), [
    "memory (RSS)",
    "heap of actor 0",
    "heap of the gateway",
    "handles",
    "threads",
    "data directory",
  ]);
  t.equal(verdictOf((s) => ({ rssBytes: 600 * MIB + (s / 36) * MIB }))["memory (RSS)"], false, "100 MiB an hour");
  t.equal(verdictOf((s) => ({ heapBytes: [80 * MIB, 30 * MIB + (s / 100) * MIB] }))["heap of the gateway"], false);
  t.equal(verdictOf((s) => ({ handles: 60 + Math.floor(s / 300) })).handles, false, "12 handles an hour");
  const warm = verdictOf((s) => ({ rssBytes: Math.min(600, 300 + s) * MIB }));
  t.equal(warm["memory (RSS)"], true, "what is reached in the first third and stays is no growth");
  const busy = growths(samples((s) => (s % 3 === 0 ? { heapBytes: [30 * MIB] } : {})));
  t.equal(
    busy.find(({ what }) => what === "heap of actor 0")!.flat,
    true,
    "a second without an actor's answer is left out",
  );
});

function windows(latency: (second: number) => number, failures: WindowReport["failures"] = []): WindowReport[] {
  return Array.from({ length: SECONDS / 10 }, (_, i) => ({
    second: 10 * (i + 1),
    latenciesMs: {
      read: Array.from({ length: 100 }, (_, k) => (k === 0 ? latency(10 * i) : 1)),
      rare: [latency(10 * i)],
    },
    failures: i === 5 ? failures : [],
    open: 0,
    lateMsMax: 1,
    conflicts: 0,
  }));
}

t.test("slower is told of kinds with enough pieces", async (t) => {
  t.same(
    slowdowns(windows(() => 20)).map(({ slower }) => slower),
    [false, false],
  );
  const [read, rare] = slowdowns(windows((second) => (second > 2000 ? 60 : 20)));
  t.match(read, { kind: "read", pieces: 36_000, p50Ms: [1, 1], p99Ms: [20, 60], slower: true });
  t.match(rare, { kind: "rare", pieces: 360, slower: false });
  t.equal(
    slowdowns(windows((second) => (second > 2000 ? 9 : 3)))[0]!.slower,
    false,
    "some milliseconds are no slowing down",
  );
  t.equal(quantile([], 0.99), 0);
});

t.test("failures are counted by kind and status, with the first message", async (t) => {
  const failures = [
    { kind: "read", status: 500, message: "one" },
    { kind: "read", status: 500, message: "two" },
    { kind: "read", status: 0, message: "connection reset" },
  ];
  const of = windows(() => 1, failures);
  t.same(countFailures(of), [
    { kind: "read", status: 500, count: 2, first: "one" },
    { kind: "read", status: 0, count: 1, first: "connection reset" },
  ]);
  const verdict = judge(
    samples(() => ({})),
    of,
  );
  t.same(verdict.problems, ["read: 2 × 500, first: one", "read: 1 × 0, first: connection reset"]);
  // 0.2 CPU seconds a second, 10.1 pieces a second.
  t.ok(verdict.cpuMsPerPiece.every((ms) => Math.abs(ms - 19.8) < 0.5));
});
