/** What is cut out of long texts before the grammar reads them, and put back: the tree is the same. */
import fc from "fast-check";
import t from "tap";
import { LISTED_CONSTANTS_MAX, SQL_BYTES_MAX } from "../../src/protocol/limits.js";
import { cutConstants } from "../../src/sql/parse/cut-constants.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";
import { tries } from "../lengths.js";

/** As an item of `target`, behind which the text is long: what is parsed with it cut is compared with what is not. */
const FILLER = Array.from({ length: SQL_BYTES_MAX / 8 }, (_, i) => String(1_000_000 + i)).join(",");
const padded = (sql: string) => `${sql}; SELECT 1 WHERE 1 IN (${FILLER})`;
const many = (count: number, item: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => item(i)).join(", ");

t.before(() => loadParser());

t.test("what is cut", (t) => {
  const short = (text: string): string => {
    let from = 0;
    let left = "";
    for (const { start, end } of cutConstants(text).edits) {
      left += text.slice(from, start);
      from = end;
    }
    return left + text.slice(from);
  };
  const list = many(100, String);
  const long = "x".repeat(300);
  const cut: readonly (readonly [string, string])[] = [
    [`SELECT a IN (${list}), b NOT IN ( ${list} )`, "SELECT a IN (0), b NOT IN ( 0 )"],
    [`VALUES ${many(100, (i) => `(${i}, 'a''b')`)} ORDER BY 1`, "VALUES (0, 'a''b') ORDER BY 1"],
    [`VALUES ${many(100, (i) => `($${i + 1}, null)`)}, (now(), 1)`, "VALUES ($1, null), (now(), 1)"],
    [`UPDATE t SET a = '${long}''', b = 'c'`, "UPDATE t SET a = '', b = 'c'"],
    [`SELECT "in" (${list})`, `SELECT "in" (${list})`],
    [`SELECT a IN (${list}, b)`, `SELECT a IN (${list}, b)`],
    [
      `SELECT E'${long}', U&'${long}', B'01', "${long}", $$'${long}'$$`,
      `SELECT E'${long}', U&'${long}', B'01', "${long}", $$'${long}'$$`,
    ],
    [`SELECT 1 -- in (${list})\n/* '${long} /* */ ' */`, `SELECT 1 -- in (${list})\n/* '${long} /* */ ' */`],
    [`SELECT '${long}'\n'${long}'`, `SELECT '${long}'\n''`],
  ];
  for (const [text, wanted] of cut) t.equal(short(text), wanted, text.slice(0, 60));
  t.end();
});

t.test("the tree is that of the whole text", (t) => {
  const item = fc.constantFrom("0", "-7", "007", "1.5", "1e2", "2147483647", "2147483648", "-2147483648", "null");
  const text = fc.constantFrom("'it''s'", "'é😀'", "true", "FALSE", "$1", "$20", "12345678901234567890", "''");
  const value = fc.oneof(item, text);
  const list = (length: number) => fc.array(value, { minLength: length, maxLength: length });
  const statement = fc.oneof(
    list(100).map((items) => `SELECT '😀', a IN (${items.join(", ")}) FROM t WHERE b NOT IN (${items.join(",")})`),
    fc.array(list(3), { minLength: 60, maxLength: 60 }).map((rows) => {
      const lists = rows.map((row) => `(${row.join(", ")})`);
      return `INSERT INTO t SELECT * FROM (VALUES ${lists.join(", ")}, (now(), 1, 2)) v WHERE '😀' <> a`;
    }),
    value.map((each) => `UPDATE t SET a = '${"é'' ".repeat(300)}', b = ${each} WHERE c = upper('${"x".repeat(400)}')`),
  );
  fc.assert(
    fc.property(statement, (sql) => {
      const [long] = parseSql(padded(sql));
      t.strictSame(JSON.stringify(long), JSON.stringify(parseSql(sql)[0]), sql.slice(0, 60));
    }),
    { numRuns: tries(12) },
  );
  t.end();
});

t.test("what is too long", (t) => {
  const refused = (sql: string) => {
    try {
      parseSql(sql);
      return null;
    } catch (error) {
      const { code, details } = error as { code: string; details?: { sqlstate?: string; position?: number } };
      return [code, details?.sqlstate, details?.position];
    }
  };
  const long = "x".repeat(SQL_BYTES_MAX);
  t.equal(refused(`SELECT '${long}'`), null);
  t.equal(refused(`COMMENT ON TABLE t IS '${long}'`)?.[0], "query_too_long");
  t.equal(refused(`SELECT E'${long}'`)?.[0], "query_too_long");
  t.equal(refused(`SELECT "${long}"`)?.[0], "query_too_long");
  t.same(refused(`SELECT 1 IN (${many(LISTED_CONSTANTS_MAX + 2, String)})`)?.[1], "54001");
  const wrong = `SELECT 1 IN (${many(20_000, String)}) FRM t`;
  t.same(refused(wrong), ["syntax_error", "42601", wrong.length]);
  t.same(refused(`SELECT 1 IN (${many(20_000, String)}, $0)`)?.[1], "42P02");
  t.end();
});
