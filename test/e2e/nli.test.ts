/** Verification of claims as clients get it over HTTP: answers, every error, and models that come and go. */
import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  addClaimBundle,
  CONTRADICTING,
  digestOf,
  ENTAILING,
  emptyRoot,
  expectedScores,
} from "../ai/nli/claim-bundles.js";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

t.setTimeout(300_000);

const root = emptyRoot();
const digest = digestOf(addClaimBundle(root, { id: "nli-small", alias: "nli-default" }));
addClaimBundle(root, { id: "typed", types: true });
truncateSync(join(addClaimBundle(root, { id: "broken" }), "model.onnx"), 400);
writeFileSync(join(addClaimBundle(root, { id: "changed" }), "tokenizer.json"), "x".repeat(24_736));

const started = (t: Test, environment: Readonly<Record<string, string>>) =>
  TestServer.start(environment).then((server) => {
    t.teardown(() => server.stop());
    return server;
  });

const ON = { TESSERA_AI_MODEL_ROOT: root, TESSERA_NLI_ENABLED: "true" };
const server = await started(t, ON);

const STATEMENT = "The rows are written.";
const NOT_SO = `Rows are ${CONTRADICTING} known.`;
const SO = `The ${ENTAILING} rows.`;
const NOTHING = "Rows may be long.";
const verify = (body: unknown, on = server) => on.call("POST", "/v1/ai/nli/verify", body);
const pairs = (body: unknown, on = server) => on.call("POST", "/v1/ai/nli/pairs", body);
const claim = (truth_anchors: readonly string[], more: object = {}) => ({
  statement: STATEMENT,
  truth_anchors,
  ...more,
});

t.test("verdicts", async (t) => {
  const { status, body } = await verify(claim([SO, NOT_SO, NOTHING]));
  t.equal(status, 200);
  t.match(body.data, {
    model: "nli-default",
    bundle_sha256: digest,
    verdict: "LIE",
    reason: /contradict/,
    violated_anchor: NOT_SO,
    matched_anchor: null,
  });
  t.equal(body.data.confidence, body.data.all_scores[1][0]);
  t.same(Object.keys(body.data).sort(), [
    "all_scores",
    "bundle_sha256",
    "confidence",
    "details",
    "evidence",
    "matched_anchor",
    "model",
    "reason",
    "verdict",
    "violated_anchor",
  ]);
  t.same(body.data.evidence, { anchor: 1, text: NOT_SO, start: 0, end: NOT_SO.length });
  t.same(
    body.data.details.map(({ related }: { related: boolean }) => related),
    [true, true, true],
  );
  for (const [i, anchor] of [SO, NOT_SO, NOTHING].entries()) {
    const expected = expectedScores(anchor, STATEMENT);
    t.ok(
      expected.every((score, label) => Math.abs(score - body.data.all_scores[i][label]) < 2e-5),
      anchor,
    );
  }
  const verdict = async (anchors: readonly string[], more: object = {}) => {
    const { data } = (await verify(claim(anchors, more))).body;
    return [data.verdict, data.violated_anchor, data.matched_anchor];
  };
  t.same(await verdict([NOTHING, SO]), ["TRUTH", null, SO]);
  t.same(await verdict([NOTHING]), ["UNVERIFIED_PLAUSIBLE", null, null]);
  t.same(await verdict([NOTHING], { closed_world: true }), ["LIE", null, null]);
  t.same(await verdict([SO], { closed_world: true }), ["TRUTH", null, SO]);
  const [[contradiction, entailment]] = (await verify(claim([NOTHING]))).body.data.all_scores;
  t.same(
    await verdict([NOTHING], { contradiction_threshold: contradiction }),
    ["LIE", NOTHING, null],
    "at the threshold",
  );
  t.same(await verdict([NOTHING], { entailment_threshold: entailment }), ["TRUTH", null, NOTHING]);
  t.same(await verdict([NOTHING], { entailment_threshold: entailment + 1e-12 }), ["UNVERIFIED_PLAUSIBLE", null, null]);
});

t.test("pairs", async (t) => {
  const there = { premise: NOT_SO, hypothesis: STATEMENT };
  const back = { premise: STATEMENT, hypothesis: NOT_SO };
  const { status, body } = await pairs({ pairs: [there, back, there], model: "typed" });
  t.equal(status, 200);
  t.match(body.data, { model: "typed", bundle_sha256: /^[0-9a-f]{64}$/ });
  t.same(body.data.scores[2], body.data.scores[0]);
  for (const [i, { premise, hypothesis }] of [there, back].entries()) {
    const [contradiction, entailment, neutral] = expectedScores(premise, hypothesis, { types: true });
    const score = body.data.scores[i];
    t.ok(Math.abs(score.contradiction - contradiction) < 2e-5, "contradiction");
    t.ok(Math.abs(score.entailment - entailment) < 2e-5, "entailment");
    t.ok(Math.abs(score.neutral - neutral) < 2e-5, "neutral");
  }
  t.not(body.data.scores[0].contradiction, body.data.scores[1].contradiction, "direction counts");
});

t.test("the largest request", async (t) => {
  // A long word of letters that the model does not know takes its tokenizer a second.
  const largest = sized(1, 32);
  const anchors = Array.from({ length: 32 }, (_, i) => `${i} ${"é".repeat(i < largest ? 8190 : 90)}`.slice(0, 8192));
  const { status, body } = await verify({ statement: "x".repeat(16_384), truth_anchors: anchors });
  t.equal(status, 200);
  t.equal(body.data.all_scores.length, 32);
});

t.test("many clients at a time get what each gets alone", async (t) => {
  const claims = Array.from({ length: sized(10, 40) }, (_, i) => ({
    statement: `${STATEMENT} ${i}`,
    truth_anchors: [SO.repeat(1 + (i % 9)), `${i} ${NOT_SO}`].slice(i % 2),
  }));
  const together = await Promise.all(claims.map((one) => verify(one)));
  for (const [i, one] of claims.entries()) {
    const alone = (await verify(one)).body.data;
    t.equal(together[i]!.body.data.verdict, alone.verdict);
    for (const [k, scores] of alone.all_scores.entries()) {
      const apart = scores.map((x: number, label: number) => Math.abs(x - together[i]!.body.data.all_scores[k][label]));
      t.ok(Math.max(...apart) < 1e-5);
    }
  }
});

t.test("what is wrong with a request", async (t) => {
  const long = "é".repeat(8193);
  const cases: readonly (readonly [unknown, RegExp, string | undefined])[] = [
    [{ statement: "a", anchors: ["b"] }, /"anchors"/, "anchors"],
    [claim([]), /1 to 32/, "truth_anchors"],
    [claim(Array(33).fill("a")), /it holds 33/, "truth_anchors"],
    [claim(["a", "b", "c", long]), /truth_anchors\[3\] has 16386 UTF-8 bytes/, "truth_anchors[3]"],
    [{ statement: long, truth_anchors: ["a"] }, /statement has 16386/, "statement"],
    [claim(["a"], { model: "no/model" }), /model must be/, "model"],
    [claim(["a"], { entailment_threshold: 2 }), /from 0 to 1/, "entailment_threshold"],
    [{}, /Missing/, "statement"],
    [[], /JSON object/, undefined],
    ["null", /JSON object/, undefined],
    ['"text"', /JSON object/, undefined],
  ];
  for (const [body, message, field] of cases) {
    const reply = await verify(body);
    t.equal(reply.status, 400, JSON.stringify(body)?.slice(0, 60));
    t.match(reply.body.error, { code: "invalid_nli_request", message });
    t.equal(reply.body.error.details?.field, field);
  }
  const misnamed = await verify({ statement: "a", anchors: ["b"] });
  t.match(misnamed.body.error.details, { hint: /truth_anchors/ });
  t.match((await verify(undefined)).body.error, { code: "invalid_nli_request" }, "no body");
  t.match((await verify("{")).body.error, { code: "invalid_json" });
  for (const [body, field] of [
    [{ pairs: [] }, "pairs"],
    [{ pairs: [{ premise: "a" }] }, "pairs[0].hypothesis"],
    [{ pairs: [{ premise: "a", hypothesis: "b", c: 1 }] }, "pairs[0].c"],
    [{ pairs: Array(33).fill({ premise: "a", hypothesis: "b" }) }, "pairs"],
  ] as const) {
    const reply = await pairs(body);
    t.equal(reply.status, 400);
    t.match(reply.body.error, { code: "invalid_nli_request", details: { field } });
  }
});

t.test("models that cannot be asked", async (t) => {
  const cases = [
    ["nobody-knows", 404, "nli_model_not_found"],
    ["nli-xsmall", 503, "nli_model_not_installed"],
    ["broken", 503, "nli_model_unavailable"],
    ["changed", 503, "nli_model_unavailable"],
    ["tessera-embed-384", 404, "nli_model_not_found"],
  ] as const;
  for (const [model, status, code] of cases) {
    for (const reply of [
      await verify(claim(["a"], { model })),
      await pairs({ pairs: [{ premise: "a", hypothesis: "b" }], model }),
    ]) {
      t.equal(reply.status, status, model);
      t.match(reply.body.error, { code, details: { hint: String } });
    }
  }
});

t.test("nobody's request", async (t) => {
  for (const token of [null, "x.y.z", "ak_unknown"]) {
    for (const [method, path] of [
      ["GET", "models"],
      ["POST", "verify"],
      ["POST", "pairs"],
    ] as const) {
      const body = method === "GET" ? undefined : {};
      const reply = await server.call(method, `/v1/ai/nli/${path}`, body, { token });
      t.equal(reply.status, 401);
      t.equal(reply.body.error.code, "missing_claims", `${method} ${path} with ${token}`);
      t.match(reply.headers.get("www-authenticate"), /Bearer/);
    }
  }
  t.match((await server.call("GET", "/v1/users/me", undefined, { token: null })).body.error, {
    code: "missing_authorization",
  });
});

t.test("states of models", async (t) => {
  const { status, body } = await server.call("GET", "/v1/ai/nli/models");
  t.equal(status, 200);
  const { enabled, default_model, restart_required_for_new_installs, models } = body.data;
  t.same([enabled, default_model, restart_required_for_new_installs], [true, "nli-default", true]);
  const states = Object.fromEntries(models.map((one: { model: string; state: string }) => [one.model, one.state]));
  t.match(states, {
    "nli-default": "ready",
    "nli-small": "ready",
    "nli-xsmall": "missing",
    broken: "failed",
    typed: "ready",
  });
  const model = models.find((one: { model: string }) => one.model === "nli-default");
  t.equal(model.loaded_bundle_sha256, digest);
  t.match(model.identity, {
    alias: "nli-default",
    id: "nli-small",
    repository: "tests/tiny-nli",
    revision: "1",
    license: "Apache-2.0",
    bundle_sha256: digest,
    labels: ["contradiction", "entailment", "neutral"],
    max_length: 512,
  });
});

t.test("switched off", async (t) => {
  const off = await TestServer.shared();
  t.match((await verify(claim(["a"]), off)).body.error, { code: "nli_disabled" });
  t.equal((await pairs({ pairs: [{ premise: "a", hypothesis: "b" }] }, off)).status, 503);
  t.match((await verify({ anchors: [] }, off)).body.error, { code: "invalid_nli_request" }, "mistakes come first");
  t.match((await off.call("GET", "/v1/ai/nli/models")).body.data, { enabled: false });
  const inSql = await off.sql("SELECT nli_classify('nli-mini', 'a', 'b') AS v");
  t.equal(inSql.status, 503);
  t.match(inSql.body.error, { code: "nli_disabled", details: { sqlstate: "55000", hint: /\[nli\]/ } });
  t.same(await off.rows("SELECT nli_anchors(x) AS a FROM (VALUES ('a')) v(x)"), [[["a"]]], "anchors need no model");
});

t.test("models that come while the server runs wait for its next start", { timeout: 300_000 }, async (t) => {
  const source = emptyRoot();
  mkdirSync(join(source, "pulled"));
  renameSync(addClaimBundle(emptyRoot(), { id: "pulled" }), join(source, "pulled", "latest"));
  const root = emptyRoot();
  const own = await started(t, {
    TESSERA_NLI_ENABLED: "true",
    TESSERA_NLI_DEFAULT_MODEL: "nli-default",
    TESSERA_AI_MODEL_ROOT: root,
    TESSERA_AI_PULL_SOURCES: source,
  });
  const ask = (model?: string) => verify(claim(["a"], model === undefined ? {} : { model }), own);
  t.match((await ask("pulled")).body.error, { code: "nli_model_not_found", message: /There is no claim model/ });
  t.match((await ask()).body.error, { code: "nli_model_not_installed", message: /nli-default/ });
  t.match(await own.rows("SELECT PULL_MODEL('pulled') AS p"), [[{ model: "pulled", restart_required: true }]]);
  const directory = addClaimBundle(root, { id: "nli-small", alias: "nli-default" });
  addClaimBundle(root, { id: "mine" });
  for (const model of ["pulled", "nli-default", "nli-small", "mine"]) {
    const reply = await ask(model);
    t.equal(reply.status, 404);
    t.match(reply.body.error, { code: "nli_model_not_found", details: { hint: /Restart/ } });
  }
  await own.terminate();
  await own.boot();
  t.match((await ask("pulled")).body.data, { model: "pulled" });
  t.equal((await ask()).status, 200);
  t.match((await ask("mine")).body.data, { model: "mine" });
  rmSync(directory, { recursive: true });
  t.equal((await ask()).status, 200, "what is loaded stays");
});
