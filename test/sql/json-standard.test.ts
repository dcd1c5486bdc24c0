/** The JSON constructors and query functions of the SQL standard, as PostgreSQL 17 answers them. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

/** An expression, and its text, null, or ! and the SQLSTATE. */
const CASES: readonly (readonly [string, string | null])[] = [
  ["json_object('a': 1, 'b': null)", '{"a" : 1, "b" : null}'],
  ["json_object('a': 1, 'b': null absent on null returning jsonb)", '{"a": 1}'],
  ["json_object('a': 1, 'a': 2 with unique keys)", "!22030"],
  ["json_object(null: 1)", "!22004"],
  ["json_array(1, 'x', null)", '[1, "x"]'],
  ["json_array(1, null null on null)", "[1, null]"],
  ["json_array(select x from (values (1), (null), (3)) v(x))", "[1, 3]"],
  ["json_value(jsonb '{\"a\": \"12\"}', '$.a' returning int) + 1", "13"],
  ["json_value('{\"a\": [1]}', '$.a')", null],
  ["json_value('{\"a\": [1]}', '$.a' error on error)", "!2203F"],
  ["json_value('[1, 2]', '$[*]' error on error)", "!22034"],
  ["json_value('{}', '$.a' default 7 on empty)", "7"],
  ["json_value('{}', '$.a' error on empty error on error)", "!22035"],
  ["json_value('\"x\"', '$' returning int default -1 on error)", "-1"],
  ["json_value('\"2020-01-01\"', '$' returning date)", "2020-01-01"],
  ["json_value('[10, 20]', '$[$i]' passing 1 as i)", "20"],
  ["json_query('{\"a\": [1, 2]}', '$.a')", "[1, 2]"],
  ["json_query('{\"a\": [1, 2]}', '$.a[*]' with wrapper)", "[1, 2]"],
  ["json_query('{\"a\": [1, 2]}', '$.a[*]')", null],
  ["json_query('{\"a\": [1, 2]}', '$.a[*]' error on error)", "!22034"],
  ["json_query('{\"a\": \"x\"}', '$.a')", '"x"'],
  ["json_query('{\"a\": \"x\"}', '$.a' returning text omit quotes)", "x"],
  ["json_query('{}', '$.a' empty array on empty)", "[]"],
  ["json_exists('{\"a\": 1}', '$.a ? (@ > $x)' passing 0 as x)", "true"],
  ["json_exists('{}', 'strict $.a')", "false"],
  ["json_exists('{}', 'strict $.a' error on error)", "!2203A"],
  ["'{}' is json", "true"],
  ["'[1' is json", "false"],
  ["null::text is json", null],
  ["'[1]' is json array", "true"],
  ["'1' is json scalar", "true"],
  ["'{}' is not json object", "false"],
  ['\'[{"a": 1, "a": 2}]\' is json with unique keys', "false"],
  ["json('{\"a\" : 1}')", '{"a" : 1}'],
  ['json(\'{"a": 1, "a": 2}\' with unique keys)', "!22030"],
  ["json_scalar('x')", '"x"'],
  ["json_serialize('{\"a\": 1}')", '{"a": 1}'],
  ["(select json_arrayagg(x order by x desc) from (values (1), (null), (2)) v(x))", "[2, 1]"],
  ["(select json_objectagg('k' || x: x returning jsonb) from (values (1), (2)) v(x))", '{"k1": 1, "k2": 2}'],
];

t.test("constructors and queries", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const [sql, want] of CASES) {
    let got: string | null;
    try {
      got = (await database.exec(`SELECT ${sql}`)).rows[0]![0] ?? null;
    } catch (error) {
      got = `!${(error as { code: string }).code}`;
    }
    t.equal(got, want, sql);
  }
});

t.test("parts of columns in UPDATE", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE doc (id int PRIMARY KEY, body jsonb)");
  await database.exec("INSERT INTO doc VALUES (1, '{\"a\": 12345678901234567890.10}'), (2, NULL)");
  await database.exec("UPDATE doc SET body['b'][2] = '7', body['c'] = '\"x\"'");
  const { rows } = await database.exec("SELECT body FROM doc ORDER BY id");
  t.same(rows, [
    ['{"a": 12345678901234567890.10, "b": [null, null, 7], "c": "x"}'],
    ['{"b": [null, null, 7], "c": "x"}'],
  ]);
  const { rows: read } = await database.exec("SELECT body['b'][-1], body['no']['way'] FROM doc WHERE id = 1");
  t.same(read, [["7", null]]);
  await t.rejects(database.exec("UPDATE doc SET body[NULL] = '1'"), { code: "22004" });
});
