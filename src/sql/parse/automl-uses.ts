/**
 * Finds what a call's prediction is used for. A class has no order and is not a number, so where a number is needed
 * the call becomes one of a function that gives it (automl-dialect.ts). The tokens around the call decide; stateless.
 */
import { nameOf, type Token } from "./tokens.js";

const isWord = (token: Token | undefined, ...words: string[]) =>
  token !== undefined && token.kind === "word" && words.includes(token.text);
const isSymbol = (token: Token | undefined, ...symbols: string[]) =>
  token !== undefined && token.kind === "symbol" && symbols.includes(token.text);

const NUMBER_TYPES =
  "float float4 float8 real double numeric decimal int int2 int4 int8 integer smallint bigint number".split(" ");
const NUMBER_FUNCTIONS = "avg sum round floor ceil ceiling trunc abs stddev variance".split(" ");
/** After the keys of an ORDER BY. */
const AFTER_KEY = ["asc", "desc", "nulls", "limit", "offset", "fetch", "for", "using"];
/** Where ORDER BY may only name what is there already. */
const SETS = ["group", "union", "intersect", "except", "distinct"];

/** Of the call whose first token is `from` and whose closing parenthesis is `close`. */
export function useOf(tokens: readonly Token[], from: number, close: number): "value" | "number" | "order" {
  const before = tokens[from - 1];
  const after = tokens[close + 1];
  if (isSymbol(after, "::") && isWord(tokens[close + 2], ...NUMBER_TYPES)) return "number";
  if (isWord(after, "as") && isSymbol(before, "(") && isWord(tokens[from - 2], "cast")) {
    return isWord(tokens[close + 2], ...NUMBER_TYPES) ? "number" : "value";
  }
  if (isSymbol(before, "(") && isWord(tokens[from - 2], ...NUMBER_FUNCTIONS)) return "number";
  if (isSymbol(after, "<", ">") || isSymbol(before, "<", ">")) {
    const beside = [tokens[close + 2], tokens[close + 3], tokens[from - 2]];
    if (beside.some((token) => token?.kind === "number")) return "number";
  }
  if (isSymbol(after, "*", "/", "+") || isSymbol(before, "*", "/", "+")) return "number";
  if (isWord(after, "between") && tokens[close + 2]?.kind === "number") return "number";
  const isKey = (isWord(before, "by") || isSymbol(before, ",")) && isInOrderBy(tokens, from) && endsKey(tokens, close);
  return isKey && !isOfSet(tokens, from) ? "order" : "value";
}

/** Where ORDER BY names the call's alias and nothing else. */
export function orderedAliases(tokens: readonly Token[], from: number, close: number): Token[] {
  const at = isWord(tokens[close + 1], "as") ? close + 2 : close + 1;
  const alias = tokens[at];
  if (alias === undefined || !["word", "quoted", "backtick"].includes(alias.kind) || isOfSet(tokens, from)) return [];
  if (!isSymbol(tokens[at + 1], ",") && !isWord(tokens[at + 1], "from")) return [];
  const { depth } = tokens[from]!;
  return tokens.filter(
    (token, i) =>
      i > at &&
      token.depth === depth &&
      ["word", "quoted", "backtick"].includes(token.kind) &&
      nameOf(token) === nameOf(alias) &&
      (isWord(tokens[i - 1], "by") || isSymbol(tokens[i - 1], ",")) &&
      endsKey(tokens, i) &&
      isInOrderBy(tokens, i) &&
      selectOf(tokens, i) === selectOf(tokens, from),
  );
}

function endsKey(tokens: readonly Token[], last: number): boolean {
  const next = tokens[last + 1];
  return next === undefined || isSymbol(next, ",", ")", ";") || isWord(next, ...AFTER_KEY);
}

/** The last word of a clause before the token, at its depth, is that of ORDER BY. */
function isInOrderBy(tokens: readonly Token[], at: number): boolean {
  const { depth } = tokens[at]!;
  for (let i = at - 1; i >= 0 && tokens[i]!.depth >= depth; i--) {
    if (tokens[i]!.depth > depth) continue;
    if (isWord(tokens[i], "by")) return isWord(tokens[i - 1], "order");
    if (isWord(tokens[i], "select", "from", "where", "having", "limit")) return false;
  }
  return false;
}

/** The SELECT that a token belongs to: its place; -1: none. */
function selectOf(tokens: readonly Token[], at: number): number {
  const { depth } = tokens[at]!;
  for (let i = at; i >= 0 && tokens[i]!.depth >= depth; i--) {
    if (tokens[i]!.depth === depth && isWord(tokens[i], "select")) return i;
  }
  return -1;
}

function isOfSet(tokens: readonly Token[], at: number): boolean {
  const { depth } = tokens[at]!;
  for (let i = selectOf(tokens, at); i >= 0 && i < tokens.length && tokens[i]!.depth >= depth; i++) {
    if (tokens[i]!.depth === depth && isWord(tokens[i], ...SETS)) return true;
  }
  return false;
}
