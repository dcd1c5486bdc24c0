/** COPY on PostgreSQL's protocol: rows in and out, in every format, and what becomes of a COPY that fails. */
import t from "tap";
import { TestServer } from "./server.js";
import {
  bind,
  describe,
  errorIn,
  execute,
  fieldsOf,
  lettersOf,
  message,
  parse,
  query,
  sync,
  valuesOf,
  WITH_POSTGRES,
  type WireClient,
  withWire,
} from "./wire-client.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
});
t.teardown(() => server?.stop());

const withClient = (work: (client: WireClient) => Promise<void>) => withWire(server, work);

t.test("COPY takes rows, refuses wrong ones, and gives rows out", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE copied (i int PRIMARY KEY, s text)");
    client.send(query("COPY copied FROM STDIN"));
    t.equal(lettersOf(await client.until("G")), "G");
    client.send(message("d", Buffer.from("1\ta\\tb\n2\t\\")), message("d", Buffer.from("N\n")), message("c"));
    t.equal(lettersOf(await client.until("Z")), "CZ");
    const rows = await client.ask("COPY copied TO STDOUT");
    t.equal(lettersOf(rows), "HddcCZ");
    t.equal(rows[1]!.body.toString(), "1\ta\\tb\n");
    t.equal(rows[2]!.body.toString(), "2\t\\N\n");
    client.send(query("COPY copied FROM STDIN"), message("d", Buffer.from("3\tc\n1\tagain\n")), message("c"));
    t.match(lettersOf(await client.until("Z")), /^GEZ$/);
    client.send(query("COPY copied FROM STDIN"), message("d", Buffer.from("4\td\n")), message("f", "no more"));
    const failed = await client.until("Z");
    t.match(fieldsOf(failed[1]!), { C: "57014", M: /no more/ });
    t.same(valuesOf((await client.ask("SELECT count(*) FROM copied"))[1]!), ["2"], "nothing of the failed ones stays");
    const csv = await client.ask(
      "COPY (SELECT s, i FROM copied ORDER BY i) TO STDOUT WITH (FORMAT csv, HEADER, NULL '-')",
    );
    t.equal(
      Buffer.concat(csv.filter(({ type }) => type === "d").map(({ body }) => body)).toString(),
      "s,i\na\tb,1\n-,2\n",
    );
    t.match(fieldsOf((await client.ask("COPY copied TO '/tmp/x'"))[0]!), { C: "42501" });
  }),
);

t.test("COPY by the extended protocol: a Sync before the rows means nothing", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE extended (i int, s text)");
    client.send(parse("", "COPY extended FROM STDIN"), bind("", ""), describe("P", ""), execute(""), sync);
    t.equal(lettersOf(await client.until("G")), "12nG");
    client.send(message("d", Buffer.from("1\ta\n")), message("c"), sync);
    t.equal(lettersOf(await client.until("Z")), "CZ");
    client.send(query("COPY extended FROM STDIN"), message("d", Buffer.from("2\tb\nx\tc\n")), message("c"));
    t.match(errorIn(await client.until("Z")), { C: "22P02", W: 'COPY extended, line 2, column i: "x"' });
    const binary = await client.ask("COPY extended TO STDOUT (FORMAT binary)");
    t.equal(lettersOf(binary), "HddcCZ");
    t.match(binary[1]!.body.toString("latin1"), /^PGCOPY\n[\s\S]{23}/, "the signature comes with the first row");
  }),
);

t.test("rows of COPY's binary format are stored as they were, by any way", (t) =>
  withClient(async (client) => {
    const columns = `i int, l bigint, d float8, r real, b boolean, s varchar(9), n numeric(9, 2), u uuid, y bytea,
      v vector(3), h halfvec(2), at timestamptz, j jsonb, a int[]`;
    const names = "i, l, d, r, b, s, n, u, y, v, h, at, j, a";
    await client.ask(`CREATE TABLE sent (${columns})`);
    await client.ask(`CREATE TABLE taken (${columns})`);
    // Rows of a table with a generated column go through statements.
    await client.ask(`CREATE TABLE computed (${columns}, twice int GENERATED ALWAYS AS (i * 2) STORED)`);
    await client.ask(`INSERT INTO sent VALUES (1, 9007199254740993, -0.5, 'NaN', true, E'\\\\.\t', 12.5,
      '0197f1f1-0000-7000-8000-000000000001', '\\x00ff', '[1,-2.5,0.1]', '[0.5,65504]', '2026-01-31 12:00:00.5+00',
      '{"k": [1, "x"]}', '{1,NULL}'), (2, NULL, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`);
    const answer = await client.ask("COPY sent TO STDOUT (FORMAT binary)");
    const bytes = Buffer.concat(answer.filter(({ type }) => type === "d").map(({ body }) => body));
    const rows = async (table: string) =>
      (await client.ask(`SELECT ${names} FROM ${table} ORDER BY i`)).filter(({ type }) => type === "D").map(valuesOf);
    const wanted = await rows("sent");
    t.equal(wanted.length, 2);
    for (const table of ["taken", "computed"]) {
      client.send(query(`COPY ${table} (${names}) FROM STDIN (FORMAT binary)`), message("d", bytes), message("c"));
      t.match(lettersOf(await client.until("Z")), /^GCZ$/, table);
      t.same(await rows(table), wanted, table);
    }
    await client.ask("CREATE TABLE narrow (v vector(2))");
    const vectors = await client.ask("COPY (SELECT v FROM sent) TO STDOUT (FORMAT binary)");
    const wide = Buffer.concat(vectors.filter(({ type }) => type === "d").map(({ body }) => body));
    client.send(query("COPY narrow FROM STDIN (FORMAT binary)"), message("d", wide), message("c"));
    const place = { W: "COPY narrow, line 1, column v" };
    t.match(errorIn(await client.until("Z")), { ...place, C: "22000", M: /expected 2 dimensions, not 3/ });
    // A length that is none is not taken for NULL.
    wide.writeInt32BE(-2, 21);
    client.send(query("COPY narrow FROM STDIN (FORMAT binary)"), message("d", wide), message("c"));
    t.match(errorIn(await client.until("Z")), { ...place, C: "22P04", M: /invalid field size/ });
    t.same(valuesOf((await client.ask("SELECT count(*) FROM narrow"))[1]!), ["0"]);
  }),
);

t.test("a text that looks like the end of COPY's rows is a row like others", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE dots (s text)");
    client.send(query("COPY dots FROM STDIN"), message("d", Buffer.from("a\n\\\\.\nb\n\\.\n")), message("c"));
    await client.until("Z");
    const binary = await client.ask("COPY dots TO STDOUT (FORMAT binary)");
    const bytes = Buffer.concat(binary.filter(({ type }) => type === "d").map(({ body }) => body));
    client.send(query("COPY dots FROM STDIN (FORMAT binary)"), message("d", bytes), message("c"));
    await client.until("Z");
    const found = await client.ask("SELECT string_agg(s, ' ' ORDER BY s) FROM dots");
    t.same(valuesOf(found[1]!), ["\\. \\. a a b b"]);
    await client.ask("TRUNCATE dots");
    client.send(
      query("COPY dots FROM STDIN (FORMAT csv)"),
      message("d", Buffer.from('a\n"\\."\nb\n\\.\nc\n')),
      message("c"),
    );
    await client.until("Z");
    const quoted = await client.ask("SELECT string_agg(s, ' ' ORDER BY s) FROM dots");
    t.same(valuesOf(quoted[1]!), ["\\. a b"]);
  }),
);

t.test("generated columns are left out; identity columns take values; a change needs RETURNING", (t) =>
  withClient(async (client) => {
    const copied = (answers: Awaited<ReturnType<WireClient["ask"]>>): string =>
      Buffer.concat(answers.filter(({ type }) => type === "d").map(({ body }) => body)).toString();
    const copyIn = async (sql: string, rows: string): Promise<string> => {
      client.send(query(sql));
      await client.until("G");
      client.send(message("d", Buffer.from(rows)), message("c"));
      return lettersOf(await client.until("Z"));
    };
    await client.ask("CREATE TABLE doubled (a int, b int GENERATED ALWAYS AS (a * 2) STORED, c text)");
    t.equal(await copyIn("COPY doubled FROM STDIN", "1\tx\n2\ty\n"), "CZ");
    t.equal(copied(await client.ask("COPY doubled TO STDOUT")), "1\tx\n2\ty\n");
    t.equal(copied(await client.ask("COPY doubled TO STDOUT (FORMAT csv, HEADER)")), "a,c\n1,x\n2,y\n");
    t.match(fieldsOf((await client.ask("COPY doubled (a, b) TO STDOUT"))[0]!), { C: "42P10" });
    t.match(fieldsOf((await client.ask("COPY doubled (a, b) FROM STDIN"))[0]!), { C: "42P10" });
    await client.ask("CREATE TABLE numbered (n int GENERATED ALWAYS AS IDENTITY, s text)");
    t.equal(await copyIn("COPY numbered FROM STDIN", "100\tx\n"), "CZ");
    t.equal(await copyIn("COPY numbered (s) FROM STDIN", "y\n"), "CZ");
    t.equal(copied(await client.ask("COPY (SELECT * FROM numbered ORDER BY n) TO STDOUT")), "1\ty\n100\tx\n");
    const refused = await client.ask("COPY (INSERT INTO numbered (s) VALUES ('z')) TO STDOUT");
    t.match(fieldsOf(refused[0]!), { C: "0A000", M: "COPY query must have a RETURNING clause" });
    for (const into of ["SELECT 1 AS a INTO made", "SELECT 1 AS a INTO made UNION SELECT 2"]) {
      const answer = await client.ask(`COPY (${into}) TO STDOUT`);
      t.match(fieldsOf(answer[0]!), { C: "0A000", M: "COPY (SELECT INTO) is not supported" });
    }
    t.match(fieldsOf((await client.ask("SELECT * FROM made"))[0]!), { C: "42P01" });
    const given = await client.ask("COPY (INSERT INTO numbered (s) VALUES ('z') RETURNING s) TO STDOUT");
    t.equal(copied(given), "z\n");
  }),
);

t.test("of a table that others inherit from, its own rows are copied", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE parents (a int); CREATE TABLE children () INHERITS (parents)");
    await client.ask("INSERT INTO parents VALUES (1); INSERT INTO children VALUES (2)");
    await client.ask("CREATE TABLE halves (a int) PARTITION BY RANGE (a)");
    await client.ask("CREATE TABLE half PARTITION OF halves FOR VALUES FROM (0) TO (9); INSERT INTO halves VALUES (3)");
    for (const [sql, rows] of [
      ["COPY parents TO STDOUT", ["1\n"]],
      ["COPY children TO STDOUT", ["2\n"]],
      ["COPY halves TO STDOUT", ["3\n"]],
      ["COPY (SELECT * FROM parents ORDER BY a) TO STDOUT", ["1\n", "2\n"]],
    ] as const) {
      const answer = await client.ask(sql);
      const copied = answer.filter(({ type }) => type === "d").map(({ body }) => body.toString());
      t.same(copied, rows, sql);
    }
  }),
);
