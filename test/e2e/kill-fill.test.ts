/**
 * CREATE TABLE AS of more rows than are stored at once, and SIGKILL in the middle: afterwards there is no such table,
 * what was stored of it goes, and the statement can be run again.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

/** So few bytes may wait in a file for the commit (an eighth) that the rows are stored ahead of it. */
const FEW_WAIT = { TESSERA_STORAGE_SPILL_BYTES_MAX: "600000000" };
/** Some 215 MiB of rows: three commits. The others: six. */
const ROWS = sized(36_000, 72_000);
const FILL = `CREATE TABLE made AS SELECT i AS a, i % 100 AS b, repeat('some text ', 600) || i AS c FROM generate_series(1, ${ROWS}) i`;
const CHECK = "SELECT count(*), sum(a), sum(b), count(DISTINCT a) FROM made";
const ALL = [[ROWS, (ROWS * (ROWS + 1)) / 2, (ROWS / 100) * 4950, ROWS]];
/** The engine has some of the first commit in its files. */
const KILL_AT_BYTES = 10 * 1024 * 1024;

t.test(
  "a table that is being filled when the server is killed is not there afterwards",
  { timeout: 280_000 },
  async (t) => {
    const server = await TestServer.start(FEW_WAIT);
    t.teardown(() => server.stop());
    await server.rows("CREATE TABLE kept (id integer PRIMARY KEY)");
    await server.rows("INSERT INTO kept VALUES (1)");
    const running = server.sql(FILL).then(
      ({ status }) => status,
      () => 0,
    );
    while (bytesIn(server.directory, "rocksdb") < KILL_AT_BYTES) await sleep(10);
    await server.kill();
    t.equal(await running, 0, "it was not answered");
    await server.boot();
    t.equal((await server.sql("SELECT count(*) FROM made")).status, 400);
    t.same(await server.rows("SELECT id FROM kept"), [[1]]);
    const stored = bytesIn(server.directory, "rocksdb");
    t.ok(stored > KILL_AT_BYTES / 2, `${stored} bytes were in the engine`);
    t.equal((await server.sql(FILL)).status, 200);
    t.same(await server.rows(CHECK), ALL);
    await server.kill();
    await server.boot();
    t.same(await server.rows(CHECK), ALL, "all of it survives a kill after the answer");
    await server.rows("DROP TABLE made");
    t.same(await server.rows("SELECT id FROM kept"), [[1]]);
  },
);

function bytesIn(directory: string, name: string): number {
  let bytes = 0;
  for (const file of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!file.isFile() || !join(file.parentPath, file.name).includes(`/${name}/`)) continue;
    try {
      bytes += statSync(join(file.parentPath, file.name)).size;
    } catch {
      // It is gone.
    }
  }
  return bytes;
}
