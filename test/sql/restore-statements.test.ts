/** RESTORE TABLE and RESTORE GRAPH as the calls that they become. */
import t from "tap";
import { asOfStatement } from "../../src/session/as-of.js";
import { rewriteDialect } from "../../src/sql/parse/dialect.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";

await loadParser();
const callIn = (text: string) =>
  /restore_rows\((.*)\) AS found\)/.exec(rewriteDialect(text).edits[0]!.text)?.[1] ?? "none";

t.test("statements", async (t) => {
  for (const [text, call] of [
    ["RESTORE TABLE a AS OF SEQUENCE 7", `'{"tables":["a"]}', (7)::int8, NULL`],
    [
      `restore table a, "B c", app.d as of '2026-11-20 10:00Z';`,
      `'{"tables":["a","B c","app.d"]}', NULL, ('2026-11-20 10:00Z')::timestamptz`,
    ],
    [
      "RESTORE TABLE a WHERE v = 'it''s' AND (id < 3) AS OF now() - interval '1 hour'",
      `'{"tables":["a"],"where":"v = ''it''''s'' AND (id < 3)"}', NULL, (now() - interval '1 hour')::timestamptz`,
    ],
    [`RESTORE TABLE "a.b", a.b, "A" AS OF SEQUENCE 7`, `'{"tables":["\\"a.b\\"","a.b","A"]}', (7)::int8, NULL`],
    ["EXPLAIN RESTORE TABLE a AS OF $1", `'{"tables":["a"],"dry_run":true}', NULL, ($1)::timestamptz`],
    ["RESTORE GRAPH AS OF SEQUENCE $1", `'{"graph":null}', ($1)::int8, NULL`],
    ["explain restore graph g as of 'yesterday'", `'{"graph":"g","dry_run":true}', NULL, ('yesterday')::timestamptz`],
  ] as const) {
    t.equal(callIn(text), call, text);
    t.doesNotThrow(() => parseSql(text), text);
    t.equal(asOfStatement({ sql: text, params: [1] }), null, "it does not read the past");
  }
});

t.test("wrong ones", async (t) => {
  for (const [text, message] of [
    ["RESTORE TABLE", /expected the name of a table/],
    ["RESTORE TABLE a, AS OF now()", /near "of": expected AS OF and a moment/],
    ["RESTORE TABLE a", /expected AS OF and a moment/],
    ["RESTORE TABLE a WHERE id = 1", /expected AS OF and a moment/],
    ["RESTORE TABLE a WHERE AS OF now()", /near "as": expected a condition/],
    ["RESTORE TABLE a WHERE id = $1 AS OF now()", /near "\$1": expected a condition without parameters/],
    ["RESTORE TABLE a AS OF", /expected a time, or SEQUENCE/],
    ["RESTORE TABLE a AS OF SEQUENCE", /expected the number of a commit/],
    ["RESTORE GRAPH g WHERE true AS OF now()", /near "where": expected AS OF and a moment/],
  ] as const) {
    t.throws(() => parseSql(text), { message }, text);
  }
});

t.test("other statements stay what they are", async (t) => {
  t.match(rewriteDialect("RESTORE 'backup'").edits[0]!.text, "restore_backup('backup'");
  t.same(rewriteDialect("SELECT restore FROM t").edits, []);
  t.same(asOfStatement({ sql: "EXPLAIN SELECT 1 AS OF SEQUENCE 3", params: [] })?.moment, {
    kind: "sequence",
    sequence: 3,
  });
});
