/** psql: scripts, variables, \copy, and the commands that describe what is there. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { equal, matches, run, step } from "./steps.mjs";

const psql = (script, options = [], more = {}) =>
  run("psql", ["-X", "-v", "ON_ERROR_STOP=1", ...options], { input: script, ...more });
const plain = (script) => psql(script, ["-qAt"]).output.trim();
const folder = mkdtempSync(join(tmpdir(), "tessera-psql-"));

await step("create, insert, read", () => {
  const { output } = psql(`
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
    CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE TABLE authors (id serial PRIMARY KEY, name text NOT NULL, mood mood DEFAULT 'ok', born date);
    CREATE TABLE books (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, author int NOT NULL REFERENCES authors ON DELETE CASCADE,
      title varchar(40) UNIQUE, price numeric(8, 2) CHECK (price >= 0), copies positive, tags text[], data jsonb);
    CREATE INDEX books_by_price ON books (price DESC, title) WHERE copies > 1;
    CREATE VIEW cheap AS SELECT title, price FROM books WHERE price < 10;
    CREATE MATERIALIZED VIEW totals AS SELECT author, sum(price) AS sum FROM books GROUP BY author;
    CREATE SEQUENCE numbers INCREMENT 5;
    CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2';
    COMMENT ON TABLE books IS 'what one reads';
    COMMENT ON COLUMN books.title IS 'as printed';
    INSERT INTO authors (name, born) VALUES ('Ursula', '1929-10-21'), ('Stanisław', '1921-09-12');
    INSERT INTO books (author, title, price, copies, tags, data)
      VALUES (1, 'The Dispossessed', 9.50, 2, '{a,b}', '{"k": [1]}'), (2, 'Solaris', 12, 1, NULL, NULL);
  `);
  matches(output, /CREATE TABLE\nCREATE INDEX\nCREATE VIEW\nSELECT 0\n/);
  matches(output, /INSERT 0 2\nINSERT 0 2/);
  equal(plain("SELECT name, mood, born FROM authors ORDER BY id"), "Ursula|ok|1929-10-21\nStanisław|ok|1921-09-12");
});

await step("a result as an aligned table", () => {
  equal(
    psql("SELECT title, price FROM books ORDER BY id", ["-q"]).output,
    [
      "      title       | price ",
      "------------------+-------",
      " The Dispossessed |  9.50",
      " Solaris          | 12.00",
      "(2 rows)\n\n",
    ].join("\n"),
  );
});

const DESCRIBED = [
  ["\\l", /^ psql\s+\| psql-user/m],
  ["\\d", /public \| authors +\| table[\s\S]*public \| cheap +\| view/],
  [
    "\\d books",
    /"books_pkey" PRIMARY KEY, btree \(id\)[\s\S]*"books_by_price" btree \(price DESC, title\) WHERE[\s\S]*FOREIGN KEY \(author\) REFERENCES authors\(id\) ON DELETE CASCADE/,
  ],
  ["\\d authors", /Referenced by:\n +TABLE "books" CONSTRAINT "books_author_fkey"/],
  ["\\d+ books", /as printed[\s\S]*Check constraints:\n +"books_price_check" CHECK/],
  ["\\d cheap", /View "public.cheap"/],
  ["\\d+ cheap", /View definition:\n ?SELECT/],
  ["\\d books_by_price", /Index "public.books_by_price"[\s\S]*btree, for table "public.books", predicate/],
  ["\\d numbers", /Sequence "public.numbers"/],
  ["\\dt", /public \| books +\| table/],
  ["\\dt+", /what one reads/],
  ["\\di", /public \| books_by_price +\| index/],
  ["\\dv", /public \| cheap +\| view/],
  ["\\dm", /public \| totals +\| materialized view/],
  ["\\ds", /public \| numbers +\| sequence/],
  ["\\dn", /public/],
  ["\\dn+", /public/],
  ["\\df", /public \| twice \| integer +\| n integer +\| func/],
  ["\\df+ twice", /SELECT n \* 2/],
  ["\\sf twice", /CREATE OR REPLACE FUNCTION public\.twice\(n integer\)/],
  ["\\sv cheap", /CREATE OR REPLACE VIEW public\.cheap AS/],
  ["\\dT", /public \| mood/],
  ["\\dT+ mood", /sad +\+[\s\S]*happy/],
  ["\\dD", /public \| positive \| integer/],
  ["\\du", /psql-user/],
  ["\\dg", /psql-user/],
  ["\\dp books", /public \| books/],
  ["\\z authors", /public \| authors/],
  ["\\dx", /List of installed extensions[\s\S]*plpgsql/],
  ["\\dd", /Object descriptions/],
  ["\\db", /pg_default/],
  ["\\dc", /Conversion|conversion/],
  ["\\dC", /List of casts/],
  ["\\do ||", /jsonb +\| jsonb/],
  ["\\da count", /count/],
  ["\\dL", /plpgsql/],
  ["\\dA", /btree/],
  ["\\dO", /List of collations/],
  ["\\dF", /english/],
  ["\\dy", /event triggers/],
  ["\\dRp", /publications/],
  ["\\des", /foreign servers/],
  ["\\dP", /partitioned relations/],
  ["\\dX", /extended statistics/],
  ["\\ddp", /Default access privileges/],
  ["\\drds", /Did not find any settings|List of settings/],
  ["\\dconfig server_version", /server_version \| 15/],
  ["\\conninfo", /You are connected to database "psql" as user "psql-user"/],
  ["\\encoding", /UTF8/],
];
for (const [command, pattern] of DESCRIBED) {
  await step(command, () => {
    const { output, errors } = psql(`${command}\n`, ["-P", "pager=off"]);
    matches(output + errors, pattern);
  });
}

await step("\\copy from a file and to one, as CSV", () => {
  const [from, to] = ["from.csv", "to.csv"].map((name) => join(folder, name));
  writeFileSync(from, 'id,name,mood,born\n10,"a, ""b""",happy,2000-01-02\n11,c,,\n');
  equal(plain(`\\copy authors FROM '${from}' WITH (FORMAT csv, HEADER)`), "");
  equal(plain(`\\copy (SELECT * FROM authors WHERE id >= 10 ORDER BY id) TO '${to}' WITH (FORMAT csv, HEADER)`), "");
  equal(readFileSync(to, "utf8"), 'id,name,mood,born\n10,"a, ""b""",happy,2000-01-02\n11,c,,\n');
});

await step("\\gset, \\if, variables and \\gexec", () => {
  const script =
    'SELECT count(*) > 3 AS n, count(*) AS c FROM authors \\gset\n\\if :n\n\\echo has :c\n\\endif\n\\set t books\nSELECT count(*) FROM :"t";\n';
  equal(plain(`${script}SELECT 'SELECT ' || g FROM generate_series(7, 8) g \\gexec\n`), "has 4\n2\n7\n8");
});

await step("\\gdesc and \\bind-like prepared statements", () => {
  equal(plain("SELECT id, title FROM books \\gdesc"), "id|bigint\ntitle|character varying(40)");
  equal(plain("PREPARE p (int) AS SELECT name FROM authors WHERE id = $1; EXECUTE p (1); DEALLOCATE p;"), "Ursula");
});

await step("\\crosstabview", () => {
  matches(psql("SELECT * FROM (VALUES ('a', 'x', 1), ('b', 'y', 2)) v (r, c, n) \\crosstabview").output, /r \| x \| y/);
});

await step("\\watch", () => {
  const { output } = run("timeout", ["-s", "INT", "2", "psql", "-X", "-qAt"], {
    input: "SELECT 'seen' \\watch 1\n",
    mayFail: true,
  });
  matches(output, /seen/);
});

await step("the place of an error in the text", () => {
  const { errors } = psql("SELECT 1;\nSELECT nme\n  FROM authors;", [], { mayFail: true });
  matches(errors, /column "nme" does not exist\nLINE 1: SELECT nme\n {15}\^/);
  matches(
    psql("SELECT 1 +;", [], { mayFail: true }).errors,
    /syntax error at or near ";"\nLINE 1: SELECT 1 \+;\n {18}\^/,
  );
});

await step("an error with every field", () => {
  const script = "\\set VERBOSITY verbose\nINSERT INTO books (author, title) VALUES (1, 'Solaris');";
  const { errors } = psql(script, [], { mayFail: true });
  matches(
    errors,
    /ERROR: {2}23505: duplicate key value violates unique constraint "books_title_key"\nDETAIL: {2}Key \(title\)=\(Solaris\) already exists\.\nSCHEMA NAME: {2}public\nTABLE NAME: {2}books\nCONSTRAINT NAME: {2}books_title_key/,
  );
});

await step("a transaction with a savepoint", () => {
  const script = "BEGIN; UPDATE authors SET name = 'x'; SAVEPOINT s; SELECT 1/0; ROLLBACK TO s; ROLLBACK;";
  const { errors } = run("psql", ["-Xq"], { input: script });
  matches(errors, /division by zero/);
  equal(plain("SELECT count(*) FROM authors WHERE name = 'x'"), "0");
});

await step("--single-transaction undoes a script that fails", () => {
  psql("INSERT INTO authors (name) VALUES ('lost'); SELECT 1/0;", ["-1"], { mayFail: true });
  equal(plain("SELECT count(*) FROM authors WHERE name = 'lost'"), "0");
});

await step("COPY … FROM stdin in a script, NOTICE, \\timing", () => {
  const { errors } = psql("DROP TABLE IF EXISTS nothing;", ["-q"]);
  matches(errors, /NOTICE: {2}table "nothing" does not exist, skipping/);
  equal(
    plain(
      "CREATE TABLE c (a int, b text);\nCOPY c FROM stdin;\n1\tx\\ny\n2\t\\N\n\\.\nSELECT a, b IS NULL FROM c ORDER BY a;",
    ),
    "1|f\n2|t",
  );
  matches(psql("\\timing on\nSELECT 1;").output, /Time: /);
});
