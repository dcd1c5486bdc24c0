/**
 * Durability of a graph: pairs of nodes with a relationship are merged, and some are deleted again, while the server is
 * killed with SIGKILL at random moments. What was acknowledged is there afterwards, no relationship has lost an end,
 * and no MERGE is there by half. GRAPH_PAIRS and GRAPH_KILLS make it larger.
 */
import t from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const PAIRS = Number(process.env.GRAPH_PAIRS ?? sized(150, 500));
const KILLS = Number(process.env.GRAPH_KILLS ?? sized(1, 2));
const CONCURRENCY = 16;
/** One pair in so many is deleted after it was merged. */
const DELETE_ONE_IN = 4;

const MERGE =
  "MERGE (a:Left {n: $n}) ON CREATE SET a.made = $n MERGE (b:Right {n: $n}) MERGE (a)-[r:PAIR {n: $n}]->(b) MERGE (h:Hub {n: $h}) MERGE (h)-[:HAS]->(a)";
const DELETE = "MATCH (a:Left {n: $n})-[:PAIR]->(b:Right {n: $n}) DETACH DELETE a, b";

type State = "merged" | "deleted" | "unknown";

t.test("what is acknowledged survives SIGKILL, whole", { timeout: 300_000 }, async (t) => {
  const server = await TestServer.start();
  t.teardown(() => server.stop());
  const cypher = (text: string, parameters: object = {}) =>
    server.call("POST", "/v1/graph/match", { cypher: text, parameters, max_rows: 100_000 });
  for (const label of ["Left", "Right", "Hub"]) {
    await server.expect(200, "POST", "/v1/graph/match", {
      cypher: `CREATE CONSTRAINT FOR (n:${label}) REQUIRE n.n IS UNIQUE`,
    });
  }

  const states = new Map<number, State>();
  let next = 0;
  let restarting: Promise<void> | null = null;
  const killAt = Array.from({ length: KILLS }, (_, i) => Math.floor(((i + 0.25 + Math.random() / 2) * PAIRS) / KILLS));
  const restart = async (): Promise<void> => {
    await server.kill();
    await server.boot();
    restarting = null;
  };
  /** Whether it was acknowledged; a conflict with another request is tried again. */
  const run = async (text: string, parameters: object): Promise<boolean> => {
    for (;;) {
      try {
        const { status } = await cypher(text, parameters);
        if (status !== 409) return status === 200;
      } catch {
        return false;
      }
    }
  };
  const writer = async (): Promise<void> => {
    while (next < PAIRS) {
      if (restarting !== null) {
        await restarting;
        continue;
      }
      const n = next++;
      if (n >= (killAt[0] ?? Number.POSITIVE_INFINITY)) {
        killAt.shift();
        // The kill falls among the requests that are in flight now.
        restarting = restart();
      }
      states.set(n, (await run(MERGE, { n, h: n % 8 })) ? "merged" : "unknown");
      if (n % DELETE_ONE_IN !== 0 || states.get(n) !== "merged") continue;
      states.set(n, (await run(DELETE, { n })) ? "deleted" : "unknown");
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, writer));
  if (restarting !== null) await restarting;

  const numbers = async (text: string): Promise<number[]> =>
    (await cypher(text)).body.data.rows.map(([n]: [number]) => n);
  const lefts = await numbers("MATCH (n:Left) RETURN n.n");
  const rights = await numbers("MATCH (n:Right) RETURN n.n");
  const pairs = await numbers("MATCH (a:Left)-[r:PAIR]->(b:Right) WHERE a.n = b.n AND r.n = a.n RETURN r.n");
  const hubs = await numbers("MATCH (h:Hub)-[:HAS]->(a:Left) WHERE h.n = a.n % 8 AND a.made = a.n RETURN a.n");
  const sorted = (list: number[]): number[] => [...list].sort((a, b) => a - b);
  const there = new Set(lefts);
  t.equal(there.size, lefts.length, "none is there twice");
  t.same(sorted(rights), sorted(lefts), "no MERGE is there by half");
  t.same(sorted(pairs), sorted(lefts));
  t.same(sorted(hubs), sorted(lefts));
  for (const [wanted, isThere] of [
    ["merged", true],
    ["deleted", false],
  ] as const) {
    const wrong = [...states].filter(([n, state]) => state === wanted && there.has(n) !== isThere);
    t.same(wrong, [], `what was ${wanted} is ${isThere ? "there" : "gone"}`);
  }
  const dangling = await server.rows(
    'SELECT count(*) FROM "graph:default".edges e WHERE NOT EXISTS (SELECT FROM "graph:default".nodes WHERE id = e.src) OR NOT EXISTS (SELECT FROM "graph:default".nodes WHERE id = e.dst)',
  );
  t.same(dangling, [[0]], "each relationship has both ends");
  const unknown = [...states.values()].filter((state) => state === "unknown").length;
  t.comment(`${states.size} pairs, ${there.size} there, ${unknown} unknown`);
});
