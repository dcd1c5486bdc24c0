/** `apoc.neighbors.…`: the nodes around a node, compared with what a list of all distances says. */
import t from "tap";
import { Random } from "../fuzz/random.js";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const NODES = 12;
const EDGES = 18;
const HOPS = 4;

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly type: string;
}

const send = (sql: string, parameters: object = {}) => server.call("POST", "/v1/query/execute", { sql, parameters });

async function rows(sql: string, parameters: object = {}) {
  const { status, body } = await send(sql, parameters);
  if (status !== 200) throw new Error(`${sql} answered ${status}: ${JSON.stringify(body)}`);
  return body.data.rows;
}

const random = new Random(30);
const edges: Edge[] = Array.from({ length: EDGES }, () => ({
  from: random.below(NODES),
  to: random.below(NODES),
  type: random.below(3) === 0 ? "L" : "K",
}));

t.before(async () => {
  await rows(`UNWIND range(0, ${NODES - 1}) AS i CREATE (:At {i: i})`);
  for (const { from, to, type } of edges) {
    await rows(`MATCH (a:At {i: ${from}}), (b:At {i: ${to}}) CREATE (a)-[:${type}]->(b)`);
  }
});

/** Of each distance from 1 on, the nodes in order. */
function hopsFrom(start: number, types: string): number[][] {
  const kinds = types.replaceAll(/[<>]/g, "").split("|");
  const fits = (type: string) => kinds.includes("") || kinds.includes(type);
  const seen = new Set([start]);
  let last = [start];
  return Array.from({ length: HOPS }, () => {
    const next = new Set<number>();
    for (const { from, to } of edges.filter((edge) => fits(edge.type))) {
      if (!types.includes("<") && last.includes(from)) next.add(to);
      if (!types.includes(">") && last.includes(to)) next.add(from);
    }
    last = [...next].filter((node) => !seen.has(node)).sort((a, b) => a - b);
    for (const node of last) seen.add(node);
    return last;
  });
}

const TYPES = ["K>", "<K", "K", "K>|L>", "<L|<K", "K|L", ">", "<", "`K`>"];

t.test("each distance has the nodes that it should have", async (t) => {
  let found = 0;
  for (const types of TYPES) {
    const expected = Array.from({ length: NODES }, (_, i) => hopsFrom(i, types.replaceAll("`", "")));
    found += expected.flat(2).length;
    const given = { types, hops: HOPS };
    const ask = (call: string, result: string) =>
      rows(`MATCH (a:At) CALL apoc.neighbors.${call} RETURN a.i, ${result} ORDER BY a.i`, given);
    t.same(
      await ask("byhop.count(a, $types, $hops) YIELD value", "value"),
      expected.map((hops, i) => [i, hops.map((hop) => hop.length)]),
      `byhop.count ${types}`,
    );
    const lists = "COLLECT { UNWIND nodes AS n RETURN n.i ORDER BY n.i }";
    t.same(
      await ask("byhop(a, $types, $hops) YIELD nodes", lists),
      expected.flatMap((hops, i) => hops.map((hop) => [i, hop])),
      `byhop ${types}`,
    );
    for (let hops = 1; hops <= HOPS; hops++) {
      const upTo = (of: number[][]) => of.slice(0, hops).flat();
      const calls: readonly (readonly [string, (of: number[][]) => number[]])[] = [
        ["tohop", upTo],
        ["athop", (of) => of[hops - 1]!],
      ];
      for (const [name, choose] of calls) {
        const args = `(a, '${types}', ${hops})`;
        const counts = expected.map((of, i) => [i, choose(of).length]);
        t.same(await ask(`${name}.count${args} YIELD value`, "value"), counts, `${name}.count ${types} ${hops}`);
        const nodes = expected.flatMap((of, i) => (of.length === 0 ? [] : [[i, choose(of).sort((a, b) => a - b)]]));
        t.same(
          await ask(`${name}${args} YIELD node WITH a, node.i AS n ORDER BY n WITH a, collect(n) AS found`, "found"),
          nodes.filter(([, list]) => (list as number[]).length > 0),
          `${name} ${types} ${hops}`,
        );
      }
    }
  }
  t.ok(found > 200, `${found} neighbours`);
});

t.test("what APOC leaves out, and what is refused", async (t) => {
  const count = (args: string) =>
    rows(`MATCH (a:At {i: 1}) CALL apoc.neighbors.tohop.count(${args}) YIELD value RETURN 1`);
  for (const args of ["a", "a, ''", "a, 'K', 0"]) t.same(await count(args), [], args);
  t.same(await rows("CALL apoc.neighbors.tohop(null, 'K', 2000000000)"), []);
  const refused = async (call: string, parameters: object = {}) => {
    const { status, body } = await send(`MATCH (a:At) CALL apoc.neighbors.${call} RETURN count(*)`, parameters);
    t.equal(status, 400, call);
    return body.error.message;
  };
  t.match(await refused("tohop(a, 'K>|<L', 2) YIELD node"), /types of one direction/);
  t.match(await refused("tohop(a, 'K', a.i) YIELD node"), /"distance" .* written in the statement or a parameter/);
  t.match(await refused("byhop(a, 'K', 10001) YIELD nodes"), /at most 10000/);
  t.match(await refused("tohop(a, $t) YIELD node", { t: 5 }), /"types" .* is a string/);
  t.match(await refused("tohop('a', 'K') YIELD node"), /argument `node`/);
});

t.test("nodes without their distances are searched for without paths to them", async (t) => {
  for (const name of ["tohop", "tohop.count"]) {
    const field = name === "tohop" ? "node" : "value";
    const plan = await rows(
      `EXPLAIN MATCH (n:At {i: 0}) CALL apoc.neighbors.${name}(n, 'K>', 9) YIELD ${field} RETURN ${field}`,
    );
    t.match(plan.flat().join("\n"), /Reach .*\*1\.\.9/);
  }
});
