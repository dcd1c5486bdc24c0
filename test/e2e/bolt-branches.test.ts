/** Neo4j's driver in branches: a database names one, and each transaction works where its database is. */
import neo4j, { type Driver } from "neo4j-driver";
import t from "tap";
import { BoltClient, boltPort, pull, reset, run, WITH_BOLT } from "./bolt-client.js";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

const PASSWORD = "a long password";
let server: TestServer;
let driver: Driver;
let token: string;
t.before(async () => {
  server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
  token = await server.tenant("shop", ["super_admin"]);
  driver = await open("ann");
});
t.teardown(async () => {
  await driver?.close();
  await server?.stop();
});

async function open(username: string, roles = ["user"]): Promise<Driver> {
  const body = { username, password: PASSWORD, roles };
  await server.expect(201, "POST", "/admin/tenants/shop/users", body, { token: server.token });
  // One connection, so that each transaction comes to where the last one was elsewhere.
  const config = { maxConnectionPoolSize: 1, connectionAcquisitionTimeout: 5000 };
  return neo4j.driver(`bolt://127.0.0.1:${boltPort(server)}`, neo4j.auth.basic(username, PASSWORD), config);
}

async function names(database?: string): Promise<unknown[]> {
  const { records } = await driver.executeQuery("MATCH (c:City) RETURN c.name AS n ORDER BY n", {}, { database });
  return records.map((record) => record.get("n"));
}

t.test("transactions of one connection work where their databases are", async (t) => {
  const { fork } = branchCalls(server);
  await driver.executeQuery("CREATE (:City {name: 'Oslo'})");
  await fork(token, { name: "try" });
  await driver.executeQuery("CREATE (:City {name: 'Rom'})", {}, { database: "try" });
  const { summary } = await driver.executeQuery("MATCH (c:City {name: 'Oslo'}) DELETE c", {}, { database: "shop:try" });
  t.equal(summary.database.name, "shop:try", "as the client calls it");
  t.same(await names(), ["Oslo"], "no database: the tenant");
  t.same(await names("try"), ["Rom"]);
  t.same(await names("default"), ["Oslo"]);
  t.same(await names("shop"), ["Oslo"]);
  t.same(await names("try.default"), ["Rom"]);

  const session = driver.session({ database: "try" });
  const tx = session.beginTransaction();
  await tx.run("CREATE (:City {name: 'Bern'})");
  await tx.run("CREATE (:City {name: 'Wien'})");
  await tx.commit();
  const open = session.beginTransaction();
  await open.run("CREATE (:City {name: 'Nowhere'})");
  await open.rollback();
  t.ok(session.lastBookmarks().length > 0);
  await session.close();
  t.same(await names("try"), ["Bern", "Rom", "Wien"]);
  t.same(await names(), ["Oslo"]);

  await server.expect(200, "POST", "/v1/branches/try/merge", {}, { token });
  t.same(await names(), ["Bern", "Rom", "Wien"], "merged");
});

t.test("graphs of a branch, and a graph goes before a branch of its name", async (t) => {
  const { fork } = branchCalls(server);
  await server.expect(201, "POST", "/v1/graph/graphs", { name: "roads" }, { token });
  await fork(token, { name: "roads" });
  await driver.executeQuery("CREATE (:Road {at: 'graph'})", {}, { database: "roads" });
  await driver.executeQuery("CREATE (:Road {at: 'branch'})", {}, { database: "shop:roads.roads" });
  const at = async (database: string) =>
    (await driver.executeQuery("MATCH (r:Road) RETURN r.at AS at", {}, { database })).records.map((r) => r.get("at"));
  t.same(await at("roads"), ["graph"]);
  t.same(await at("shop:roads.roads"), ["branch"]);
  t.same(await at("shop:roads"), [], "its usual graph");
});

t.test("what is refused", async (t) => {
  const { fork } = branchCalls(server);
  const notFound = { code: "Neo.ClientError.Database.DatabaseNotFound" };
  await t.rejects(driver.executeQuery("RETURN 1", {}, { database: "nothing" }), notFound);
  await t.rejects(driver.executeQuery("RETURN 1", {}, { database: "other:try" }), notFound);
  await t.rejects(driver.executeQuery("RETURN 1", {}, { database: "try.nothing" }), notFound);
  await fork(token, { name: "closed", users: ["bob"] });
  await t.rejects(driver.executeQuery("RETURN 1", {}, { database: "closed" }), /may not enter the branch/);
  t.same(await names(), ["Bern", "Rom", "Wien"], "the connection goes on");

  // A statement that fails leaves what follows aside, also where that names another database.
  const session = driver.session({ database: "try" });
  await t.rejects(session.run("RETURN 1 / 0"), /zero/);
  await session.close();
  t.same(await names("shop"), ["Bern", "Rom", "Wien"]);
});

t.test("messages that came together", async (t) => {
  const client = await BoltClient.connect(boltPort(server));
  await client.start([5, 4], { user: "ann", password: PASSWORD });
  const [ofBranch, ofTenant] = [{ db: "try" }, {}];
  const here = "CREATE (c:City {name: 'Kiel'}) RETURN c.name AS n";
  client.send(run("RETURN 1 / 0"), pull(), run(here, {}, ofBranch), pull());
  client.send(reset, run(here, {}, ofBranch), pull(), run("MATCH (c:City) RETURN count(c) AS n", {}, ofTenant), pull());
  const all = await client.until(9);
  const kinds = all.map(({ kind }) => kind).join(" ");
  const success = "success success record success success record success";
  t.equal(
    kinds,
    `success failure ignored ignored ${success}`,
    "what fails leaves aside what follows, wherever that is",
  );
  t.same(
    all.filter(({ kind }) => kind === "record").map(({ data }) => data[0]),
    ["Kiel", 3],
    "in the branch, and then in the tenant",
  );
  t.same(await names("try"), ["Bern", "Kiel", "Rom", "Wien"], "once");
  client.close();
});

t.test("a branch that ends ends what is open in it, and no connection is stuck", async (t) => {
  const { fork } = branchCalls(server);
  await fork(token, { name: "short" });
  const session = driver.session({ database: "short" });
  const tx = session.beginTransaction();
  await tx.run("CREATE (:City {name: 'Ulm'})");
  await server.expect(204, "DELETE", "/v1/branches/short", undefined, { token });
  await t.rejects(tx.commit(), /no branch "short"/);
  await session.close();
  t.same(await names(), ["Bern", "Rom", "Wien"]);
});
