/** Entry of the thread that writes large commits to an engine's RocksDB; see src/storage/rocksdb-writer.ts. */
import { parentPort, workerData } from "node:worker_threads";
import { serveWrites } from "../src/storage/rocksdb-writer.js";

serveWrites(parentPort!, workerData);
