/** Questions over tables as files give them: no keys declared, flags as letters, abbreviated names, several columns. */
import t from "tap";
import { isRight } from "./nl2sql-pairs.js";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const SAILING = [
  "CREATE TABLE sailor (sid int, fname text, lname text, bdate date, age int, home text, pro char(1))",
  "CREATE TABLE boat (bid int, bname text, hull_colour_id int, sail_colour_id int, home text, built int, licensed text, sunk_yn char(1))",
  "CREATE TABLE colour (id int, colour text)",
  "CREATE TABLE race (rid int, rname text, yr int, boat_id int, skipper_sid int)",
  "CREATE TABLE crewing (rid int, sid int, duty text, since date, until date)",
  "INSERT INTO sailor VALUES (1, 'Ann', 'Berg', '1990-02-01', 35, 'Oslo', 'Y'), (2, 'Ben', 'Cole', '1985-03-01', 40, 'Bergen', 'N'), (3, 'Cyd', 'Dahl', '2001-04-01', 24, 'Oslo', 'N')",
  "INSERT INTO colour VALUES (1, 'Blue'), (2, 'Red'), (3, 'White')",
  "INSERT INTO boat VALUES (1, 'Kittiwake', 1, 3, 'Oslo', 1988, 'yes', '0'), (2, 'Puffin', 2, 3, 'Narvik', 1995, 'no', '1'), (3, 'Tern', 3, 1, 'Oslo', 1991, 'yes', '0')",
  "INSERT INTO race VALUES (1, 'Fjord Cup', 2014, 1, 1), (2, 'Fjord Cup', 2015, 1, 2), (3, 'Night Race', 2015, 3, 1)",
  "INSERT INTO crewing SELECT 9, 9, CASE WHEN i % 2 = 0 THEN 'bow' ELSE 'helm' END, '2013-01-01', '2013-02-01' FROM generate_series(1, 8) i",
  "INSERT INTO crewing VALUES (1, 2, 'bow', '2014-01-01', NULL), (1, 3, 'bow', '2014-01-01', '2014-02-01'), (2, 3, 'helm', '2015-01-01', NULL)",
];

const RIGHT: readonly (readonly [question: string, rows: readonly (readonly unknown[])[]])[] = [
  ["first and last names of sailors born before 1990", [["Ben", "Cole"]]],
  ["boats whose hull is blue", [["Kittiwake"]]],
  ["how many boats have blue sails", [[1]]],
  ["which sailors crewed in the Night Race", []],
  ["boats without races", [["Puffin"]]],
  ["how many sailors are pro", [[1]]],
  ["boats that are not licensed", [["Puffin"]]],
  ["how many boats have sunk", [[1]]],
  ["which home is shared by the most sailors", [["Oslo"]]],
  ["names of boats built in the 1990s", [["Puffin"], ["Tern"]]],
  ["which homes have both a sailor and a boat", [["Oslo"]]],
  ["homes with a boat but no sailor", [["Narvik"]]],
  [
    "show the name of each boat and the number of races",
    [
      ["Kittiwake", 2],
      ["Tern", 1],
    ],
  ],
  [
    "for each boat, show its name, its home and the number of races",
    [
      ["Kittiwake", "Oslo", 2],
      ["Tern", "Oslo", 1],
    ],
  ],
  [
    "list all homes and the number of sailors in each home",
    [
      ["Bergen", 1],
      ["Oslo", 2],
    ],
  ],
  ["what is the average, minimum and maximum age of sailors", [[33, 24, 40]]],
  ["how many races were there in 2014 or 2015", [[3]]],
  ["the ids and names of boats built before 1990", [[1, "Kittiwake"]]],
  ["among the boats with a blue hull, how many are licensed", [[1]]],
  ["boats that did not have a race in 2014", [["Puffin"], ["Tern"]]],
];

t.test("tables without keys, flags as letters, short names", async (t) => {
  const token = await server.tenant("loaded");
  for (const sql of SAILING) await server.rows(sql, [], { token });
  const ask = (question: string) => server.call("POST", "/v1/nl2sql/query", { question }, { token });
  for (const [question, expected] of RIGHT) {
    const { status, body } = await ask(question);
    t.equal(status, 200, `${question} ${JSON.stringify(body.error)}`);
    t.ok(isRight(expected, body.data?.rows ?? [[]], false), `${question} ${JSON.stringify(body.data)}`);
  }
  const { body } = await ask("names and ages of sailors ordered by age from the oldest to the youngest");
  t.same(
    body.data?.rows.map((row: unknown[]) => row.at(-1)),
    [40, 35, 24],
    JSON.stringify(body),
  );
});

t.test("what would be answered wrongly is refused", async (t) => {
  const token = await server.tenant("loaded_open");
  for (const sql of SAILING) await server.rows(sql, [], { token });
  const ask = (question: string) => server.call("POST", "/v1/nl2sql/query", { question }, { token });
  for (const question of [
    // The duty of one of them may end, and nothing says so.
    "which sailors are currently crewing the Fjord Cup",
    // Every row has a duty.
    "crewings without duty",
    // Of those who own them the rows say no age.
    "boats of colours that are older than 3",
  ])
    t.equal((await ask(question)).status, 422, question);
  // Narvik has boats and no races.
  const { status, body } = await ask("which home has the fewest races");
  t.equal(status, 422, JSON.stringify(body));
  t.equal(body.error.details.readings?.length, 2);
});
