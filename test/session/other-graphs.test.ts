/** Graphs of one tenant: which there are, and what USE is about. */
import t from "tap";
import { createGraph } from "../../src/catalog/graph-ddl.js";
import { DbError } from "../../src/protocol/errors.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { open } from "../conformance/sql-adapter.js";

const db = await open();
t.teardown(() => db.close());
const session = new Session(db.tenant, {
  isolation: "serializable",
  readOnly: false,
  user: "tester",
  tenantName: "tester",
  control: "statements",
});
const request = {
  checkpoint: () => undefined,
  shouldYield: () => false,
  yieldTurn: () => Promise.resolve(),
  commitPart: (tx: Parameters<typeof db.tenant.commit>[0]) => db.tenant.commit(tx),
};

async function rows(sql: string, graph?: string, params: Record<string, unknown> = {}): Promise<string[]> {
  const of = graph === undefined ? {} : { graph };
  const statement = {
    sql,
    language: "cypher",
    params,
    maxRows: 1000,
    collector: plainRows,
    request,
    ...of,
  } as const;
  const outcome = await session.execute(statement, (tx) => db.tenant.commit(tx));
  return (outcome.rows as unknown as { plain: unknown[][] }).plain.map((row) => row.join("|"));
}

async function failure(sql: string, params: Record<string, unknown> = {}): Promise<string> {
  try {
    await rows(sql, undefined, params);
  } catch (error) {
    if (error instanceof DbError) return error.message;
    throw error;
  }
  throw new Error(`did not fail: ${sql}`);
}

t.test("the default graph is one before its first use", async (t) => {
  t.same(await rows("SHOW DATABASES YIELD name"), ["default"]);
  t.same(await rows("SHOW DATABASE neo4j YIELD name, currentStatus"), ["default|online"]);
  t.same(await rows("SHOW DATABASE nowhere YIELD name"), []);
  const analyzers = "CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer WHERE analyzer STARTS WITH 's'";
  t.same(await rows(`${analyzers} RETURN analyzer ORDER BY analyzer`), [
    ...["simple", "spanish", "standard-no-stop-words", "swedish"],
  ]);
});

t.test("functions about graphs", async (t) => {
  t.same(await rows("UNWIND graph.names() AS name RETURN name"), ["default"]);
  t.same(await rows("RETURN size(keys(graph.propertiesByName('default'))) AS n"), ["0"]);
  t.match(await failure("RETURN graph.propertiesByName('nowhere') AS p"), /graph "nowhere" does not exist/);
  t.match(await failure("RETURN graph.propertiesByName(5) AS p"), /string/);
});

t.test("USE names the graph of all that follows", async (t) => {
  const tx = db.tenant.partition.shard.begin({ readOnly: false });
  db.tenant.catalog.change(tx, (editor) => createGraph(editor, "second", 1));
  db.tenant.commit(tx);
  await rows("USE second UNWIND range(1, 5) AS x CALL (x) { CREATE (:U {x: x}) } IN TRANSACTIONS OF 2 ROWS");
  const count = "MATCH (n:U) RETURN count(n) AS c";
  t.same(await rows(`USE graph.byName('second') ${count}`), ["5"]);
  const named = `USE graph.byName($g) ${count}`;
  for (const [g, found] of [
    ["second", "5"],
    ["default", "0"],
    ["second", "5"],
  ]) {
    t.same(await rows(named, undefined, { g }), [found], "a plan is of use for its graph only");
  }
  t.same(await rows(`${named} UNION ALL ${named}`, undefined, { g: "second" }), ["5", "5"]);
  t.match(await failure(named, { g: "third" }), /graph "third" does not exist/);
  t.match(await failure(named, { g: 3 }), /graph.byName\(\) takes a string/);
  t.match(await failure(named), /parameter \$g has no value/);
  t.same(await rows("UNWIND graph.names() AS name RETURN name ORDER BY name"), ["default", "second"]);
  t.same(await rows(`USE second ${count} UNION ALL USE second ${count}`), ["5", "5"]);
  t.same(await rows(`USE second ${count}`, "default"), ["5"], "in place of what the request says");
  t.same([await rows(count), await rows(`USE default ${count}`, "second")], [["0"], ["0"]]);
  await rows("USE tester.second UNWIND [6, 7] AS x CALL (x) { CREATE (:V {x: x}) } IN TRANSACTIONS OF 1 ROW");
  t.same(await rows("USE tester.second MATCH (n:V) RETURN n.x ORDER BY n.x", "default"), ["6", "7"]);
  for (const home of ["neo4j", "tester", "tester.default", "`neo4j`"]) {
    t.same(await rows(`USE ${home} ${count}`, "second"), ["0"], `${home} is the graph that every tenant has`);
  }
  t.match(await failure("USE another.second RETURN 1 AS x"), /graph "another.second" does not exist/);
  t.match(await failure("USE third RETURN 1 AS x"), /graph "third" does not exist/);
  await rows("USE second CREATE INDEX us FOR (n:U) ON (n.x)");
  t.same(await rows("USE second SHOW INDEXES YIELD name, type WHERE type = 'RANGE' RETURN name"), ["us"]);
  t.same(await rows("SHOW INDEXES YIELD name, type WHERE type = 'RANGE' RETURN name"), []);
});
