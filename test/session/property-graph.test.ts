/** SQL/PGQ: property graphs over tables, and GRAPH_TABLE. Results are those of the joins that patterns stand for. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { type Case, checkStatements } from "../sql/run-sql.js";
import { script } from "./sql-script.js";

const TABLES: [string][] = [
  ["create table person (id int primary key, name text, age int)"],
  ["create table company (id int primary key, name text, city text)"],
  ["create table knows (a int references person, b int references person, since int, primary key (a, b))"],
  ["create table works (person_id int references person, company_id int references company, role text)"],
  ["insert into person values (1, 'Ann', 30), (2, 'Bob', 40), (3, 'Cid', 50), (4, 'Dee', 20)"],
  ["insert into company values (1, 'Acme', 'Rome'), (2, 'Bolt', 'Oslo')"],
  ["insert into knows values (1, 2, 2001), (2, 3, 2002), (3, 1, 2003), (4, 4, 2004)"],
  ["insert into works values (1, 1, 'dev'), (2, 1, 'boss'), (3, 2, 'dev')"],
];

const GRAPH = `create property graph g
  vertex tables (
    person label human properties (id, name, age * 2 as twice) label named properties (name),
    company label firm properties all columns except (id) label named properties (name)
  )
  edge tables (
    knows source key (a) references person (id) destination key (b) references person (id) label knows,
    works key (person_id, company_id) source person destination company label works_at properties (role)
  )`;

t.test("patterns are joins of the tables", (t) =>
  checkStatements(t, [
    ...TABLES,
    [GRAPH],
    [
      "select * from graph_table (g match (a is human) columns (a.name, a.twice as t)) order by 1",
      ["Ann|60", "Bob|80", "Cid|100", "Dee|40"],
    ],
    [
      "select x, y from graph_table (g match (a is human)-[e is knows where e.since < 2004]->(b) columns (a.name as x, b.name as y)) order by 1",
      ["Ann|Bob", "Bob|Cid", "Cid|Ann"],
    ],
    [
      "select * from graph_table (g match (a where a.name = 'Bob')<-[e is knows]-(b) columns (b.name as \"From\", e.since))",
      ["Ann|2001"],
    ],
    // Either direction; a loop comes once.
    [
      "select * from graph_table (g match (a is human)-[e is knows]-(b) columns (a.name, b.name)) t(x, y) order by 1, 2",
      ["Ann|Bob", "Ann|Cid", "Bob|Ann", "Bob|Cid", "Cid|Ann", "Cid|Bob", "Dee|Dee"],
    ],
    // A label of several tables, and edges without brackets.
    [
      "select * from graph_table (g match (a)->(b is named) columns (a.name, b.name, b.city)) t(x, y, z) order by 1, 2",
      ["Ann|Acme|Rome", "Ann|Bob|∅", "Bob|Acme|Rome", "Bob|Cid|∅", "Cid|Ann|∅", "Cid|Bolt|Oslo", "Dee|Dee|∅"],
    ],
    ["select count(*) from graph_table (g match (a is human | firm) columns (a.name)) t", ["6"]],
    ["select count(*) from graph_table (g match (a is named & !human) columns (a.name)) t", ["2"]],
    ["select count(*) from graph_table (g match (a is human & firm) columns (a.name)) t", ["0"]],
    ["select * from graph_table (g match (a is firm)-[is knows]->(b) columns (a.name, b.twice)) t", []],
    // The same variable is the same vertex: triangles, and two patterns with a vertex in common.
    [
      "select * from graph_table (g match (a:human)-[:knows]->(b)-[:knows]->(c)-[:knows]->(a) where a.name < b.name and a.name < c.name columns (a.name, b.name, c.name)) t",
      ["Ann|Bob|Cid"],
    ],
    [
      "select * from graph_table (g match (a)-[w is works_at]->(f), (b)-[is works_at]->(f) where a.name < b.name columns (a.name || '+' || b.name as pair, w.role, f.*))",
      ["Ann+Bob|dev|∅|Acme|∅|Rome"],
    ],
    // Outside it is a table like others.
    [
      "select p.age, t.n from person p join graph_table (g match (a is human)-[is knows]->(b) columns (a.id, b.name as n)) t on t.id = p.id where p.age > 30 order by 1",
      ["40|Cid", "50|Ann"],
    ],
    [
      "select p.name, (select count(*) from graph_table (g match (a is human where a.id = p.id)-[is knows]-(b) columns (b.name)) t) from person p order by 1",
      ["Ann|2", "Bob|2", "Cid|2", "Dee|1"],
    ],
    [
      "with t as (select * from graph_table (g match (a)-[e is works_at]->(f) columns (f.name as firm))) select firm, count(*) from t group by 1 order by 1",
      ["Acme|2", "Bolt|1"],
    ],
  ] satisfies Case[]),
);

t.test("definitions", (t) =>
  checkStatements(t, [
    ...TABLES,
    [
      "create property graph g vertex tables (person, company) edge tables (works key (person_id) source person destination company)",
    ],
    ["select count(*) from graph_table (g match (a is person)-[w is works]->(c) columns (w.role)) t", ["3"]],
    ["create property graph g vertex tables (person)", '42P07 relation "g" already exists'],
    ["create property graph if not exists g vertex tables (person)"],
    ["create table g (x int)", '42P07 relation "g" already exists'],
    ["select * from g", '42809 "g" is a property graph'],
    ["select * from graph_table (person match (a) columns (a.x))", '42809 "person" is not a property graph'],
    ["select * from graph_table (nope match (a) columns (a.x))", '42P01 property graph "nope" does not exist'],
    [
      "select * from graph_table (g match (a is nope) columns (a.x))",
      '42704 label "nope" does not exist in property graph "g"',
    ],
    ["select * from graph_table (g match (a is person) columns (a.nope))", "42703 column a.nope does not exist"],
    ["select * from graph_table (g match (a is person) columns (name))", '42703 column "name" does not exist'],
    [
      "select * from graph_table (g match (a)-[e]->{1,2}(b) columns (a.id))",
      "0A000 a path of variable length in GRAPH_TABLE is not supported",
    ],
    ["select * from graph_table (g match (a)-[e](b) columns (a.id))", '42601 syntax error at or near "("'],
    ["select * from graph_table (g match (a)-[a]->(b) columns (a.id))", '42712 "a" cannot be a vertex and an edge'],
    [
      "create property graph h vertex tables (works)",
      '42P16 no key specified and no suitable primary key exists for definition of element "works"',
    ],
    [
      "create property graph h vertex tables (person key (nope))",
      '42703 column "nope" of relation "person" does not exist',
    ],
    [
      "create property graph h vertex tables (person, person)",
      '42712 alias "person" used more than once as element table',
    ],
    [
      "create property graph h vertex tables (person) edge tables (knows source person destination person)",
      '42P16 no SOURCE key specified and more than one foreign key fits for definition of edge "knows"',
    ],
    [
      "create property graph h vertex tables (person properties (id as x), company properties (name as x))",
      '42804 property "x" data type mismatch: integer vs. text',
    ],
    // A graph keeps its tables by what they are, not by what they are called.
    ["create view v as select * from graph_table (g match (a is person)-[is works]->(c) columns (a.name, c.city))"],
    ["alter table person rename to people"],
    ["alter table people rename column name to called"],
    ["alter table people add column extra int"],
    ["select * from v order by 1", ["Ann|Rome", "Bob|Rome", "Cid|Oslo"]],
    ["drop table people", "2BP01 cannot drop table people because other objects depend on it"],
    ["drop property graph g", "2BP01 cannot drop property graph g because other objects depend on it"],
    [
      "alter table people drop column called",
      "2BP01 cannot drop column called of table people because other objects depend on it",
    ],
    ["drop view v"],
    ["drop property graph person, g", '42P01 property graph "person" does not exist'],
    ["drop property graph g"],
    ["drop property graph if exists g"],
    ["drop property graph g", '42P01 property graph "g" does not exist'],
    ["drop property graph company", '42809 "company" is not a property graph'],
    ["create schema s"],
    ["create property graph s.g vertex tables (company)"],
    ["select count(*) from graph_table (s.g match (a) columns (a.id)) t", ["2"]],
    ["drop schema s", "2BP01 cannot drop schema s because other objects depend on it"],
    ["drop schema s cascade"],
    ["select * from graph_table (s.g match (a) columns (a.id))", '42P01 property graph "s.g" does not exist'],
    ["create property graph g vertex tables (company)"],
    ["drop table company cascade"],
    ["select * from graph_table (g match (a) columns (a.name))", '42P01 property graph "g" does not exist'],
  ] satisfies Case[]),
);

t.test("the plan is one of joins", async (t) => {
  const { rows, run } = await script(t);
  await run(...TABLES.map(([sql]) => sql), GRAPH);
  const plan = await rows(
    "explain select * from graph_table (g match (a is human where a.id = 1)-[e is knows]->(b) columns (b.name)) t",
  );
  const text = plan.join("\n");
  t.match(text, /Join|Lookup|Loop/);
  t.match(text, /knows/);
  t.notMatch(text, /Union/);
});

t.test("mistakes are shown where they are", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const at = async (sql: string) =>
    database.exec(sql).then(
      () => null,
      (error: { position?: number }) => error.position,
    );
  for (const [sql] of TABLES) await database.exec(sql);
  await database.exec(GRAPH);
  const texts = [
    "select 'é😀' from graph_table (g match (a is human) columns (a.«nope))",
    "select 1 from graph_table (g match (a is «nope) columns (a.name))",
    "select 1 from graph_table (g match (a is human where a.name «&&& 2) columns (a.name))",
    "select 1 from graph_table («nope match (a) columns (a.name))",
    "select 1 from graph_table (g match (a)-[e]->«{2}(b) columns (a.name))",
    "create property graph h vertex tables (person key («nope))",
    "create property graph h vertex tables («nope)",
  ];
  for (const marked of texts) {
    const sql = marked.replace("«", "");
    const expected = [...marked.slice(0, marked.indexOf("«"))].length + 1;
    const got = await at(sql);
    // A column's position is that of its qualifier.
    t.equal(got, marked.includes("a.«") ? expected - 2 : expected, sql);
  }
});
