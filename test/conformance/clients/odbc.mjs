/** ODBC with PostgreSQL's driver, through isql: a script, types, catalog functions, an error. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { matches, run, step } from "./steps.mjs";

const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE } = process.env;
const folder = mkdtempSync(join(tmpdir(), "tessera-odbc-"));
const source = [
  "[tessera]",
  "Driver = PostgreSQL Unicode",
  `Servername = ${PGHOST}`,
  `Port = ${PGPORT}`,
  `Database = ${PGDATABASE}`,
  `Username = ${PGUSER}`,
  `Password = ${PGPASSWORD}`,
  "UseDeclareFetch = 1",
  "Fetch = 20",
];
writeFileSync(join(folder, "odbc.ini"), `${source.join("\n")}\n`);
const isql = (input) => {
  const { output, errors } = run("isql", ["tessera", "-b", "-d|", "-v"], {
    input,
    mayFail: true,
    env: { ODBCINI: join(folder, "odbc.ini") },
  });
  return output + errors;
};

await step("create, insert, read", () => {
  const text = isql(
    [
      "CREATE TABLE things (id serial PRIMARY KEY, name varchar(40), price numeric(8,2), at timestamp, ok bool, bits bytea)",
      "INSERT INTO things (name, price, at, ok, bits) VALUES ('first', 1.50, '2024-02-29 01:02:03', true, '\\x00ff')",
      "INSERT INTO things (name, price) SELECT 'n' || g, g FROM generate_series(1, 100) g",
      "SELECT id, name, price, at, ok FROM things WHERE id = 1",
      "SELECT count(*) FROM things",
    ].join("\n"),
  );
  matches(text, /1\|first\|1\.50\|2024-02-29 01:02:03\|1/);
  matches(text, /^101$/m);
});
await step("a result in pieces (UseDeclareFetch)", () => {
  const lines = isql("SELECT name FROM things ORDER BY id")
    .split("\n")
    .filter((line) => /^(n\d+|first)$/.test(line));
  matches(String(lines.length), /^101$/);
});
await step("the tables and columns (SQLTables, SQLColumns)", () => {
  matches(isql("help"), /public\|things\|TABLE/);
  matches(isql("help things"), /public\|things\|name\|.*varchar/);
});
await step("an error with its SQLSTATE", () =>
  matches(isql("SELECT nme FROM things"), /\[42703\]|column "nme" does not exist/),
);
