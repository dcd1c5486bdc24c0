/** What the server does between requests by itself, also after a start with nothing to do: what TRUNCATE left goes. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { takeCensus } from "../../bench/soak/census.js";
import { TestServer } from "./server.js";

t.test("what TRUNCATE left is removed, on a server whose first looks found no tenant", async (t) => {
  const server = await TestServer.start();
  t.teardown(() => server.stop());
  const kinds = async () => Object.keys(await takeCensus(server.directory)).filter((kind) => kind.includes("retired"));
  await server.rows("CREATE TABLE t (id int PRIMARY KEY, k int)");
  await server.rows("INSERT INTO t SELECT g, g % 10 FROM generate_series(1, 5000) g");
  await server.rows("TRUNCATE t");
  // As long as the test may take.
  while ((await kinds()).length > 0) await sleep(100);
  t.same(await server.rows("SELECT count(*) FROM t"), [[0]]);
});
