/**
 * Estimates from its structure how many steps a backtracking engine may need for a regular expression. Used by
 * linear-regexp.ts to choose the engine; no state.
 */

/** Of a pattern in JavaScript's syntax with the flag u. */
export interface RegExpCost {
  /** Unbounded quantifiers that follow one another: each may stop at any character. */
  readonly degree: number;
  /** Ways that do not depend on the text: alternatives, optional parts, bounded quantifiers. */
  readonly ways: number;
  /** A repeated part may match the same text in several ways: steps may double with each character. */
  readonly isAmbiguous: boolean;
  /** It begins with ^, so that it is tried at one place only. */
  readonly isAnchored: boolean;
  /** Other engines may give other groups or lengths: groups within repeated parts, lazy or empty ones in them. */
  readonly hasOwnGroups: boolean;
  /** About the instructions that bounded quantifiers unfold to. */
  readonly unfolded: number;
}

/** What a part has. */
interface Part {
  degree: number;
  ways: number;
  /** Alternatives or quantifiers: repeated, they are ambiguous. */
  varies: boolean;
  isAmbiguous: boolean;
  hasGroups: boolean;
  canBeEmpty: boolean;
  /**
   * A lazy quantifier, or one of several alternatives can be empty: JavaScript takes no empty round of a repetition.
   */
  isOdd: boolean;
  hasOwnGroups: boolean;
  unfolded: number;
}

interface Reader {
  readonly tokens: readonly string[];
  at: number;
}

const TOKEN =
  /\\(?:[pPu]\{[^}]*\}|k<[^>]*>|c[A-Za-z]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|[)|]|(?:[*+?]|\{\d+(?:,\d*)?\})\??|./gsu;
const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??$/;
/** A back reference may stand for an empty group. */
const EMPTY = /^(?:[$^]|\\[bB1-9k].*)$/s;
const WAYS_MAX = 1e9;

export function regExpTokens(source: string): readonly string[] {
  return source.match(TOKEN) ?? [];
}

export function regExpCost(source: string): RegExpCost {
  const tokens = regExpTokens(source);
  const { degree, ways, isAmbiguous, hasOwnGroups, unfolded } = alternatives({ tokens, at: 0 });
  return { degree, ways, isAmbiguous, isAnchored: tokens[0] === "^" && !hasTopBar(tokens), hasOwnGroups, unfolded };
}

function hasTopBar(tokens: readonly string[]): boolean {
  let depth = 0;
  for (const token of tokens) {
    if (token.startsWith("(")) depth++;
    else if (token === ")") depth--;
    else if (token === "|" && depth === 0) return true;
  }
  return false;
}

function newPart(unfolded: number): Part {
  return {
    ...{ degree: 0, ways: 1, varies: false, isAmbiguous: false, hasGroups: false, isOdd: false, hasOwnGroups: false },
    canBeEmpty: true,
    unfolded,
  };
}

function alternatives(reader: Reader): Part {
  const all = sequence(reader);
  let count = 1;
  while (reader.tokens[reader.at] === "|") {
    reader.at++;
    count++;
    const one = sequence(reader);
    addTraits(all, one);
    all.canBeEmpty ||= one.canBeEmpty;
    all.degree = Math.max(all.degree, one.degree);
    all.ways = Math.max(all.ways, one.ways);
  }
  if (count === 1) return all;
  all.varies = true;
  all.ways = Math.min(WAYS_MAX, all.ways * count);
  all.isOdd ||= all.canBeEmpty;
  return all;
}

function sequence(reader: Reader): Part {
  const all = newPart(0);
  for (;;) {
    const token = reader.tokens[reader.at];
    if (token === undefined || token === ")" || token === "|") return all;
    reader.at++;
    let part = newPart(1);
    part.canBeEmpty = EMPTY.test(token);
    let hasInnerGroups = false;
    if (token.startsWith("(")) {
      part = alternatives(reader);
      reader.at++;
      part.unfolded++;
      hasInnerGroups = part.hasGroups;
      part.canBeEmpty ||= /^\(\?<?[=!]/.test(token);
      part.hasGroups ||= token === "(" || /^\(\?<[^=!]/.test(token);
    } else if (/^\\[1-9k]/.test(token)) part.degree = 1;
    const quantifier = reader.tokens[reader.at];
    if (quantifier !== undefined && QUANTIFIER.test(quantifier)) {
      reader.at++;
      repeat(part, quantifier, hasInnerGroups);
    }
    addTraits(all, part);
    all.canBeEmpty &&= part.canBeEmpty;
    all.degree += part.degree;
    all.ways = Math.min(WAYS_MAX, all.ways * part.ways);
  }
}

function addTraits(all: Part, part: Part): void {
  all.varies ||= part.varies;
  all.isAmbiguous ||= part.isAmbiguous;
  all.hasGroups ||= part.hasGroups;
  all.isOdd ||= part.isOdd;
  all.hasOwnGroups ||= part.hasOwnGroups;
  all.unfolded += part.unfolded;
}

function repeat(part: Part, quantifier: string, hasInnerGroups: boolean): void {
  const isLazy = quantifier.length > 1 && quantifier.endsWith("?");
  const { least, most } = boundsOf(isLazy ? quantifier.slice(0, -1) : quantifier);
  part.hasOwnGroups ||= part.isOdd || (most > 1 && hasInnerGroups);
  if (most > 1) part.isAmbiguous ||= part.varies;
  if (least === 0) part.canBeEmpty = true;
  if (most === Number.POSITIVE_INFINITY) part.degree++;
  else part.ways = Math.min(WAYS_MAX, part.ways * (most - least + 1));
  part.varies ||= most !== least;
  part.isOdd ||= isLazy;
  part.unfolded *= Math.max(1, least, most === Number.POSITIVE_INFINITY ? 1 : most);
}

function boundsOf(quantifier: string): { least: number; most: number } {
  if (quantifier === "?") return { least: 0, most: 1 };
  if (quantifier === "*" || quantifier === "+")
    return { least: quantifier === "+" ? 1 : 0, most: Number.POSITIVE_INFINITY };
  const [least, most] = quantifier.slice(1, -1).split(",");
  if (most === undefined) return { least: Number(least), most: Number(least) };
  return { least: Number(least), most: most === "" ? Number.POSITIVE_INFINITY : Number(most) };
}
