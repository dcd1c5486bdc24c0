/** One hostile input by its number: the same seed and number give the same input. Called by fuzzer.ts; pure. */
import type { Endpoint } from "../../src/protocol/endpoint.js";
import { ENDPOINTS, MESSAGES } from "../../src/protocol/endpoints.js";
import { Random } from "./random.js";
import { randomCypher, randomSql } from "./statements.js";
import { fitting, NAMES, oddValue, spoilt } from "./values.js";

export type Who = "user" | "reader" | "superAdmin" | "nobody";

export type Input =
  | {
      readonly kind: "http";
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | null;
      readonly who: Who;
    }
  | { readonly kind: "socket"; readonly path: string; readonly messages: readonly string[]; readonly who: Who }
  | { readonly kind: "bytes"; readonly base64: string };

/** What would disable the accounts that ask, sign the asker out, or run a model for seconds. */
const LEFT_OUT = new Set(["admin.users.update", "admin.users.reset", "admin.users.delete", "auth.password"]);
const SELDOM = new Set([
  "chat.send",
  "chat.stream",
  "ai.embedBatch",
  "language.qa",
  "auth.login",
  "admin.users.create",
]);
const ROUTES = ENDPOINTS.filter(({ name }) => !LEFT_OUT.has(name));
const TOOLS =
  "list_tables describe_table query execute validate_query sql_manual semantic_search rag_search embed_text graph_query cypher memory_store memory_recall memory_forget".split(
    " ",
  );
const RPC =
  "initialize ping tools/list tools/call resources/list resources/read resources/templates/list prompts/list prompts/get completion/complete logging/setLevel notifications/initialized server/discover".split(
    " ",
  );
const TYPES = ["application/json", "application/msgpack", "text/csv", "application/x-ndjson", "text/plain", ""];

export function makeInput(seed: number, number: number): Input {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  const which = random.next();
  if (which < 0.4) return post("/v1/query/execute", queryBody(random, randomSql(random)), random);
  if (which < 0.52)
    return post("/v1/graph/match", { cypher: randomCypher(random), params: parametersOf(random) }, random);
  if (which < 0.62) return search(random);
  if (which < 0.82) return route(random);
  if (which < 0.9) return post("/v1/mcp", rpc(random), random);
  if (which < 0.98) return socket(random);
  return { kind: "bytes", base64: bytes(random).toString("base64") };
}

function who(random: Random): Who {
  return random.chance(0.8) ? "user" : random.one(["reader", "superAdmin", "nobody"] as const);
}

function post(path: string, body: unknown, random: Random): Input {
  return {
    kind: "http",
    method: "POST",
    path,
    headers: { "content-type": "application/json" },
    body: text(body, random),
    who: who(random),
  };
}

/** JSON, now and then spoilt. */
function text(body: unknown, random: Random): string {
  const json = JSON.stringify(body);
  return random.chance(0.03) ? spoilt(json, random) : json;
}

function parametersOf(random: Random): unknown {
  return random.chance(0.5) ? { name: oddValue(random), p: oddValue(random) } : random.many(3, () => oddValue(random));
}

function queryBody(random: Random, sql: string): object {
  const odd = random.chance(0.3) ? { parameters: random.many(3, () => oddValue(random)) } : {};
  return { sql, timeout_secs: 3, ...(sql.includes("$1") ? { parameters: [oddValue(random)] } : odd) };
}

const OPERATORS =
  "$eq $ne $gt $gte $lt $lte $in $nin $and $or $not $exists $regex $contains $elemMatch $all $size eq in".split(" ");

function filter(random: Random, depth = 0): unknown {
  if (depth > 3 || random.chance(0.2)) return oddValue(random, 2);
  const name = random.chance(0.5) ? random.one(OPERATORS) : random.one([...NAMES, "a", "a.b", "tags"]);
  const inner = random.chance(0.3) ? random.many(3, () => filter(random, depth + 1)) : filter(random, depth + 1);
  return { [name]: inner, ...(random.chance(0.3) ? { [random.one(OPERATORS)]: oddValue(random, 2) } : {}) };
}

function search(random: Random): Input {
  if (random.chance(0.4)) {
    const vector = random.chance(0.9) ? [random.next(), random.next(), random.next()] : oddValue(random);
    return post("/v1/vectors/collections/vecs/search", { vector, k: 3, filter: filter(random) }, random);
  }
  const body: Record<string, unknown> = { filter: filter(random), limit: random.below(5) };
  if (random.chance(0.4))
    body.query = random.one(["a", "fat cat", '"a b', "a AND (", "*", "-x", "é", oddValue(random)]);
  if (random.chance(0.3)) body.mode = random.one(["text", "hybrid", "vector", "exact", oddValue(random)]);
  if (random.chance(0.2)) body[random.one(["highlight", "fields", "cursor", "offset", "min_score"])] = oddValue(random);
  return post("/v1/collections/docs/search", body, random);
}

/** Texts by what a field is called. */
function textOf(random: Random): (field: string) => unknown {
  return (field) => {
    if (/sql|query/.test(field)) return randomSql(random);
    if (/cypher/.test(field)) return randomCypher(random);
    if (/filter/.test(field)) return filter(random);
    if (/text|content|question|context/.test(field))
      return random.one(["Ann lives in Paris.", "a\u0000b", "é💥 ".repeat(50)]);
    if (/parameters|params|properties|metadata|data|document/.test(field)) return oddValue(random);
    return random.chance(0.7) ? random.one(NAMES) : oddValue(random);
  };
}

function bodyOf(endpoint: Endpoint, random: Random): string | null {
  const { body, streamedBody } = endpoint;
  if (streamedBody !== undefined) {
    return random.one(['id,name\n1,a\n2,"b', '{"id":1}\n{"id":', "id\n\u0000", ",,,\n,,", "[]\n"]);
  }
  if (body === undefined) return random.chance(0.05) && endpoint.method !== "GET" ? "{}" : null;
  const made = fitting(body, random, textOf(random));
  const spared = typeof made === "object" && made !== null ? { ...made, max_tokens: undefined } : made;
  return text("timeout_secs" in (body.properties ?? {}) ? { ...(spared as object), timeout_secs: 3 } : spared, random);
}

function route(random: Random): Input {
  let endpoint = random.one(ROUTES);
  if (SELDOM.has(endpoint.name) && random.chance(0.9)) endpoint = random.one(ROUTES);
  const path = endpoint.path.replace(/\{\w+\}/g, () =>
    encodeURIComponent(wellFormed(random.one([...NAMES, "1", "7"]))),
  );
  const query = Object.keys(endpoint.query?.properties ?? {})
    .filter(() => random.chance(0.4))
    .map(
      (name) =>
        `${name}=${encodeURIComponent(wellFormed(random.chance(0.5) ? textOf(random)(name) : random.below(9)))}`,
    );
  const headers: Record<string, string> = {};
  const body = bodyOf(endpoint, random);
  if (body !== null)
    headers["content-type"] = endpoint.streamedBody?.[0] ?? (random.chance(0.95) ? TYPES[0]! : random.one(TYPES));
  if (random.chance(0.05)) headers["idempotency-key"] = random.one(["a", "b", "x".repeat(255), "x".repeat(256)]);
  if (random.chance(0.05))
    headers.accept = random.one(["application/msgpack", "text/html", "*/*", ";;", "text/event-stream"]);
  return {
    kind: "http",
    method: endpoint.method,
    path: query.length === 0 ? path : `${path}?${query.join("&")}`,
    headers,
    body,
    who: endpoint.access === "admin" ? "superAdmin" : who(random),
  };
}

/** A text without lone surrogates, which cannot be percent-encoded. */
function wellFormed(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString();
}

function rpc(random: Random): unknown {
  const one = (): unknown => {
    const method = random.chance(0.5) ? "tools/call" : random.one([...RPC, "", "tools/none"]);
    const args = {
      sql: randomSql(random),
      query: random.one(["a", "MATCH (n) RETURN n", 1]),
      cypher: randomCypher(random),
      table: random.one(NAMES),
      text: "a",
      [random.one(["limit", "collection", "namespace", "content"])]: oddValue(random),
    };
    const wanted = Object.fromEntries(Object.entries(args).filter(() => random.chance(0.4)));
    const params = method === "tools/call" ? { name: random.one(TOOLS), arguments: wanted } : oddValue(random);
    const message: Record<string, unknown> = { jsonrpc: "2.0", id: random.below(9), method, params };
    if (random.chance(0.1)) message[random.one(Object.keys(message))] = oddValue(random);
    return message;
  };
  return random.chance(0.1) ? random.many(4, one) : one();
}

function socket(random: Random): Input {
  const mcp = random.chance(0.2);
  const message = (): string => {
    if (mcp) return text(rpc(random), random);
    if (random.chance(0.1)) return spoilt('{"type":"query","id":1,"sql":"SELECT 1"}', random);
    if (random.chance(0.4)) {
      return text(
        { type: "query", id: random.below(5), ...queryBody(random, randomSql(random)), credits: random.below(4) },
        random,
      );
    }
    const endpoint = random.one(MESSAGES.filter(({ path }) => path === "/ws"));
    const made = endpoint.body === undefined ? {} : (fitting(endpoint.body, random, textOf(random)) as object);
    const type = random.chance(0.95) ? random.one(endpoint.messages ?? ["ping"]) : oddValue(random);
    return text({ timeout_secs: 3, id: random.below(5), ...made, type }, random);
  };
  return {
    kind: "socket",
    path: mcp ? "/mcp" : "/v1/ws",
    messages: [message(), ...random.many(4, message)],
    who: random.chance(0.9) ? "user" : "reader",
  };
}

function bytes(random: Random): Buffer {
  const noise = () => Buffer.from(Array.from({ length: 1 + random.below(600) }, () => random.below(256)));
  const head = random.one([
    "GET / HTTP/1.1\r\n",
    "POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    "POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    "GET /v1/ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n",
    "",
  ]);
  return Buffer.concat([Buffer.from(head), noise()]);
}
