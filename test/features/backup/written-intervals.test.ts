/**
 * What commits have written between the forks of branches is the same however little memory there is; and who backs
 * branches up holds up neither the end of others nor, for long, the log.
 */
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { WrittenIntervals } from "../../../src/features/backup/written-intervals.js";
import { BranchList } from "../../../src/storage/branch-list.js";
import { branchKey } from "../../../src/storage/history-keys.js";
import { prefixRange, rowPrefix, tenantPrefix } from "../../../src/storage/keys.js";
import { LayeredEngine } from "../../../src/storage/layered-engine.js";
import { LogTrim } from "../../../src/storage/log-trim.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../../src/storage/memory-engine.js";
import { NO_MERGES } from "../../../src/storage/merge-points.js";
import { SeededRandom } from "../../simulation/seeded-random.js";

const TENANT = 7;
const BRANCH = 2 ** 30;
const turns = { shouldYield: () => false, yieldTurn: () => turn() };

const text = (keys: readonly Uint8Array[]) => keys.map((key) => Buffer.from(key).toString("hex"));

t.test("each interval has its keys, in order and once", async (t) => {
  const random = new SeededRandom(3);
  const layers = new LayeredEngine(new MemoryEngine());
  layers.recovered(0);
  const root = {
    origin: TENANT,
    root: TENANT,
    start: null,
    name: "b",
    createdAt: "",
    createdBy: "",
    expiresAtMs: null,
  };
  layers.write([
    { key: branchKey(BRANCH), value: Buffer.from(JSON.stringify(root)), commit: { sequence: 1, micros: 1 } },
  ]);
  const bounds = [1];
  for (let sequence = 2; sequence < 1500; sequence++) {
    const key = Buffer.concat([rowPrefix(TENANT, 1), Buffer.from(String(random.between(0, 300)))]);
    layers.write([{ key, value: Buffer.from("v"), commit: { sequence, micros: sequence } }]);
    if (random.chance(0.02)) bounds.push(sequence);
    // Two forks of the same moment.
    if (random.chance(0.002)) bounds.push(bounds.at(-1)!);
  }
  bounds.push(1500);
  const range = prefixRange(tenantPrefix(TENANT));
  for (const bytesMax of [1, 3000, 60_000, 10_000_000]) {
    const intervals = new WrittenIntervals(layers, TENANT, bounds, turns, bytesMax);
    let tooMany = 0;
    for (let i = 0; i + 1 < bounds.length; i++) {
      const { keys } = layers.writtenSince(range, bounds[i]!, null, 10_000, bounds[i + 1]!);
      const found = await intervals.take(i);
      if (found === null) tooMany++;
      else t.strictSame(text(found), [...new Set(text(keys))], `${bytesMax} bytes, interval ${i}`);
    }
    t.equal(tooMany > 0, bytesMax < 60_000, `${bytesMax} bytes, ${tooMany} too large`);
  }
});

t.test("branches that somebody reads do not hold up the end of others", async (t) => {
  const list = new BranchList();
  const branch = {
    ...{ origin: TENANT, root: TENANT, start: { sequence: 1, micros: 1 }, createdAt: "", createdBy: "" },
    ...{
      expiresAtMs: 5,
      quotaBytes: null,
      merges: NO_MERGES,
      access: {},
      writes: 0,
      readers: 0,
      forkedBy: 0,
      endedBy: null,
    },
  };
  for (let i = 0; i < 9; i++) list.set(i + 100, { ...branch, name: `b${i}`, readers: i < 6 ? 1 : 0 });
  t.strictSame(list.expired(6, 2), [106, 107]);
});

t.test("commits that a backup is going to read stay in the log until it has ended", async (t) => {
  const trimmed: number[] = [];
  const log = Object.assign(new MemoryCommitLog(), { trim: (sequence: number) => void trimmed.push(sequence) });
  let appended = 0;
  Object.defineProperty(log, "bytesAppended", { get: () => appended });
  const trim = new LogTrim(log, Object.assign(new MemoryEngine(), { entriesInMemory: () => 0 }));
  const flush = (sequence: number): void => {
    appended += 8 * 1024 * 1024;
    trim.written(2000);
    trim.applied(sequence);
    trim.flushed(sequence);
  };
  const [first, second] = [trim.hold(4), trim.hold(7)];
  flush(10);
  first();
  flush(20);
  second();
  flush(30);
  t.strictSame(trimmed, [4, 7, 30]);
});
