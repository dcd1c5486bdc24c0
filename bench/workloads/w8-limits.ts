/**
 * W8: what the front alone can do (/health), and with the way to an actor and back (/v1/echo), which only Tessera has.
 */
import type { Contender } from "../contenders/contenders.js";
import { jsonRequest } from "../load/requests.js";
import type { EntryOf, Workload } from "./workload.js";

const BODY = JSON.stringify({ message: "hello" });

async function echo({ url, token }: Contender): Promise<EntryOf> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const probe = await fetch(`${url}/v1/echo`, { method: "POST", headers, body: BODY });
  const answer = await probe.text();
  const variant = "/v1/echo";
  if (probe.status === 404) return { variant, requests: "the server has no /v1/echo yet" };
  if (!probe.ok) throw new Error(`/v1/echo answered ${probe.status}: ${answer}`);
  return { variant, requests: [jsonRequest("/v1/echo", token, BODY)] };
}

export const limits: Workload = {
  id: "w8",
  title: "/health, and an echo through an actor",
  connections: 64,
  keepAlive: true,
  data: { accounts: 0, tenants: 0, rowsPerTenant: 0 },
  aims: [{ kind: "ratio", of: "tessera /v1/echo", to: "tessera", atLeast: 0.6 }],
  entries: async (contender) => {
    const health: EntryOf = { variant: "", requests: [{ method: "GET", path: "/health", headers: {}, body: "" }] };
    return contender.isPeer ? [health] : [health, await echo(contender)];
  },
};
