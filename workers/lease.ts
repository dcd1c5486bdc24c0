/** Entry of the thread that keeps the lease of a node of a cluster (src/cluster/lease-thread.ts). */
import { workerData } from "node:worker_threads";
import { keepLease, type LeaseThreadSettings } from "../src/cluster/lease-thread.js";

void keepLease(workerData as LeaseThreadSettings);
