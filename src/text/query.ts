/**
 * What a text search asks for, as a tree over terms, and how people write it:
 *
 *   any words          documents with any of them, the best first
 *   +all -not          with `all`, without `not`
 *   "one phrase"       words side by side (stop words count as a gap)
 *   prefix*            words that begin so
 *   (a OR b) AND c     OR, AND, NOT and parentheses, which all of them may be mixed with
 *
 * Whatever is written, something is searched for: there is no syntax error. Pure.
 */
import type { Analyzer } from "./analysis.js";

export type TextQuery =
  | { readonly kind: "term"; readonly term: string }
  | { readonly kind: "prefix"; readonly prefix: string }
  /** `gaps[i]`: positions from term i − 1 to term i. The first is 0. */
  | { readonly kind: "phrase"; readonly terms: readonly string[]; readonly gaps: readonly number[] }
  | { readonly kind: "and" | "or"; readonly parts: readonly TextQuery[] }
  /** Documents of `part`; those that are also of `more` score higher. */
  | { readonly kind: "boosted"; readonly part: TextQuery; readonly more: TextQuery }
  /** Documents of `part` without those of `not`. */
  | { readonly kind: "without"; readonly part: TextQuery; readonly not: TextQuery }
  /** Documents with at least `least` of these terms, all with the same score. */
  | { readonly kind: "some"; readonly terms: readonly string[]; readonly least: number }
  /** No document at all: every word was one that says nothing. */
  | { readonly kind: "nothing" };

export const NOTHING: TextQuery = Object.freeze({ kind: "nothing" });

export type DefaultOperator = "or" | "and";

/** Parentheses nest so deeply at most; more are passed over. */
const DEPTH_MAX = 32;
/** Words of a query that count. */
const WORDS_MAX = 1024;

const TOKEN = /"([^"]*)"?|([()])|([+-])(?=[^\s+-])|([^\s()"]+)/gu;

interface Lexeme {
  readonly kind: "words" | "phrase" | "(" | ")" | "+" | "-" | "and" | "or" | "not";
  readonly text: string;
}

/** Words beside each other are joined by `operator`. */
export function parseTextQuery(text: string, analyzer: Analyzer, operator: DefaultOperator = "or"): TextQuery {
  return new QueryParser(lexemes(text), analyzer, operator).all();
}

/**
 * Whether the text says which words a document must have or lack, or which stand side by side; not where it only says
 * what is unwanted.
 */
export function demandsWords(text: string): boolean {
  const found = lexemes(text);
  const isWanted = ({ kind }: Lexeme, i: number) =>
    (kind === "words" || kind === "phrase") && found[i - 1]?.kind !== "-" && found[i - 1]?.kind !== "not";
  const demands = ({ kind }: Lexeme) => /^(?:phrase|[+-]|and|not)$/.test(kind);
  return found.some(demands) && found.some(isWanted);
}

function lexemes(text: string): Lexeme[] {
  const found: Lexeme[] = [];
  for (const [, phrase, parenthesis, sign, words] of text.matchAll(TOKEN)) {
    if (found.length >= WORDS_MAX) break;
    if (phrase !== undefined) found.push({ kind: "phrase", text: phrase });
    else if (parenthesis !== undefined) found.push({ kind: parenthesis as "(" | ")", text: "" });
    else if (sign !== undefined) found.push({ kind: sign as "+" | "-", text: "" });
    else found.push({ kind: keyword(words!), text: words! });
  }
  return found;
}

function keyword(word: string): Lexeme["kind"] {
  return word === "AND" ? "and" : word === "OR" ? "or" : word === "NOT" ? "not" : "words";
}

/** Parts of one level: those that must be, may be and must not be. */
interface Level {
  readonly must: TextQuery[];
  readonly may: TextQuery[];
  readonly not: TextQuery[];
}

class QueryParser {
  private at = 0;

  constructor(
    private readonly lexemes: readonly Lexeme[],
    private readonly analyzer: Analyzer,
    private readonly operator: DefaultOperator,
  ) {}

  all(): TextQuery {
    const parts: TextQuery[] = [];
    // A closing parenthesis that nobody opened ends a level.
    while (this.at < this.lexemes.length) {
      parts.push(this.level(0));
      this.at++;
    }
    return either(parts);
  }

  /** Up to the end or the parenthesis that closes it. OR binds less than AND, which binds less than signs. */
  private level(depth: number): TextQuery {
    const alternatives: TextQuery[] = [];
    for (;;) {
      alternatives.push(this.conjunction(depth));
      if (this.lexemes[this.at]?.kind !== "or") return either(alternatives);
      this.at++;
    }
  }

  private conjunction(depth: number): TextQuery {
    const level: Level = { must: [], may: [], not: [] };
    let isJoined = false;
    for (;;) {
      const lexeme = this.lexemes[this.at];
      if (lexeme === undefined || lexeme.kind === ")" || lexeme.kind === "or") break;
      if (lexeme.kind === "and") {
        this.at++;
        // What stands before AND must be, too.
        const last = level.may.pop();
        if (last !== undefined) level.must.push(last);
        isJoined = true;
        continue;
      }
      const isSigned = lexeme.kind === "+" || lexeme.kind === "-" || lexeme.kind === "not";
      if (isSigned) this.at++;
      const part = this.unit(depth);
      if (part.kind === "nothing") continue;
      if (lexeme.kind === "-" || lexeme.kind === "not") level.not.push(part);
      else if (lexeme.kind === "+" || isJoined) level.must.push(part);
      else level.may.push(part);
      isJoined = false;
    }
    return this.joined(level);
  }

  private unit(depth: number): TextQuery {
    const lexeme = this.lexemes[this.at];
    if (lexeme === undefined || lexeme.kind === ")") return NOTHING;
    this.at++;
    if (lexeme.kind === "(") {
      if (depth >= DEPTH_MAX) return NOTHING;
      const inner = this.level(depth + 1);
      if (this.lexemes[this.at]?.kind === ")") this.at++;
      return inner;
    }
    if (lexeme.kind === "phrase") return phraseOf(lexeme.text, this.analyzer);
    if (lexeme.kind !== "words") return NOTHING;
    return this.words(lexeme.text);
  }

  /** Mostly one word; `e-mail` is a phrase of two, `data*` the beginning of one. */
  private words(text: string): TextQuery {
    if (!text.endsWith("*")) return phraseOf(text, this.analyzer);
    const prefix = this.analyzer.prefixOf(text.slice(0, -1).replaceAll("*", ""));
    return /[\p{L}\p{N}]/u.test(prefix) ? { kind: "prefix", prefix } : NOTHING;
  }

  private joined({ must, may, not }: Level): TextQuery {
    const all = this.operator === "and";
    const needed = all ? both([...must, ...may]) : must.length === 0 ? either(may) : both(must);
    const isBoosted = !all && must.length > 0 && may.length > 0;
    const query: TextQuery = isBoosted ? { kind: "boosted", part: needed, more: either(may) } : needed;
    if (not.length === 0 || query.kind === "nothing") return query;
    return { kind: "without", part: query, not: either(not) };
  }
}

/** The words of a text side by side; one word is a term. */
export function phraseOf(text: string, analyzer: Analyzer): TextQuery {
  const terms: string[] = [];
  const gaps: number[] = [];
  let last = 0;
  analyzer.each(text, (term, position) => {
    if (term === "" || terms.length >= WORDS_MAX) return;
    gaps.push(terms.length === 0 ? 0 : position - last);
    terms.push(term);
    last = position;
  });
  if (terms.length === 0) return NOTHING;
  return terms.length === 1 ? { kind: "term", term: terms[0]! } : { kind: "phrase", terms, gaps };
}

export function either(parts: readonly TextQuery[]): TextQuery {
  return combined("or", parts);
}

export function both(parts: readonly TextQuery[]): TextQuery {
  return combined("and", parts);
}

/** Without parts that search for nothing: words that say nothing do not matter. */
function combined(kind: "and" | "or", parts: readonly TextQuery[]): TextQuery {
  const some = parts
    .filter((part) => part.kind !== "nothing")
    .flatMap((part) => (part.kind === kind ? part.parts : [part]));
  return some.length === 0 ? NOTHING : some.length === 1 ? some[0]! : { kind, parts: some };
}

/** Terms and prefixes that a document is found by, for highlights: those of NOT are not among them. */
export function wordsOf(query: TextQuery): {
  readonly terms: ReadonlySet<string>;
  readonly prefixes: readonly string[];
} {
  const terms = new Set<string>();
  const prefixes: string[] = [];
  const visit = (node: TextQuery): void => {
    switch (node.kind) {
      case "term":
        terms.add(node.term);
        break;
      case "prefix":
        prefixes.push(node.prefix);
        break;
      case "phrase":
        for (const term of node.terms) terms.add(term);
        break;
      case "and":
      case "or":
        node.parts.forEach(visit);
        break;
      case "boosted":
        visit(node.part);
        visit(node.more);
        break;
      case "without":
        visit(node.part);
        break;
      case "some":
      case "nothing":
        break;
    }
  };
  visit(query);
  return { terms, prefixes };
}
