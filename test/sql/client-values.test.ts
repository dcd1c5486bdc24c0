/** Values as clients of MySQL's and SQLite's habits write and ask for them. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("a boolean takes 0 and 1", async (t) => {
  await checkStatements(t, [
    ["create table task (id int primary key, done boolean default 0, check (done in (0, 1)))"],
    ["insert into task values (1, 1), (2, 0), (3, null)"],
    ["insert into task (id) values (4)"],
    ["update task set done = 1 where id = 2"],
    ["select id, done from task order by id", ["1|true", "2|true", "3|∅", "4|false"]],
    ["select id from task where done = 1 order by id", ["1", "2"]],
    ["select id from task where 0 = done", ["4"]],
    ["select id from task where done <> 1", ["4"]],
    ["select id from task where done in (0, 1) order by id", ["1", "2", "4"]],
    ["select id from task where done not in (1)", ["4"]],
    ["select id from task where done is distinct from 1 order by id", ["3", "4"]],
    ["insert into task select 5, 1 where not exists (select from task where id = 5) returning done", ["true"]],
    ["insert into task (done, id) select 0, g from generate_series(6, 7) g returning done", ["false", "false"]],
    ["insert into task values (8, 2)", '42804 column "done" is of type boolean but expression is of type integer'],
    ["select id from task where done = 2", "42883 operator does not exist: boolean = integer"],
    ["select id from task where done = id", "42883 operator does not exist: boolean = integer"],
    ["select true + 1", "42883 operator does not exist: boolean + integer"],
  ]);
});

const DOC = `'{"a": {"b": 1, "c d": "x"}, "list": [1, {"n": "two"}, 3], "$.k": "own", "t": true, "z": null}'`;

for (const type of ["json", "jsonb"]) {
  t.test(`paths in -> and ->> of ${type}`, async (t) => {
    const doc = `${DOC}::${type}`;
    await checkStatements(t, [
      [`select ${doc} ->> '$.a.b', ${doc} ->> '$.list[1].n', ${doc} ->> '$.a."c d"'`, ["1|two|x"]],
      [`select ${doc} -> '$.list[0]', ${doc} ->> '$.list[last]', ${doc} ->> '$.list[last-1].n'`, ["1|3|two"]],
      [`select ${doc} ->> '$.list[#-1]', ${doc} -> '$.list[9]', ${doc} ->> '$.nosuch.b'`, ["3|∅|∅"]],
      [`select ${doc} ->> '$.k'`, ["own"]],
      [`select ${doc} ->> '$.t', ${doc} ->> '$.z'`, ["true|∅"]],
      [`select (${doc} -> '$') ->> 't', ${doc} ->> '$k', ${doc} ->> 'list' is null`, ["true|∅|false"]],
      [`select (${doc} ->> '$.list[*].n')::jsonb`, ['["two"]']],
      [
        `select ${doc} ->> '$.a ? (@.b > 1)'`,
        '22023 "$.a ? (@.b > 1)" is not a valid path: the mistake begins at character 5',
      ],
    ]);
  });
}

t.test("JSON_EXTRACT, JSON_UNQUOTE and JSON_CONTAINS", async (t) => {
  await checkStatements(t, [
    ["create table doc (id int primary key, j json, b jsonb, s text)"],
    [`insert into doc values (1, ${DOC}, ${DOC}, ${DOC})`],
    [
      "select JSON_EXTRACT(j, '$.a.b'), json_extract(b, '$.list[1].n'), json_extract(s, '$.a') from doc",
      ['1|"two"|{"b": 1, "c d": "x"}'],
    ],
    [
      "select JSON_EXTRACT(j, '$.nosuch'), JSON_EXTRACT(j, '$.a.b', '$.t'), JSON_EXTRACT(j, '$.list[*].n') from doc",
      ['∅|[1, true]|["two"]'],
    ],
    ["select id from doc where JSON_EXTRACT(b, '$.list[1].n') = 'two'", ["1"]],
    ["select id from doc where JSON_EXTRACT(j, '$.a.b') >= 1 and JSON_EXTRACT(j, '$.a.b') < 1.5", ["1"]],
    ["select id from doc where JSON_EXTRACT(j, '$.list[1].n') in ('one', 'two')", ["1"]],
    ["select id from doc where JSON_EXTRACT(j, '$.list[1].n') like 't%'", ["1"]],
    ["select id from doc where JSON_EXTRACT(j, '$.t') = true and JSON_EXTRACT(j, '$.a.b') between 0 and 2", ["1"]],
    ["select id from doc where JSON_EXTRACT(j, '$.a.b') = 'one'", []],
    [
      "select JSON_EXTRACT(j, '$.a.b') + 1, 3 * JSON_EXTRACT(j, '$.a.b') - JSON_EXTRACT(j, '$.list[0]') from doc",
      ["2|2"],
    ],
    ["select sum(JSON_EXTRACT(j, '$.a.b')), avg(JSON_EXTRACT(j, '$.list[last]')) from doc", ["1|3.0000000000000000"]],
    ["select JSON_UNQUOTE(JSON_EXTRACT(j, '$.list[1].n')), JSON_UNQUOTE(JSON_EXTRACT(j, '$.a.b')) from doc", ["two|1"]],
    [
      "select JSON_CONTAINS(j, '1', '$.a.b'), JSON_CONTAINS(b, '3', '$.list'), JSON_CONTAINS(s, '{\"t\": true}') from doc",
      ["true|true|true"],
    ],
    [
      "select JSON_CONTAINS(b, '{\"n\": \"two\"}', '$.list'), JSON_CONTAINS(b, '[1, 4]', '$.list'), JSON_CONTAINS(b, '1', '$.none') from doc",
      ["true|false|∅"],
    ],
    ["select JSON_CONTAINS(j, 'two', '$.list') from doc", "22P02 invalid input syntax for type json"],
    ["select JSON_EXTRACT(j, 'a') from doc", '22023 "a" is not a valid path: the mistake begins at character 1'],
  ]);
});

t.test("json_object of names and values", async (t) => {
  await checkStatements(t, [
    ["select json_object('a', 1, 'b', 'x')", ['{"a" : 1, "b" : "x"}']],
    ["select JSON_OBJECT('name', n, 'none', null) from (values ('Ann')) t (n)", ['{"name" : "Ann", "none" : null}']],
    ["select json_object('a', 'b'), jsonb_object('a', 1)", ['{"a" : "b"}|{"a": 1}']],
    ["select jsonb_object('{a,b}', '{1,2}'), jsonb_object('{a,1}')", ['{"a": "1", "b": "2"}|{"a": "1"}']],
    ["select json_object('a', 1, 'b')", "22023 argument list must have even number of elements"],
    ["select json_object('a': 1)", ['{"a" : 1}']],
  ]);
});
