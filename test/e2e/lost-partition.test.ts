/**
 * The directory of a partition is deleted while the server is down: it is missed, told, and made anew only by an order.
 */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { PROGRAM, TestServer } from "./server.js";

t.setTimeout(300_000);
const server = await TestServer.start({ TESSERA_ACTORS: "2" });
t.teardown(() => server.stop());

/** A command of the program's on the server's data. */
const tessera = (...words: string[]) => {
  const env = { PATH: process.env.PATH, TESSERA_DATA_DIR: server.directory };
  const { status, stdout, stderr } = spawnSync(PROGRAM, words, { env, encoding: "utf8" });
  return { status, text: stdout + stderr };
};

t.test("a partition that is gone", async (t) => {
  const tokens: string[] = [];
  for (let i = 0; tokens[0] === undefined || tokens[1] === undefined; i++) {
    const token = await server.tenant(`tenant${i}`);
    tokens[(await server.expect(200, "GET", `/admin/tenants/tenant${i}`)).body.data.partition] = token;
    await server.rows("CREATE TABLE entry AS SELECT generate_series(1, 10) AS id", [], { token });
  }
  const count = (partition: number) => server.sql("SELECT count(*) FROM entry", [], { token: tokens[partition]! });
  t.match(tessera("accept-loss", "1"), { status: 1, text: /another server .* is using/ });
  await server.terminate();
  const folder = join(server.directory, "partition-1");
  rmSync(folder, { recursive: true });
  server.lines.length = 0;
  await server.boot();
  t.match(await count(1), { status: 503, body: { error: { code: "partition_damaged" } } });
  t.match(await count(0), { status: 200, body: { data: { rows: [[10]] } } }, "the other one serves");
  t.match(server.lines.join("\n"), /is gone, but partition 1 existed before.*estore a backup.*tessera accept-loss 1/);
  t.notOk(existsSync(folder), "it is not made anew");
  await server.terminate();
  t.match(tessera("accept-loss", "1"), { status: 0, text: /starts empty/ });
  await server.boot();
  t.match(await count(1), { status: 400 }, "the loss is accepted: there is no such table");
  await server.rows("CREATE TABLE entry (id int)", [], { token: tokens[1]! });
});
