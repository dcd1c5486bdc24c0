/** The sets of pairs and claims in test/quality/claims: tuning ones, and held-out ones that nothing was tuned on. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NLI_LABELS } from "../../src/ai/nli/labels.js";
import { ROOT } from "../servers.js";

/** Pairs of kinds that the other sets lack, and of everyday facts, one of which is changed. */
export type HalvedSetName = "other-kinds" | "everyday";
export type PairSetName = ClaimSetName | HalvedSetName;
export type ClaimSetName = "tuning" | "held-out";

export interface LabelledPair {
  readonly kind: string;
  readonly label: (typeof NLI_LABELS)[number];
  readonly premise: string;
  readonly hypothesis: string;
}

export interface LabelledClaim {
  readonly verdict: "TRUTH" | "LIE";
  readonly claim: string;
  readonly anchor: string;
}

export function labelledPairs(set: PairSetName): LabelledPair[] {
  return linesOf(`${set}-pairs.tsv`).map(([kind, initial, premise, hypothesis]) => ({
    kind: kind!,
    label: NLI_LABELS.find((label) => label.startsWith(initial!))!,
    premise: premise!,
    hypothesis: hypothesis!,
  }));
}

/**
 * Facts about some things, with what excludes each: other facts about the same thing say nothing about it. Written for
 * the fit of the weights of claims.
 */
export function facts(): { readonly thing: string; readonly fact: string; readonly excluded: string }[] {
  return linesOf("tuning-facts.tsv").map(([thing, fact, excluded]) => ({
    thing: thing!,
    fact: fact!,
    excluded: excluded!,
  }));
}

export function labelledClaims(set: ClaimSetName): LabelledClaim[] {
  return linesOf(`${set}-claims.tsv`).map(([initial, claim, anchor]) => ({
    verdict: initial === "T" ? "TRUTH" : "LIE",
    claim: claim!,
    anchor: anchor!,
  }));
}

/** Anchors of other claims, which have nothing to do with this one. */
export function unrelatedAnchors(claims: readonly LabelledClaim[], at: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => claims[(at + 2 * i + 5) % claims.length]!.anchor);
}

function linesOf(file: string): string[][] {
  const text = readFileSync(join(ROOT, "test/quality/claims", file), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
}
