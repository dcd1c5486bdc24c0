/** Files of SQL as they are: by the route of scripts, and by `tessera sql`. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t from "tap";
import { DUMPED, NEO4J_DUMPS } from "./neo4j-dumps.js";
import { PROGRAM, TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());
const folder = mkdtempSync(join(tmpdir(), "tessera-sql-"));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const send = (body: string | Uint8Array, query = "", token?: string) =>
  server.call("POST", `/v1/query/script${query}`, body, {
    headers: { "content-type": "application/sql" },
    ...(token !== undefined && { token }),
  });

/** As pg_dump 15 writes it. */
const DUMP = `--
-- PostgreSQL database dump
--

\\restrict 8dKQ

SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET default_tablespace = '';

CREATE TABLE public.part (
    id integer NOT NULL,
    name text,
    price numeric(8,2),
    made timestamp without time zone,
    ok boolean,
    tags text[]
);

COPY public.part (id, name, price, made, ok, tags) FROM stdin;
1	a bolt; M8	0.25	2026-05-03 10:00:00	t	{a,b}
2	tab\\there\\nand a line	\\N	\\N	f	\\N
3	\\\\N	12.50	2026-05-04 11:30:00	\\N	{}
\\.

ALTER TABLE ONLY public.part ADD CONSTRAINT part_pkey PRIMARY KEY (id);

\\unrestrict 8dKQ
`;

t.test("a dump", async (t) => {
  for (const body of [DUMP, gzipSync(DUMP)]) {
    const reply = await send(body);
    t.match(
      reply,
      { status: 200, body: { data: { statements: 8, failed: 0, rows_affected: 3 } } },
      JSON.stringify(reply.body),
    );
    t.same(await server.rows("SELECT id, name, price::text, made::text, ok, tags FROM part ORDER BY id"), [
      [1, "a bolt; M8", "0.25", "2026-05-03 10:00:00", true, ["a", "b"]],
      [2, "tab\there\nand a line", null, null, false, null],
      [3, "\\N", "12.50", "2026-05-04 11:30:00", null, []],
    ]);
    await server.rows("DROP TABLE part");
  }
});

t.test("statements, their rows and their transactions", async (t) => {
  const script = `CREATE TABLE step (n int PRIMARY KEY);
    INSERT INTO step SELECT * FROM generate_series(1, 3);
    BEGIN; DELETE FROM step WHERE n = 1; ROLLBACK;
    SELECT n, n * 2 AS twice FROM step ORDER BY n`;
  const { status, body } = await send(script, "?max_rows=2");
  t.equal(status, 200, JSON.stringify(body));
  t.match(body.data, { statements: 6, failed: 0, rows_affected: 4 });
  t.match(body.data.results.at(-1), {
    statement: 6,
    line: 4,
    columns: ["n", "twice"],
    rows: [
      [1, 2],
      [2, 4],
    ],
  });
  t.match(await send("BEGIN; INSERT INTO step VALUES (9);"), {
    status: 400,
    body: { error: { message: /inside a transaction/ } },
  });
  t.same(await server.rows("SELECT count(*) FROM step"), [[3]]);
});

t.test("errors say where", async (t) => {
  const script =
    "INSERT INTO step VALUES (10);\n\n-- twice\nINSERT INTO step\n  VALUES (10);\nINSERT INTO step VALUES (11);";
  t.match(await send(script), {
    status: 409,
    body: { error: { message: /duplicate key/, details: { statement: 2, line: 4, completed: 1, sqlstate: "23505" } } },
  });
  t.same(await server.rows("SELECT n FROM step WHERE n > 9 ORDER BY 1"), [[10]], "what came before stays");
  t.match(await send("INSERT INTO step VALUES (12); INSERT INTO step VALUES (12);", "?transactional=true"), {
    status: 409,
    body: { error: { details: { statement: 2, completed: 0 } } },
  });
  t.same(await server.rows("SELECT count(*) FROM step WHERE n = 12"), [[0]], "all or nothing");
  const on = await send(
    "INSERT INTO step VALUES (10);\nnonsense;\nINSERT INTO step VALUES (13);",
    "?stop_on_error=false",
  );
  t.match(on, { status: 200, body: { data: { statements: 3, failed: 2, rows_affected: 1 } } });
  t.match(on.body.data.errors, [{ details: { line: 1 } }, { code: "syntax_error", details: { line: 2 } }]);
  for (const [sql, match] of [
    ["\\connect other\nSELECT 1;", /command of psql/],
    ["COPY step FROM stdin WITH (FORMAT csv);\n1\n\\.\n", /text format only/],
    ["COPY step (n) FROM stdin;\n20\n21\tx\n\\.\n", /line 3 has 2 fields/],
    ["COPY step (n) FROM stdin;\n30\nx\n\\.\n", /invalid input syntax/],
    ["SELECT 'open", /not closed/],
  ] as const) {
    const reply = await send(sql);
    t.equal(reply.status, 400, JSON.stringify(reply.body));
    t.match(reply.body.error.message, match);
  }
  t.same(await server.rows("SELECT n FROM step WHERE n >= 20"), [], "rows of a COPY are stored together");
  const both = "COPY step (n) FROM stdin;\nx\n40\n\\.\nINSERT INTO step VALUES (41);\n";
  t.match(await send(both, "?stop_on_error=false"), { status: 200, body: { data: { failed: 1, rows_affected: 1 } } });
});

t.test("who only reads", async (t) => {
  const { raw_key: key } = (await server.expect(201, "POST", "/v1/api-keys", { name: "r", permission: "ReadOnly" }))
    .body;
  t.match(await send("SELECT count(*) FROM step;", "", key), { status: 200 });
  t.match(await send("SELECT 1; INSERT INTO step VALUES (50);", "", key), {
    status: 403,
    body: { error: { details: { statement: 2 } } },
  });
});

t.test("many rows", async (t) => {
  await server.rows("CREATE TABLE many (id int PRIMARY KEY, v text)");
  const rows = Array.from({ length: 20_000 }, (_, i) => `${i}\tvalue ${i}`).join("\n");
  t.match(await send(`COPY many FROM stdin;\n${rows}\n\\.\n`), {
    status: 200,
    body: { data: { rows_affected: 20_000 } },
  });
  t.same(await server.rows("SELECT count(*), max(id) FROM many"), [[20_000, 19_999]]);
});

function command(
  args: readonly string[],
  input = "",
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const env = {
    PATH: process.env.PATH!,
    TESSERA_CLIENT_URL: server.url,
    TESSERA_CLIENT_USERNAME: server.username,
    TESSERA_CLIENT_PASSWORD: server.password,
  };
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ["sql", ...args], { env });
    let [out, err] = ["", ""];
    child.stdout.on("data", (data) => {
      out += data;
    });
    child.stderr.on("data", (data) => {
      err += data;
    });
    child.on("close", (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}

t.test("the command", async (t) => {
  const file = join(folder, "shop.sql.gz");
  writeFileSync(file, gzipSync(`${DUMP}\nSELECT id, name FROM public.part WHERE id < 2;`));
  t.same(await command(["-f", file]), {
    code: 0,
    err: "",
    out: "set_config\n----------\n\n(1 row)\n\nid | name\n---+-----------\n 1 | a bolt; M8\n(1 row)\n\n9 statements, 3 rows changed\n",
  });
  t.match(await command(["SELECT 1 AS one"]), { code: 0, out: /one\n---\n {2}1\n\(1 row\)/ });
  t.match(await command(["--json"], "SELECT 1;\nSELECT 2;"), { code: 0, out: /"statements":2/ });
  t.match(await command([], "SELECT 1;\nSELECT nothing;"), { code: 1, err: /nothing.*\(line 2\)/s });
  t.match(await command(["--continue"], "SELECT nothing;\nSELECT 2;"), {
    code: 1,
    out: /line 1: .*nothing.*1 failed/s,
  });
  t.match(await command(["-f", "missing.sql"]), { code: 2, err: /does not exist/ });
});

t.test("dumps of Neo4j, in all of their forms", async (t) => {
  const rows = async (sql: string) =>
    (await server.expect(200, "POST", "/v1/query/execute", { sql, language: "cypher" })).body.data.rows;
  const held = async () => ({
    nodes: await rows(DUMPED.nodes),
    relationships: await rows(DUMPED.relationships),
    constraints: await rows(DUMPED.constraints),
  });
  const name = 'Ada; "L"';
  for (const [form, dump] of Object.entries(NEO4J_DUMPS)) {
    if (form === "cypher-shell") {
      const file = join(folder, "graph.cypher");
      writeFileSync(file, dump);
      t.match(await command(["-f", file]), { code: 0, err: "" }, "by the command");
    } else t.match(await send(dump), { status: 200, body: { data: { failed: 0 } } }, form);
    const { nodes, relationships, constraints } = await held();
    t.match(
      nodes.map(([, properties]: unknown[]) => properties),
      [
        { born: 1815, name, since: "2018-10-30", tags: ["x", "y;z"], tall: 1 },
        { at: { srid: 4326, x: 12.5, y: 55.7 }, back: "a\\", name: "Bob's" },
        { text: "line\n:commit\n", took: "P1DT2S", when: "2020-01-02T03:04:05.6Z" },
        {},
      ],
      form,
    );
    t.same(
      nodes.map(([labels]: unknown[]) => labels),
      [["Person"], ["Person"], ["Odd; name", "Post"], ["Odd; name", "Post"]],
    );
    t.same(
      relationships,
      [
        [name, "KNOWS", { w: 2 }, "Bob's", null],
        [name, "WROTE", {}, null, "line\n:commit\n"],
        ["Bob's", "WROTE", { note: "; :begin" }, null, null],
      ],
      form,
    );
    t.same(constraints, [[["Person"], ["name"]]], form);
    await rows("MATCH (n) DETACH DELETE n");
    await rows("DROP CONSTRAINT ON (n:Person) ASSERT n.name IS UNIQUE");
    await rows("DROP INDEX ON :Post(text)");
    if (form !== "neo4j-shell") await rows("DROP INDEX found");
  }
  t.match(await send(":begin\nCREATE (:Half);\n"), { status: 400 }, "a transaction that does not end");
  t.match(await send(":use other\n"), { status: 400, body: { error: { message: /:use other.*means nothing/ } } });
  t.match(await send(":begin\nCREATE (:Half);\n:rollback\nMATCH (h:Half) RETURN count(h);"), {
    status: 200,
    body: { data: { results: [{}, {}, {}, { rows: [[0]] }] } },
  });
});
