/** Algorithms over a graph on the WebSocket: progress, rows in pieces, cancel, what is refused. */
import t from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const NODES = sized(3000, 6000);
const match = async (cypher: string) => (await server.expect(200, "POST", "/v1/graph/match", { cypher })).body.data;
await match(`UNWIND range(0, ${NODES - 1}) AS i CREATE (:N {i: i})`);
await match("CREATE INDEX FOR (n:N) ON (n.i)");
await match(`UNWIND range(0, ${NODES - 1}) AS i UNWIND [1, 7, 50, 313, 1999] AS step
  MATCH (a:N {i: i}), (b:N {i: (i * 3 + step) % ${NODES}}) CREATE (a)-[:TO]->(b)`);

async function open(): Promise<SocketClient> {
  const ticket = (await server.expect(200, "POST", "/v1/ws/ticket")).body.token;
  const client = await SocketClient.open(server.url, `/ws?token=${ticket}`);
  t.teardown(() => client.destroy());
  return client;
}

t.test("progress, then rows", async (t) => {
  const client = await open();
  client.send({ type: "graph.algorithm", id: 7, algorithm: "betweenness", options: { samples: NODES / 10 } });
  const messages = await client.until("graph.complete");
  t.ok(messages.every(({ id }) => id === 7));
  const progress = messages.filter(({ type }) => type === "graph.progress");
  t.same([...new Set(progress.map(({ phase }) => phase))], ["reading", "computing", "finishing"]);
  const done = progress.filter(({ phase }) => phase === "computing").map((message) => message.progress);
  t.ok(done.length > 0, `told ${done.length} times`);
  t.same([...done].sort(), done, "it only grows");
  t.ok(done.every((share) => share >= 0 && share <= 1));
  const [columns] = messages.filter(({ type }) => type === "graph.columns");
  t.same(
    columns.columns.map(({ name }: { name: string }) => name),
    ["node_id", "score"],
  );
  const rows = messages.filter(({ type }) => type === "graph.rows").flatMap((message) => message.rows);
  t.equal(rows.length, NODES);
  t.match(messages.at(-1), { algorithm: "betweenness", graph: "default", row_count: NODES });
  const { body } = await server.expect(200, "POST", "/v1/graph/algorithms", {
    algorithm: "betweenness",
    options: { samples: NODES / 10 },
  });
  const results = body.data.results.map(({ node_id, score }: { node_id: number; score: number }) => [node_id, score]);
  t.same(rows.sort(), results.sort(), "as over HTTP");
});

t.test("cancel ends it", async (t) => {
  const client = await open();
  client.send({ type: "graph.algorithm", id: "long", algorithm: "betweenness" });
  const begun = await client.until("graph.progress");
  t.equal(begun.at(-1).type, "graph.progress");
  client.send({ type: "cancel", id: "long" });
  const [error] = (await client.until("error")).slice(-1);
  t.match(error, { type: "error", id: "long", code: "cancelled" });
  // The task thread is free again.
  client.send({ type: "graph.algorithm", id: 2, algorithm: "page_rank", limit: 3 });
  const after = await client.until("graph.complete");
  t.equal(after.at(-1).row_count, 3);
  t.ok(after.every(({ id }) => id === 2));
});

t.test("what it found is stored", async (t) => {
  const client = await open();
  client.send({ type: "graph.algorithm", id: 1, algorithm: "wcc", write_property: "part" });
  const messages = await client.until("graph.complete");
  t.match(messages.at(-1), { stats: { properties_set: NODES } });
  const written = messages.filter(({ type }) => type === "graph.rows").flatMap((message) => message.rows);
  t.same(written, [[NODES]]);
  t.same((await match("MATCH (n:N) WHERE n.part IS NOT NULL RETURN count(n)")).rows, [[NODES]]);
});

t.test("what is refused", async (t) => {
  const client = await open();
  const refused = async (message: object) => {
    client.send({ type: "graph.algorithm", id: 1, ...message });
    const { type, code, id } = (await client.until("error")).at(-1);
    return [type, id, code];
  };
  t.same(await refused({ algorithm: "magic" }), ["error", 1, "invalid_request"]);
  t.same(await refused({}), ["error", 1, "invalid_request"]);
  t.same(await refused({ algorithm: "pagerank", colour: "red" }), ["error", 1, "invalid_request"]);
  t.same(await refused({ algorithm: "pagerank", options: { damping_factor: 2 } }), ["error", 1, "invalid_request"]);
  t.same(await refused({ algorithm: "pagerank", options: {}, params: {} }), ["error", 1, "invalid_request"]);
  t.same(await refused({ algorithm: "pagerank", graph: "none" }), ["error", 1, "not_found"]);
  t.same(await refused({ algorithm: "bfs", options: { source: 10_000_000 } }), ["error", 1, "invalid_request"]);
});
