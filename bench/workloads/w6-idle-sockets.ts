/** W6: W1 while 1,000 WebSocket connections are open and idle. */
import type { Contender } from "../contenders/contenders.js";
import type { IdleSockets } from "../load/idle-sockets.js";
import { endChild, firstMatch, startChild } from "../servers.js";
import { pointReads } from "./w1-point-read.js";
import { ACCOUNTS, type Surroundings, type Workload } from "./workload.js";

const SOCKETS = 1000;

async function openSockets(contender: Contender): Promise<Surroundings | string> {
  const probe = await fetch(`${contender.url}/v1/ws`, { headers: { authorization: `Bearer ${contender.token}` } });
  await probe.body?.cancel();
  if (!contender.isPeer && probe.status === 404) return "the server has no /v1/ws yet";
  const argument: IdleSockets = { url: `${contender.url}/v1/ws`, token: contender.token, count: SOCKETS };
  const script = new URL("../load/idle-sockets.js", import.meta.url).pathname;
  const child = startChild(process.execPath, [script, JSON.stringify(argument)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await firstMatch(child, "stdout", /^open$/);
  return {
    stop: async () => {
      if (child.exitCode !== null) throw new Error(`${contender.name} closed idle WebSocket connections`);
      await endChild(child);
    },
  };
}

export const idleSockets: Workload = {
  id: "w6",
  title: "W1 beside 1,000 idle WebSocket connections",
  connections: 64,
  keepAlive: true,
  data: ACCOUNTS,
  aims: [],
  entries: async (contender) => [{ variant: "", requests: pointReads(contender) }],
  surround: openSockets,
};
