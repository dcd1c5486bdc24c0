/**
 * Traces of requests, as a collector on loopback gets them: parents, parts, statements without values; and one that is
 * not there.
 */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { parseTraceparent } from "../../src/protocol/tracing.js";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string; readonly intValue?: number };
  }[];
}

t.setTimeout(110_000);
const spans: Span[] = [];
const headers: IncomingHttpHeaders[] = [];
let service = "";
const collector = createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => {
    text += piece;
  });
  request.on("end", () => {
    headers.push(request.headers);
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      service = resource.attributes.find(({ key }: { key: string }) => key === "service.name").value.stringValue;
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
});
await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
t.teardown(() => void collector.close());
const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
const server = await TestServer.start({
  TESSERA_ACTORS: "1",
  TESSERA_TELEMETRY_TRACES_ENDPOINT: url,
  TESSERA_TELEMETRY_SAMPLE_RATIO: "0",
  TESSERA_TELEMETRY_HEADERS: "x-key: a secret",
  TESSERA_TELEMETRY_SERVICE_NAME: "under-test",
  TESSERA_SERVER_REQUEST_LOG: "all",
  TESSERA_SERVER_LOG_LEVEL: "info",
});
t.teardown(() => server.stop());

const CALLER = "00f067aa0ba902b7";
let traces = 0;

/** Sends the request as a part of a new trace, and gives the spans that come of it, by name. */
async function traced(method: string, path: string, body: object): Promise<{ trace: string; of: Map<string, Span> }> {
  const trace = (++traces).toString(16).padStart(32, "a");
  const reply = await server.call(method, path, body, { headers: { traceparent: `00-${trace}-${CALLER}-01` } });
  const own = () => spans.filter(({ traceId }) => traceId === trace);
  // The gateway's part and the actor's end at different times.
  while (!own().some(({ kind }) => kind === 2) || !own().some(({ name }) => name === "queue")) await sleep(20);
  const whole = own().find(({ kind }) => kind === 2);
  t.equal(reply.headers.get("traceparent"), `00-${trace}-${whole?.spanId}-01`, "the reply names the trace");
  return { trace, of: new Map(own().map((span) => [span.name, span])) };
}

const attribute = (span: Span | undefined, name: string) => span?.attributes.find(({ key }) => key === name)?.value;

t.test("a request's spans, through the threads", async (t) => {
  await server.rows("CREATE TABLE person (id integer PRIMARY KEY, name text)");
  const insert = { sql: "INSERT INTO person VALUES (7, 'confidential')" };
  const { trace, of } = await traced("POST", "/v1/query/execute", insert);
  const whole = of.get("POST /v1/query/execute");
  t.equal(whole?.parentSpanId, CALLER, "the caller's span is the parent");
  t.equal(whole?.kind, 2, "of a server");
  t.equal(attribute(whole, "http.response.status_code")?.intValue, 200);
  t.equal(attribute(whole, "tessera.endpoint")?.stringValue, "query.execute");
  t.equal(attribute(whole, "tessera.tenant")?.stringValue, "system");
  const inActor = of.get("query.execute");
  for (const name of ["admit", "query.execute", "reply"]) t.equal(of.get(name)?.parentSpanId, whole?.spanId, name);
  for (const name of ["queue", "plan", "execute", "commit"]) {
    t.equal(of.get(name)?.parentSpanId, inActor?.spanId, name);
    t.ok(BigInt(of.get(name)!.endTimeUnixNano) >= BigInt(of.get(name)!.startTimeUnixNano));
  }
  const order = ["queue", "plan", "execute", "commit"].map((name) => BigInt(of.get(name)!.startTimeUnixNano));
  t.ok(
    order.every((start, i) => i === 0 || start >= order[i - 1]!),
    "in the order of the work",
  );
  t.equal(attribute(of.get("execute"), "db.query.text")?.stringValue, "INSERT INTO person VALUES (?, ?)");
  t.notMatch(JSON.stringify(spans), /confidential/, "no values");
  t.equal(service, "under-test");
  t.equal(headers[0]!["x-key"], "a secret");
  while (!server.lines.some((line) => line.includes(trace))) await sleep(20);
  t.match(
    server.lines.find((line) => line.includes(trace)),
    /"trace_id"/,
    "the log's line names the trace",
  );
});

t.test("inference, and what fails", async (t) => {
  const verified = await traced("POST", "/v1/query/execute", { sql: "SELECT nothing FROM person" });
  t.equal(attribute(verified.of.get("POST /v1/query/execute"), "http.response.status_code")?.intValue, 400);
  t.equal(verified.of.get("plan")?.status.code, 2, "the part that failed");
  const embedded = await traced("POST", "/v1/ai/embeddings/batch", { texts: ["a quiet town", "by the sea"] });
  t.ok(embedded.of.has("ai.embeddings.batch") || embedded.of.size >= 4, [...embedded.of.keys()].join());
});

t.test("who is not sampled, and what is no traceparent, is not traced", async (t) => {
  const before = spans.length;
  for (const traceparent of [
    `00-${"b".repeat(32)}-${CALLER}-00`,
    `00-${"0".repeat(32)}-${CALLER}-01`,
    "00-short-01",
    `ff-${"b".repeat(32)}-${CALLER}-01`,
    "x".repeat(5000),
  ]) {
    const reply = await server.call("POST", "/v1/query/execute", { sql: "SELECT 1" }, { headers: { traceparent } });
    t.equal(reply.headers.get("traceparent"), null);
  }
  await traced("GET", "/v1/schema/tables", undefined as never);
  t.notOk(spans.slice(before).some(({ traceId }) => traceId.startsWith("b")));
  t.equal(
    new Set(spans.slice(before).map(({ traceId }) => traceId)).size,
    1,
    "the ratio is 0, so none begins by itself",
  );
  t.equal(parseTraceparent(`01-${"b".repeat(32)}-${CALLER}-01-more`)?.sampled, true, "later versions may say more");
  t.equal(parseTraceparent(`00-${"b".repeat(32)}-${CALLER}-01-more`), null);
});

t.test("messages of sockets, and a subscription's beginning", async (t) => {
  const sampled = await TestServer.start({
    TESSERA_ACTORS: "1",
    TESSERA_TELEMETRY_TRACES_ENDPOINT: url,
    TESSERA_TELEMETRY_SAMPLE_RATIO: "1",
    TESSERA_SERVER_REQUEST_LOG: "all",
    TESSERA_SERVER_LOG_LEVEL: "info",
  });
  t.teardown(() => sampled.stop());
  await sampled.rows("CREATE TABLE thing (id integer PRIMARY KEY)");
  const client = await SocketClient.open(sampled.url, "/v1/ws", { authorization: `Bearer ${sampled.token}` });
  t.teardown(() => client.destroy());
  const whole = (message: string) => spans.filter((span) => span.name === `MESSAGE ${message}`);
  client.send({ type: "sql.execute.stream", id: 1, sql: "SELECT confidential FROM thing" });
  t.match(await client.next(), { type: "error", id: 1 });
  client.send({ type: "subscribe", id: 2, table: "thing" });
  t.match(await client.next(), { type: "subscribed", id: 2 });
  for (const message of ["socket.query", "socket.subscribe"]) {
    while (whole(message).length === 0) await sleep(20);
    const [span] = whole(message);
    t.equal(span?.kind, 2);
    t.equal(attribute(span, "tessera.status")?.intValue, message === "socket.query" ? 400 : 200);
    const parts = () => spans.filter(({ traceId }) => traceId === span?.traceId).map(({ name }) => name);
    while (!parts().includes("admit")) await sleep(20);
    if (message === "socket.query") while (!parts().includes("queue")) await sleep(20);
    t.ok(parts().includes("admit"));
    const line = () => sampled.lines.find((text) => text.includes(`"endpoint":"${message}"`));
    if (message === "socket.query") t.match(line(), `"trace_id":"${span?.traceId}"`, "the log's line names the trace");
  }
});

t.test("a collector that is not there harms nothing", async (t) => {
  const alone = await TestServer.start({
    TESSERA_ACTORS: "1",
    TESSERA_TELEMETRY_TRACES_ENDPOINT: "http://127.0.0.1:9/v1/traces",
    TESSERA_TELEMETRY_SAMPLE_RATIO: "1",
  });
  t.teardown(() => alone.stop());
  for (let i = 0; i < 30; i++) t.same(await alone.rows("SELECT $1::int", [i]), [[i]]);
  t.equal(await alone.terminate(), 0, "it ends in time");
});
