/**
 * Commands that ask a running server, as a user types them: the shell, files of rows, accounts, types, search and chat.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Command } from "commander";
import t, { type Test } from "tap";
import { addCommands } from "../../src/cli/commands.js";
import { splitInput } from "../../src/cli/shell/split-input.js";
import { ADMIN_PASSWORD, PROGRAM, TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());
const folder = mkdtempSync(join(tmpdir(), "tessera-commands-"));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string): string => join(folder, name);

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(args: readonly string[], input = "", environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      TESSERA_CLIENT_URL: server.url,
      TESSERA_CLIENT_PASSWORD: ADMIN_PASSWORD,
      ...environment,
    };
    const child = spawn(PROGRAM, args, { env, cwd: folder });
    let out = "";
    let err = "";
    child.stdout.on("data", (bytes) => {
      out += bytes;
    });
    child.stderr.on("data", (bytes) => {
      err += bytes;
    });
    child.on("close", (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}

/** What the command prints; it must not fail. */
async function printed(t: Test, args: readonly string[], input = ""): Promise<string> {
  const { code, out, err } = await run(args, input);
  t.equal(code, 0, `${args.join(" ")} ${err}`);
  return out;
}

t.test("what is typed is cut at semicolons that end a statement", (t) => {
  t.same(splitInput("SELECT 1; SELECT ';' ;"), { statements: ["SELECT 1", "SELECT ';'"], rest: "" });
  t.same(splitInput("SELECT $a$;$a$, E'\\';', \";\"; -- ;\n"), {
    statements: ["SELECT $a$;$a$, E'\\';', \";\""],
    rest: " -- ;\n",
  });
  for (const open of ["SELECT ';", 'SELECT ";', "SELECT /* ;", "SELECT $x$ ;", "SELECT 1"]) {
    t.same(splitInput(open), { statements: [], rest: open });
  }
  t.same(splitInput(";; /* nothing */ ;"), { statements: [], rest: "" });
  t.end();
});

t.test("the shell", async (t) => {
  const script = [
    "CREATE TABLE pet (id int PRIMARY KEY, name text NOT NULL);",
    "INSERT INTO pet VALUES (1, 'it''s; Rex'),",
    "  (2, 'Ada');",
    "SELECT * FROM pet ORDER BY id; SELECT 7 AS seven;",
    "\\d pet",
    "\\dt",
    "BEGIN; INSERT INTO pet VALUES (3, 'gone');",
    "ROLLBACK;",
    "\\format json",
    "SELECT count(*)::int AS n FROM pet;",
    "MATCH (n) RETURN count(n) AS nodes",
  ];
  const { code, out, err } = await run(["sql", "-i"], script.join("\n"));
  t.equal(code, 0, err);
  for (const part of [
    "CREATE TABLE",
    "(2 rows changed)",
    "id | name\n---+----------\n 1 | it's; Rex\n 2 | Ada\n(2 rows)",
    "seven\n-----\n    7",
    "name   | text    | not null",
    "pet_pkey PRIMARY KEY (id)",
    "public | pet  | table",
    'ROLLBACK\nResults come as json.\n{"n":2}',
    '{"nodes":0}',
  ]) {
    t.ok(out.includes(part), `${part} in ${out}`);
  }
});

t.test("errors in the shell: the place is shown, and it goes on", async (t) => {
  const { code, out, err } = await run(["sql", "-i"], "SELECT 1,\n  nope;\n\\zz\nSELECT 2 AS two;");
  t.equal(code, 1);
  t.match(err, /error: column "nope" does not exist\n {4}nope\n {4}\^\n/);
  t.match(err, /there is no command \\zz/);
  t.match(out, /two/);
  const failed = await run(["sql", "-i"], "BEGIN; SELECT nope; SELECT 1; COMMIT; SELECT 3 AS three;");
  t.match(failed.err, /current transaction is aborted/);
  t.match(failed.out, /ROLLBACK\nthree/);
});

t.test("results for other programs", async (t) => {
  const query = "SELECT 1 AS a, 'x,\"y\"' AS b, NULL AS c";
  t.equal(await printed(t, ["sql", "--format", "csv", query]), 'a,b,c\n1,"x,""y""",\n');
  t.equal(await printed(t, ["sql", "--format", "json", query]), '{"a":1,"b":"x,\\"y\\"","c":null}\n');
  t.equal(
    await printed(t, ["sql", "--format", "markdown", query]),
    '| a | b | c |\n|--:|---|--:|\n| 1 | x,"y" | NULL |\n',
  );
  t.match(await run(["sql", "--format", "xml", query]), { code: 2, err: /there is no format xml; there are table/ });
});

t.test("files of rows", async (t) => {
  writeFileSync(file("goods.csv"), 'id,name\n1,Cup\n2,"Big, pot"\n');
  t.match(
    await printed(t, ["import", "goods.csv"]),
    /The table goods was made: id bigint, name text\n2 rows into goods/,
  );
  t.equal(await printed(t, ["export", "goods"]), 'id,name\n1,Cup\n2,"Big, pot"\n');
  t.equal(
    await printed(t, ["export", "--sql", "SELECT name FROM goods WHERE id = 2", "--format", "ndjson"]),
    '{"name":"Big, pot"}\n',
  );
  await printed(t, ["export", "public.goods", "-o", "goods.csv.gz"]);
  t.equal(gunzipSync(readFileSync(file("goods.csv.gz"))).toString(), 'id,name\n1,Cup\n2,"Big, pot"\n');
  t.match(await run(["export", "goods", "-o", "goods.csv.gz"]), { code: 2, err: /exists already/ });
  t.match(
    await printed(t, ["import", "--table", "events", "--format", "ndjson", "-"], '{"a":1}\n{"a":2}\n'),
    /2 rows into events/,
  );
  writeFileSync(file("bad.csv"), "id,name\nx,Cup\n");
  t.match(await run(["import", "--table", "goods", "bad.csv"]), { code: 1, err: /line 2/ });
  t.match(await run(["import", "nowhere.csv"]), { code: 2, err: /does not exist/ });
  t.match(await run(["export"]), { code: 2, err: /give a table, or a query/ });
});

t.test("a file becomes a collection that is searched and chatted with", async (t) => {
  const rows =
    'id,title,text,year,draft\n7,Ferry,"The ferry leaves\nat noon.",1990,true\n8,Bakery,The bakery opens at six.,2001,false\n';
  writeFileSync(file("trips.csv"), rows);
  t.match(
    await printed(t, ["import", "trips.csv", "--embed", "text"]),
    /The collection trips was made\n2 rows into trips/,
  );
  const found = JSON.parse(await printed(t, ["search", "trips", "when does the boat leave", "--limit", "1", "--json"]));
  t.match(found.documents ?? found.results, [{ id: "7", year: 1990, draft: true, title: "Ferry" }]);
  t.match(await printed(t, ["chat", "--collection", "trips", "When does the bakery open?"]), /opens at six\. \[1\]/);
  writeFileSync(file("more.ndjson"), '{"title":"Pier","text":"The pier is closed.","tags":["sea"],"at":{"x":1}}\n');
  writeFileSync(file("again.csv"), "title,text\nMill,The mill grinds rye.\n");
  t.match(await printed(t, ["import", "again.csv", "--table", "trips", "--embed", "text"]), /^1 rows into trips/);
  t.match(await printed(t, ["import", "more.ndjson", "--embed", "text,title"]), /The collection more was made/);
  t.match(await printed(t, ["search", "more", "pier"]), /pier is closed/);
  const refused = { code: 2, err: /--embed year: it holds no texts; texts are in title, text/ };
  t.match(await run(["import", "trips.csv", "--table", "other", "--embed", "year"]), refused);
  t.match(await run(["import", "trips.csv", "--embed", "body"]), { code: 2, err: /is no column of the file/ });
  t.match(await run(["import", "-", "--table", "x", "--format", "csv", "--embed", "a"]), {
    code: 2,
    err: /takes a file/,
  });
});

t.test("each command's help has an example", (t) => {
  const program = new Command("tessera");
  addCommands(program);
  const walk = (command: Command, words: readonly string[]): void => {
    for (const each of command.commands) walk(each, [...words, each.name()]);
    if (command.commands.length > 0) return;
    let text = "";
    command.configureOutput({ writeOut: (piece) => (text += piece) }).outputHelp();
    t.match(text, new RegExp(`Examples?:\\n(.*\\n)*? .*tessera ${words.join(" ")}`), words.join(" "));
  };
  walk(program, []);
  t.end();
});

t.test("bench measures and leaves nothing behind", async (t) => {
  const { works } = JSON.parse(await printed(t, ["bench", "--seconds", "1", "--connections", "2", "--json"]));
  t.same(
    works.map(({ what }: { what: string }) => what),
    ["read a row", "insert a row", "add up all rows"],
  );
  for (const { per_second: rate, p50_ms: p50, p99_ms: p99 } of works) t.ok(rate > 0 && p50 > 0 && p99 >= p50);
  t.match(await run(["sql", "SELECT * FROM _tessera_bench"]), { code: 1, err: /does not exist/ });
  t.match(await run(["bench", "--seconds", "0"]), { code: 2, err: /--seconds is a whole number/ });
});

t.test("accounts", async (t) => {
  t.match(await printed(t, ["tenants", "create", "acme", "--name", "Acme"]), /id +acme/);
  t.match(await printed(t, ["tenants", "list"]), /acme +\| Acme +\| true/);
  const made = JSON.parse(
    await printed(t, ["users", "create", "ann", "--tenant", "acme", "--role", "super_admin", "--json"]),
  );
  t.match(made, { username: "ann", tenant_id: "acme", password: String });
  const asAnn = { TESSERA_CLIENT_USERNAME: "ann", TESSERA_CLIENT_PASSWORD: made.password };
  t.match(await run(["users", "list"], "", asAnn), { code: 0, err: "", out: /ann +\|/ });
  const key = (await run(["api-keys", "create", "reports", "--read-only"], "", asAnn)).out.trim();
  const asKey = { TESSERA_CLIENT_API_KEY: key };
  t.match(await run(["sql", "CREATE TABLE t (a int)"], "", asKey), { code: 1, err: /ReadOnly/ });
  t.match(await run(["api-keys", "list"], "", asKey), { code: 0, out: /reports/ });
  t.match(await printed(t, ["users", "disable", "ann", "--tenant", "acme"]), /is_active +false/);
  t.match(await run(["sql", "SELECT 1"], "", asKey), { code: 1 });
  t.match(await printed(t, ["users", "reset-password", "ann", "--tenant", "acme"]), /password +\S+/);
  t.match(await printed(t, ["users", "delete", "ann", "--tenant", "acme"]), /ann was deleted/);
  t.match(await run(["sql", "SELECT 1"], "", { TESSERA_CLIENT_PASSWORD: "wrong password" }), { code: 3 });
});

t.test("types of tables", async (t) => {
  await printed(t, [
    "sql",
    "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TABLE typed (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, feels mood, marks int[], about jsonb, at timestamptz DEFAULT now(), twice int GENERATED ALWAYS AS (1 + 1) STORED)",
  ]);
  await printed(t, ["types", "-o", "database.ts"]);
  const text = readFileSync(file("database.ts"), "utf8");
  const table = text.slice(text.indexOf("  typed: {"), text.indexOf("\n  };", text.indexOf("  typed: {")));
  t.equal(
    table.replace(/\s+/g, " "),
    ' typed: { row: { id: number; name: string; feels: "sad" | "glad" | null; marks: (number | null)[] | null; about: Json | null; at: string | null; twice: number | null; }; ' +
      'insert: { id?: number; name: string; feels?: "sad" | "glad" | null; marks?: (number | null)[] | null; about?: Json | null; at?: string | null; }; ' +
      'update: { id?: number; name?: string; feels?: "sad" | "glad" | null; marks?: (number | null)[] | null; about?: Json | null; at?: string | null; };',
  );
});

t.test("search and chat", async (t) => {
  await server.call("POST", "/v1/collections", {
    name: "article",
    schema: {
      fields: [{ name: "title", type: "string" }],
      indexes: [{ name: "by_title", fields: ["title"], type: "text" }],
    },
  });
  await server.call("POST", "/v1/collections/article/documents", { id: "a1", title: "Sailing in the harbour" });
  t.match(
    await printed(t, ["search", "article", "harbour", "sailing"]),
    /^a1 .*\n.*Sailing in the harbour.*\n\(1 of 1, by/,
  );
  t.match(await run(["search", "article", "x", "--filter", "[1"]), { code: 2, err: /takes a JSON object/ });
  t.match(await run(["search", "nowhere", "x"]), { code: 1, err: /does not exist/ });
  const answer = await printed(t, ["chat", "--collection", "article", "What is in the harbour?"]);
  t.match(answer, /\S.*\n/);
  t.match(JSON.parse(await printed(t, ["chat", "--json", "Hello"])), { content: String, session_id: String });
});

t.test("the machine, and completions", async (t) => {
  const { fit, findings } = JSON.parse((await run(["doctor", "--json"])).out);
  t.equal(fit, true);
  t.ok(findings.some(({ about }: { about: string }) => about === "disk"));
  const wrong = await run(["doctor"], "", { TESSERA_SERVER_PORT: "none" });
  t.match(wrong, { code: 1, out: /bad +configuration/ });
  writeFileSync(file("completion.bash"), await printed(t, ["completion", "bash"]));
  const words = `. ./completion.bash; COMP_WORDS=(tessera users cr); COMP_CWORD=2; _tessera; echo "\${COMPREPLY[@]}"`;
  const completed = await new Promise<string>((resolve) => {
    const bash = spawn("bash", ["-c", words], { cwd: folder });
    let out = "";
    bash.stdout.on("data", (bytes) => {
      out += bytes;
    });
    bash.on("close", () => resolve(out));
  });
  t.equal(completed, "create\n");
  t.match(await run(["completion", "fish"]), { code: 2, err: /bash and zsh/ });
});
