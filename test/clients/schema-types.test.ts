/**
 * `tessera types`, and the client with what it writes: `tsc --strict` finds what is wrong, and the types are those of
 * the values.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import t from "tap";
import { TestServer } from "../e2e/server.js";

const ROOT = new URL("../../../", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "schema-types-"));
const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});
mkdirSync(join(folder, "node_modules"));
symlinkSync(join(ROOT, "clients/typescript"), join(folder, "node_modules/tessera-client"));
writeFileSync(join(folder, "package.json"), '{"type":"module"}');
writeFileSync(
  join(folder, "tsconfig.json"),
  JSON.stringify({
    compilerOptions: {
      ...{
        target: "es2022",
        lib: ["es2022", "dom", "dom.asynciterable"],
        module: "nodenext",
        strict: true,
        noEmit: true,
      },
      ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, types: [], skipLibCheck: false },
    },
    include: ["*.ts"],
  }),
);
const env = {
  ...process.env,
  TESSERA_CLIENT_URL: server.url,
  TESSERA_CLIENT_USERNAME: server.username,
  TESSERA_CLIENT_PASSWORD: server.password,
};

/** Gives the exit code and everything that was printed. */
function run(program: string, args: readonly string[]): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder, env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), text: out + err });
    });
  });
}

const SCHEMA = `
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE pet (id integer PRIMARY KEY, name text NOT NULL, feels mood, price numeric(10,2), marks integer[], about jsonb,
  seen timestamptz DEFAULT now(), twice integer GENERATED ALWAYS AS (id * 2) STORED, vec vector(2));
CREATE VIEW names AS SELECT name FROM pet;
CREATE SCHEMA sales;
CREATE TABLE sales.orders (id integer PRIMARY KEY, total double precision);
CREATE FUNCTION add_tax(price numeric, rate float8 DEFAULT 0.2) RETURNS float8 LANGUAGE sql AS 'SELECT price * (1 + rate)';
CREATE FUNCTION pets_named(wanted text) RETURNS TABLE (id integer, name text) LANGUAGE sql AS 'SELECT id, name FROM pet WHERE name = wanted';
CREATE FUNCTION all_pets() RETURNS SETOF pet LANGUAGE sql AS 'SELECT * FROM pet';
CREATE FUNCTION longest(VARIADIC n integer[]) RETURNS integer LANGUAGE sql AS 'SELECT max(i) FROM unnest(n) i';
CREATE FUNCTION sales.twice(n integer, OUT double integer, OUT half float8) LANGUAGE sql AS 'SELECT n * 2, n / 2.0';
CREATE PROCEDURE forget(below integer) LANGUAGE sql AS 'DELETE FROM pet WHERE id < below';
CREATE (:Person {name: 'Ada', age: 36})-[:LIVES_IN {since: 1815}]->(:Place {name: 'Lisbon', at: [1.5, 2.0]});
CREATE (:Person:Admin {name: 'Ben', active: true});
`;

/** What is right. It runs, too, and says what it has got. */
const RIGHT = `
import { connect, type NodeOf, type RelationshipOf } from "tessera-client";
import type { Database, Insert, Row, Update } from "./database.js";

declare const process: { readonly env: Record<string, string> };
const { TESSERA_CLIENT_URL: url, TESSERA_CLIENT_USERNAME: username, TESSERA_CLIENT_PASSWORD: password } = process.env;
const db = connect<Database>({ url: url!, username: username!, password: password! });
const pets = db.table("pet");
const rex: Insert<"pet"> = { id: 1, name: "Rex", feels: "glad", price: 2.5, marks: [1, null], about: { good: true }, vec: [1, 2] };
const [stored] = await pets.insert(rex);
const twice: number | null = stored!.twice;
await pets.insert([{ id: 2, name: "Tom" }, { id: 3, name: "Kim", feels: "sad" }]);
const change: Update<"pet"> = { feels: "sad" };
const changed: number = await pets.update({ id: 2 }, change);
const sad: readonly Row<"pet">[] = await pets.rows({ feels: "sad" }, { orderBy: ["name", "id"], descending: true });
const none: Row<"pet"> | undefined = await pets.first({ marks: null, name: "Tom" });
const views: string[] = (await db.table("names").rows({}, { orderBy: "name", limit: 2, offset: 1 })).map(({ name }) => name ?? "");
await db.table("sales.orders").insert({ id: 1, total: 9.5 });
const [tax] = await db.callFunction("add_tax", 10);
const more: number | null | undefined = (await db.callFunction("add_tax", 10, 0.5))[0]!.add_tax;
const named: readonly { id: number | null; name: string | null }[] = await db.callFunction("pets_named", "Kim");
const [first] = await db.callFunction("all_pets");
const longest: number | null = (await db.callFunction("longest", 1, 9, 3))[0]!.longest;
const [both] = await db.callFunction("sales.twice", 5);
await db.callProcedure("forget", 2);
const people: readonly NodeOf<Database, "Person">[] = await db.nodes("Person", { name: "Ada" });
const [admin] = await db.nodes("Admin");
const active: boolean = admin!.properties.active;
const lives = await db.cypher<{ r: RelationshipOf<Database, "LIVES_IN">; p: NodeOf<Database, "Place"> }>("MATCH ()-[r:LIVES_IN]->(p) RETURN r, p");
const since: number = lives[0]!.r.properties.since;
const notes = db.collection("notes");
const id: string = await notes.insert({ text: "A note", stars: 3 });
const text: string | null | undefined = (await notes.get(id)).text;
const job = await db.call("GET /v1/automl/jobs", { query: { limit: 1 } });
console.log(JSON.stringify({
  twice, changed, sad: sad.map(({ name }) => name), none: none?.name, views, tax: tax!.add_tax, more, named, first: first!.name, longest, both,
  left: await pets.count(), people: people.map(({ properties }) => properties), active, since, at: lives[0]!.p.properties.at, text, jobs: job.count,
  gone: await pets.delete({ name: "Kim" }),
}));
`;

/** What is wrong: every line that is marked has to be an error, or tsc says so. */
const WRONG = `
import { connect, type NodeOf, type RowOf } from "tessera-client";
import type { Database, Insert } from "./database.js";

const db = connect<Database>({ url: "http://127.0.0.1", apiKey: "a" });
export async function wrong(): Promise<void> {
  // @ts-expect-error there is no such table
  db.table("pets");
  // @ts-expect-error a name is needed
  await db.table("pet").insert({ id: 1 });
  // @ts-expect-error there is no such column
  await db.table("pet").insert({ id: 1, name: "a", colour: "red" });
  // @ts-expect-error the wrong type
  await db.table("pet").insert({ id: "one", name: "a" });
  // @ts-expect-error no such mood
  await db.table("pet").update({ id: 1 }, { feels: "angry" });
  // @ts-expect-error the column is computed
  await db.table("pet").update({ id: 1 }, { twice: 4 });
  // @ts-expect-error nothing goes into a view
  await db.table("names").insert({ name: "a" });
  // @ts-expect-error no such column
  await db.table("pet").rows({ colour: "red" });
  // @ts-expect-error no such column
  await db.table("pet").rows({}, { orderBy: "colour" });
  // @ts-expect-error may be null
  const price: number = (await db.table("pet").first())!.price;
  // @ts-expect-error may be undefined
  const name: string = (await db.table("pet").first()).name;
  // @ts-expect-error no such function
  await db.callFunction("add_taxes", 1);
  // @ts-expect-error an argument is missing
  await db.callFunction("pets_named");
  // @ts-expect-error one too many
  await db.callFunction("add_tax", 1, 2, 3);
  // @ts-expect-error the wrong type
  await db.callFunction("add_tax", "ten");
  // @ts-expect-error a function is no procedure
  await db.callProcedure("add_tax", 1);
  // @ts-expect-error no such label
  await db.nodes("People");
  // @ts-expect-error no such property
  await db.nodes("Person", { colour: "red" });
  // @ts-expect-error not all of them have it
  const age: number = (await db.nodes("Person"))[0]!.properties.age;
  // @ts-expect-error no such label
  type None = NodeOf<Database, "Nobody">;
  // @ts-expect-error no such table
  type Rows = RowOf<Database, "nothing">;
  // @ts-expect-error no such table
  const row: Insert<"nothing"> = {};
  // @ts-expect-error no such route
  await db.call("GET /v1/nothing");
  // @ts-expect-error the path has a variable
  await db.call("GET /v1/automl/jobs/{id}");
  // @ts-expect-error another name
  await db.call("GET /v1/automl/jobs/{id}", { params: { job: "a" } });
  // @ts-expect-error the body is needed
  await db.call("POST /v1/api-keys", {});
  // @ts-expect-error no such permission
  await db.call("POST /v1/api-keys", { body: { name: "a", permission: "Everything" } });
  // @ts-expect-error no such answer
  (await db.call("GET /v1/users/me")).password;
  // @ts-expect-error a target is a text
  await db.automl.train({ table: "pet", target: 1 });
  // @ts-expect-error no such option
  await db.files.import("pet", "", { colour: "red" });
  // @ts-expect-error no such format
  await db.files.export({ table: "pet", format: "xlsx" });
  // @ts-expect-error either a key or a password
  connect({ url: "http://127.0.0.1" });
  // @ts-expect-error no list
  const one: number[] = await db.sql\`SELECT 1\`;
  void [price, name, age, row, one, null as unknown as None | Rows];
}
// Without types of a tenant any name may be used.
const any = connect({ url: "http://127.0.0.1", apiKey: "a" });
export const values = async (): Promise<unknown[]> => [
  (await any.table("anything").rows({ a: 1 }))[0]!.b,
  (await any.callFunction("f", 1, "a"))[0]!.c,
  await any.callProcedure("p", {}),
  (await any.nodes("Label", { a: 1 }))[0]!.properties.b,
  (await any.collection("c").get("a")).title,
  (await any.collection<{ title: string }>("c").get("a")).title.length,
];
`;

t.test("the types of a tenant, in a program that is right and in one that is wrong", async (t) => {
  writeFileSync(join(folder, "schema.sql"), SCHEMA);
  const made = await run(join(ROOT, "bin/tessera"), ["sql", "-f", "schema.sql"]);
  t.equal(made.code, 0, made.text);
  const fields = [
    { name: "text", type: "string", required: true },
    { name: "stars", type: "number" },
  ];
  await server.expect(201, "POST", "/v1/collections", { name: "notes", schema: { fields } });
  const written = await run(join(ROOT, "bin/tessera"), ["types", "-o", "database.ts"]);
  t.equal(written.code, 0, written.text);
  writeFileSync(join(folder, "right.ts"), RIGHT);
  writeFileSync(join(folder, "wrong.ts"), WRONG);
  const checked = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", "."]);
  t.equal(
    checked.code,
    0,
    `${checked.text}\n${checked.code === 0 ? "" : readFileSync(join(folder, "database.ts"), "utf8")}`,
  );
  await build({
    entryPoints: [join(folder, "right.ts")],
    outfile: join(folder, "right.js"),
    format: "esm",
    platform: "node",
  });
  const ran = await run(process.execPath, ["right.js"]);
  t.equal(ran.code, 0, ran.text);
  t.same(JSON.parse(ran.text), {
    twice: 2,
    changed: 1,
    sad: ["Tom", "Kim"],
    none: "Tom",
    views: ["Rex", "Tom"],
    tax: 12,
    more: 15,
    named: [{ id: 3, name: "Kim" }],
    first: "Rex",
    longest: 9,
    both: { double: 10, half: 2.5 },
    left: 2,
    people: [{ name: "Ada", age: 36 }],
    active: true,
    since: 1815,
    at: [1.5, 2],
    text: "A note",
    jobs: 0,
    gone: 1,
  });
});

t.test("a check of types that finds nothing would be told", async (t) => {
  writeFileSync(join(folder, "wrong.ts"), WRONG.replace('"pets"', '"pet"'));
  const checked = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", "."]);
  t.not(checked.code, 0);
  t.match(checked.text, /Unused '@ts-expect-error'/);
});
