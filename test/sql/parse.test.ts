import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { SQL_BYTES_MAX } from "../../src/protocol/limits.js";
import type { ExprNode } from "../../src/sql/parse/ast-query.js";
import { rewriteDialect } from "../../src/sql/parse/dialect.js";
import { loadParser, parseExpression, parseSql } from "../../src/sql/parse/parse.js";
import { printExpr } from "../../src/sql/parse/print-expr.js";
import { sourceMap } from "../../src/sql/parse/source-map.js";
import { runGolden } from "./golden.js";
import { showError, showTree } from "./show.js";

await loadParser();

function errorOf(run: () => unknown): DbError {
  try {
    run();
  } catch (error) {
    if (error instanceof DbError) return error;
    throw error;
  }
  throw new Error("no error was thrown");
}

t.test("trees of statements", async (t) => {
  runGolden(t, "parse.txt", (sql) =>
    parseSql(sql)
      .map((statement) => showTree(statement.node))
      .join("\n"),
  );
});

t.test("syntax errors say where, in the client's own text", async (t) => {
  runGolden(t, "parse-errors.txt", (sql) => showError(errorOf(() => parseSql(sql))));
});

t.test("spellings of other dialects become PostgreSQL's", async (t) => {
  runGolden(t, "dialect.txt", (sql) => {
    const { edits, lists } = rewriteDialect(sql);
    const shown = sourceMap(sql, edits).text.replaceAll("\u0001", "~");
    parseSql(sql);
    return [shown, ...lists.map(showTree)].join("\n");
  });
});

t.test("a text that needs no rewriting is left alone", async (t) => {
  for (const sql of [
    "select 'a `b` limit 1, 2' from t order by x desc limit 3",
    "select $$ insert ignore into t $$, a[1], array[[1,2],[3,4]], (array[1])[1]",
    "select 1 -- show tables like 'x'\n from t /* replace into /* t */ `x` */",
    "select \"group_concat\" from t where note = 'date(''now'')'",
  ]) {
    t.equal(sourceMap(sql, rewriteDialect(sql).edits).text, sql);
  }
});

t.test("statements keep their part of the text", async (t) => {
  const text = "/* one */ select 'é;' ; ;\n-- two\n insert into t values (1);";
  const statements = parseSql(text);
  t.same(
    statements.map((statement) => statement.text),
    ["select 'é;'", "insert into t values (1)"],
  );
  for (const { start, end, text: part } of statements) t.equal(text.slice(start, end).trim(), part);
  t.same(parseSql(""), []);
  t.same(parseSql("  -- nothing\n ;; "), []);
});

t.test("trees are frozen all the way down", async (t) => {
  const { node } = parseSql("select a + 1 from t")[0]!;
  t.throws(() => Object.assign(node, { kind: "x" }), TypeError);
  const body = node.kind === "select" && node.query.body.kind === "select" ? node.query.body : null;
  t.throws(() => (body!.targets as unknown[]).push(1), TypeError);
});

t.test("bounds", async (t) => {
  t.equal(errorOf(() => parseSql(`select 1 as "${"x".repeat(SQL_BYTES_MAX)}"`)).code, "query_too_long");
  t.equal(errorOf(() => parseSql(`select 1 as "${"é".repeat(SQL_BYTES_MAX / 2)}"`)).code, "query_too_long");
  const deep = [
    `select ${"1+".repeat(20_000)}1`,
    `select ${"- ".repeat(20_000)}1`,
    `select ${"not ".repeat(20_000)}true`,
    `select ${"(".repeat(40_000)}1${")".repeat(40_000)}`,
    `select ${"(select ".repeat(2000)}1${")".repeat(2000)}`,
    `${"select 1 union ".repeat(3000)}select 1`,
    `select * from t ${"join t using (a) ".repeat(3000)}`,
    `select x${"[1]".repeat(20_000)}`,
    `select ${"case when true then ".repeat(3000)}1${" end".repeat(3000)}`,
  ];
  for (const sql of deep) {
    const error = errorOf(() => parseSql(sql));
    t.match(error.details, { sqlstate: "54001" }, sql.slice(0, 40));
    t.match(error.message, "too complex");
  }
  t.equal(parseSql(`select ${"1+".repeat(400)}1`).length, 1, "what fits is parsed, also after the errors");
  t.match(errorOf(() => parseSql("select '\0'")).details, { sqlstate: "42601", position: 9 });
});

t.test("stored expressions mean the same when they are read again", async (t) => {
  const expressions = [
    "1 + 2 * - 3 - (-4)",
    "- -1",
    "not (a and b or c) is not true",
    "a is distinct from 'it''s' or b is null",
    "x between symmetric 1 and 2 and y not between 3 and 4",
    "x in (1, 2.5, $$q$$) and y not in ('a')",
    "case x when 1 then 'a' else null end || case when y then 'b' end",
    "cast(a as numeric(10,2))::text::varchar(3)",
    "interval '1' day + interval '1-2' year to month + '3 h'::interval(2)",
    "coalesce(a, nullif(b, 0), greatest(1, 2), least(3, 4))",
    "(array[1, 2])[1] + (array[array[1]])[1][1]",
    "extract(year from at) + position('a' in b)",
    "at at time zone 'UTC' > current_timestamp(3) and current_date > localtimestamp::date",
    "name like 'a%' escape '!' and name not ilike 'b' and name ~ '^x'",
    'lower("Select") = "from"."a""b" and "user" = user',
    "e'a\\\\b\\n' || 'plain'",
    "x = any (array[1, 2]) and y <> all (z)",
    "trim(both 'x' from y) || overlay(a placing b from 1 for 2)",
    "f(a => 1, b => 2) + pg_catalog.abs(-3)",
    "(a, b) = row(1, 2)",
    'a collate "C" < b',
    "true is not unknown",
    "now() - '1 day'::interval",
  ];
  const bare = (node: ExprNode) => JSON.stringify(node, (name, value) => (name === "position" ? undefined : value));
  for (const sql of expressions) {
    const node = parseExpression(sql);
    const printed = printExpr(node);
    t.equal(bare(parseExpression(printed)), bare(node), `${sql}  →  ${printed}`);
  }
});

t.test("definitions that are not supported are called by their names", async (t) => {
  const refused = [
    ["create collation c (locale = 'C')", "CREATE COLLATION is not supported yet"],
    ["create type sh", "CREATE TYPE of a shell type is not supported yet"],
    ["create type b (input = b_in, output = b_out)", "CREATE TYPE of a base type is not supported yet"],
    ["create text search parser p (start = s)", "CREATE TEXT SEARCH PARSER is not supported yet"],
  ] as const;
  for (const [sql, message] of refused)
    t.match(
      errorOf(() => parseSql(sql)),
      { details: { sqlstate: "0A000" }, message },
      sql,
    );
});
