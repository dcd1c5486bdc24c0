/** CALL of Cypher: arguments that are given, left out and taken from parameters; what it brings into the query. */
import t from "tap";
import { open } from "../conformance/tck-adapter.js";

const db = await open();
t.teardown(() => db.close());
db.registerProcedure("test.find(name :: STRING?, id :: INTEGER?) :: (city :: STRING?, code :: INTEGER?)", {
  columns: ["name", "id", "city", "code"],
  rows: [
    ["Ann", 1n, "Oslo", 47n],
    ["Bob", 2n, "Rome", 39n],
  ],
});
db.registerProcedure("test.nothing() :: ()", { columns: [], rows: [] });

const outcome = async (query: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> => {
  try {
    return (await db.run(query, params)).rows;
  } catch (error) {
    const { type, phase, detail } = error as { type?: string; phase?: string; detail?: string };
    return `${type} at ${phase}: ${detail}`;
  }
};

t.test("rows of procedures", async (t) => {
  t.same(await outcome("CALL test.find('Ann', 1)"), [["Oslo", 47n]]);
  t.same(await outcome("CALL test.find", { name: "Bob", id: 2n }), [["Rome", 39n]]);
  t.same(await outcome("CALL test.find('Bob', 2) YIELD *"), [["Rome", 39n]]);
  const query =
    "UNWIND ['Ann', 'Bob'] AS n UNWIND [1, 2] AS i CALL test.find(n, i) YIELD code, city AS c WHERE code > 40 RETURN n, c";
  t.same(await outcome(query), [["Ann", "Oslo"]]);
  t.same(await outcome("UNWIND [1, 2] AS x CALL test.nothing() RETURN x"), [[1n], [2n]]);
  t.same(await outcome("CALL test.nothing()"), []);
});

t.test("what is refused", async (t) => {
  const cases: [string, string][] = [
    ["CALL test.find", "ParameterMissing at compile time: MissingParameter"],
    ["CALL test.find('Ann')", "SyntaxError at compile time: InvalidNumberOfArguments"],
    ["CALL test.find(1, 1)", "SyntaxError at compile time: InvalidArgumentType"],
    ["CALL test.find YIELD city RETURN city", "SyntaxError at compile time: InvalidArgumentPassingMode"],
    ["CALL test.find('Ann', 1) RETURN city", "SyntaxError at compile time: UndefinedVariable"],
    [
      "WITH 1 AS city CALL test.find('Ann', 1) YIELD city RETURN *",
      "SyntaxError at compile time: VariableAlreadyBound",
    ],
    [
      "MATCH (n) CALL test.find(n.x, count(n)) YIELD city RETURN city",
      "SyntaxError at compile time: InvalidAggregation",
    ],
    ["CALL test.none()", "ProcedureError at compile time: ProcedureNotFound"],
  ];
  for (const [query, expected] of cases) t.equal(await outcome(query, { name: "Ann" }), expected, query);
});
