/** Files of a graph by users whom policies keep something from: each entity is checked as CREATE checks it. */
import t from "tap";
import { TestServer } from "../e2e/server.js";

const PASSWORD = "a password of somebody";
const SECRET = "xyzzy";
const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const tokens: Record<string, string> = {};
const rows = (who: string, sql: string) => server.rows(sql, [], { token: tokens[who]! });
const cypher = async (who: string, text: string) => {
  const body = { cypher: text };
  return (await server.expect(200, "POST", "/v1/graph/match", body, { token: tokens[who]! })).body.data.rows;
};

function send(who: string, query: string, ...parts: readonly (readonly [name: string, text: string])[]) {
  const form = parts.map(([name, text], i) => {
    const disposition = `Content-Disposition: form-data; name="${name}"; filename="file${i + 1}.csv"`;
    return `--frontier\r\n${disposition}\r\nContent-Type: text/csv\r\n\r\n${text}\r\n`;
  });
  return server.call("POST", `/v1/graph/import${query}`, `${form.join("")}--frontier--\r\n`, {
    ...{ token: tokens[who]!, headers: { "content-type": "multipart/form-data; boundary=frontier" } },
  });
}

const deals = (...lines: string[]): readonly [string, string] => ["nodes:Deal", `id:ID,branch\n${lines.join("\n")}\n`];
const after = (...lines: string[]): readonly [string, string] => [
  "relationships:AFTER",
  `:START_ID,:END_ID,by\n${lines.join("\n")}\n`,
];
const counts = async () =>
  (await cypher("boss", "MATCH (d) OPTIONAL MATCH (d)-[r]->() RETURN count(DISTINCT d), count(r)"))[0];

t.before(async () => {
  await server.expect(201, "POST", "/admin/tenants", { id: "club" });
  for (const who of ["boss", "ann"]) {
    const roles = [who === "boss" ? "super_admin" : "user"];
    await server.expect(201, "POST", "/admin/tenants/club/users", { username: who, password: PASSWORD, roles });
    tokens[who] = await server.login(who, PASSWORD);
  }
  await cypher("boss", `CREATE (:Deal {id: 0, branch: 'bergen', note: '${SECRET}'})`);
  await rows("boss", "CREATE USER ann");
  await rows("boss", "CREATE TABLE branches (name text, who text)");
  await rows("boss", "INSERT INTO branches VALUES ('oslo', 'ann'), ('bergen', 'boss')");
});

t.test("nodes that satisfy WITH CHECK", async (t) => {
  for (const condition of [
    "properties ->> 'branch' = 'oslo'",
    "EXISTS (SELECT 1 FROM branches b WHERE b.who = current_user AND b.name = properties ->> 'branch')",
    "properties ->> 'branch' IN (SELECT name FROM branches WHERE who = current_user)",
    "properties ->> 'branch' = (SELECT name FROM branches WHERE who = current_user)",
  ]) {
    await rows("boss", `CREATE POLICY own ON "graph:default".nodes TO ann USING (${condition})`);
    await rows("boss", `ALTER TABLE "graph:default".nodes ENABLE ROW LEVEL SECURITY`);
    const before = await counts();
    const refused = await send("ann", "", deals("1,oslo", "2,bergen", "3,oslo"), after("1,2,ann"));
    t.match(refused, { status: 403, body: { error: { details: { sqlstate: "42501", line: 3 } } } });
    t.match(
      refused.body.error.message,
      /new row violates row-level security policy for table "nodes" at line 3 of file1/,
    );
    t.notMatch(JSON.stringify(refused.body), SECRET);
    t.same(await counts(), before, "nothing was stored");
    const made = await send("ann", "", deals("1,oslo", "3,oslo"), after("1,3,ann"));
    t.match(made, { status: 200, body: { data: { nodes: 2, relationships: 1 } } }, JSON.stringify(made.body));
    t.same(await cypher("ann", "MATCH (d:Deal)-[r:AFTER]->(e) RETURN d.id, r.by, e.id"), [["1", "ann", "3"]]);
    t.same(await cypher("boss", "MATCH (d:Deal) RETURN count(d)"), [[3]]);
    t.match(await send("boss", "", deals("4,bergen")), { status: 200 }, "administrators are not asked");
    await rows("boss", `DROP POLICY own ON "graph:default".nodes`);
    await rows("boss", `ALTER TABLE "graph:default".nodes DISABLE ROW LEVEL SECURITY`);
    await cypher("boss", "MATCH (d:Deal) WHERE d.id <> 0 DETACH DELETE d");
  }
});

t.test("relationships, commands of policies, and what must be visible", async (t) => {
  await rows("boss", `ALTER TABLE "graph:default".edges ENABLE ROW LEVEL SECURITY`);
  await rows("boss", `CREATE POLICY seen ON "graph:default".edges FOR SELECT TO ann USING (true)`);
  const without = await send("ann", "", deals("1,oslo", "2,oslo"), after("1,2,ann"));
  t.match(without, { status: 403, body: { error: { message: /table "edges" at line 2 of file2/ } } });
  await rows(
    "boss",
    `CREATE POLICY added ON "graph:default".edges FOR INSERT TO ann WITH CHECK (properties ->> 'by' = 'ann')`,
  );
  t.match(await send("ann", "", deals("1,oslo", "2,oslo"), after("1,2,ann", "2,1,boss")), { status: 403 });
  t.match(await send("ann", "", deals("1,oslo", "2,oslo"), after("1,2,ann")), { status: 200 });
  await rows("boss", `CREATE POLICY never ON "graph:default".edges AS RESTRICTIVE FOR SELECT TO ann USING (false)`);
  t.match(await send("ann", "", deals("3,oslo", "4,oslo"), after("3,4,ann")), { status: 403 }, "it could not see it");
  await rows("boss", `ALTER TABLE "graph:default".edges DISABLE ROW LEVEL SECURITY`);
});

t.test("rights", async (t) => {
  await rows("boss", `ALTER TABLE "graph:default".nodes ENABLE ROW LEVEL SECURITY`);
  await rows("boss", `CREATE POLICY own ON "graph:default".nodes TO ann USING (properties ->> 'branch' = 'oslo')`);
  await rows("boss", "REVOKE INSERT ON GRAPH default FROM member");
  const refused = await send("ann", "", deals("1,oslo"));
  t.match(refused, { status: 403, body: { error: { details: { sqlstate: "42501" }, message: /permission denied/ } } });
  await rows("boss", "GRANT INSERT ON GRAPH default TO ann");
  t.match(await send("ann", "", deals("9,oslo")), { status: 200 });
});
