/** W7: W1 with a connection for each request. */
import { pointReads } from "./w1-point-read.js";
import { ACCOUNTS, type Workload } from "./workload.js";

export const churn: Workload = {
  id: "w7",
  title: "W1 with a new connection for each request",
  connections: 64,
  keepAlive: false,
  data: ACCOUNTS,
  aims: [],
  entries: async (contender) => [{ variant: "", requests: pointReads(contender) }],
};
