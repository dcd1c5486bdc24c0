/** Statements of AutoML as the calls that they become, and what else of a text stays as it is. */
import t from "tap";
import { rewriteDialect } from "../../src/sql/parse/dialect.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";

await loadParser();

function rewritten(text: string): string {
  let result = "";
  let at = 0;
  for (const { start, end, text: by } of rewriteDialect(text).edits) {
    result += text.slice(at, start) + by;
    at = end;
  }
  return result + text.slice(at);
}

t.test("statements", async (t) => {
  for (const [text, call] of [
    [
      `CREATE EXPERIMENT e AS SELECT a, 'it''s' FROM t WITH (target_column = 'a', max_trials = 3, algorithms = [xgboost, 'linear'])`,
      `SELECT automl_create_experiment('e', false, 'SELECT a, ''it''''s'' FROM t', jsonb_build_array(), jsonb_build_object('target_column', 'a', 'max_trials', 3, 'algorithms', jsonb_build_array('xgboost', 'linear')), 23) AS automl_result`,
    ],
    [
      `create experiment async "My E" as with x as (select 1 as a) select a from x with (target_column = a)`,
      `SELECT automl_create_experiment('My E', true, 'with x as (select 1 as a) select a from x', jsonb_build_array(), jsonb_build_object('target_column', 'a'), 34) AS automl_result`,
    ],
    [
      "CREATE EXPERIMENT $3 AS SELECT a FROM t WHERE a > $2 WITH (target_column = $4, algorithms = [$5], seed = 1)",
      `SELECT automl_create_experiment($3::text, false, 'SELECT a FROM t WHERE a > $2', jsonb_build_array((SELECT $1), (SELECT $2)), jsonb_build_object('target_column', (SELECT $4), 'algorithms', jsonb_build_array((SELECT $5)), 'seed', 1), 24) AS automl_result`,
    ],
    ["DEPLOY MODEL $1 FROM EXPERIMENT $2", "SELECT automl_deploy($1::text, $2::text) AS automl_result"],
    [
      "PREDICT c USING $1 AS SELECT a FROM t WHERE a > $2",
      `SELECT q.*, automl_predict($1::text, to_jsonb(q)) AS "c" FROM (SELECT a FROM t WHERE a > $2) AS q`,
    ],
    ["DROP EXPERIMENT IF EXISTS e", "SELECT automl_drop_experiment('e', true) AS result"],
    ["DEPLOY MODEL m FROM EXPERIMENT e", "SELECT automl_deploy('m', 'e') AS automl_result"],
    ["SHOW EXPERIMENTS", "SELECT * FROM automl_experiments()"],
    [
      "PREDICT c USING m AS SELECT a FROM t; SELECT 1",
      `SELECT q.*, automl_predict('m', to_jsonb(q)) AS "c" FROM (SELECT a FROM t) AS q; SELECT 1`,
    ],
    [
      "SELECT AUTOML.PREDICT('m', a, t.b, x => f(a, 2), a + 1) FROM t",
      "SELECT automl_predict('m', jsonb_build_object('a', a, 'b', t.b, 'x', f(a, 2), '$4', a + 1)) FROM t",
    ],
    ["SELECT automl.predict('m', to_jsonb(t)) FROM t", "SELECT automl_predict('m', to_jsonb(t)) FROM t"],
    ["SELECT automl.explain($1, a) FROM t", "SELECT automl_explain($1, jsonb_build_object('a', a)) FROM t"],
  ] as const) {
    t.equal(rewritten(text), call);
    t.ok(parseSql(text).length > 0);
  }
});

t.test("names that look like it", async (t) => {
  for (const text of [
    "SELECT experiment FROM predict",
    "CREATE TABLE experiment (predict int)",
    "SELECT 'PREDICT x USING y'",
  ]) {
    t.equal(rewritten(text), text);
  }
});

t.test("mistakes have their places", async (t) => {
  for (const [text, position] of [
    ["CREATE EXPERIMENT", 18],
    ["CREATE EXPERIMENT e SELECT 1", 21],
    ["CREATE EXPERIMENT e AS SELECT 1 WITH (a 1)", 41],
    ["CREATE EXPERIMENT é AS SELECT 1 WITH (a = )", 43],
    ["DROP EXPERIMENT a b", 19],
    ["DEPLOY MODEL m EXPERIMENT e", 16],
    ["PREDICT c USING 1 AS SELECT 1", 17],
  ] as const) {
    t.throws(() => parseSql(text), { code: "syntax_error", details: { position } }, text);
  }
});
