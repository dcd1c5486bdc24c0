/**
 * Recovery gives the engine's other thread the parts of large commits as they stand in the log. What the engine has
 * then, and the loads that recovery tells of, are those of a log that has no such bytes.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import type { CommitLog } from "../../src/storage/commit-log.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { FramedPart } from "../../src/storage/framed-part.js";
import { indexPrefix, retiredKey, rowPrefix } from "../../src/storage/keys.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import type { Operation } from "../../src/storage/operation.js";
import type { WrittenPart } from "../../src/storage/packed-operations.js";
import { recoverEngine } from "../../src/storage/recovery.js";
import { directory } from "./shards.js";
import { SimulatedDisk } from "./simulated-disk.js";

/** As if it had another thread, which is late. */
class ElsewhereEngine extends MemoryEngine {
  framed = 0;

  writeElsewhere(parts: readonly WrittenPart[]): Promise<number> {
    const copies = parts.map((part) =>
      [...part].map(({ key, value }) => ({ key: Buffer.from(key), value: value && Buffer.from(value) })),
    );
    this.framed += parts.filter((part) => part instanceof FramedPart).length;
    return new Promise((resolve) => {
      setImmediate(() => {
        for (const copy of copies) this.write(copy);
        resolve(copies.flat().length);
      });
    });
  }
}

/** The same log without its bytes. */
function unframed(log: FileCommitLog): CommitLog {
  const replay = function* (from: number) {
    for (const { framed: _framed, ...entry } of log.replay(from)) yield entry;
  };
  return new Proxy(log, { get: (of, name) => (name === "replay" ? replay : Reflect.get(of, name, of)) });
}

function contentOf(engine: MemoryEngine): string[] {
  const cursor = engine.cursor({ gte: Buffer.alloc(0), lt: Buffer.from([255]) });
  const { keys, values } = cursor.next(1e6);
  cursor.close();
  return keys.map((key, i) => `${Buffer.from(key).toString("hex")} ${Buffer.from(values[i]!).toString("hex")}`);
}

const number = (n: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(n);
  return bytes;
};

interface Piece {
  readonly kind: "rows" | "index" | "order";
  readonly tenant: number;
  readonly table: number;
  readonly from: number;
  readonly count: number;
  readonly step: number;
  readonly isRemoval: boolean;
}

/** Ascending keys where `step` is more than 0, else one key again and again. */
function operationsOf({ kind, tenant, table, from, count, step, isRemoval }: Piece): Operation[] {
  const prefix = kind === "index" ? indexPrefix(tenant, table, 1) : rowPrefix(tenant, table);
  if (kind === "order") return [{ key: retiredKey(tenant, prefix), value: isRemoval ? null : Buffer.alloc(0) }];
  return Array.from({ length: count }, (_, i) => {
    const key = Buffer.concat([prefix, number(from + i * step)]);
    return { key, value: isRemoval ? null : Buffer.from(`value ${i}`) };
  });
}

const piece: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constantFrom("rows" as const, "rows" as const, "index" as const, "order" as const),
  tenant: fc.integer({ min: 1, max: 2 }),
  table: fc.integer({ min: 1, max: 3 }),
  from: fc.nat(5000),
  count: fc.constantFrom(1, 7, 300, 1100),
  step: fc.constantFrom(1, 1, 1, 2, 0),
  isRemoval: fc.constantFrom(false, false, false, true),
});
const ROWS = { kind: "rows", tenant: 1, table: 1, from: 0, count: 9000, step: 1, isRemoval: false } as const;
const commit = fc.record({ isLarge: fc.boolean(), pieces: fc.array(piece, { maxLength: 5 }) });

t.test("any log", async (t) => {
  let framed = 0;
  let loads = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(commit, { minLength: 1, maxLength: 4 }), async (commits) => {
      const log = await FileCommitLog.open({ directory: directory(t), segmentBytes: 20_000 });
      for (const [i, { isLarge, pieces }] of commits.entries()) {
        const at = { sequence: i + 1, micros: i + 1 };
        const operations = pieces.flatMap(operationsOf);
        if (!isLarge || operations.length === 0) {
          log.append([{ ...at, operations }]);
          continue;
        }
        const parts = log.beginParts();
        const late = operations.splice(operations.length - (operations.length % 3));
        for (let from = 0; from < operations.length; from += 500) {
          log.appendPart(parts, operations.slice(from, from + 500));
        }
        if (parts.operations === 0) log.append([{ ...at, operations: late }]);
        else log.append([{ ...at, operations: late, parts }]);
      }
      const [plain, alone, helped] = [new MemoryEngine(), new MemoryEngine(), new ElsewhereEngine()];
      const found = [];
      for (const [engine, from] of [
        [plain, unframed(log)],
        [alone, log],
        [helped, log],
      ] as const) {
        found.push(
          await recoverEngine(
            engine,
            from,
            () => 0,
            (operations) => engine.write(operations),
          ),
        );
      }
      await log.close();
      for (const engine of [alone, helped]) assert.deepEqual(contentOf(engine), contentOf(plain));
      for (const other of found) assert.deepEqual(other, found[0]);
      framed += helped.framed;
      loads += found[0]!.length;
    }),
    { numRuns: 60, examples: [[[{ isLarge: true, pieces: [ROWS] }]]] },
  );
  t.ok(framed > 0, `${framed} parts were written elsewhere`);
  t.ok(loads > 0, `${loads} loads were found`);
});

t.test("an engine that fails ends the recovery", async (t) => {
  const log = await FileCommitLog.open({ directory: directory(t) });
  t.teardown(() => log.close());
  const parts = log.beginParts();
  log.appendPart(parts, operationsOf(ROWS));
  log.append([{ sequence: 1, micros: 1, operations: [], parts }]);
  class FailingEngine extends MemoryEngine {
    writeElsewhere(): Promise<number> {
      return Promise.reject(new Error("no such device"));
    }
  }
  const engine = new FailingEngine();
  await t.rejects(
    recoverEngine(
      engine,
      log,
      () => 0,
      (operations) => engine.write(operations),
    ),
    /no such device/,
  );
});

t.test("an open gives way, and does not read parts again to count them", async (t) => {
  const disk = new SimulatedDisk();
  const options = { directory: "log", disk };
  const log = await FileCommitLog.open(options);
  const parts = log.beginParts();
  const value = Buffer.alloc(128 * 1024, "value");
  for (let i = 0; i < 48; i++) log.appendPart(parts, [{ key: Buffer.concat([rowPrefix(1, 1), number(i)]), value }]);
  log.append([{ sequence: 1, micros: 1, operations: [], parts }]);
  const { bytesAppended } = log;
  let bytes = 0;
  const read = disk.read.bind(disk);
  disk.read = (...args) => {
    const found = read(...args);
    bytes += found.length;
    return found;
  };
  let [rounds, isOpen] = [0, false];
  const count = (): void => {
    rounds++;
    if (!isOpen) setImmediate(count);
  };
  setImmediate(count);
  const again = await FileCommitLog.open(options);
  isOpen = true;
  t.teardown(() => again.close());
  t.equal(again.lastSequence, 1);
  // It is read, and read again to be written again, from the first part on.
  t.ok(bytes < 3 * bytesAppended, `${bytes} bytes of ${bytesAppended}`);
  t.ok(rounds >= 10, `${rounds} rounds of the event loop`);
});
