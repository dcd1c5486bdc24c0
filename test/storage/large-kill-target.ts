/**
 * A process that replaces all rows by large commits, or removes them at last, and says how far it is, until it is
 * killed. Run by large-elsewhere.test.ts.
 */
import { join } from "node:path";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { inSteps } from "../../src/storage/in-steps.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import { Shard } from "../../src/storage/shard.js";
import { applyBacklog } from "./apply-backlog.js";

const TURNS = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: async () => {} };
const ROWS = 40_000;

const directory = process.argv[2]!;
const last = process.argv[3] === "remove" ? null : Buffer.from("3");
const shard = await Shard.open({
  engine: await RocksEngine.open({ directory: join(directory, "rocksdb") }),
  log: await FileCommitLog.open({ directory: join(directory, "log") }),
});

async function replaceAll(value: Buffer | null): Promise<void> {
  const tx = shard.begin();
  const load = tx.beginLoad()!;
  const run = load.run(Buffer.from("k"));
  for (let i = 0; i < ROWS; i++) load.add(run, Buffer.from(`k--------${String(i).padStart(6, "0")}`), value);
  await inSteps(TURNS, load.sort());
  tx.attach(load);
  await tx.prepareCommit(TURNS);
  tx.commit();
  shard.flush();
}

for (const value of ["1", "2"]) {
  await replaceAll(Buffer.from(value));
  await applyBacklog(shard);
}
await replaceAll(last);
await shard.backlogReady();
shard.applySome();
process.stdout.write("last under way\n");
await shard.largeCommitDone();
// What happens afterwards is not of interest, but the process must be there to be killed.
setInterval(() => {}, 1000);
