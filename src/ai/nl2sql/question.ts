/** A question as tokens with stems, and which of them have been understood so far. */
import { englishStem } from "../../values/stemmer.js";
import { NUMBER_WORDS, STOP_WORDS } from "./vocabulary.js";

/** Forms of verbs that their stem does not show. */
const IRREGULAR_VERBS: Readonly<Record<string, string>> = {
  shown: "show",
  taught: "teach",
  driven: "drive",
  flown: "fly",
  led: "lead",
  won: "win",
};

export function stemOf(word: string): string {
  const lower = word.toLowerCase();
  return englishStem(IRREGULAR_VERBS[lower] ?? lower);
}

/** A verb form that says what is done with things, and by whom. */
export const isVerb = (word: string) =>
  /(ed|lost|made|bought|sold|paid|spent|written|taught|taken|shown|driven|given|built|held|sent|born|ing)$/.test(word);

export interface Token {
  readonly text: string;
  readonly lower: string;
  readonly stem: string;
  /** Where it is in the question, UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** Digits, also with separators, k or m; number words. */
  readonly number: number | null;
  /** It stood in quotes. */
  readonly isQuoted: boolean;
  readonly isCapitalised: boolean;
  /** "not" that was written as the beginning of a word. */
  readonly isPrefix?: true;
  /** Carries no meaning in the question. "IT" does, unless all words are in capitals. */
  readonly isStop: boolean;
}

/** In order: quoted, ISO date, number, comparison sign, word. */
const TOKEN =
  /["“”]([^"“”]+)["“”]|(?<![\p{L}\p{N}])['‘]([^'’]+)['’](?![\p{L}\p{N}])|(\d{4}-\d{1,2}-\d{1,2})|[$€£]?(\d+(?:,\d+)*(?:\.\d+)?)(k|m|%)?(?![\p{L}\p{N}])|([<>]=?|!=|<>|=)|([\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*(?:[-'’][\p{L}\p{N}]+)*)/giu;

export class Question {
  readonly tokens: readonly Token[];
  private readonly used: boolean[];

  /**
   * `prefixOf`: letters at the beginning of a word that deny the rest of it, as in "unpaid"; 0: none. `oppositeOf`: the
   * word that a word denies, as "failed" does "passed".
   */
  constructor(
    readonly text: string,
    prefixOf: (word: string) => number = () => 0,
    oppositeOf: (word: string) => string | null = () => null,
  ) {
    this.tokens = withScales(tokenize(text)).flatMap((token) => {
      const other = token.isQuoted ? null : oppositeOf(token.lower);
      return other === null ? withoutPrefix(token, prefixOf(token.lower)) : denied(token, other);
    });
    this.used = this.tokens.map(() => false);
  }

  at(index: number): Token | null {
    return this.tokens[index] ?? null;
  }

  lower(index: number): string {
    return this.tokens[index]?.lower ?? "";
  }

  /** Whether these words stand at `index`; a word may be alternatives with `|`. */
  says(index: number, ...words: string[]): boolean {
    return words.every((word, i) => word.split("|").includes(this.lower(index + i)));
  }

  isUsed(index: number): boolean {
    return this.used[index] === true;
  }

  use(from: number, to = from + 1): void {
    for (let i = from; i < to; i++) this.used[i] = true;
  }

  /** The text between two tokens, the second not included. */
  slice(from: number, to: number): string {
    return this.text.slice(this.tokens[from]!.start, this.tokens[to - 1]!.end);
  }
}

const SCALES: Readonly<Record<string, number>> = {
  thousand: 1000,
  million: 1_000_000,
  millions: 1_000_000,
  billion: 1_000_000_000,
};

/** "5 million" is one number. */
function withScales(tokens: readonly Token[]): Token[] {
  const joined: Token[] = [];
  for (const token of tokens) {
    const scale = SCALES[token.lower];
    const before = joined.at(-1);
    if (scale === undefined || before?.number == null) joined.push(token);
    else {
      const text = `${before.text} ${token.text}`;
      joined[joined.length - 1] = {
        ...before,
        text,
        lower: text.toLowerCase(),
        end: token.end,
        number: before.number * scale,
      };
    }
  }
  return joined;
}

/** "unpaid" is read as "not paid". */
function withoutPrefix(token: Token, length: number): readonly Token[] {
  if (length === 0 || token.isQuoted) return [token];
  const middle = token.start + length;
  const denial: Token = {
    ...token,
    text: token.text.slice(0, length),
    lower: "not",
    stem: "not",
    end: middle,
    isStop: true,
    isPrefix: true,
  };
  const lower = token.lower.slice(length);
  const rest = { ...token, text: token.text.slice(length), lower, stem: stemOf(lower), start: middle };
  return [denial, { ...rest, isCapitalised: false, isStop: false }];
}

/** "Failed" is read as "not passed". */
function denied(token: Token, other: string): readonly Token[] {
  const denial: Token = { ...token, lower: "not", stem: "not", isStop: true, isPrefix: true };
  return [denial, { ...token, lower: other, stem: stemOf(other), isCapitalised: false, isStop: false }];
}

function tokenize(text: string): Token[] {
  const allCapitals = !/\p{Ll}/u.test(text);
  const tokens: Token[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [whole, double, single, date, digits, factor, , word] = match;
    const quoted = double ?? single;
    const start = match.index;
    const common = { start, end: start + whole.length, isQuoted: quoted !== undefined, isStop: false };
    if (quoted !== undefined || date !== undefined) {
      const value = quoted ?? date!;
      tokens.push({ ...common, text: value, lower: value.toLowerCase(), stem: "", number: null, isCapitalised: false });
    } else if (digits !== undefined) {
      const scale = factor === undefined || factor === "%" ? 1 : factor.toLowerCase() === "k" ? 1000 : 1_000_000;
      const number = Number(digits.replaceAll(",", "")) * scale;
      tokens.push({ ...common, text: whole, lower: whole.toLowerCase(), stem: "", number, isCapitalised: false });
    } else {
      const plain = (word ?? whole).replace(/['’]s$/i, "");
      const lower = plain.toLowerCase();
      const isCapitalised = /^\p{Lu}/u.test(plain);
      const end = start + plain.length;
      const number = NUMBER_WORDS[lower] ?? null;
      const isWritten = !allCapitals && /^\p{Lu}{2,}$/u.test(plain);
      const isStop = STOP_WORDS.has(lower) && !isWritten;
      tokens.push({ ...common, end, text: plain, lower, stem: stemOf(lower), number, isCapitalised, isStop });
    }
  }
  return tokens;
}
