/** pgloader: a CSV file into a table whose indexes it drops and makes again. */
import { writeFileSync } from "node:fs";
import { equal, matches, run, step } from "./steps.mjs";

const psql = (sql) => run("psql", ["-Atqc", sql]).output.trim();
await step("LOAD CSV, with indexes dropped and made again", () => {
  writeFileSync("pgloader.csv", 'id,name,n\n1,Ann,1.5\n2,"B, c",\n3,D,2\n');
  psql("CREATE TABLE loaded (id int PRIMARY KEY, name text, n numeric); CREATE INDEX by_name ON loaded (name)");
  const command = `LOAD CSV FROM 'pgloader.csv' (id, name, n) INTO ${process.env.DATABASE_URL} TARGET TABLE loaded
    WITH truncate, skip header = 1, fields optionally enclosed by '"', fields terminated by ',', drop indexes;`;
  writeFileSync("pgloader.load", command);
  matches(run("pgloader", ["pgloader.load"]).output, /Total import time +✓ +3/);
  equal(psql("SELECT count(*), count(n), max(name) FROM loaded"), "3|2|D");
  equal(psql("SELECT count(*) FROM pg_indexes WHERE tablename = 'loaded'"), "2");
});
