/** What requests about claims may be: every limit, every name, and what is said about what is wrong. */
import t from "tap";
import {
  anchorTexts,
  classifyOptions,
  pairsRequest,
  verifyOptions,
  verifyRequest,
} from "../../../src/ai/nli/claim-requests.js";

const claim = { statement: "a claim", truth_anchors: ["an anchor"] };
const BYTES = 16_384;

t.test("what is left out has its default", async (t) => {
  t.same(verifyRequest(claim), {
    model: null,
    statement: "a claim",
    anchors: ["an anchor"],
    rules: { closedWorld: false, contradictionThreshold: 0.6, entailmentThreshold: 0.6 },
    sameSubject: false,
  });
  const all = {
    ...claim,
    model: "nli-mini",
    closed_world: true,
    contradiction_threshold: 0,
    entailment_threshold: 1,
    same_subject: true,
  };
  t.match(verifyRequest(all), {
    model: "nli-mini",
    rules: { closedWorld: true, contradictionThreshold: 0, entailmentThreshold: 1 },
    sameSubject: true,
  });
  t.same(verifyRequest({ ...claim, model: null, closed_world: null }), verifyRequest(claim), "null is left out");
  const pairs = [{ premise: "a", hypothesis: "b" }];
  t.same(pairsRequest({ pairs }), { model: null, pairs, sameSubject: false });
  t.same(pairsRequest({ pairs, model: "x", same_subject: null }), { model: "x", pairs, sameSubject: false });
  t.same(pairsRequest({ pairs, same_subject: true }), { model: null, pairs, sameSubject: true });
  t.same(verifyOptions({}), { rules: verifyRequest(claim).rules, sameSubject: false });
  t.same(classifyOptions({}), { sameSubject: false });
});

t.test("limits are counted in UTF-8 bytes and in items", async (t) => {
  const most = "é".repeat(BYTES / 2);
  t.equal(verifyRequest({ ...claim, statement: most }).statement, most);
  t.equal(verifyRequest({ ...claim, statement: "x".repeat(BYTES) }).statement.length, BYTES);
  t.equal(anchorTexts(Array(32).fill(most)).length, 32);
  t.equal(pairsRequest({ pairs: Array(32).fill({ premise: most, hypothesis: most }) }).pairs.length, 32);
  t.equal(verifyRequest({ ...claim, model: "m".repeat(128) }).model?.length, 128);
});

const long = `${"é".repeat(BYTES / 2)}x`;
const wrong: readonly (readonly [string, unknown, string | undefined, RegExp, RegExp?])[] = [
  ["an array", [], undefined, /The body must be a JSON object .* not an array/],
  ["nothing", null, undefined, /not null/],
  ["no statement", { truth_anchors: ["a"] }, "statement", /Missing field "statement"/],
  ["no anchors", { statement: "a" }, "truth_anchors", /Missing field "truth_anchors"/],
  [
    "anchors by another name",
    { statement: "a", anchors: ["b"] },
    "anchors",
    /Unknown field "anchors"/,
    /"truth_anchors"/,
  ],
  ["another spelling", { ...claim, closedWorld: true }, "closedWorld", /Unknown field/, /"closed_world"/],
  ["another case", { ...claim, Model: "m" }, "Model", /Unknown field/, /"model"/],
  ["a claim by another name", { claim: "a", truth_anchors: ["b"] }, "claim", /Unknown/, /"statement"/],
  ["something else", { ...claim, temperature: 0 }, "temperature", /Known: statement, truth_anchors, model/, /Remove/],
  ["a name of objects", JSON.parse('{"__proto__": 1, "statement": "a"}'), "__proto__", /Unknown/],
  [
    "too many anchors",
    { ...claim, truth_anchors: Array(33).fill("a") },
    "truth_anchors",
    /1 to 32 anchors; it holds 33/,
  ],
  ["no anchor", { ...claim, truth_anchors: [] }, "truth_anchors", /1 to 32 anchors; it holds 0/],
  ["an anchor that is none", { ...claim, truth_anchors: "a" }, "truth_anchors", /array of 1 to 32 anchors, not a text/],
  ["a number among anchors", { ...claim, truth_anchors: ["a", 1] }, "truth_anchors[1]", /must be a text, not a number/],
  ["an empty anchor", { ...claim, truth_anchors: ["a", "b", " \n"] }, "truth_anchors[2]", /is empty/],
  ["an empty statement", { ...claim, statement: "" }, "statement", /is empty/],
  ["a long statement", { ...claim, statement: long }, "statement", /statement has 16385 UTF-8 bytes; at most 16384/],
  [
    "a long anchor",
    { ...claim, truth_anchors: ["a", "b", "c", long] },
    "truth_anchors[3]",
    /truth_anchors\[3\] has 16385/,
  ],
  ["a number for a world", { ...claim, closed_world: 1 }, "closed_world", /true or false, not a number/],
  ["a text for a subject", { ...claim, same_subject: "Ann" }, "same_subject", /true or false, not a text/],
  [
    "a text for a threshold",
    { ...claim, entailment_threshold: "0.6" },
    "entailment_threshold",
    /from 0 to 1, not a text/,
  ],
  [
    "a threshold above 1",
    { ...claim, contradiction_threshold: 1.01 },
    "contradiction_threshold",
    /from 0 to 1, not 1.01/,
  ],
  ["a threshold below 0", { ...claim, entailment_threshold: -0.1 }, "entailment_threshold", /from 0 to 1, not -0.1/],
  ["a model without a name", { ...claim, model: "" }, "model", /1 to 128 ASCII/],
  ["a model with a dot", { ...claim, model: "nli.mini" }, "model", /1 to 128 ASCII/],
  ["a model that begins with -", { ...claim, model: "-nli" }, "model", /first a letter or digit/],
  ["a model with a long name", { ...claim, model: "m".repeat(129) }, "model", /1 to 128 ASCII/],
  ["a model with an umlaut", { ...claim, model: "nlü" }, "model", /1 to 128 ASCII/],
  ["a number for a model", { ...claim, model: 7 }, "model", /must be a text, not a number/],
];
for (const [what, body, field, message, hint] of wrong) {
  t.test(`refused: ${what}`, async (t) => {
    t.throws(() => verifyRequest(body), { code: "invalid_nli_request", status: 400, message });
    if (field !== undefined) t.throws(() => verifyRequest(body), { code: "invalid_nli_request", details: { field } });
    if (hint !== undefined) t.throws(() => verifyRequest(body), { code: "invalid_nli_request", details: { hint } });
  });
}

const good = { premise: "a", hypothesis: "b" };
const wrongPairs: readonly (readonly [string, unknown, string, RegExp])[] = [
  ["no pairs", {}, "pairs", /Missing field "pairs"/],
  ["an empty list", { pairs: [] }, "pairs", /1 to 32 pairs; it holds 0/],
  ["too many", { pairs: Array(33).fill(good) }, "pairs", /1 to 32 pairs; it holds 33/],
  ["half a pair", { pairs: [good, { premise: "a" }] }, "pairs[1].hypothesis", /Missing field "pairs\[1\].hypothesis"/],
  ["a pair with more", { pairs: [{ ...good, label: "x" }] }, "pairs[0].label", /Unknown field "pairs\[0\].label"/],
  ["a list for a pair", { pairs: [good, ["a", "b"]] }, "pairs[1]", /pairs\[1\] must be a JSON object/],
  [
    "a long premise",
    { pairs: [good, { premise: long, hypothesis: "b" }] },
    "pairs[1].premise",
    /pairs\[1\].premise has 16385/,
  ],
  ["a long hypothesis", { pairs: [{ premise: "a", hypothesis: long }] }, "pairs[0].hypothesis", /16385 UTF-8 bytes/],
  ["options of another route", { pairs: [good], closed_world: true }, "closed_world", /Unknown field/],
  ["a subject in another spelling", { pairs: [good], sameSubject: true }, "sameSubject", /Unknown field/],
];
for (const [what, body, field, message] of wrongPairs) {
  t.test(`refused pairs: ${what}`, async (t) => {
    t.throws(() => pairsRequest(body), { code: "invalid_nli_request", message, details: { field } });
  });
}

t.test("options of NLI_VERIFY and NLI_CLASSIFY", async (t) => {
  t.throws(() => verifyOptions({ model: "m" }), { code: "invalid_nli_request", message: /Unknown field "model"/ });
  t.throws(() => verifyOptions([]), { message: /options_json must be a JSON object/ });
  t.same(verifyOptions({ same_subject: true }).sameSubject, true);
  t.same(classifyOptions({ same_subject: true }), { sameSubject: true });
  t.throws(() => classifyOptions({ closed_world: true }), { message: /Unknown field "closed_world"/ });
});
