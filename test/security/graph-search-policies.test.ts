/** SEARCH by users whom a policy keeps nodes from: what is hidden takes no place among the nearest. */
import t from "tap";
import { TestServer } from "../e2e/server.js";

const PASSWORD = "a password of somebody";
const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

t.test("the nearest that the user may see", async (t) => {
  const tokens: Record<string, string> = {};
  await server.expect(201, "POST", "/admin/tenants", { id: "club" });
  for (const who of ["boss", "ann"]) {
    const roles = [who === "boss" ? "super_admin" : "user"];
    await server.expect(201, "POST", "/admin/tenants/club/users", { username: who, password: PASSWORD, roles });
    tokens[who] = await server.login(who, PASSWORD);
  }
  const cypher = async (who: string, text: string) => {
    const body = { cypher: text };
    return (await server.expect(200, "POST", "/v1/graph/match", body, { token: tokens[who]! })).body.data.rows;
  };
  await cypher(
    "boss",
    "CREATE VECTOR INDEX spots FOR (n:Note) ON (n.spot) OPTIONS {indexConfig: {`vector.dimensions`: 2}}",
  );
  // Those that are hidden are nearer than all others.
  await cypher("boss", "UNWIND range(1, 6) AS i CREATE (:Note {i: i, owner: 'boss', spot: [1.0, i / 100.0]})");
  await cypher("boss", "UNWIND range(1, 3) AS i CREATE (:Note {i: 10 * i, owner: 'ann', spot: [1.0, toFloat(i)]})");
  await server.rows("CREATE USER ann", [], { token: tokens.boss! });
  await server.rows(
    `CREATE POLICY own ON "graph:default".nodes TO ann USING (properties ->> 'owner' = current_user)`,
    [],
    { token: tokens.boss! },
  );
  await server.rows(`ALTER TABLE "graph:default".nodes ENABLE ROW LEVEL SECURITY`, [], { token: tokens.boss! });
  const search = (within: string) =>
    `MATCH (n:Note) SEARCH n IN (VECTOR INDEX spots FOR [1.0, 0.0] ${within}) SCORE AS s RETURN n.i ORDER BY s DESC`;
  t.same(await cypher("boss", search("LIMIT 2")), [[1], [2]]);
  t.same(await cypher("ann", search("LIMIT 2")), [[10], [20]]);
  t.same(await cypher("ann", search("WHERE n.i > 10 LIMIT 2")), [[20], [30]]);
  t.same(await cypher("ann", search("WHERE n.owner = 'boss' LIMIT 2")), []);
  t.same(await cypher("ann", search("LIMIT 100")), [[10], [20], [30]]);
});
