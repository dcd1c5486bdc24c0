/** W5: 100 tenants, chosen by Zipf's law; four reads by key to one update by key. */
import { jsonRequest, type Request } from "../load/requests.js";
import { REQUESTS, randomNumbers, type Workload } from "./workload.js";

const TENANTS = 100;
const ROWS_PER_TENANT = 1000;
const READS = 0.8;
/** Exponent of the law: tenant k is chosen in proportion to 1 / k^0.99. */
const SKEW = 0.99;

const READ = "SELECT id, name, balance FROM accounts WHERE id = $1";
const ADD = "UPDATE accounts SET balance = balance + 1 WHERE id = $1";

function mix(isPeer: boolean, tokens: readonly string[]): Request[] {
  const random = randomNumbers(13);
  const cumulative: number[] = [];
  for (let k = 1; k <= TENANTS; k++) cumulative.push((cumulative.at(-1) ?? 0) + k ** -SKEW);
  const total = cumulative.at(-1)!;
  return Array.from({ length: REQUESTS }, () => {
    const drawn = random() * total;
    const token = tokens[cumulative.findIndex((sum) => drawn < sum)]!;
    const id = 1 + Math.floor(random() * ROWS_PER_TENANT);
    const isRead = random() < READS;
    if (isPeer) return jsonRequest(isRead ? "/tenant/read" : "/tenant/add", token, `{"id":${id}}`);
    return jsonRequest("/v1/query/execute", token, JSON.stringify({ sql: isRead ? READ : ADD, parameters: [id] }));
  });
}

export const tenants: Workload = {
  id: "w5",
  title: "80% reads and 20% updates over 100 tenants (Zipf)",
  connections: 64,
  keepAlive: true,
  data: { accounts: 0, tenants: TENANTS, rowsPerTenant: ROWS_PER_TENANT },
  aims: [{ kind: "latency", of: "tessera", p99AtMost: (p50) => 2 * p50 + 5, text: "p99 at most 2 × p50 + 5 ms" }],
  entries: async ({ isPeer }, { tokens }) => [{ variant: "", requests: mix(isPeer, tokens) }],
};
