/**
 * What clients of PostgreSQL ask of the catalog, as they sent it (test/fixtures/clients): every query runs, and those
 * of test/golden/client-catalog.txt answer as PostgreSQL 15 did over the same sample schema.
 */
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { parseSql } from "../../src/sql/parse/parse.js";
import { open } from "../conformance/sql-adapter.js";

const FIXTURES = new URL("../../../test/fixtures/clients/", import.meta.url);
const GOLDEN = new URL("../../../test/golden/client-catalog.txt", import.meta.url);
const SAMPLE = "sample-schema.sql";

const read = (file: string) => readFileSync(new URL(file, FIXTURES), "utf8");
const clients = readdirSync(FIXTURES)
  .filter((file) => file !== SAMPLE)
  .map((file) => file.replace(/\.sql$/, ""));

async function sample() {
  const database = await open();
  await database.exec(read(SAMPLE));
  const queries = new Map(
    clients.map((client) => [client, parseSql(read(`${client}.sql`)).map(({ text }) => text)] as const),
  );
  return { database, queries };
}

/** OIDs of what statements made are others here. */
const comparable = (value: string | null) =>
  value === null ? "∅" : value.replace(/(?<!\d)(?:1[6-9]\d{3}|[2-9]\d{4}|\d{6,})(?!\d)/g, "#").replaceAll("\n", "\\n");

/** Rows as psql prints them, in the order of their text. */
function printed(columns: readonly number[], rows: readonly (readonly (string | null)[])[]): string[] {
  const BOOL_OID = 16;
  const cell = (value: string | null, i: number) =>
    columns[i] === BOOL_OID && value !== null ? value[0]! : comparable(value);
  return rows.map((row) => row.map(cell).join("|")).sort();
}

t.test("queries of clients run", async (t) => {
  const { database, queries } = await sample();
  t.teardown(() => database.close());
  for (const [client, texts] of queries) {
    t.ok(texts.length > 0, `${client} has queries`);
    for (const [i, text] of texts.entries()) await t.resolves(database.exec(text), `${client} ${i}`);
  }
});

t.test("answers are those of PostgreSQL 15", async (t) => {
  const { database, queries } = await sample();
  t.teardown(() => database.close());
  const cases = readFileSync(GOLDEN, "utf8").trimEnd().split("\n\n").slice(1);
  t.ok(cases.length > 100, "cases");
  for (const text of cases) {
    const [title, ...expected] = text.split("\n") as [string, ...string[]];
    const [client, number] = title.slice(2).split(" ") as [string, string];
    const { oids, rows } = await database.exec(queries.get(client)![Number(number)]!);
    t.same(printed(oids, rows), [...expected].sort(), title);
  }
});
