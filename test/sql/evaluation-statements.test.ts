/** EVALUATE and SHOW EVALUATIONS as the calls that they become. */
import t from "tap";
import { rewriteDialect } from "../../src/sql/parse/dialect.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";

await loadParser();
const callIn = (text: string) =>
  /\((SELECT .*?\)) AS found\)/.exec(rewriteDialect(text).edits[0]!.text)![1]!.slice("SELECT ".length);

t.test("statements", async (t) => {
  for (const [text, call] of [
    ["EVALUATE RETRIEVAL ON notes FROM pairs", "evaluate_retrieval('notes', 'pairs', '{}'::jsonb)"],
    [
      `evaluate retrieval on "My Notes" from app.pairs with (k = 5, modes = [text, 'hybrid'], name = $1)`,
      "evaluate_retrieval('My Notes', 'app.pairs', jsonb_build_object('k', 5, 'modes', jsonb_build_array('text', 'hybrid'), 'name', (SELECT $1)))",
    ],
    ["EVALUATE MODEL $1 ON $2", "evaluate_model($1::text, $2::text, '{}'::jsonb)"],
    [
      "EVALUATE MODEL m ON t WITH (reference = 'o''ld')",
      "evaluate_model('m', 't', jsonb_build_object('reference', 'o''ld'))",
    ],
    ["EVALUATE ANSWERS FROM t", "evaluate_answers(NULL, 't', '{}'::jsonb)"],
    ["EVALUATE ANSWERS ON docs FROM t", "evaluate_answers('docs', 't', '{}'::jsonb)"],
    ["SHOW EVALUATIONS", "list_evaluations()"],
  ] as const) {
    t.equal(callIn(text), call, text);
    t.doesNotThrow(() => parseSql(text), text);
  }
});

t.test("wrong ones", async (t) => {
  for (const [text, message] of [
    ["EVALUATE", /at end of input: expected RETRIEVAL, MODEL or ANSWERS/],
    ["EVALUATE search", /near "search": expected RETRIEVAL, MODEL or ANSWERS/],
    ["EVALUATE RETRIEVAL notes", /near "notes": expected ON/],
    ["EVALUATE RETRIEVAL ON notes", /expected FROM/],
    ["EVALUATE RETRIEVAL ON notes FROM 3", /expected the name of a table/],
    ["EVALUATE MODEL m FROM t", /near "from": expected ON/],
    ["EVALUATE ANSWERS FROM t LIMIT 3", /near "limit": expected WITH/],
    ["EVALUATE ANSWERS FROM t WITH (name = 'x') x", /the end of the statement/],
  ] as const) {
    t.throws(() => parseSql(text), { message }, text);
  }
});

t.test("names of this kind stay what they are", async (t) => {
  for (const text of ["SELECT evaluate FROM t", "SELECT 1 AS evaluations", "INSERT INTO evaluate VALUES (1)"]) {
    t.same(rewriteDialect(text).edits, [], text);
  }
});
