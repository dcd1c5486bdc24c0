/** W4: 1,000 rows in the order of their keys, streamed as lines of JSON. */
import { jsonRequest } from "../load/requests.js";
import { ACCOUNTS, randomNumbers, type Workload } from "./workload.js";

const ROWS = 1000;
const RANGES = 1000;
const SQL = "SELECT id, name, balance FROM accounts WHERE id BETWEEN $1 AND $2 ORDER BY id";

export const rangeScan: Workload = {
  id: "w4",
  title: "range scan of 1,000 rows, streamed",
  connections: 16,
  keepAlive: true,
  data: ACCOUNTS,
  aims: [],
  entries: async ({ isPeer, token }) => {
    const random = randomNumbers(11);
    const requests = Array.from({ length: RANGES }, () => {
      const from = 1 + Math.floor(random() * (ACCOUNTS.accounts - ROWS));
      const to = from + ROWS - 1;
      if (isPeer) return jsonRequest("/range", token, JSON.stringify({ from, to }));
      const body = JSON.stringify({ sql: SQL, parameters: [from, to], max_rows: ROWS });
      const request = jsonRequest("/v1/query/execute", token, body);
      return { ...request, headers: { ...request.headers, accept: "application/x-ndjson" } };
    });
    return [{ variant: "", requests }];
  },
};
