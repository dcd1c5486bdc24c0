/** Recipes as they are read: what is wrong, told with its place; what is equal, equal; and texts that mean harm. */
import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import { stringify } from "yaml";
import { DbError } from "../../src/protocol/errors.js";
import { RECIPE_BYTES_MAX, RECIPE_DEPTH_MAX } from "../../src/protocol/limits.js";
import { bindStatement } from "../../src/recipe/bind-statement.js";
import { canonicalJson, digestOf, signerOf } from "../../src/recipe/canonical.js";
import { readText } from "../../src/recipe/document.js";
import { bindParameters } from "../../src/recipe/parameters.js";
import { readRecipe } from "../../src/recipe/read-recipe.js";
import { sized, tries } from "../lengths.js";

const HEAD = `id: sample
version: 1.0.0
engine: ">=0.1.0"
name: Sample
parameters:
  n: {type: integer, default: 3, minimum: 1}
  table: {type: identifier, default: places}
`;

async function faultOf(text: string): Promise<string> {
  try {
    await readRecipe({ text });
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return `${error.code} ${error.message}`;
  }
  throw new Error(`was read: ${text}`);
}

t.test("a recipe, and where its statements stand", async (t) => {
  const { recipe, places, digest } = await readRecipe({
    text: `${HEAD}schema:
  - CREATE TABLE places (id int)
workflow:
  - name: one
    when: $n > 1
    sql: |
      SELECT *
      FROM $table
    keep: rows
  - {name: two, cypher: "UNWIND $rows AS row RETURN row.id + $n"}
`,
  });
  t.match(recipe, { id: "sample", category: "general", tags: [], seed: [], tests: [] });
  t.same(places["workflow[0].sql"], { line: 14, column: 7, margin: 7 });
  t.same(places["workflow[0].when"], { line: 12, column: 11, margin: 11 });
  t.same(places["schema[0]"], { line: 9, column: 5, margin: 5 });
  t.match(digest, /^sha256:[0-9a-f]{64}$/);
});

t.test("faults are told with their field and place", async (t) => {
  const step = (sql: string) => `${HEAD}workflow:\n  - name: one\n    sql: ${sql}\n`;
  const cases: readonly (readonly [text: string, fault: string])[] = [
    ["", "invalid_recipe A recipe is an object with id, version, engine, name and workflow. (line 1, column 1)"],
    ["- 1", "invalid_recipe A recipe is an object with id, version, engine, name and workflow. (line 1, column 1)"],
    [HEAD, "invalid_recipe workflow: is missing (line 1, column 1)"],
    [step("SELECT FROM FROM"), 'invalid_recipe workflow[0].sql: syntax error at or near "FROM" (line 10, column 22)'],
    [
      step("|\n      SELECT 1,\n        $n + FROM x"),
      'invalid_recipe workflow[0].sql: syntax error at or near "FROM" (line 12, column 14)',
    ],
    [step("SELECT $m"), "invalid_recipe workflow[0].sql: $m is not known (line 10, column 10)"],
    [step("SELECT $1"), "invalid_recipe workflow[0].sql: write $name instead of $1 (line 10, column 10)"],
    [
      step("SELECT 1; DROP TABLE x"),
      "invalid_recipe workflow[0].sql: must be one statement, not 2 (line 10, column 10)",
    ],
    [
      step("COMMIT"),
      "invalid_recipe workflow[0].sql: transaction statements are not allowed: the recipe runs in one transaction of its own (line 10, column 10)",
    ],
    [
      `${step("SELECT 1")}    whenn: true`,
      'invalid_recipe workflow[0].whenn: no such member; see GET /v1/recipes/schema; did you mean "when"? (line 11, column 12)',
    ],
    [
      `${step("SELECT 1")}    when: $n >`,
      'invalid_recipe workflow[0].when: syntax error at or near ")" (line 11, column 15)',
    ],
    [
      `${step("SELECT 1")}    cypher: RETURN 1`,
      "invalid_recipe workflow[0]: must have one of sql, cypher, train and predict (line 9, column 5)",
    ],
    [`${step("SELECT 1")}    keep: n`, "invalid_recipe workflow[0].keep: n is taken already (line 11, column 11)"],
    [
      `${step("SELECT 1")}  - {name: one, sql: SELECT 1}`,
      "invalid_recipe workflow[1].name: another step is called one, too (line 11, column 12)",
    ],
    [
      `${step("SELECT 1")}tests: [{name: x, expect: [{step: two}]}]`,
      "invalid_recipe tests[0].expect[0].step: no step is called two (line 11, column 35)",
    ],
    [
      `${step("SELECT 1")}tests: [{name: x, parameters: {n: 0}, expect: [{step: one}]}]`,
      "invalid_recipe tests[0].parameters.n: n must be at least 1 (line 11, column 35)",
    ],
    [
      `${step("SELECT 1")}seed: [{tabel: x}]`,
      "invalid_recipe seed[0]: expected {table, columns, rows}, {nodes, edges}, {sql} or {cypher} (line 11, column 8)",
    ],
    [
      `${step("SELECT 1")}seed: [{table: x, columns: [a, b], rows: [[1, 2], [3]]}]`,
      "invalid_recipe seed[0].rows[1]: has 1 values for 2 columns (line 11, column 51)",
    ],
    [
      `${step("SELECT 1")}seed: [{nodes: [{key: 1}], edges: [{from: 1, to: 2, type: T}]}]`,
      "invalid_recipe seed[0].edges[0].to: no node has the key 2 (line 11, column 50)",
    ],
    [
      step("SELECT 1").replace("1.0.0", "one"),
      "invalid_recipe version: is no version such as 1.0.0 (line 2, column 10)",
    ],
    [
      step("SELECT 1").replace(">=0.1.0", "new"),
      "invalid_recipe engine: is no range of versions such as >=0.1.0 or ^1.2 (line 3, column 10)",
    ],
    [
      step("SELECT 1").replace("default: 3", "default: x"),
      "invalid_recipe parameters.n: default: must be a whole number (line 6, column 6)",
    ],
    [
      step("SELECT 1").replace("id: sample", "id: Sample!"),
      "invalid_recipe id: must be 1 to 100 characters of small letters, digits, ., _, -; the first one is a small letter or a digit",
    ],
  ];
  for (const [text, fault] of cases) t.match(await faultOf(text), fault, fault);
});

t.test("a text that is no YAML: what is wrong there, and where", async (t) => {
  const cases: readonly (readonly [text: string, says: string, line: number, column: number])[] = [
    ["id: [1, 2", "a closing bracket ] or brace } is missing", 1, 10],
    ["a:\n  - {b: 1\nc: 2", "a closing bracket ] or brace } is missing", 3, 1],
    ['id: "sample', 'a text without its closing "', 1, 12],
    ["id: 'sample", "a text without its closing '", 1, 12],
    ["id: a: b", "a second colon in one line", 1, 5],
    ["id: sample\n\tname: x", "a tab indents the line; use spaces", 2, 1],
    ["id: sample\n name: x", "a second colon in one line", 1, 5],
    ["a:\n  b: 1\n c: 2", "the indentation does not fit the lines above", 3, 1],
    ["id: sample\nname\nversion: 1", "perhaps a colon is missing above", 2, 1],
    ["id: sample\nname", "a colon is missing after the key", 2, 1],
    ["id: @sample", 'a text that begins with "@sample" has to stand in quotes', 1, 5],
    ['id: "a\\q"', "an unknown escape", 1, 7],
    ["id: [a b: c, d}", "a closing bracket ] or brace } is missing", 1, 15],
    ["id: ]", '"]" cannot stand here', 1, 5],
    ["id: {a: 1 b: 2}", "a comma is missing", 1, 9],
    ["id: a\nid: b", 'the key "id" is there twice', 2, 1],
    ["id: !nosuch a", 'the tag "!nosuch" is not known', 1, 5],
    ["1: a", "1: no such member", 1, 4],
  ];
  for (const [text, says, line, column] of cases) {
    try {
      await readRecipe({ text });
      t.fail(`was read: ${text}`);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      const { message, details } = error;
      t.match([message, details?.line, details?.column], [says, line, column], text);
    }
  }
});

function faultOfText(text: string): string {
  try {
    readText(text);
    return "";
  } catch (error) {
    return (error as DbError).message;
  }
}

t.test("the parser's own words reach nobody", async (t) => {
  const sample = `${HEAD}workflow:\n  - {name: one, sql: "SELECT $n"}\n  - name: two\n    sql: |\n      SELECT 1\n`;
  const marks = [..."[]{}:,-\"'|>&*!%@`#?\t\n"];
  const parsers = /scalar|implicit|flow |token|collection|props|indicator|unresolved|unexpected|must be|block map/i;
  for (let at = 0; at < sample.length; at += sized(4, 1)) {
    for (const mark of marks) {
      for (const text of [
        sample.slice(0, at) + mark + sample.slice(at),
        sample.slice(0, at) + mark + sample.slice(at + 1),
      ]) {
        const fault = faultOfText(text);
        if (fault.includes("not valid YAML") && parsers.test(fault.replaceAll(/"[^"]*"/g, "")))
          t.fail(`${fault}: ${text}`);
      }
    }
  }
  t.pass("looked at all");
});

t.test("texts that mean harm are refused at once", async (t) => {
  const bomb = [
    "a: &a [x, x, x, x, x, x, x, x, x]",
    ...[..."bcdefghi"].map((key, i) => `${key}: &${key} [${Array(9).fill(`*${"abcdefgh"[i]}`)}]`),
  ];
  t.match(await faultOf(bomb.join("\n")), "invalid_recipe aliases (*name) are not allowed in recipes");
  t.match(await faultOf("[".repeat(100_000)), "invalid_recipe");
  t.match(
    await faultOf(`a: ${"[".repeat(RECIPE_DEPTH_MAX + 1)}${"]".repeat(RECIPE_DEPTH_MAX + 1)}`),
    `nested deeper than ${RECIPE_DEPTH_MAX}`,
  );
  t.match(await faultOf(`${"- ".repeat(5000)}x`), "invalid_recipe");
  t.match(await faultOf("x".repeat(RECIPE_BYTES_MAX + 1)), "payload_too_large");
  t.match(await faultOf("a: 1\na: 2"), 'the key "a" is there twice');
  t.match(
    await faultOf("a: !!js/function 'x'"),
    'invalid_recipe not valid YAML or JSON: the tag "!!js/function" is not known',
  );
  t.match(await faultOf("a: .inf"), "numbers must be finite");
  t.match(await faultOf('a: "\\0"'), "texts must hold no NUL");
  t.match(await faultOf("a: 1\n---\nb: 2"), "invalid_recipe not valid YAML or JSON: several documents");
  t.match(await faultOf("__proto__: {polluted: true}"), "invalid_recipe __proto__: no such member");
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
});

t.test("whatever the text is, the answer is a recipe or a fault of the recipe's", async () => {
  const sample = await readRecipe({ text: `${HEAD}workflow: [{name: one, sql: SELECT $n}]` });
  const words = fc.constantFrom(
    "id",
    "workflow",
    "sql",
    "$n",
    ": ",
    "- ",
    "\n",
    "  ",
    "{",
    "}",
    "[",
    "]",
    "|",
    ">",
    "&a",
    "*a",
    "'",
    '"',
    "#",
    "!!",
    "SELECT",
    "1",
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.array(words, { maxLength: 60 }).map((parts) => parts.join("")),
    fc.json(),
  );
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      await readRecipe({ text }).catch((error) => {
        if (!(error instanceof DbError) || error.status !== 400) throw error;
      });
    }),
    { numRuns: tries(30) },
  );
  const members = fc.constantFrom(...Object.keys(sample.document), "schema", "seed", "tests", "tags", "signature");
  await fc.assert(
    fc.asyncProperty(fc.dictionary(members, fc.jsonValue({ maxDepth: 4 })), async (changes) => {
      await readRecipe({ json: JSON.stringify({ ...sample.document, ...changes }) }).catch((error) => {
        if (!(error instanceof DbError) || error.status !== 400) throw error;
      });
    }),
    { numRuns: tries(30) },
  );
});

t.test("YAML, JSON and an object of the same content have the same digest", async (t) => {
  const { document, digest } = await readRecipe({ text: `${HEAD}workflow: [{name: one, sql: SELECT $n}]` });
  t.equal((await readRecipe({ text: JSON.stringify(document, null, 3) })).digest, digest);
  t.equal((await readRecipe({ text: stringify(document) })).digest, digest);
  t.equal(
    (await readRecipe({ json: JSON.stringify(Object.fromEntries(Object.entries(document).reverse())) })).digest,
    digest,
  );
  t.not((await readRecipe({ json: JSON.stringify({ ...document, name: "Other" }) })).digest, digest);
  t.equal(canonicalJson({ b: [1, "x"], a: { d: null, c: true } }), '{"a":{"c":true,"d":null},"b":[1,"x"]}');
});

t.test("signatures", async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ format: "der", type: "spki" });
  const keys = [spki.toString("base64"), spki.subarray(12).toString("base64")];
  const digest = digestOf({ id: "x" });
  const value = sign(
    null,
    Buffer.from(digest),
    createPrivateKey(privateKey.export({ format: "pem", type: "pkcs8" })),
  ).toString("base64");
  const signature = { algorithm: "ed25519", value } as const;
  t.equal(signerOf(digest, signature, keys), keys[0]);
  t.equal(signerOf(digest, signature, [keys[1]!]), keys[1]);
  t.equal(signerOf(digestOf({ id: "y" }), signature, keys), null);
  t.equal(signerOf(digest, { ...signature, value: "AAAA" }, keys), null);
  const other = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).toString("base64");
  t.equal(signerOf(digest, signature, [other]), null);
  t.equal(digestOf({ id: "x", signature }), digest, "the signature is no part of what is signed");
});

t.test("parameters: types, bounds and defaults", (t) => {
  const faults: readonly (readonly [parameter: object, value: unknown, fault: string | null])[] = [
    [{ type: "integer" }, 1.5, "must be a whole number"],
    [{ type: "integer", minimum: 2 }, 1, "must be at least 2"],
    [{ type: "number", maximum: 2 }, 2.5, "must be at most 2"],
    [{ type: "text", max_length: 2 }, "abc", "must have at most 2 characters, and has 3"],
    [{ type: "text", enum: ["a"] }, "b", 'must be one of "a"'],
    [{ type: "text" }, null, "must be a text, not null"],
    [{ type: "text", default: null }, null, null],
    [{ type: "boolean" }, "true", "must be true or false"],
    [{ type: "date" }, "2024-02-31x", 'must be a date such as "2024-05-01"'],
    [{ type: "timestamp" }, "2024-02-01T10:00:00Z", null],
    [{ type: "uuid" }, "1", "must be a UUID"],
    [{ type: "vector", min_length: 2 }, [1], "must have at least 2 numbers, and has 1"],
    [{ type: "list", items: "integer" }, [1, "2"], "must be a list, each item a whole number"],
    [{ type: "identifier" }, "a b", "must be a name: letters, digits and _ (1 to 63), not beginning with a digit"],
    [
      { type: "identifier" },
      'x"; DROP TABLE y; --',
      "must be a name: letters, digits and _ (1 to 63), not beginning with a digit",
    ],
    [{ type: "identifier" }, "größe", null],
    [{ type: "json" }, { a: [1] }, null],
  ];
  for (const [parameter, value, fault] of faults) {
    const bound = bindParameters({ x: parameter as never }, { x: value });
    t.equal("fault" in bound ? bound.fault : null, fault, `${JSON.stringify(parameter)} ${JSON.stringify(value)}`);
  }
  t.match(bindParameters({ x: { type: "text" } }, {}), { name: "x", fault: "is missing: a text" });
  t.match(bindParameters({ x: { type: "text" } }, { y: 1 }), {
    name: "y",
    fault: "is no parameter of the recipe; it has x",
  });
  t.end();
});

t.test("values stand beside the text, names in it, quoted", (t) => {
  const values = bindParameters(
    { n: { type: "integer" }, who: { type: "text" }, at: { type: "identifier" }, tags: { type: "list" } },
    { n: 5, who: "'; DROP TABLE x; --", at: "Größe", tags: ["a"] },
  );
  if ("fault" in values) throw new Error(values.fault);
  const sql = `SELECT '$n', "$n", $x$ $n $x$, $n /* $n */, $who, $tags FROM $at WHERE a = $n -- $n`;
  const bound = bindStatement({ sql }, values);
  t.equal(
    bound.text,
    `SELECT '$n', "$n", $x$ $n $x$, ($1::int4) /* $n */, ($2::text), ($3::text[]) FROM "Größe" WHERE a = ($1::int4) -- $n`,
  );
  t.same(bound.params, [5, "'; DROP TABLE x; --", ["a"]]);
  t.equal(bound.position(bound.text.indexOf("WHERE") + 1), sql.indexOf("WHERE") + 1);
  const cypher = bindStatement({ cypher: "MATCH (x:$at) WHERE x.a = $who AND x.b = '$n' RETURN $n // $n" }, values);
  t.equal(cypher.text, "MATCH (x:`Größe`) WHERE x.a = $who AND x.b = '$n' RETURN $n // $n");
  t.same(cypher.params, { who: "'; DROP TABLE x; --", n: 5 });
  t.end();
});
