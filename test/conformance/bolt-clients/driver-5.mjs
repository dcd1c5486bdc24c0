/**
 * Neo4j's driver 5: what its manual shows, with Bolt 5 and, by a server's address alone, 4.4's kind of sign-in in one
 * message.
 */
import neo4j from "neo4j-driver";
import { equal, fails, matches, step } from "./steps.mjs";

const { BOLT_URL, BOLT_USER, BOLT_PASSWORD } = process.env;
const driver = neo4j.driver(BOLT_URL, neo4j.auth.basic(BOLT_USER, BOLT_PASSWORD), { disableLosslessIntegers: true });

await step("connectivity, authentication, server", async () => {
  await driver.verifyConnectivity();
  equal(await driver.verifyAuthentication(), true);
  const wrong = neo4j.auth.basic(BOLT_USER, "wrong");
  equal(await driver.verifyAuthentication({ auth: wrong }), false);
  equal((await driver.getServerInfo()).agent, "Neo4j/5.26.0");
  equal([await driver.supportsMultiDb(), await driver.supportsSessionAuth()], [true, true]);
});
await step("executeQuery with parameters and a transformer", async () => {
  const { summary } = await driver.executeQuery(
    "CREATE (a:Person {name: $name})-[:KNOWS]->(b:Person {name: $friend})",
    { name: "Alice", friend: "David" },
    { database: "neo4j" },
  );
  equal([summary.counters.updates().nodesCreated, summary.database.name], [2, "neo4j"]);
  const names = await driver.executeQuery(
    "MATCH (p:Person)-[:KNOWS]->(:Person) RETURN p.name AS name",
    {},
    {
      routing: neo4j.routing.READ,
      resultTransformer: neo4j.resultTransformers.mappedResultTransformer({ map: (record) => record.get("name") }),
    },
  );
  equal(names.records, ["Alice"]);
});
await step("managed transactions, one that gives up", async () => {
  const session = driver.session();
  const count = await session.executeWrite(async (tx) => {
    await tx.run("MERGE (p:Person {name: $name})", { name: "Eve" });
    return (await tx.run("MATCH (p:Person) RETURN count(p) AS n")).records[0].get("n");
  });
  equal(count, 3);
  await session
    .executeRead((tx) => tx.run("CREATE (:Never)"))
    .then(
      () => Promise.reject(new Error("it wrote")),
      ({ code }) => equal(code, "Neo.ClientError.Statement.AccessMode"),
    );
  await session
    .executeWrite(async (tx) => {
      await tx.run("CREATE (:Never)");
      throw new Error("changed my mind");
    })
    .catch(({ message }) => equal(message, "changed my mind"));
  equal((await session.run("MATCH (n:Never) RETURN n")).records.length, 0);
  await session.close();
});
await step("bookmarks by a manager, impersonation refused", async () => {
  const bookmarkManager = neo4j.bookmarkManager();
  const session = driver.session({ bookmarkManager });
  await session.run("CREATE (:Marked)");
  matches([...(await bookmarkManager.getBookmarks())][0], /^tessera:/);
  equal((await session.run("MATCH (m:Marked) RETURN count(m) AS n")).records[0].get("n"), 1);
  await session.close();
  await fails(driver.executeQuery("RETURN 1", {}, { impersonatedUser: "other" }), "Neo.ClientError.Security.Forbidden");
});
await step("session auth: another user on a pooled connection", async () => {
  const session = driver.session({ auth: neo4j.auth.basic(BOLT_USER, BOLT_PASSWORD) });
  equal((await session.run("RETURN 1 AS one")).records[0].get("one"), 1);
  await session.close();
});
await step("100 sessions at once", async () => {
  const all = await Promise.all(
    Array.from({ length: 100 }, async (_, i) =>
      (await driver.executeQuery("RETURN $i AS i", { i: neo4j.int(i) })).records[0].get("i"),
    ),
  );
  equal(
    all,
    Array.from({ length: 100 }, (_, i) => i),
  );
});
await step("a transaction's timeout and metadata", async () => {
  const session = driver.session();
  const long = "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y WITH x, y WHERE x + y < 0 RETURN count(*)";
  const config = { timeout: 100, metadata: { application: "test" } };
  await fails(session.run(long, {}, config), "Neo.ClientError.Transaction.TransactionTimedOut");
  await session.close();
});
await step("vectors, for which a map stands, and as lists", async () => {
  const { records } = await driver.executeQuery(
    "WITH vector([1, 2], 2, INTEGER8) AS v CREATE (n:Vec {v: v}) RETURN n.v AS v, toIntegerList(n.v) AS l",
  );
  equal(records[0].toObject(), { v: { originalType: "VECTOR(2, INTEGER8)", reason: "UNKNOWN_TYPE" }, l: [1, 2] });
});
await driver.close();
