/** pgbouncer between client and server, in transaction mode. */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { equal, fails, run, step } from "./steps.mjs";

const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, FREE_PORT } = process.env;
const folder = mkdtempSync(join(tmpdir(), "tessera-pgbouncer-"));
chmodSync(folder, 0o777);
const settings = [
  "[databases]",
  `pooled = host=${PGHOST} port=${PGPORT} dbname=${PGDATABASE} user=${PGUSER} password=${PGPASSWORD}`,
  "[pgbouncer]",
  "listen_addr = 127.0.0.1",
  `listen_port = ${FREE_PORT}`,
  "auth_type = plain",
  `auth_file = ${folder}/users.txt`,
  "pool_mode = transaction",
  "default_pool_size = 3",
  "unix_socket_dir =",
  "ignore_startup_parameters = extra_float_digits",
  `admin_users = ${PGUSER}`,
];
writeFileSync(join(folder, "pgbouncer.ini"), `${settings.join("\n")}\n`);
writeFileSync(join(folder, "users.txt"), `"${PGUSER}" "${PGPASSWORD}"\n`);
// It refuses to run as root.
const user = process.getuid() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const bouncer = spawn("pgbouncer", ["-q", join(folder, "pgbouncer.ini")], {
  ...user,
  stdio: ["ignore", "ignore", "ignore"],
});

// The name "pgbouncer" is its own console's.
const through = { port: Number(FREE_PORT), database: "pooled" };
const THROUGH = { PGPORT: FREE_PORT, PGDATABASE: "pooled" };
await step("psql through pgbouncer", async () => {
  let last = null;
  for (let tries = 0; tries < 50; tries += 1) {
    last = run("psql", ["-XqAtc", "SELECT 40 + 2"], { env: THROUGH, mayFail: true });
    if (last.status === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  equal([last.output, last.errors], ["42\n", ""]);
});
await step("20 clients on 3 connections: transactions keep together", async () => {
  run("psql", [
    "-Xqc",
    "CREATE TABLE counts (id int PRIMARY KEY, n int); INSERT INTO counts SELECT g, 0 FROM generate_series(1, 20) g",
  ]);
  const one = async (id) => {
    const client = new pg.Client(through);
    await client.connect();
    for (let round = 0; round < 5; round += 1) {
      await client.query("BEGIN");
      await client.query("UPDATE counts SET n = n + 1 WHERE id = $1", [id]);
      const { rows } = await client.query("SELECT n FROM counts WHERE id = $1", [id]);
      equal(rows[0].n, round + 1);
      await client.query("COMMIT");
    }
    await client.end();
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => one(i + 1)));
});
await step("errors, a client that leaves within a transaction", async () => {
  const client = new pg.Client(through);
  await client.connect();
  await fails(client.query("INSERT INTO counts VALUES (1, 1)"), "23505");
  await client.query("BEGIN");
  await client.query("UPDATE counts SET n = 99 WHERE id = 1");
  client.on("error", () => {});
  client.connection.stream.destroy();
  await new Promise((resolve) => setTimeout(resolve, 300));
  equal(run("psql", ["-XqAtc", "SELECT n FROM counts WHERE id = 1"], { env: THROUGH }).output, "5\n");
});
await step("SHOW POOLS", () => {
  const { output } = run("psql", ["-XAtc", "SHOW POOLS", "-d", "pgbouncer"], { env: { PGPORT: FREE_PORT } });
  equal(output.includes("pooled"), true);
});
bouncer.kill("SIGTERM");
