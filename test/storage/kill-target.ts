/** A process that commits as fast as it can and says what is durable, until it is killed. Run by rocksdb.test.ts. */
import { join } from "node:path";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import { Shard } from "../../src/storage/shard.js";

const directory = process.argv[2]!;
const shard = await Shard.open({
  engine: await RocksEngine.open({ directory: join(directory, "rocksdb") }),
  log: await FileCommitLog.open({ directory: join(directory, "log"), segmentBytes: 20_000 }),
  onDurable: (sequence) => process.stdout.write(`${sequence}\n`),
});

function turn(): void {
  for (let i = 0; i < 5; i++) {
    const transaction = shard.begin();
    const value = Buffer.from(String(shard.committedSequence + 1));
    for (const name of ["counter", "twin", `row${value}`]) transaction.put(Buffer.from(name), value);
    transaction.commit();
  }
  shard.flush();
  setImmediate(turn);
}
turn();
