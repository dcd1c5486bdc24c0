/** W1: one row by its primary key. Tessera also in MessagePack, which the peers do not speak. */
import { pack } from "msgpackr";
import type { Contender } from "../contenders/contenders.js";
import { jsonRequest, type Request } from "../load/requests.js";
import { ACCOUNTS, type EntryOf, REQUESTS, randomNumbers, type Workload } from "./workload.js";

const SQL = "SELECT id, name, balance FROM accounts WHERE id = $1";

/** Reads of random rows; also what W6 and W7 send. */
export function pointReads(contender: Pick<Contender, "isPeer" | "token">): Request[] {
  return randomIds().map((id) =>
    contender.isPeer
      ? jsonRequest("/read", contender.token, `{"id":${id}}`)
      : jsonRequest("/v1/query/execute", contender.token, JSON.stringify({ sql: SQL, parameters: [id] })),
  );
}

function messagePackReads({ token }: Contender): Request[] {
  const type = "application/msgpack";
  const headers = { authorization: `Bearer ${token}`, "content-type": type, accept: type };
  return randomIds().map((id) => {
    const body = Uint8Array.from(pack({ sql: SQL, parameters: [id] }));
    return { method: "POST", path: "/v1/query/execute", headers, body };
  });
}

function randomIds(): number[] {
  const random = randomNumbers(7);
  return Array.from({ length: REQUESTS }, () => 1 + Math.floor(random() * ACCOUNTS.accounts));
}

export const pointRead: Workload = {
  id: "w1",
  title: "point read by key",
  connections: 64,
  keepAlive: true,
  data: ACCOUNTS,
  aims: [
    { kind: "ratio", of: "tessera", to: "sqlite", atLeast: 1.8 },
    { kind: "ratio", of: "tessera", to: "postgres", atLeast: 3.5 },
  ],
  entries: async (contender) => {
    const entries: EntryOf[] = [{ variant: "", requests: pointReads(contender) }];
    if (!contender.isPeer) entries.push({ variant: "MessagePack", requests: messagePackReads(contender) });
    return entries;
  },
};
