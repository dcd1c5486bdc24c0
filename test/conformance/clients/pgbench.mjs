/** pgbench: the tables, the three scripts that are built in, and the three ways to send a statement. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { equal, matches, run, step } from "./steps.mjs";

const CLIENTS = "4";
const bench = (...options) => run("pgbench", ["-n", "-c", CLIENTS, "-t", "50", ...options]);
const number = (sql) => run("psql", ["-XqAtc", sql]).output.trim();

await step("-i at scale 1: tables, 100000 accounts, keys", () => {
  run("pgbench", ["-i", "-s", "1", "--foreign-keys"]);
  equal(number("SELECT count(*) FROM pgbench_accounts"), "100000");
});
await step("-i with steps of its own: data of the server (G), vacuum", () => run("pgbench", ["-i", "-I", "dtGvp"]));
for (const script of ["select-only", "simple-update", "tpcb-like"]) {
  for (const mode of ["simple", "extended", "prepared"]) {
    await step(`${script}, -M ${mode}, ${CLIENTS} clients`, () => {
      matches(bench("-b", script, "-M", mode).output, /number of failed transactions: 0 /);
    });
  }
}
await step("the sums of accounts, tellers, branches and history agree", () => {
  const sums = ["accounts", "tellers", "branches"].map(
    (name) => `(SELECT sum(${name[0]}balance) FROM pgbench_${name})`,
  );
  matches(number(`SELECT ${sums[1]} = ${sums[2]}, (SELECT count(*) FROM pgbench_history)`), /^t\|1200$/);
});
await step("select-only with 8 clients, -M prepared", () => {
  matches(
    run("pgbench", ["-n", "-c", "8", "-t", "50", "-S", "-M", "prepared"]).output,
    /number of failed transactions: 0 /,
  );
});
await step("a script of one's own, in a pipeline", () => {
  const file = join(mkdtempSync(join(tmpdir(), "tessera-pgbench-")), "script.sql");
  const script =
    "\\set a random(1, 1000)\n\\startpipeline\nSELECT abalance FROM pgbench_accounts WHERE aid = :a;\nSELECT 1;\n\\endpipeline\n";
  writeFileSync(file, script);
  matches(run("pgbench", ["-n", "-t", "20", "-M", "extended", "-f", file]).output, /20\/20/);
});
