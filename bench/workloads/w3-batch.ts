/** W3: 100 inserts in one request and one transaction, each a statement of its own. */
import { jsonRequest, NEXT_KEY, SAME_KEY } from "../load/requests.js";
import { INSERT } from "./w2-insert.js";
import { ACCOUNTS, type Workload } from "./workload.js";

const STATEMENTS = 100;

export const batch: Workload = {
  id: "w3",
  title: "batch of 100 inserts, one transaction",
  connections: 16,
  keepAlive: true,
  data: ACCOUNTS,
  aims: [],
  entries: async ({ isPeer, token }) => {
    const item = isPeer
      ? `{"id":${NEXT_KEY},"name":"name of ${SAME_KEY}","balance":500}`
      : `{"sql":"${INSERT}","parameters":[${NEXT_KEY},"name of ${SAME_KEY}",500]}`;
    const items = Array.from({ length: STATEMENTS }, () => item).join(",");
    const request = isPeer
      ? jsonRequest("/batch", token, `{"rows":[${items}]}`)
      : jsonRequest("/v1/query/execute/batch", token, `{"statements":[${items}],"transactional":true}`);
    return [{ variant: "", requests: [request] }];
  },
};
