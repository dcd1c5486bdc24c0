/** W2: one row stored by each request, on disk before its answer. */
import type { Contender } from "../contenders/contenders.js";
import { jsonRequest, NEXT_KEY, type Request, SAME_KEY } from "../load/requests.js";
import { ACCOUNTS, type Workload } from "./workload.js";

export const INSERT = "INSERT INTO entries (id, name, balance) VALUES ($1, $2, $3)";

export const insert: Workload = {
  id: "w2",
  title: "durable insert of one row",
  connections: 64,
  keepAlive: true,
  data: ACCOUNTS,
  aims: [
    { kind: "ratio", of: "tessera", to: "sqlite", atLeast: 3 },
    { kind: "ratio", of: "tessera", to: "postgres", atLeast: 1.5 },
  ],
  entries: async (contender) => [{ variant: "", requests: insertRequests(contender) }],
};

export function insertRequests({ isPeer, token }: Pick<Contender, "isPeer" | "token">): Request[] {
  const body = isPeer
    ? `{"id":${NEXT_KEY},"name":"name of ${SAME_KEY}","balance":500}`
    : `{"sql":"${INSERT}","parameters":[${NEXT_KEY},"name of ${SAME_KEY}",500]}`;
  return [jsonRequest(isPeer ? "/insert" : "/v1/query/execute", token, body)];
}
