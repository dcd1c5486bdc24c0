/** Clients that come in by the Unix socket of PostgreSQL's protocol. */
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { TestServer } from "./server.js";
import { fieldsOf, postgresPort, valuesOf, WITH_POSTGRES, WireClient } from "./wire-client.js";
import { signIn } from "./wire-sign-in.js";

let server: TestServer;
let path: string;

t.before(async () => {
  const directory = mkdtempSync(join(tmpdir(), "tessera-socket-"));
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_POSTGRES_SOCKET_DIRECTORY: directory }, directory);
  path = join(directory, `.s.PGSQL.${postgresPort(server)}`);
});
t.teardown(() => server?.stop());

t.test("they sign in and ask as by the port, and have no address", async (t) => {
  t.ok(server.lines.includes(`listening on ${path}`));
  const client = await WireClient.open(server, {}, path);
  const found = await client.ask("SELECT client_addr, state FROM pg_stat_activity WHERE pid = pg_backend_pid()");
  t.same(found.filter(({ type }) => type === "D").map(valuesOf), [[null, "active"]]);
  t.match(await (await fetch(`${server.url}/metrics`)).text(), /^tessera_postgres_connections_lent 1$/m);
  const wrong = await WireClient.connect(path);
  wrong.start({ user: server.username });
  t.match(fieldsOf((await signIn(wrong, "wrong"))!), { C: "28P01" });
  client.close();
  wrong.close();
});

t.test("the file goes with the server", async (t) => {
  t.ok(existsSync(path));
  await server.terminate();
  t.notOk(existsSync(path));
});
