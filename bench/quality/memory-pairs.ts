/**
 * Pairs of memories: whether the new one takes the place of the old one, says the same, or neither
 * (test/quality/memory/*-pairs.tsv). By the rules, and by the bundled model of claims as memories ask it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Models } from "../../src/ai/models.js";
import { compareFacts } from "../../src/features/memory/facts/compare-facts.js";
import { judgedByModel } from "../../src/features/memory/judge-memories.js";
import { cosine } from "../../src/language/likeness.js";
import { ROOT } from "../servers.js";
import { claimVerifier } from "./claims.js";

export interface MeasuredPairs {
  readonly pairs: number;
  readonly contradicting: number;
  readonly superseded: number;
  /** Pairs that do not contradict, and were superseded. */
  readonly wronglySuperseded: number;
  readonly repeated: number;
  readonly foundRepeated: number;
  /** Pairs that do not say the same, and were taken for it. */
  readonly wronglyRepeated: number;
  /** What went wrong, for who makes the rules. */
  readonly errors: readonly string[];
}

export async function measureMemoryPairs(set: "seen" | "held-back", usesModel: boolean): Promise<MeasuredPairs> {
  const text = readFileSync(join(ROOT, `test/quality/memory/${set}-pairs.tsv`), "utf8");
  const pairs = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t") as [string, "C" | "R" | "N", string, string]);
  const roots = [join(ROOT, "models")];
  const models = new Models({ roots, embeddingModel: "tessera-embed-384", warn: () => undefined, inference: null });
  const { claims, release } = await claimVerifier(models);
  const errors: string[] = [];
  const count = {
    contradicting: 0,
    superseded: 0,
    wronglySuperseded: 0,
    repeated: 0,
    foundRepeated: 0,
    wronglyRepeated: 0,
  };
  try {
    for (const [kind, label, old, fresh] of pairs) {
      let told: string | null = compareFacts(old, fresh);
      if (told === "open" && usesModel) {
        const asked = [
          { premise: old, hypothesis: fresh },
          { premise: fresh, hypothesis: old },
        ];
        const { scores } = await claims.classify({ model: null, pairs: asked }, { user: null });
        const likeness = cosine(models.embedNow(old, null, "")!, models.embedNow(fresh, null, "")!);
        told = judgedByModel(likeness, scores[0]!, scores[1]!);
      }
      if (label === "C") count.contradicting++;
      if (label === "R") count.repeated++;
      if (told === "contradicts") count[label === "C" ? "superseded" : "wronglySuperseded"]++;
      if (told === "repeats") count[label === "R" ? "foundRepeated" : "wronglyRepeated"]++;
      const expected = { C: "contradicts", R: "repeats", N: null }[label];
      const given = told === "contradicts" || told === "repeats" ? told : null;
      if (given !== expected) errors.push(`${kind} ${label} ${told}: ${old} | ${fresh}`);
    }
  } finally {
    await release();
  }
  return { pairs: pairs.length, ...count, errors };
}
