/** Verification of claims in SQL: over rows, with anchors of groups, with every error. */
import t from "tap";
import {
  addClaimBundle,
  CONTRADICTING,
  digestOf,
  ENTAILING,
  emptyRoot,
  expectedScores,
} from "../ai/nli/claim-bundles.js";
import { TestServer } from "./server.js";

t.setTimeout(300_000);

const root = emptyRoot();
const digest = digestOf(addClaimBundle(root, { id: "nli-small", alias: "nli-default" }));
addClaimBundle(root, { id: "typed", types: true });
addClaimBundle(root, { id: "unlabelled", edit: ({ labels: _, ...rest }) => rest });
const server = await TestServer.start({ TESSERA_AI_MODEL_ROOT: root, TESSERA_NLI_ENABLED: "true" });
t.teardown(() => server.stop());

const STATEMENT = "The rows are written.";
const NOT_SO = `Rows are ${CONTRADICTING} known.`;
const SO = `The ${ENTAILING} rows.`;
const NOTHING = "Rows may be long.";

const value = async (sql: string, parameters: readonly unknown[] = []) => (await server.rows(sql, parameters))[0]![0];

t.test("NLI_CLASSIFY gives what the route gives", async (t) => {
  const found = await value("SELECT NLI_CLASSIFY('nli-default', $1, $2) AS c", [NOT_SO, STATEMENT]);
  const { body } = await server.call("POST", "/v1/ai/nli/pairs", {
    pairs: [{ premise: NOT_SO, hypothesis: STATEMENT }],
  });
  t.same(found, { model: "nli-default", bundle_sha256: digest, scores: body.data.scores[0] });
  const [contradiction] = expectedScores(NOT_SO, STATEMENT);
  for (const options of ["'{}'", "NULL", "jsonb_build_object('same_subject', false)"]) {
    const call = `SELECT nli_classify('nli-default', '${NOT_SO}', '${STATEMENT}', ${options})`;
    t.same(await value(call), found, options);
  }
  const scores = "SELECT (c->'scores'->>'contradiction')::float8 FROM (SELECT nli_classify(NULL, $1, $2) AS c) s";
  t.ok(Math.abs(Number(await value(scores, [NOT_SO, STATEMENT])) - contradiction) < 2e-5, "NULL: the default model");
  t.same(await server.rows("SELECT nli_classify('nli-default', NULL, 'x'), nli_classify('nli-default', 'x', NULL)"), [
    [null, null],
  ]);
});

t.test("texts that are known to be about the same are never unrelated", async (t) => {
  const [anchor, statement] = ["It rains in Berlin.", "The cat is on the mat."];
  const related = async (options: string) => [
    await value(`SELECT nli_classify('nli-default', $1, $2${options})->'scores'->'related'`, [anchor, statement]),
    await value(`SELECT nli_verify('nli-default', $2, ARRAY[$1]${options})->'details'->0->'related'`, [
      anchor,
      statement,
    ]),
  ];
  t.same(await related(""), [false, false]);
  t.same(await related(`, '{"same_subject": true}'`), [true, true]);
  const asked = { pairs: [{ premise: anchor, hypothesis: statement }], same_subject: true };
  const { body } = await server.call("POST", "/v1/ai/nli/pairs", asked);
  t.equal(body.data.scores[0].related, true);
  const claim = { statement, truth_anchors: [anchor], same_subject: true };
  const verified = await server.call("POST", "/v1/ai/nli/verify", claim);
  t.equal(verified.body.data.details[0].related, true);
});

t.test("NLI_VERIFY gives what the route gives, whatever form anchors and options have", async (t) => {
  const anchors = [SO, NOT_SO];
  const { body } = await server.call("POST", "/v1/ai/nli/verify", { statement: STATEMENT, truth_anchors: anchors });
  const json = JSON.stringify(anchors);
  const calls: readonly (readonly [string, readonly unknown[]])[] = [
    ["nli_verify('nli-default', $1, $2)", [STATEMENT, json]],
    ["nli_verify('nli-default', $1, $2)", [STATEMENT, anchors]],
    ["nli_verify('nli-default', $1, $2, $3)", [STATEMENT, anchors, { closed_world: false }]],
    ["nli_verify('nli-default', $1, $2::text)", [STATEMENT, json]],
    ["nli_verify('nli-default', $1, $2::json)", [STATEMENT, json]],
    ["nli_verify('nli-default', $1, $2::jsonb)", [STATEMENT, json]],
    ["nli_verify('nli-default', $1, $2::text[])", [STATEMENT, anchors]],
    [`nli_verify('nli-default', '${STATEMENT}', ARRAY['${SO}', '${NOT_SO}'])`, []],
    [`nli_verify('nli-default', '${STATEMENT}', '${json}')`, []],
    [`nli_verify('nli-default', '${STATEMENT}', '${json}', '{}')`, []],
    [`nli_verify('nli-default', '${STATEMENT}', '${json}', NULL)`, []],
    [`nli_verify('nli-default', '${STATEMENT}', jsonb_build_array('${SO}', '${NOT_SO}'), jsonb_build_object())`, []],
  ];
  for (const [call, parameters] of calls) t.same(await value(`SELECT ${call} AS v`, parameters), body.data, call);
  t.match(body.data, { verdict: "LIE", violated_anchor: NOT_SO });
  const closed = `SELECT nli_verify('nli-default', '${STATEMENT}', '["${NOTHING}"]', '{"closed_world": true}')->>'verdict'`;
  t.equal(await value(closed), "LIE");
  t.equal(await value(closed.replace("true", "false")), "UNVERIFIED_PLAUSIBLE");
  t.equal(await value(closed.replace('"closed_world": true', '"entailment_threshold": 0.00')), "TRUTH", "0.00 is 0");
  t.same(await server.rows("SELECT nli_verify('nli-default', NULL, '[\"a\"]'), nli_verify('nli-default', 'a', NULL)"), [
    [null, null],
  ]);
});

t.test("over rows, and anchors of groups", async (t) => {
  await server.rows("CREATE TABLE claim (id integer PRIMARY KEY, topic text, body text)");
  await server.rows("CREATE TABLE evidence (id integer PRIMARY KEY, topic text, body text)");
  await server.rows(
    "INSERT INTO claim SELECT i, 'topic ' || i % 3, 'The rows are written.' FROM generate_series(0, 149) i",
  );
  await server.rows(
    "INSERT INTO evidence VALUES (1, 'topic 0', $1), (2, 'topic 0', $2), (3, 'topic 1', $2), (4, 'topic 1', NULL), (5, 'topic 2', $3)",
    [NOT_SO, SO, NOTHING],
  );
  t.same(
    await server.rows("SELECT topic, nli_anchors(body ORDER BY id) AS a FROM evidence GROUP BY topic ORDER BY topic"),
    [
      ["topic 0", [NOT_SO, SO]],
      ["topic 1", [SO]],
      ["topic 2", [NOTHING]],
    ],
  );
  const verdicts = await server.rows(
    `SELECT v->>'verdict' AS verdict, count(*) FROM (
       SELECT nli_verify('nli-default', c.body, e.anchors) AS v FROM claim c
       JOIN (SELECT topic, nli_anchors(body ORDER BY id DESC) AS anchors FROM evidence GROUP BY topic) e USING (topic)
     ) s GROUP BY verdict ORDER BY verdict`,
  );
  t.same(verdicts, [
    ["LIE", 50],
    ["TRUTH", 50],
    ["UNVERIFIED_PLAUSIBLE", 50],
  ]);
  const one = "SELECT nli_verify('nli-default', $1, nli_anchors(body)) AS v FROM evidence WHERE topic = $2";
  t.match(await value(one, [STATEMENT, "topic 1"]), { verdict: "TRUTH", matched_anchor: SO });
  t.equal(await value(one, [STATEMENT, "no topic"]), null, "no anchors, no verdict");
  const ordered = await server.rows(
    `SELECT id, (nli_classify('typed', body, $1)->'scores'->>'entailment')::float8 AS score
     FROM evidence WHERE body IS NOT NULL ORDER BY score DESC, id LIMIT 2`,
    [STATEMENT],
  );
  t.same(
    ordered.map(([id]) => id),
    [2, 3],
  );
  const where =
    "SELECT id FROM evidence WHERE (nli_classify('nli-default', body, $1)->'scores'->>'contradiction')::float8 > 0.6";
  t.same(await server.rows(where, [STATEMENT]), [[1]]);
});

t.test("what is stored, and what is asked of many rows", async (t) => {
  await server.rows("CREATE TABLE verdict (id integer PRIMARY KEY, v jsonb)");
  await server.rows(
    `INSERT INTO verdict SELECT id, nli_verify('nli-default', body, ARRAY['${SO}']) FROM claim WHERE id < 70`,
  );
  t.same(await server.rows("SELECT count(*), count(DISTINCT v) FROM verdict WHERE v->>'verdict' = 'TRUTH'"), [[70, 1]]);
  await server.rows("UPDATE verdict SET v = nli_verify('typed', 'x', '[\"y\"]') WHERE id = 7");
  t.equal(await value("SELECT v->>'model' FROM verdict WHERE id = 7"), "typed");
  const many = await server.rows(
    "SELECT nli_classify('nli-default', body || id, $1) AS c FROM claim ORDER BY id LIMIT 100",
    [SO],
  );
  t.equal(many.length, 100);
  const [contradiction] = expectedScores(`${STATEMENT}99`, SO);
  t.ok(Math.abs((many[99]![0] as { scores: { contradiction: number } }).scores.contradiction - contradiction) < 2e-5);
});

t.test("NLI_ANCHORS takes the first 32 texts in their order", async (t) => {
  const sql = "SELECT nli_anchors('text ' || i ORDER BY i DESC) AS a FROM generate_series(1, 40) i";
  const anchors = (await value(sql)) as string[];
  t.equal(anchors.length, 32);
  t.same([anchors[0], anchors[31]], ["text 40", "text 9"]);
  t.same(await value("SELECT nli_anchors(x) FILTER (WHERE x <> 'b') AS a FROM (VALUES ('a'), ('b'), (NULL)) v(x)"), [
    "a",
  ]);
  t.same(await value("SELECT nli_anchors(DISTINCT x) AS a FROM (VALUES ('a'), ('b'), ('a')) v(x)"), ["a", "b"]);
  t.same(await server.rows("SELECT nli_anchors(x) OVER (ORDER BY x) AS a FROM (VALUES ('a'), ('b')) v(x)"), [
    [["a"]],
    [["a", "b"]],
  ]);
  t.equal(await value("SELECT nli_anchors(x) AS a FROM (VALUES ('a')) v(x) WHERE false"), null);
});

t.test("errors are those of the routes, with an SQLSTATE and a position", async (t) => {
  const cases: readonly (readonly [string, number, string, string, RegExp])[] = [
    ["nli_classify('nobody', 'a', 'b')", 404, "nli_model_not_found", "42704", /"nobody"/],
    ["nli_classify('nli-xsmall', 'a', 'b')", 503, "nli_model_not_installed", "55000", /not installed/],
    ["nli_classify('unlabelled', 'a', 'b')", 503, "nli_model_unavailable", "58000", /labels/],
    ["nli_classify('no/model', 'a', 'b')", 400, "invalid_nli_request", "22023", /model must be/],
    ["nli_classify('nli-default', repeat('é', 8193), 'b')", 400, "invalid_nli_request", "22023", /premise has 16386/],
    ["nli_classify('nli-default', 'a', '')", 400, "invalid_nli_request", "22023", /hypothesis is empty/],
    ["nli_verify('nli-default', 'a', '[]')", 400, "invalid_nli_request", "22023", /1 to 32 anchors/],
    [
      "nli_verify('nli-default', 'a', '{\"a\": 1}')",
      400,
      "invalid_nli_request",
      "22023",
      /truth_anchors must be an array/,
    ],
    [
      "nli_verify('nli-default', 'a', 'no json'::text)",
      400,
      "invalid_nli_request",
      "22023",
      /anchors_json is not valid JSON/,
    ],
    [
      "nli_verify('nli-default', 'a', '[\"x\", 5]')",
      400,
      "invalid_nli_request",
      "22023",
      /truth_anchors\[1\] must be a text/,
    ],
    [
      "nli_verify('nli-default', 'a', ARRAY['x', NULL])",
      400,
      "invalid_nli_request",
      "22023",
      /truth_anchors\[1\] must be/,
    ],
    [
      "nli_verify('nli-default', 'a', array_fill('x'::text, ARRAY[33]))",
      400,
      "invalid_nli_request",
      "22023",
      /it holds 33/,
    ],
    [
      "nli_verify('nli-default', 'a', '[\"x\"]', '{\"closedWorld\": true}')",
      400,
      "invalid_nli_request",
      "22023",
      /Unknown field "closedWorld"/,
    ],
    [
      "nli_verify('nli-default', 'a', '[\"x\"]', '{\"entailment_threshold\": 1.5}')",
      400,
      "invalid_nli_request",
      "22023",
      /0 to 1/,
    ],
  ];
  for (const [call, status, code, sqlstate, message] of cases) {
    const reply = await server.sql(`SELECT ${call} AS v`);
    t.equal(reply.status, status, call);
    t.match(reply.body.error, { code, message, details: { sqlstate, position: 8 } });
  }
  for (const call of [
    "nli_verify('nli-default', 'a')",
    "nli_verify('nli-default', 'a', 7)",
    "nli_classify('a', 'b')",
    "nli_classify('nli-default', 'a', 'b', 7)",
  ]) {
    t.match((await server.sql(`SELECT ${call}`)).body.error, { details: { sqlstate: "42883" } });
  }
  const inIndex = await server.sql("CREATE INDEX ON claim ((nli_classify('nli-default', body, 'x')))");
  t.match(inIndex.body.error, { details: { sqlstate: /0A000|42P17/ } });
});

t.test("a model is looked up before there are rows", async (t) => {
  for (const call of [
    "NLI_CLASSIFY('nosuch', r.t, r.t)",
    "NLI_VERIFY('nosuch', r.t, '[\"a\"]')",
    "EMBED(r.t, 'nosuch')",
  ]) {
    const { status, body } = await server.sql(`SELECT ${call} FROM (VALUES ('x')) AS r(t) WHERE false`);
    t.equal(status, 404, call);
    t.match(body.error, { message: /"nosuch"/, details: { position: 8 } });
  }
  const bound = await server.sql("SELECT EMBED(r.t, $1) FROM (VALUES ('x')) AS r(t) WHERE r.t = ''", ["nosuch"]);
  t.equal(bound.status, 404);
});

t.test("a wrong row of many fails the statement and names what is wrong", async (t) => {
  const reply = await server.sql(
    "SELECT nli_verify('nli-default', 'a', jsonb_build_array('x', repeat('y', i * 1000))) AS v FROM generate_series(15, 17) i",
  );
  t.match(reply.body.error, { code: "invalid_nli_request", message: /truth_anchors\[1\] has 17000 UTF-8 bytes/ });
});

t.test("memories ask the model where rules do not tell", async (t) => {
  const store = (content: string) =>
    value("SELECT MEMORY_STORE('asked', $1, NULL::jsonb, '{\"supersede\": true}'::jsonb)", [content]);
  const { id } = (await store(`The rows that are ${CONTRADICTING} long start early in the morning.`)) as { id: string };
  t.match(await store(`The rows that are ${CONTRADICTING} long start late in the evening.`), {
    superseded: [id],
    judged_by: ["rules", "nli"],
  });
});
