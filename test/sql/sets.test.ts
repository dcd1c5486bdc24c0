/** Set-returning functions in FROM and in select lists; expectations are PostgreSQL 15's. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("functions in FROM", (t) =>
  checkStatements(t, [
    ["SELECT * FROM generate_series(3, 1, -1)", ["3", "2", "1"]],
    ["SELECT sum(x) FROM generate_series(1, 100000) x", ["5000050000"]],
    [
      "SELECT * FROM generate_series(9223372036854775806, 9223372036854775807)",
      ["9223372036854775806", "9223372036854775807"],
    ],
    ["SELECT * FROM generate_series(1.1, 2, 0.4)", ["1.1", "1.5", "1.9"]],
    ["SELECT * FROM generate_series(1, 2, 0)", "22023 step size cannot equal zero"],
    [
      "SELECT * FROM generate_series(timestamp '2024-01-31', '2024-04-01', '1 month')",
      ["2024-01-31 00:00:00", "2024-02-29 00:00:00", "2024-03-29 00:00:00"],
    ],
    [
      "SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b', 'c']) WITH ORDINALITY AS u(a, b, n)",
      ["1|a|1", "2|b|2", "∅|c|3"],
    ],
    [
      `SELECT * FROM ROWS FROM (generate_series(1, 2), abs(-3), json_each('{"a":1}')) WITH ORDINALITY`,
      ["1|3|a|1|1", "2|∅|∅|∅|2"],
    ],
    ["SELECT a, b FROM generate_series(1, 3) a, generate_series(1, a) b WHERE b > 1", ["2|2", "3|2", "3|3"]],
    ["SELECT a, b FROM generate_series(0, 1) a LEFT JOIN generate_series(1, a) b ON true", ["0|∅", "1|1"]],
    ["SELECT value FROM jsonb_array_elements('[1, \"a\", null]') x", ["1", '"a"', "null"]],
    ['SELECT * FROM jsonb_each_text(\'{"b": [1], "a": null}\')', ["a|∅", "b|[1]"]],
    [
      `SELECT * FROM jsonb_to_recordset('[{"a":1,"b":"x"},{"b":[2]}]') AS t(a int, b text, c int[])`,
      ["1|x|∅", "∅|[2]|∅"],
    ],
    [
      "SELECT * FROM jsonb_to_record('{}')",
      '42601 a column definition list is required for functions returning "record"',
    ],
    [
      "SELECT * FROM generate_series(1, 2) AS t(a int)",
      '42601 a column definition list is only allowed for functions returning "record"',
    ],
    [
      "SELECT * FROM generate_series(1, generate_series(1, 2))",
      "0A000 set-returning functions must appear at top level of FROM",
    ],
    ["SELECT * FROM regexp_matches('foobarbequebaz', 'ba(r|z)', 'g') m", ["{r}", "{z}"]],
    ["SELECT * FROM regexp_split_to_table('a  b', '\\s+') w", ["a", "b"]],
    ["SELECT * FROM string_to_table('a,,b', ',', '')", ["a", "∅", "b"]],
    ["SELECT s FROM generate_subscripts('[-1:1]={7,8,9}'::int[], 1) s", ["-1", "0", "1"]],
    ["SELECT n FROM current_database() n", ["tester"]],
  ]),
);

t.test("functions in the select list", (t) =>
  checkStatements(t, [
    ["SELECT generate_series(1, 2), generate_series(1, 4)", ["1|1", "2|2", "∅|3", "∅|4"]],
    [
      "SELECT generate_series(1, generate_series(1, 3)), generate_series(2, 4)",
      ["1|2", "1|3", "2|3", "1|4", "2|4", "3|4"],
    ],
    ["SELECT generate_series(1, 0) FROM generate_series(1, 3)", []],
    ["CREATE TABLE few (id int PRIMARY KEY, a text)"],
    ["INSERT INTO few VALUES (1, 'x'), (2, 'x'), (3, 'y')"],
    ["SELECT id, generate_series(1, 2) g FROM few ORDER BY id DESC LIMIT 3", ["3|1", "3|2", "2|1"]],
    ["SELECT id, generate_series(1, 2) g FROM few ORDER BY g DESC, id LIMIT 2", ["1|2", "2|2"]],
    ["SELECT id FROM few ORDER BY id DESC, generate_series(1, 2) LIMIT 3", ["3", "3", "2"]],
    ["SELECT a, count(*), unnest('{1,1,3}'::int[]) FROM few WHERE id = 1 GROUP BY a", ["x|1|1", "x|1|1", "x|1|3"]],
    [
      "SELECT a, count(*), unnest('{1,1,3}'::int[]) u FROM few WHERE id = 1 GROUP BY a, u ORDER BY u",
      ["x|2|1", "x|1|3"],
    ],
    [
      "SELECT count(*), generate_series(1, 2) FROM few WHERE id = 1 GROUP BY generate_series(1, 2) + 1",
      ["1|1", "1|2", "1|1", "1|2"],
    ],
    [
      "SELECT id, row_number() OVER (PARTITION BY generate_series(1, 2) ORDER BY id), generate_series(1, 2) FROM few WHERE id < 3",
      ["1|1|1", "2|2|1", "1|1|2", "2|2|2"],
    ],
    ["SELECT generate_series(1, max(id)) FROM few", ["1", "2", "3"]],
    ["SELECT DISTINCT generate_series(1, 2) % 1 FROM few", ["0"]],
    [
      "SELECT DISTINCT ON (a) a, id, generate_series(1, 2) FROM few ORDER BY a, id DESC",
      ["x|2|1", "x|2|2", "y|3|1", "y|3|2"],
    ],
    ["SELECT (SELECT generate_series(1, 3) LIMIT 1 OFFSET id) FROM few", ["2", "3", "∅"]],
    ["SELECT id FROM few LIMIT id", "42P10 argument of LIMIT must not contain variables"],
    ["INSERT INTO few VALUES (generate_series(4, 5), 'z')"],
    ["SELECT count(*) FROM few", ["5"]],
    ["SELECT id FROM few WHERE generate_series(1, 2) = 1", "0A000 set-returning functions are not allowed in WHERE"],
    [
      "SELECT CASE WHEN id > 1 THEN generate_series(1, 2) END FROM few",
      "0A000 set-returning functions are not allowed in CASE",
    ],
    [
      "SELECT min(generate_series(1, 3)) FROM few",
      "0A000 aggregate function calls cannot contain set-returning function calls",
    ],
    ["UPDATE few SET a = generate_series(1, 2)", "0A000 set-returning functions are not allowed in UPDATE"],
    ["VALUES (1, generate_series(1, 2))", "0A000 set-returning functions are not allowed in VALUES"],
    ["SELECT 1 LIMIT generate_series(1, 3)", "0A000 set-returning functions are not allowed in LIMIT"],
    ["SELECT jsonb_each('{\"a\": 1}')", ["(a,1)"]],
    ["SELECT x FROM (SELECT id, generate_series(1, 3) x FROM few) s WHERE id = 1 AND x > 1", ["2", "3"]],
  ]),
);
