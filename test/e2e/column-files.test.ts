/**
 * A long table's columns are kept in files: the server makes them by itself, and answers rightly after it was killed.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { TestServer } from "./server.js";

const ROWS = 40_000;
const SUMS = "SELECT count(*), sum(a), count(DISTINCT b), min(c)::text, max(c)::text FROM long WHERE b <> 'none'";

function manifests({ directory }: TestServer): number {
  return readdirSync(directory)
    .map((name) => join(directory, name, "columns"))
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path, { recursive: true, encoding: "utf8" }))
    .filter((name) => name.endsWith("manifest")).length;
}

t.test("columns in files are made, and are right after the server was killed", async (t) => {
  const server = await TestServer.start({ TESSERA_ACTORS: "1" });
  t.teardown(() => server.stop());
  await server.rows("CREATE TABLE long (id int PRIMARY KEY, a int, b text, c timestamp)");
  const columns = "i, i % 100, 'b' || i % 5000, timestamp '2026-01-01' + i * interval '1 s'";
  await server.rows(`INSERT INTO long SELECT ${columns} FROM generate_series(1, ${ROWS}) i`);
  while (manifests(server) === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(manifests(server), 1, "the server has made files by itself");

  let sum = 1_980_000;
  t.same(await server.rows(SUMS), [[ROWS, sum, 5000, "2026-01-01 00:00:01", "2026-01-01 11:06:40"]]);
  for (let round = 1; round <= 2; round++) {
    await server.rows("UPDATE long SET a = a + 1 WHERE id = $1", [round * 100]);
    await server.rows("DELETE FROM long WHERE id = $1", [round]);
    await server.rows("INSERT INTO long VALUES ($1, 1000, 'new', '2027-01-01')", [ROWS + round]);
    sum += 1 - round + 1000;
    await server.kill();
    await server.boot();
    t.same(await server.rows(SUMS), [[ROWS, sum, 5001, `2026-01-01 00:00:0${round + 1}`, "2027-01-01 00:00:00"]]);
  }
});
