/** The workloads by the names that BENCH chooses them with. */
import { pointRead } from "./w1-point-read.js";
import { insert } from "./w2-insert.js";
import { batch } from "./w3-batch.js";
import { rangeScan } from "./w4-range-scan.js";
import { tenants } from "./w5-tenants.js";
import { idleSockets } from "./w6-idle-sockets.js";
import { churn } from "./w7-churn.js";
import { limits } from "./w8-limits.js";
import type { Workload } from "./workload.js";

export const WORKLOADS: readonly Workload[] = [
  ...[pointRead, insert, batch, rangeScan, tenants, idleSockets, churn, limits],
];
