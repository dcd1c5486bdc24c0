/** How well claims are judged by the bundled model as it is served: figures for `make quality` and for the tests. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { findBundles } from "../../src/ai/bundle.js";
import { Models } from "../../src/ai/models.js";
import { findClaimBundles } from "../../src/ai/nli/claim-models.js";
import { DEFAULT_RULES } from "../../src/ai/nli/claim-requests.js";
import { ClaimVerifier, type NamedScores } from "../../src/ai/nli/claim-verifier.js";
import { loadCrossEncoder } from "../../src/ai/nli/cross-encoder.js";
import { NLI_LABELS } from "../../src/ai/nli/labels.js";
import { ROOT } from "../servers.js";
import {
  type ClaimSetName,
  type HalvedSetName,
  type LabelledPair,
  labelledClaims,
  labelledPairs,
  unrelatedAnchors,
} from "./claim-sets.js";

const MODEL = "nli-mini";
const NOBODY = { user: null };
const AT_ONCE = 16;

export interface MeasuredClaims {
  readonly digest: string;
  readonly pairs: number;
  /** Right and all, by label and by kind of pair. */
  readonly byLabel: ReadonlyMap<string, Share>;
  readonly byKind: ReadonlyMap<string, Share>;
  readonly balancedAccuracy: number;
  readonly unrelatedCalledFalse: number;
  /** Shares: of the pairs that do not contradict, and of those that do. */
  readonly wrongContradictions: number;
  readonly missedContradictions: number;
  readonly claims: number;
  readonly claimsAlone: number;
  readonly claimsWithUnrelated: number;
}

export interface Share {
  right: number;
  all: number;
}

export async function measureClaims(set: ClaimSetName): Promise<MeasuredClaims> {
  const roots = [join(ROOT, "models")];
  const models = new Models({ roots, embeddingModel: "tessera-embed-384", warn: () => undefined, inference: null });
  const { claims, digest, release } = await claimVerifier(models);
  try {
    return { digest, ...(await measurePairs(claims, labelledPairs(set))), ...(await measureVerdicts(claims, set)) };
  } finally {
    await release();
  }
}

/** In halves by the pairs' hash: nobody looked at the second one. */
export async function measureHalves(set: HalvedSetName) {
  const roots = [join(ROOT, "models")];
  const models = new Models({ roots, embeddingModel: "tessera-embed-384", warn: () => undefined, inference: null });
  const { claims, release } = await claimVerifier(models);
  const pairs = labelledPairs(set);
  const half = (heldBack: boolean) => pairs.filter((pair) => isHeldBack(pair) === heldBack);
  try {
    return { seen: await measurePairs(claims, half(false)), heldBack: await measurePairs(claims, half(true)) };
  } finally {
    await release();
  }
}

export function isHeldBack({ premise, hypothesis }: LabelledPair): boolean {
  return (
    createHash("sha256")
      .update(premise + hypothesis)
      .digest()[0]! %
      2 ===
    1
  );
}

/**
 * SNLI and the like: how many are right, and of the pairs that do not contradict the share called contradictions.
 * `sameSubject`: asked as texts that are known to be about the same.
 */
export async function measurePublicPairs(
  given: readonly (readonly [string, string, string])[],
  sameSubject: boolean,
  label = labelOf,
) {
  const roots = [join(ROOT, "models")];
  const models = new Models({ roots, embeddingModel: "tessera-embed-384", warn: () => undefined, inference: null });
  const { claims, release } = await claimVerifier(models);
  const pairs = given.map(([premise, hypothesis, label]) => ({ kind: "public", premise, hypothesis, label }));
  try {
    const { byLabel, wrongContradictions } = await measurePairs(claims, pairs as LabelledPair[], sameSubject, label);
    const right = [...byLabel.values()].reduce((sum, one) => sum + one.right, 0);
    return { right, all: pairs.length, byLabel, wrongContradictions };
  } finally {
    await release();
  }
}

/** The bundled model in this process, as a server uses it. */
export async function claimVerifier(models: Models) {
  const roots = [join(ROOT, "models")];
  const { directory, manifest, digest } = findBundles(roots[0]!).find((one) => one.manifest?.id === MODEL)!;
  const encoder = await loadCrossEncoder(directory, manifest!, 1);
  const claims = new ClaimVerifier({
    enabled: true,
    defaultModel: MODEL,
    installed: findClaimBundles(roots),
    roots,
    sumOf: (text) => models.sumNow(text),
    warn: () => undefined,
    scorer: {
      async scorePairs(_directory, pairs) {
        const { numbers } = await encoder.run(pairs);
        const { width } = encoder;
        return { digest: digest!, rows: pairs.map((_, i) => numbers.slice(i * width, (i + 1) * width)), tokens: 0 };
      },
    },
  });
  return { claims, digest: digest!, release: () => encoder.release() };
}

async function measurePairs(
  claims: ClaimVerifier,
  pairs: readonly LabelledPair[],
  sameSubject = false,
  label: (scores: NamedScores) => Label = labelOf,
) {
  const byLabel = new Map<string, Share>(NLI_LABELS.map((label) => [label, { right: 0, all: 0 }]));
  const byKind = new Map<string, Share>();
  let [wrongContradictions, missedContradictions, unrelated, unrelatedFalse] = [0, 0, 0, 0];
  for (let at = 0; at < pairs.length; at += AT_ONCE) {
    const some = pairs.slice(at, at + AT_ONCE);
    const asked = some.map(({ premise, hypothesis }) => ({ premise, hypothesis }));
    const { scores } = await claims.classify({ model: null, pairs: asked, sameSubject }, NOBODY);
    for (const [i, { kind, label: right }] of some.entries()) {
      const given = label(scores[i]!);
      for (const share of [byLabel.get(right)!, shareOf(byKind, kind)]) {
        share.all++;
        if (given === right) share.right++;
      }
      if (given === "contradiction" && right !== given) wrongContradictions++;
      if (right === "contradiction" && given !== right) missedContradictions++;
      if (kind !== "unrelated") continue;
      unrelated++;
      if (given === "contradiction") unrelatedFalse++;
    }
  }
  const recalls = [...byLabel.values()].map(({ right, all }) => right / all);
  return {
    pairs: pairs.length,
    byLabel,
    byKind,
    balancedAccuracy: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
    unrelatedCalledFalse: unrelatedFalse / unrelated,
    wrongContradictions: wrongContradictions / (pairs.length - byLabel.get("contradiction")!.all),
    missedContradictions: missedContradictions / byLabel.get("contradiction")!.all,
  };
}

async function measureVerdicts(claims: ClaimVerifier, set: ClaimSetName) {
  const all = labelledClaims(set);
  let [claimsAlone, claimsWithUnrelated] = [0, 0];
  for (const [at, { claim: statement, anchor, verdict }] of all.entries()) {
    const verdictBy = async (anchors: readonly string[]) =>
      (await claims.verify({ model: null, statement, anchors, rules: DEFAULT_RULES }, NOBODY)).verdict;
    if ((await verdictBy([anchor])) === verdict) claimsAlone++;
    if ((await verdictBy([anchor, ...unrelatedAnchors(all, at, 4)])) === verdict) claimsWithUnrelated++;
  }
  return { claims: all.length, claimsAlone, claimsWithUnrelated };
}

function shareOf(shares: Map<string, Share>, key: string): Share {
  const share = shares.get(key) ?? { right: 0, all: 0 };
  shares.set(key, share);
  return share;
}

type Label = (typeof NLI_LABELS)[number];

/** Whichever is likeliest, as evaluations on public sets take it. */
export function likeliestLabel(scores: NamedScores): Label {
  return [...NLI_LABELS].sort((a, b) => scores[b] - scores[a])[0]!;
}

/** By the thresholds that verdicts use. */
function labelOf({ contradiction, entailment }: NamedScores): Label {
  if (contradiction >= DEFAULT_RULES.contradictionThreshold) return "contradiction";
  return entailment >= DEFAULT_RULES.entailmentThreshold ? "entailment" : "neutral";
}
