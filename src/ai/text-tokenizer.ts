/**
 * Texts to token ids, as the model's training did it: `tokenizer.json` run by Hugging Face's package for JavaScript.
 * Made by the encoders; owned by the model that it belongs to.
 */
import { Tokenizer } from "@huggingface/tokenizers";
import { BundleError } from "./manifest.js";

/**
 * Characters per token of what is looked at: a text is cut to `tokensMax` tokens, so of a long one only the beginning is
 * read. English has four or five characters a token.
 */
const CHARACTERS_PER_TOKEN = 16;

export class TextTokenizer {
  private readonly tokenizer: Tokenizer;
  private readonly lowerCases: boolean;

  constructor(
    json: string,
    /** Ids of one text at most. */
    readonly tokensMax: number,
  ) {
    try {
      const settings = JSON.parse(json) as { readonly normalizer?: { readonly lowercase?: boolean } };
      this.tokenizer = new Tokenizer(settings, {});
      this.lowerCases = settings.normalizer?.lowercase === true;
    } catch (error) {
      throw new BundleError(`the tokenizer cannot be used: ${(error as Error).message}`);
    }
  }

  /** `special`: with those that a model wants around a text ([CLS], [SEP]), also of one that is cut. */
  ids(text: string, special = false): readonly number[] {
    const { tokensMax } = this;
    let head = text.length > tokensMax * CHARACTERS_PER_TOKEN ? text.slice(0, tokensMax * CHARACTERS_PER_TOKEN) : text;
    // JavaScript's lower case of a sigma depends on its place in the word, that of the training's tokenizer does not.
    if (this.lowerCases && head.includes("Σ")) head = head.replaceAll("Σ", "σ");
    const { ids } = this.tokenizer.encode(head, { add_special_tokens: special });
    if (ids.length <= tokensMax) return ids;
    return special ? [...ids.slice(0, tokensMax - 1), ids.at(-1)!] : ids.slice(0, tokensMax);
  }
}
