/**
 * autocannon as a load generator, in a process of its own: `node autocannon.js '<ClientLoad as JSON>'` sends the same
 * requests as wrk and our client, as fast as answers come, and prints one line of JSON, an AutocannonResult. The
 * package is one of the peers (bench/peers). It does not count answers after which it closes the connection, so
 * workloads with a connection for each request are measured with other generators.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PEERS_FOLDER } from "../servers.js";
import type { ClientLoad } from "./client.js";
import { type PreparedRequest, parseRequests } from "./requests.js";

export interface AutocannonResult {
  readonly requests: number;
  readonly seconds: number;
  readonly errors: number;
}

interface CannonRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly setupRequest?: (request: CannonRequest) => CannonRequest;
}

/** What is used of it; it comes without types. */
type Autocannon = (options: {
  readonly url: string;
  readonly connections: number;
  readonly duration: number;
  readonly timeout: number;
  readonly requests: readonly CannonRequest[];
  readonly setupClient: (client: { setRequests(requests: readonly CannonRequest[]): void }) => void;
}) => Promise<{
  readonly requests: { readonly total: number };
  readonly duration: number;
  readonly errors: number;
  readonly non2xx: number;
}>;

const HEAD_END = "\r\n\r\n";
const ANSWER_SECONDS_MAX = 10;

const load = JSON.parse(process.argv[2]!) as ClientLoad;
let nextKey = load.firstKey;

/** The bytes of a request with new keys where it has some. */
function bytesOf(prepared: PreparedRequest): Buffer {
  let key = nextKey;
  const pieces = prepared.flatMap(({ mark, bytes }) => {
    if (mark === "n") key = nextKey++;
    return mark === "-" ? [bytes] : [Buffer.from(String(key)), bytes];
  });
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

function cannonRequest(prepared: PreparedRequest): CannonRequest {
  const hasKeys = prepared.some(({ mark }) => mark !== "-");
  const fresh = (): Pick<CannonRequest, "path" | "body"> => {
    const bytes = bytesOf(prepared);
    const end = bytes.indexOf(HEAD_END);
    return { path: bytes.toString("latin1", 0, end).split(" ", 2)[1]!, body: bytes.subarray(end + HEAD_END.length) };
  };
  const head = bytesOf(prepared).toString("latin1").split(HEAD_END, 1)[0]!;
  const [first, ...lines] = head.split("\r\n");
  // autocannon counts the body itself.
  const fields = lines.map((line) => line.split(/: (.*)/, 2) as [string, string]);
  const headers = Object.fromEntries(fields.filter(([name]) => name !== "content-length"));
  const request = { method: first!.split(" ", 1)[0]!, headers, ...fresh() };
  return hasKeys ? { ...request, setupRequest: (before) => ({ ...before, ...fresh() }) } : request;
}

if (!load.keepAlive) throw new Error("autocannon does not count answers on connections for one request");
const requests = parseRequests(readFileSync(load.file)).map(cannonRequest);
const autocannon = createRequire(join(PEERS_FOLDER, "package.json"))("autocannon") as Autocannon;
let clients = 0;
const { errors, non2xx, ...done } = await autocannon({
  url: `http://${load.host}:${load.port}`,
  connections: load.connections,
  duration: load.seconds,
  timeout: ANSWER_SECONDS_MAX,
  requests: requests.slice(0, 1),
  // Each connection would send all of them from the first on; so each gets its share.
  setupClient: (client) => {
    const offset = clients++ % load.connections;
    const share = requests.filter((_, i) => i % load.connections === offset);
    client.setRequests(share.length > 0 ? share : requests);
  },
});
const result: AutocannonResult = { requests: done.requests.total, seconds: done.duration, errors: errors + non2xx };
console.log(JSON.stringify(result));
