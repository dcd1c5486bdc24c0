/**
 * Models of claims and their states, without a server: bundles that are whole, broken, renamed, replaced, pulled late.
 */
import { appendFileSync, cpSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { Models } from "../../../src/ai/models.js";
import { findClaimBundles } from "../../../src/ai/nli/claim-models.js";
import { verifyRequest } from "../../../src/ai/nli/claim-requests.js";
import { ClaimVerifier } from "../../../src/ai/nli/claim-verifier.js";
import { startInferenceThread } from "../../../src/inference-thread.js";
import { DbError } from "../../../src/protocol/errors.js";
import { connectInference } from "../../../workers/connect-inference.js";
import { addClaimBundle, CONTRADICTING, digestOf, ENTAILING, emptyRoot, expectedScores } from "./claim-bundles.js";

const ASKER = { user: "tenant" };
const CLAIM = verifyRequest({ statement: "The rows are written.", truth_anchors: [`The ${ENTAILING} rows.`] });
/** No static encoder: words count alike, and are alike only if they are the same. */
const noMeanings = () => null;
const of = (model: string) => ({ ...CLAIM, model });

interface Setting {
  readonly enabled?: boolean;
  readonly defaultModel?: string;
  readonly idleMs?: number;
}

function verifierOf(t: Test, root: string, setting: Setting = {}): { claims: ClaimVerifier; warnings: string[] } {
  const { enabled = true, defaultModel = "", idleMs = 60_000 } = setting;
  const warnings: string[] = [];
  const warn = (_message: string, fields: object) => void warnings.push(JSON.stringify(fields));
  const lane = { runThreads: 1, idleMs, sessionsMax: 4, bytesMax: 2 ** 30, waitingMax: 4096, generationsMax: 1 };
  const start = () => connectInference((port) => startInferenceThread(port, (error) => t.fail(error.message)));
  const models = new Models({
    roots: [root],
    embeddingModel: "none",
    warn: () => undefined,
    inference: { start, ...lane },
  });
  t.teardown(() => models.close());
  const installed = findClaimBundles([root]);
  return {
    claims: new ClaimVerifier({
      enabled,
      defaultModel,
      installed,
      roots: [root],
      scorer: models,
      sumOf: noMeanings,
      warn,
    }),
    warnings,
  };
}

const stateOf = (claims: ClaimVerifier, model: string) => claims.list().models.find((one) => one.model === model);

t.test("a verdict", async (t) => {
  const root = emptyRoot();
  const digest = digestOf(addClaimBundle(root, { id: "nli-mini" }));
  const { claims } = verifierOf(t, root);
  const anchors = [`Rows are ${CONTRADICTING} known.`, `The ${ENTAILING} rows.`];
  const found = await claims.verify(
    verifyRequest({ statement: "The rows are written.", truth_anchors: anchors }),
    ASKER,
  );
  t.match(found, {
    model: "nli-mini",
    bundle_sha256: digest,
    verdict: "LIE",
    violated_anchor: anchors[0],
    matched_anchor: null,
  });
  for (const [i, anchor] of anchors.entries()) {
    const expected = expectedScores(anchor, "The rows are written.");
    t.ok(
      expected.every((score, label) => Math.abs(score - found.all_scores[i]![label]!) < 2e-5),
      `scores of ${i}`,
    );
  }
  const truth = await claims.verify(CLAIM, ASKER);
  t.match(truth, { verdict: "TRUTH", matched_anchor: anchors[1], violated_anchor: null });
  const pairs = await claims.classify(
    { model: null, pairs: [{ premise: "The rows are written.", hypothesis: anchors[1]! }] },
    ASKER,
  );
  const [score] = pairs.scores;
  t.ok(Math.abs(score!.entailment - expectedScores("The rows are written.", anchors[1]!)[1]) < 2e-5, "direction");
});

t.test("claims count against the asker's budget", async (t) => {
  const root = emptyRoot();
  addClaimBundle(root, { id: "nli-mini" });
  const { claims } = verifierOf(t, root);
  const begun: string[] = [];
  let left = 1;
  const budget = {
    beginModel: (name: string) => {
      begun.push(name);
      if (left <= 0) throw new DbError("budget_exhausted");
    },
    spendTokens: (count: number) => {
      left -= count;
    },
  };
  const asker = { user: { tenant: "tenant", budget } };
  await claims.verify(CLAIM, asker);
  t.ok(left < 0, "what was read");
  await t.rejects(claims.verify(CLAIM, asker), { code: "budget_exhausted" });
  t.same(begun, ["nli-mini", "nli-mini"]);
  t.match(await claims.verify(CLAIM, ASKER), { verdict: "TRUTH" }, "others go on");
});

t.test("several requests at a time share runs and get their own", async (t) => {
  const root = emptyRoot();
  addClaimBundle(root, { id: "nli-mini" });
  addClaimBundle(root, { id: "other", types: true });
  const { claims } = verifierOf(t, root);
  const requests = Array.from({ length: 50 }, (_, i) => ({
    ...verifyRequest({
      statement: `The rows ${i} are written.`,
      truth_anchors: Array.from(
        { length: 1 + (i % 5) },
        (_, k) => `The rows ${i} ${k} are ${k === 2 ? CONTRADICTING : ENTAILING}`,
      ),
    }),
    model: i % 3 === 0 ? "other" : null,
  }));
  const together = await claims.verifyAll(requests, ASKER);
  for (const [i, request] of requests.entries()) {
    const alone = await claims.verify(request, ASKER);
    t.match(together[i], {
      model: request.model ?? "nli-mini",
      verdict: alone.verdict,
      violated_anchor: alone.violated_anchor,
    });
    t.equal(together[i]!.all_scores.length, request.anchors.length);
  }
});

t.test("the default is nli-default where it is installed, else nli-mini, unless the configuration says", async (t) => {
  const root = emptyRoot();
  addClaimBundle(root, { id: "nli-mini" });
  t.equal(verifierOf(t, root).claims.defaultModel, "nli-mini");
  t.equal(verifierOf(t, root, { defaultModel: "nli-xsmall" }).claims.defaultModel, "nli-xsmall");
  await t.rejects(verifierOf(t, root).claims.verify(of("nli-default"), ASKER), {
    code: "nli_model_not_installed",
    status: 503,
    details: { model: "nli-default", hint: /PULL_MODEL\('nli-default'\).*Installed: nli-mini/ },
  });
  addClaimBundle(root, { id: "nli-small", alias: "nli-default" });
  const { claims } = verifierOf(t, root);
  t.equal(claims.defaultModel, "nli-default");
  const [byAlias, byId] = [await claims.verify(CLAIM, ASKER), await claims.verify(of("nli-small"), ASKER)];
  t.equal(byAlias.model, "nli-default");
  t.equal(byId.model, "nli-small");
  t.equal(byAlias.bundle_sha256, byId.bundle_sha256, "two names of one artefact");
});

t.test("states: missing, installed, loading, ready", async (t) => {
  const root = emptyRoot();
  const digest = digestOf(addClaimBundle(root, { id: "nli-mini" }));
  const off = verifierOf(t, root, { enabled: false }).claims;
  t.match(off.list(), { enabled: false, default_model: "nli-mini", restart_required_for_new_installs: true });
  t.match(stateOf(off, "nli-mini"), { state: "installed", loaded_bundle_sha256: null });
  await t.rejects(off.verify(CLAIM, ASKER), { code: "nli_disabled", status: 503, details: { hint: /\[nli\]/ } });
  await off.warmUp();
  t.match(stateOf(off, "nli-mini"), { state: "installed" });

  const { claims } = verifierOf(t, root);
  const warm = claims.warmUp();
  t.match(stateOf(claims, "nli-mini"), { state: "loading", loaded_bundle_sha256: null });
  await warm;
  const names = ["nli-default", "nli-mini", "nli-small", "nli-xsmall"];
  t.same(
    claims.list().models.map(({ model }) => model),
    names,
  );
  t.match(stateOf(claims, "nli-mini"), {
    state: "ready",
    loaded_bundle_sha256: digest,
    problem: null,
    identity: {
      alias: "nli-mini",
      id: "nli-mini",
      repository: "tests/tiny-nli",
      revision: "1",
      license: "Apache-2.0",
      bundle_sha256: digest,
      labels: ["contradiction", "entailment", "neutral"],
      max_length: 512,
    },
  });
  t.match(stateOf(claims, "nli-default"), {
    state: "missing",
    identity: { alias: "nli-default", id: "nli-small", bundle_sha256: null, max_length: 512 },
    loaded_bundle_sha256: null,
  });
});

t.test("whoever looks at a model has it loaded", async (t) => {
  const root = emptyRoot();
  addClaimBundle(root, { id: "nli-mini" });
  addClaimBundle(root, { id: "other" });
  const { claims } = verifierOf(t, root);
  t.match(stateOf(claims, "other"), { state: "loading" });
  await claims.verify(of("other"), ASKER);
  t.match(stateOf(claims, "other"), { state: "ready" });
});

t.test("a model that nobody knows, and one that came after the start", async (t) => {
  const root = emptyRoot();
  addClaimBundle(root, { id: "nli-mini" });
  const { claims } = verifierOf(t, root);
  const unknown = { code: "nli_model_not_found", status: 404, message: /"tiny-nli"; installed: nli-mini/ };
  await t.rejects(claims.verify(of("tiny-nli"), ASKER), unknown);
  for (const options of [{ id: "tiny-nli" }, { id: "nli-small", alias: "nli-default" }]) addClaimBundle(root, options);
  for (const name of ["tiny-nli", "nli-small", "nli-default"]) {
    const late = { code: "nli_model_not_found", message: /after the server started/, details: { hint: /Restart/ } };
    await t.rejects(claims.verify(of(name), ASKER), late);
  }
  t.match(stateOf(claims, "nli-default"), { state: "missing" });
  const restarted = verifierOf(t, root).claims;
  t.match(await restarted.verify(of("tiny-nli"), ASKER), { model: "tiny-nli" });
});

t.test("models of another kind are none", async (t) => {
  const root = emptyRoot();
  addClaimBundle(root, {
    id: "other",
    edit: (m) => ({ ...m, kind: "embedding", dimensions: 3, required_capabilities: [] }),
  });
  await t.rejects(verifierOf(t, root).claims.verify(of("other"), ASKER), { code: "nli_model_not_found" });
});

const file = (name: string, change: (path: string) => void) => (bundle: string) => change(join(bundle, name));
const flip = (path: string) => {
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(path, bytes);
};
const broken: readonly (readonly [string, (bundle: string) => void, RegExp, boolean])[] = [
  ["a changed byte of the graph", file("model.onnx", flip), /model.onnx was changed/, false],
  ["a changed byte of the tokenizer", file("tokenizer.json", flip), /tokenizer.json was changed/, false],
  ["a half-written graph", file("model.onnx", (path) => truncateSync(path, 300)), /model.onnx has 300 bytes/, true],
  ["a graph that is longer", file("model.onnx", (path) => appendFileSync(path, "x")), /the manifest says/, true],
  ["a missing file", file("tokenizer.json", (path) => rmSync(path)), /tokenizer.json is missing/, true],
  ["a renamed file", file("model.onnx", (path) => renameSync(path, `${path}.old`)), /model.onnx is missing/, true],
  ["half a manifest", file("manifest.json", (path) => truncateSync(path, 40)), /not valid JSON/, true],
  ["no JSON for a manifest", file("manifest.json", (path) => writeFileSync(path, "")), /not valid JSON/, true],
];
for (const [what, change, problem, atStart] of broken) {
  t.test(`${what} makes the model failed`, async (t) => {
    const root = emptyRoot();
    change(addClaimBundle(root, { id: "nli-mini" }));
    const { claims, warnings } = verifierOf(t, root);
    if (atStart) t.match(stateOf(claims, "nli-mini"), { state: "failed", problem });
    else t.match(stateOf(verifierOf(t, root, { enabled: false }).claims, "nli-mini"), { state: "installed" });
    for (let i = 0; i < 2; i++) {
      await t.rejects(claims.verify(CLAIM, ASKER), { code: "nli_model_unavailable", status: 503, message: problem });
    }
    t.match(stateOf(claims, "nli-mini"), { state: "failed", problem, loaded_bundle_sha256: null });
    t.equal(warnings.length, 1, "told once");
  });
}

t.test("a bundle goes by its manifest, not by its folder's name", async (t) => {
  const root = emptyRoot();
  renameSync(addClaimBundle(root, { id: "nli-mini" }), join(root, "anything"));
  const { claims } = verifierOf(t, root);
  t.match(await claims.verify(of("nli-mini"), ASKER), { verdict: "TRUTH" });
});

t.test("a bundle that is being written has no manifest yet, so it is missing", async (t) => {
  const root = emptyRoot();
  rmSync(join(addClaimBundle(root, { id: "nli-mini" }), "manifest.json"));
  const { claims } = verifierOf(t, root);
  t.match(stateOf(claims, "nli-mini"), { state: "missing" });
  await t.rejects(claims.verify(CLAIM, ASKER), { code: "nli_model_not_installed" });
});

t.test("a bundle that is replaced while the server runs is not used in place of the first", async (t) => {
  const root = emptyRoot();
  const directory = addClaimBundle(root, { id: "nli-mini" });
  const { claims } = verifierOf(t, root);
  rmSync(directory, { recursive: true });
  addClaimBundle(root, { id: "nli-mini", labels: ["entailment", "contradiction", "neutral"] });
  await t.rejects(claims.verify(CLAIM, ASKER), { code: "nli_model_unavailable", message: /replaced after/ });
  const other = emptyRoot();
  cpSync(directory, join(other, "nli-mini"), { recursive: true });
  const installed = findClaimBundles([other]);
  writeFileSync(join(other, "nli-mini", "manifest.json"), `${readFileSync(join(directory, "manifest.json"))}\n`);
  const restartedActor = new ClaimVerifier({
    enabled: true,
    defaultModel: "",
    installed,
    roots: [other],
    scorer: { scorePairs: () => Promise.reject(new Error("not to be asked")) },
    sumOf: noMeanings,
    warn: () => undefined,
  });
  t.match(stateOf(restartedActor, "nli-mini"), { state: "failed", problem: /replaced after/ });
});
