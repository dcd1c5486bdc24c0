/** Trees and errors of Cypher's parser, and its bounds. */
import t from "tap";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { printCypher } from "../../src/cypher/parse/print.js";
import { DbError } from "../../src/protocol/errors.js";
import { CYPHER_CHARACTERS_MAX, CYPHER_DEPTH_MAX, CYPHER_TOKENS_MAX } from "../../src/protocol/limits.js";
import { runGolden } from "../sql/golden.js";
import { showTree } from "../sql/show.js";
import { content } from "./trees.js";

function errorOf(text: string): DbError {
  try {
    parseCypher(text);
  } catch (error) {
    if (error instanceof DbError) return error;
    throw error;
  }
  throw new Error(`no error was thrown for ${text.slice(0, 100)}`);
}

t.test("trees of statements, and the way back", async (t) => {
  runGolden(t, "../cypher/parse.txt", (text) => {
    const tree = parseCypher(text);
    t.same(content(parseCypher(printCypher(tree))), content(tree), printCypher(tree));
    return `${showTree(tree)}\n${printCypher(tree)}`;
  });
});

t.test("syntax errors", async (t) => {
  runGolden(t, "../cypher/parse-errors.txt", (text) => {
    const { message, details } = errorOf(text);
    return `${details?.type} ${details?.detail}: ${message}`;
  });
});

t.test("an error names its place in several ways", async (t) => {
  const { code, details } = errorOf("MATCH (n)\nRETURN n n");
  t.equal(code, "syntax_error");
  t.match(details, { offset: 19, position: 20, line: 2, column: 10, type: "SyntaxError", phase: "compile time" });
});

t.test("columns are called as their expressions are written", async (t) => {
  const { body } = parseCypher("RETURN  n . x+1 , COUNT( * ),`a b`, 1 AS one");
  const clause = body.kind === "query" ? body.parts[0]!.clauses[0]! : null;
  t.same(clause?.kind === "return" && clause.items.map(({ name }) => name), ["n . x+1", "COUNT( * )", "a b", "one"]);
});

t.test("integers are exact", async (t) => {
  const values = ["9007199254740991", "9007199254740992", "-9223372036854775808", "0x7fffffffffffffff", "-0o17"];
  for (const [i, value] of [9007199254740991, 2n ** 53n, -(2n ** 63n), 2n ** 63n - 1n, -15].entries()) {
    const { body } = parseCypher(`RETURN ${values[i]} AS x`);
    const clause = body.kind === "query" ? body.parts[0]!.clauses[0]! : null;
    t.match(clause, { items: [{ expr: { kind: "integer", value } }] });
  }
});

t.test("nesting is bounded, however it is made", async (t) => {
  const times = (text: string, count: number) => text.repeat(count);
  const deep: Record<string, (n: number) => string> = {
    parentheses: (n) => `RETURN ${times("(", n)}1${times(")", n)}`,
    lists: (n) => `RETURN ${times("[", n)}1${times("]", n)}`,
    maps: (n) => `RETURN ${times("{a: ", n)}1${times("}", n)}`,
    not: (n) => `RETURN ${times("NOT ", n)}true`,
    signs: (n) => `RETURN ${times("- ", n)}x`,
    sums: (n) => `RETURN 1${times(" + 1", n)}`,
    properties: (n) => `RETURN a${times(".b", n)}`,
    indexes: (n) => `RETURN a${times("[0]", n)}`,
    "a sum in each parenthesis": (n) => `RETURN ${times("(", n)}1${times(" + 1)", n)}`,
    calls: (n) => `RETURN ${times("f(", n)}1${times(")", n)}`,
    cases: (n) => `RETURN ${times("CASE WHEN true THEN ", n)}1${times(" END", n)}`,
    labels: (n) => `MATCH (n:${times("!", n)}A) RETURN n`,
    "label parentheses": (n) => `MATCH (n:${times("(", n)}A${times(")", n)}) RETURN n`,
    paths: (n) => `MATCH ${times("(", n)}(a)-->(b)${times(")", n)} RETURN a`,
    nodes: (n) => `MATCH (n ${times("{a: [(m ", n)}`,
    subqueries: (n) => `RETURN ${times("EXISTS { MATCH (n) WHERE ", n)}true${times(" }", n)}`,
    foreach: (n) => `${times("FOREACH (x IN xs | ", n)}CREATE (n)${times(")", n)}`,
    comprehensions: (n) => `RETURN ${times("[x IN ", n)}xs${times("]", n)}`,
  };
  for (const [name, text] of Object.entries(deep)) {
    t.equal(errorOf(text(5_000)).code, "syntax_error", name);
    if (name !== "nodes") t.doesNotThrow(() => printCypher(parseCypher(text(CYPHER_DEPTH_MAX / 5))), name);
  }
});

t.test("long is not deep", async (t) => {
  const many = (part: string, glue: string) => Array.from({ length: 5_000 }, () => part).join(glue);
  for (const text of [
    `RETURN [${many("1", ", ")}]`,
    `MATCH (n) WHERE ${many("n.x = 1", " OR ")} RETURN n`,
    `CREATE ${many("(:A {x: 1})", ", ")}`,
    `MATCH ${many("(a)", "-->")} RETURN a`,
    `${many("MATCH (a)", " ")} RETURN a`,
    `${many("RETURN 1 AS a", " UNION ")}`,
  ]) {
    t.doesNotThrow(() => printCypher(parseCypher(text)), text.slice(0, 30));
  }
  t.equal(errorOf(`RETURN '${"x".repeat(CYPHER_CHARACTERS_MAX)}'`).code, "query_too_long");
  const tooMany = errorOf(`RETURN [${"1,".repeat(CYPHER_TOKENS_MAX / 2)}1]`);
  t.match(tooMany, { code: "query_too_long", message: /as parameters/ });
});

t.test("lookahead into unclosed brackets takes no quadratic time", async (t) => {
  const { user } = process.cpuUsage();
  errorOf(`RETURN ${"(a:".repeat(50_000)}`);
  errorOf(`RETURN [${"(a:B), ".repeat(50_000)}`);
  errorOf(`RETURN ${"a.b".repeat(1)}${".c".repeat(50_000)}`);
  t.ok(process.cpuUsage().user - user < 2_000_000);
});

t.test("the WHENs of a statement have so many branches in all", async (t) => {
  const when = (branches: number) => `${"WHEN true THEN RETURN 1 AS a ".repeat(branches - 1)}ELSE RETURN 2 AS a`;
  t.doesNotThrow(() => parseCypher(when(64)));
  t.doesNotThrow(() => parseCypher(`${when(32)} NEXT ${when(32)}`));
  const told = {
    code: "syntax_error",
    message: /at most 64 branches/,
    details: { detail: "InvalidClauseComposition" },
  };
  t.match(errorOf(when(65)), told);
  t.match(errorOf(`${when(32)} NEXT ${when(33)}`), told, "those of all count");
  t.match(errorOf(`WHEN true THEN { ${when(32)} } ELSE { ${when(32)} }`), told, "those within others, too");
});
