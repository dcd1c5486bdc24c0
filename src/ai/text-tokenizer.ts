/**
 * Turns texts into token ids, as in the model's training: `tokenizer.json` run by Hugging Face's package for
 * JavaScript. Made by the encoders; owned by the model that it belongs to.
 *
 * BERT's tokenizers split a text into words, and each word by itself into tokens. So the package's tokens for a word
 * are kept, and ASCII texts, whose words are easily found, are assembled from those: 3 µs a sentence instead of 16.
 */
import { Tokenizer } from "@huggingface/tokenizers";
import { BundleError } from "./manifest.js";
import { PrecompiledCharsmap } from "./precompiled-charsmap.js";

/**
 * Characters per token of what is looked at: a text is cut to `tokensMax` tokens, so of a long one only the beginning
 * is read. English has four or five characters a token.
 */
const CHARACTERS_PER_TOKEN = 16;

const WORDS_MAX = 20_000;
const WORD_CHARACTERS_MAX = 32;

/** Whatever the normalizer changes beyond upper case, and the bracket with which special tokens begin. */
const DEMANDING = /[^\t\n\r\x20-\x5a\x5c-\x7e]/;

/** Stand for the texts of a pair while its template is looked at. */
const FIRST = "\uE000first";
const SECOND = "\uE000second";

/** Special tokens that stand together, with the types of their places. */
export interface TemplatePart {
  readonly ids: readonly number[];
  readonly types: readonly number[];
}

/** What stands around and between two texts, and the types of the texts' own tokens. */
export interface PairTemplate {
  readonly before: TemplatePart;
  readonly firstType: number;
  readonly between: TemplatePart;
  readonly secondType: number;
  readonly after: TemplatePart;
}

interface NormalizerConfig {
  readonly type?: string;
  readonly lowercase?: boolean;
  /** Of a Sequence. */
  readonly normalizers?: readonly NormalizerConfig[];
  readonly precompiled_charsmap?: string | null;
}

/** What the package makes of it. */
interface Normalizer {
  normalize(text: string): string;
  readonly normalizers?: readonly Normalizer[];
}

/** The parts of tokenizer.json that decide whether texts may be put together of words. */
interface TokenizerFile {
  readonly normalizer?: NormalizerConfig | null;
  readonly pre_tokenizer?: { readonly type?: string } | null;
  readonly model: { readonly type?: string; readonly vocab?: Readonly<Record<string, number>> };
  readonly added_tokens?: readonly { readonly content: string; readonly id: number }[];
}

export class TextTokenizer {
  /** No id is as large. */
  readonly idsEnd: number;
  private readonly tokenizer: Tokenizer;
  private readonly lowerCases: boolean;
  /** Ids by word; null: not a tokenizer that goes by words. */
  private readonly words: Map<string, readonly number[]> | null;

  constructor(
    json: string,
    /** Ids of one text at most. */
    readonly tokensMax: number,
  ) {
    try {
      const file = JSON.parse(json) as TokenizerFile;
      this.tokenizer = new Tokenizer(file, {});
      readCharsmaps(file.normalizer, this.tokenizer.normalizer);
      this.lowerCases = file.normalizer?.lowercase === true;
      const { model, added_tokens: added = [] } = file;
      const ids = [...Object.values(model.vocab ?? {}), ...added.map(({ id }) => id)];
      this.idsEnd = 1 + ids.reduce((largest, id) => Math.max(largest, id), -1);
      this.words = goesByWords(file) ? new Map() : null;
    } catch (error) {
      throw new BundleError(`the tokenizer cannot be used: ${(error as Error).message}`);
    }
  }

  /** `special`: with those that a model wants around a text ([CLS], [SEP]), also of one that is cut. */
  ids(text: string, special = false): readonly number[] {
    const { tokensMax } = this;
    const charactersMax = tokensMax * CHARACTERS_PER_TOKEN;
    const head = text.length > charactersMax ? text.slice(0, charactersMax) : text;
    const ids =
      special || this.words === null || DEMANDING.test(head) ? this.encode(head, special) : this.byWords(head);
    if (ids.length <= tokensMax) return ids;
    return special ? [...ids.slice(0, tokensMax - 1), ids.at(-1)!] : ids.slice(0, tokensMax);
  }

  /** What the model wants around the two texts of a pair. Throws BundleError when the tokenizer does not say. */
  pairTemplate(): PairTemplate {
    const { post_processor } = this.tokenizer;
    const made = post_processor?.post_process([FIRST], [SECOND], true);
    const { tokens = [], token_type_ids: types = [] } = made ?? {};
    const first = tokens.indexOf(FIRST);
    const second = tokens.indexOf(SECOND);
    if (tokens.length <= 2 || first < 0 || second < first)
      throw new BundleError("the tokenizer has no template for pairs of texts");
    const id = (token: string) => {
      const found = this.tokenizer.token_to_id(token);
      if (found === undefined) throw new BundleError(`the tokenizer's template has a token without an id: ${token}`);
      return found;
    };
    const part = (from: number, to: number): TemplatePart => ({
      ids: tokens.slice(from, to).map(id),
      types: types.slice(from, to),
    });
    return {
      before: part(0, first),
      firstType: types[first] ?? 0,
      between: part(first + 1, second),
      secondType: types[second] ?? 0,
      after: part(second + 1, tokens.length),
    };
  }

  private encode(text: string, special: boolean): readonly number[] {
    // JavaScript's lower case of a sigma depends on its place in the word, that of the training's tokenizer does not.
    const given = this.lowerCases && text.includes("Σ") ? text.replaceAll("Σ", "σ") : text;
    return this.tokenizer.encode(given, { add_special_tokens: special }).ids;
  }

  /** Words are runs of letters and digits; every other character that is no blank is one by itself. */
  private byWords(text: string): readonly number[] {
    const ids: number[] = [];
    const lower = text.toLowerCase();
    let start = -1;
    for (let i = 0; i < lower.length; i++) {
      const code = lower.charCodeAt(i);
      if ((code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)) {
        if (start < 0) start = i;
        continue;
      }
      if (start >= 0) this.addWord(lower.slice(start, i), ids);
      start = -1;
      if (code > 0x20) this.addWord(lower[i]!, ids);
    }
    if (start >= 0) this.addWord(lower.slice(start), ids);
    return ids;
  }

  private addWord(word: string, ids: number[]): void {
    const words = this.words!;
    let own = words.get(word);
    if (own === undefined) {
      own = this.encode(word, false);
      if (word.length <= WORD_CHARACTERS_MAX) {
        if (words.size >= WORDS_MAX) words.clear();
        words.set(word, own);
      }
    }
    for (let i = 0; i < own.length; i++) ids.push(own[i]!);
  }
}

/** The package does not look into tables of characters; see PrecompiledCharsmap. */
function readCharsmaps(config: NormalizerConfig | null | undefined, normalizer: Normalizer | null): void {
  if (!config || normalizer === null) return;
  for (const [i, part] of (config.normalizers ?? []).entries()) readCharsmaps(part, normalizer.normalizers![i]!);
  if (config.type !== "Precompiled" || !config.precompiled_charsmap) return;
  const charsmap = new PrecompiledCharsmap(config.precompiled_charsmap);
  normalizer.normalize = (text) => charsmap.normalize(text);
}

/** An uncased BERT tokenizer, none of whose special tokens a text without a bracket can have. */
function goesByWords({ normalizer, pre_tokenizer, model, added_tokens = [] }: TokenizerFile): boolean {
  return (
    normalizer?.type === "BertNormalizer" &&
    normalizer.lowercase === true &&
    pre_tokenizer?.type === "BertPreTokenizer" &&
    model.type === "WordPiece" &&
    added_tokens.every(({ content }) => content.includes("["))
  );
}
