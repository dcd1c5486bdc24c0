/** Chooses the pieces of an anchor that are held against a claim, and the one of them that decides. Pure. */
import type { TextPair } from "../inference-messages.js";
import { wordsOf } from "./claim-words.js";
import { type EvidenceWindow, WINDOWS_MAX, windowsOf } from "./evidence-windows.js";
import type { WeighedScores } from "./weigh-scores.js";
import type { WordMeanings } from "./word-meanings.js";

export interface WeighedWindow extends WeighedScores {
  readonly window: EvidenceWindow;
}

/** A piece that is so sure for the claim, and another one that is so sure against it: the anchor says both. */
const SURE = 0.6;
const BOTH = 0.1;

/** Those that share most words with the claim, in their order; at least one. */
export function nearestWindows({ premise, hypothesis }: TextPair, meanings: WordMeanings): readonly EvidenceWindow[] {
  const windows = windowsOf(premise);
  if (windows.length <= 1) return [{ text: premise, start: 0, end: premise.length }];
  if (windows.length <= WINDOWS_MAX) return windows;
  const claimed = new Map(
    wordsOf(hypothesis).flatMap(({ isContent, stem, word }) =>
      isContent ? [[stem, meanings.weightOf(word)] as const] : [],
    ),
  );
  const shared = windows.map(({ text }) =>
    [...new Set(wordsOf(text).map(({ stem }) => stem))].reduce((sum, stem) => sum + (claimed.get(stem) ?? 0), 0),
  );
  return windows
    .map((_, i) => i)
    .sort((a, b) => shared[b]! - shared[a]! || a - b)
    .slice(0, WINDOWS_MAX)
    .sort((a, b) => a - b)
    .map((i) => windows[i]!);
}

/** The one with the highest score for or against the claim. */
export function decidingWindow(weighed: readonly WeighedWindow[]): WeighedWindow {
  const related = weighed.filter(({ isRelated }) => isRelated);
  const all = related.length === 0 ? weighed : related;
  const against = highest(all, ({ scores: [contradiction] }) => contradiction);
  const isFor = highest(all, ({ scores: [, entailment] }) => entailment);
  const [contradiction, entailment] = [against.scores[0], isFor.scores[1]];
  if (Math.min(contradiction, entailment) >= SURE && Math.abs(contradiction - entailment) < BOTH) {
    return { ...isFor, scores: [0, 0, 1] };
  }
  return entailment >= contradiction ? isFor : against;
}

function highest(weighed: readonly WeighedWindow[], score: (one: WeighedWindow) => number): WeighedWindow {
  return weighed.reduce((best, one) => (score(one) > score(best) ? one : best));
}
