/** Entry of the thread that keeps checkpoints outside of all nodes (src/cluster/checkpoint-thread.ts). */
import { parentPort, workerData } from "node:worker_threads";
import { type CheckpointThreadSettings, keepCheckpoints } from "../src/cluster/checkpoint-thread.js";

void keepCheckpoints(workerData as CheckpointThreadSettings, parentPort!);
