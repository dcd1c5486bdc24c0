/** What a soak concludes from its figures: growth, slowing down, failures. */
import t from "tap";
import { censusGrowths, isStoredMore, kindOf } from "../../bench/soak/census.js";
import type { WindowReport } from "../../bench/soak/load.js";
import { DATA_PARTS, type DataPart, partOf, type Sample } from "../../bench/soak/samples.js";
import { countFailures, floors, growths, judge, leastSquares, quantile, slowdowns } from "../../bench/soak/verdict.js";
import { directoryKey, jobKey, rowPrefix, tenantPrefix } from "../../src/storage/keys.js";

const MIB = 2 ** 20;
const SECONDS = 3600;

const partBytes = (some: Partial<Record<DataPart, number>>): Sample["dataPartBytes"] => ({
  ...(Object.fromEntries(DATA_PARTS.map((part) => [part, 10 * MIB])) as Record<DataPart, number>),
  ...some,
});

/** A sawtooth of 100 MiB as of garbage collection, and what `grown` says beside it. */
function samples(grown: (second: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: SECONDS }, (_, second) => ({
    second,
    rssBytes: 600 * MIB + (second % 20) * 5 * MIB,
    heapBytes: [80 * MIB + (second % 7) * 3 * MIB, 30 * MIB],
    handles: 60 + (second % 5),
    threads: 20,
    dataBytes: 100 * MIB,
    dataPartBytes: partBytes({}),
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
    ...DATA_PARTS.map((part) => `  ${part}`),
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

t.test("the data directory is judged by what its logs leave, and part by part", async (t) => {
  t.same(
    ["log/00000000000000000001.log", "rocksdb/000012.log", "rocksdb/000013.sst", "indexes/7.idx", "FORMAT"].map(
      (path) => partOf(`partition-12/${path}`),
    ),
    ["change log", "RocksDB's log", "RocksDB's files", "indexes", "other"],
  );
  t.same(["backups/soak/b1/part-1", "spill-0/1.run", "INSTALLATION"].map(partOf), ["backups", "other", "other"]);
  const teeth = verdictOf((s) => ({ dataBytes: 60 * MIB + (s % 250) * (MIB / 5) }));
  t.equal(teeth["data directory"], true, "a log that is cut every four minutes");
  t.equal(verdictOf((s) => ({ dataBytes: 60 * MIB + (s / 60) * MIB }))["data directory"], false, "60 MiB an hour");
  const files = verdictOf((s) => ({ dataPartBytes: partBytes({ "RocksDB's files": (s / 60) * MIB }) }));
  t.same([files["  RocksDB's files"], files["  change log"]], [false, true], "the part that grows is named");
  const short = samples((s) => ({ dataBytes: (60 + s / 30) * MIB })).slice(0, 600);
  const isFlat = (toothBytes: number) => growths(short, toothBytes).find(({ what }) => what === "data directory")!.flat;
  t.same([isFlat(0), isFlat(26 * MIB)], [false, true], "less than a tooth in ten minutes says nothing");
});

t.test("what is stored is counted by kind, and told where it grew", async (t) => {
  t.same(
    [
      Buffer.concat([rowPrefix(2, 7), Buffer.from("x")]),
      directoryKey("audit", "9"),
      jobKey(2, "files", "a"),
      Buffer.concat([tenantPrefix(3), Buffer.of(200)]),
    ].map(kindOf),
    ["tenant 2 rows of storage 7", "tenant 0 directory audit", "tenant 0 meta job", "tenant 3 200"],
  );
  const first = { rows: { entries: 100, bytes: 8 * MIB }, gone: { entries: 5, bytes: 500 } };
  const last = {
    rows: { entries: 100, bytes: 8 * MIB },
    audit: { entries: 3, bytes: 300 },
    left: { entries: 50, bytes: 5 * MIB },
  };
  t.same(
    censusGrowths(first, last).map(({ kind, entries }) => [kind, ...entries]),
    [
      ["left", 0, 50],
      ["audit", 0, 3],
    ],
  );
  t.same([isStoredMore(first, last), isStoredMore(first, { ...first, audit: last.audit })], [true, false]);
  const told = judge(
    samples(() => ({})),
    [],
    { censuses: [first, last] },
  );
  t.match(told.problems, ["more is stored at the end than after a third, most of left"]);
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
