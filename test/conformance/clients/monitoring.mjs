/** Programs that watch PostgreSQL: the exporter for Prometheus, check_postgres, and postgresql_autodoc's documents. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { equal, matches, run, step } from "./steps.mjs";

const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, DATABASE_URL, FREE_PORT } = process.env;

run("psql", ["-Xq"], { input: "CREATE TABLE watched (id serial PRIMARY KEY, a text); ANALYZE watched;" });

await step("postgres_exporter scrapes without an error", async () => {
  const address = `127.0.0.1:${FREE_PORT}`;
  const exporter = spawn("prometheus-postgres-exporter", [`--web.listen-address=${address}`], {
    env: { ...process.env, DATA_SOURCE_NAME: `${DATABASE_URL}?sslmode=disable` },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  exporter.stderr.on("data", (data) => (log += data));
  while (!log.includes("Listening")) await once(exporter.stderr, "data");
  const metrics = await fetch(`http://${address}/metrics`).then((answer) => answer.text());
  exporter.kill();
  const found = (name) => new RegExp(`^${name}(?:{.*})? (.*)$`, "m").exec(metrics)?.[1];
  const wanted = { pg_up: "1", pg_exporter_last_scrape_error: "0", pg_settings_work_mem_bytes: "4.194304e+06" };
  for (const [name, value] of Object.entries(wanted)) equal([name, found(name)], [name, value]);
  equal(
    [...log.matchAll(/level=error msg="([^"]*)".*?err="([^"]*)"/g)].map(([, what, why]) => `${what}: ${why}`),
    [],
  );
});
await step("check_postgres looks at connections, sizes, locks, sequences, bloat", () => {
  const checks = ["backends", "bloat", "commitratio", "connection", "disabled_triggers", "last_analyze", "locks"];
  for (const check of [...checks, "prepared_txns", "sequence", "timesync", "txn_wraparound"]) {
    const where = [`--host=${PGHOST}`, `--port=${PGPORT}`, `--dbuser=${PGUSER}`, `--db=${PGDATABASE}`];
    matches(run("check_postgres", [`--action=${check}`, ...where]).output, /^POSTGRES_\w+ OK/);
  }
});
await step("postgresql_autodoc writes of the schema", () => {
  const where = ["-h", PGHOST, "-p", PGPORT, "-u", PGUSER, `--password=${PGPASSWORD}`, "-d", PGDATABASE];
  run("postgresql_autodoc", [...where, "-f", "autodoc", "-t", "dot"]);
});
