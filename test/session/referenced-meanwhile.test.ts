/** A row that another one refers to must be there at the commit; what else it holds may change meanwhile. */
import t, { type Test } from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { openShard } from "../storage/shards.js";

const ISOLATIONS = ["read committed", "repeatable read", "serializable"] as const;
/** As many rows that the usual way of loading them is another one. */
const MANY = 3000;

async function opened(t: Test) {
  await loadParser();
  const shard = await openShard(t);
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(7);
  return (isolation: (typeof ISOLATIONS)[number]) => {
    const options = { isolation, readOnly: false, user: "u", tenantName: "t", control: "statements" } as const;
    const session = new Session(tenant, options);
    const request = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };
    return async (text: string, language: "sql" | "cypher" = "sql") => {
      const params = language === "sql" ? [] : {};
      const statement = { sql: text, params, language, maxRows: 100, collector: plainRows, request } as const;
      return (await session.execute(statement, (tx) => tenant.commit(tx))).rows.plain ?? [];
    };
  };
}

const stateOf = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (error) => error.details?.sqlstate ?? error.code,
  );

const CHANGES = [
  ["UPDATE parent SET note = 'changed'", "none"],
  ["UPDATE parent SET code = code || '!' WHERE id = 2", "none"],
  ["DELETE FROM parent WHERE id = 2", "none"],
  ["DELETE FROM parent WHERE id = 1; INSERT INTO parent VALUES (1, 'a', 'again')", "none"],
  ["DELETE FROM parent WHERE id = 1", "40001"],
  ["UPDATE parent SET id = 9 WHERE id = 1", "40001"],
  ["UPDATE parent SET code = 'other' WHERE id = 1", "40001"],
] as const;

const INSERTS = [
  "INSERT INTO child VALUES (1, 1, 'a')",
  `INSERT INTO child SELECT g, 1, 'a' FROM generate_series(1, ${MANY}) g`,
];

for (const isolation of ISOLATIONS) {
  t.test(`at ${isolation}`, async (t) => {
    for (const insert of INSERTS) {
      for (const [change, state] of CHANGES) {
        const client = await opened(t);
        const [run, other] = [client(isolation), client("read committed")];
        await other("CREATE TABLE parent (id integer PRIMARY KEY, code text UNIQUE, note text)");
        await other("CREATE TABLE child (id integer PRIMARY KEY, p integer REFERENCES parent, c text)");
        await other("ALTER TABLE child ADD FOREIGN KEY (c) REFERENCES parent (code)");
        await other("INSERT INTO parent VALUES (1, 'a'), (2, 'b')");
        await run("BEGIN");
        await run(insert);
        for (const sql of change.split("; ")) await other(sql);
        t.equal(await stateOf(run("COMMIT")), state, `${insert} beside ${change}`);
        t.same(await other("SELECT count(*) FROM child LEFT JOIN parent ON p = parent.id WHERE parent.id IS NULL"), [
          [0],
        ]);
      }
    }
  });
}

t.test("nodes that a new relationship joins", async (t) => {
  for (const [change, state] of [
    ["MATCH (n:Town) SET n.size = 2", "none"],
    ["MATCH (n:Town {name: 'b'}) DELETE n", "40001"],
  ] as const) {
    const client = await opened(t);
    const [run, other] = [client("read committed"), client("read committed")];
    await other("CREATE (:Town {name: 'a'}), (:Town {name: 'b'})", "cypher");
    await run("BEGIN");
    await run("MATCH (a:Town {name: 'a'}), (b:Town {name: 'b'}) CREATE (a)-[:ROAD]->(b)", "cypher");
    await other(change, "cypher");
    t.equal(await stateOf(run("COMMIT")), state, change);
    const roads = await other("MATCH (a)-[r]->(b) RETURN count(b)", "cypher");
    t.same(roads, [[state === "none" ? 1 : 0]]);
  }
});
