/**
 * Turns pairs of texts into the input of a cross-encoder: [CLS] premise [SEP] hypothesis [SEP], or whatever the
 * bundle's tokenizer says, cut to the model's window. Made by cross-encoder.ts; remembers the ids of texts within one
 * run only.
 */
import { NLI_TEXT_BYTES_MAX } from "../../protocol/limits.js";
import type { TextPair } from "../inference-messages.js";
import { BundleError } from "../manifest.js";
import { type PairTemplate, TextTokenizer } from "../text-tokenizer.js";

export interface EncodedPair {
  readonly ids: readonly number[];
  readonly types: readonly number[];
}

export class PairTokenizer {
  private readonly tokenizer: TextTokenizer;
  private readonly template: PairTemplate;
  /** Tokens that are left for the two texts together. */
  private readonly room: number;

  /** `window`: tokens of a pair, special ones included. Throws BundleError. */
  constructor(json: string, window: number) {
    // No text has so many tokens, so none is cut before it is known which of the two has to be.
    this.tokenizer = new TextTokenizer(json, NLI_TEXT_BYTES_MAX);
    this.template = this.tokenizer.pairTemplate();
    const { before, between, after } = this.template;
    this.room = window - before.ids.length - between.ids.length - after.ids.length;
    if (this.room < 0) throw new BundleError(`max_length ${window} leaves no room between the special tokens`);
  }

  encode(pairs: readonly TextPair[]): EncodedPair[] {
    // A claim occurs in many pairs of a run.
    const known = new Map<string, readonly number[]>();
    const idsOf = (text: string): readonly number[] => {
      let ids = known.get(text);
      if (ids === undefined) {
        ids = this.tokenizer.ids(text);
        known.set(text, ids);
      }
      return ids;
    };
    return pairs.map(({ premise, hypothesis }) => this.join(idsOf(premise), idsOf(hypothesis)));
  }

  private join(premise: readonly number[], hypothesis: readonly number[]): EncodedPair {
    const { before, between, after, firstType, secondType } = this.template;
    const [first, second] = longestFirst(premise.length, hypothesis.length, this.room);
    return {
      ids: [...before.ids, ...premise.slice(0, first), ...between.ids, ...hypothesis.slice(0, second), ...after.ids],
      types: [
        ...before.types,
        ...new Array<number>(first).fill(firstType),
        ...between.types,
        ...new Array<number>(second).fill(secondType),
        ...after.types,
      ],
    };
  }
}

/**
 * How much of each of two texts stays when both have to fit into `room`: the longer one is cut first, and when both are
 * longer than half of it each gets half, the odd token going to the longer one. As Hugging Face's `tokenizers` do it
 * (truncate_encodings, LongestFirst).
 */
export function longestFirst(first: number, second: number, room: number): readonly [first: number, second: number] {
  if (first + second <= room) return [first, second];
  const shorter = Math.min(first, second);
  const half = Math.floor(room / 2);
  const [small, large] = shorter <= half ? [shorter, room - shorter] : [half, room - half];
  return first > second ? [large, small] : [small, large];
}
