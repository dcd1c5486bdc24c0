/** The tokenizer.json of a model that knows some words, each a token by its number. */

export interface WordTokenizer {
  readonly words: readonly string[];
  /** Tokens that are no words of a text. */
  readonly special?: readonly number[];
  /** Texts are cleaned and written in lower case. */
  readonly isLowerCase?: boolean;
  readonly hasDecoder?: boolean;
}

export function wordTokenizer({ words, special = [], isLowerCase = true, hasDecoder = true }: WordTokenizer): object {
  const normalizer = {
    type: "BertNormalizer",
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: special.map((id) => ({
      id,
      content: words[id]!,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: isLowerCase ? normalizer : null,
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: null,
    decoder: hasDecoder ? { type: "WordPiece", prefix: "##", cleanup: false } : null,
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
    },
  };
}
