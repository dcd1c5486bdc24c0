import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";

const WITHIN_MS = 60_000;

function compactionThreads(): readonly number[] {
  const ids = readdirSync("/proc/self/task").map(Number);
  return ids.filter((id) => readFileSync(`/proc/self/task/${id}/comm`, "utf8").trim() === "rocksdb:low");
}

t.test("compaction has a lower priority than what answers", { skip: process.platform !== "linux" }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tessera-compaction-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const engine = await RocksEngine.open({ directory, memtableBytes: 256 * 1024 });
  t.teardown(() => engine.close());
  const isLower = (): boolean => {
    const ids = compactionThreads();
    return ids.length > 0 && ids.every((id) => getPriority(id) > getPriority());
  };
  const end = performance.now() + WITHIN_MS;
  for (let round = 0; !isLower() && performance.now() < end; round++) {
    // Files are put together when there are some of them.
    if (compactionThreads().length === 0) {
      const value = Buffer.alloc(4096, round);
      engine.write(Array.from({ length: 256 }, (_, i) => ({ key: Buffer.from(`key ${i} of ${round % 7}`), value })));
    }
    await sleep(20);
  }
  t.ok(isLower());
  t.equal(getPriority(), getPriority(process.pid), "and nothing else has");
});

t.test("so has the thread that writes large commits", { skip: process.platform !== "linux" }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tessera-writer-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const engine = await RocksEngine.open({ directory });
  t.teardown(() => engine.close());
  const lower = (): number => {
    const ids = readdirSync("/proc/self/task").map(Number);
    const others = ids.filter((id) => !readFileSync(`/proc/self/task/${id}/comm`, "utf8").startsWith("rocksdb:"));
    return others.filter((id) => getPriority(id) > getPriority()).length;
  };
  t.equal(lower(), 0);
  const written = engine.writeElsewhere([[{ key: Buffer.from("a"), value: Buffer.from("b") }]]);
  if (written === null) return;
  await written;
  t.equal(lower(), 1, "one thread, and not the process");
});
