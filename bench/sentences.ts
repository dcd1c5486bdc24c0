/**
 * Texts of 6 to 20 words from a model's vocabulary, common words more often (Zipf's law). Called by the benches of
 * models.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FoundBundle } from "../src/ai/bundle.js";
import { Random } from "./tpch/random.js";

/** The same for the same seed. */
export function sentences(count: number, { directory, manifest }: FoundBundle, seed: string): string[] {
  const { model } = JSON.parse(readFileSync(join(directory, manifest!.tokenizer), "utf8")) as {
    model: { vocab: Record<string, number> };
  };
  const words = Object.keys(model.vocab).filter((token) => /^[a-z]{2,}$/.test(token));
  const random = new Random(seed);
  return Array.from({ length: count }, () =>
    Array.from({ length: random.between(6, 20) }, () => words[byZipf(random, words.length)]).join(" "),
  );
}

/** Ranks from 0, that of rank r about 1 / (r + 1) times as often as the first. */
function byZipf(random: Random, count: number): number {
  return Math.floor(count ** (random.between(0, 999_999) / 1_000_000)) - 1;
}
