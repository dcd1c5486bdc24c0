/** Where entries of target lists and calls in FROM end in a statement's text. */
import type { Token } from "../parse/tokens.js";

/** What can come after a target list. */
const ENDS =
  /^(?:[,);]|from|where|group|having|window|union|intersect|except|order|limit|offset|fetch|for|into|on|returning|end)$/;
/** Words of `ENDS` that go on with an expression behind these. */
const GOES_ON: Readonly<Record<string, string>> = { from: "distinct", group: "within" };
/** What WITH begins at the end of a view. */
const OPTIONS = /^(?:check|cascaded|local|no|data)$/;

/** The number of the last token of the entry that begins with the token. */
export function endOfTarget(tokens: readonly Token[], first: number): number {
  const { text, depth: inside } = tokens[first]!;
  const depth = text === "(" || text === "[" ? inside - 1 : inside;
  for (let i = first + 1; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token.depth > depth || token.kind === "quoted" || token.kind === "string") continue;
    const isOption = token.text === "with" && OPTIONS.test(tokens[i + 1]?.text ?? "");
    if (isOption || (ENDS.test(token.text) && GOES_ON[token.text] !== tokens[i - 1]!.text)) return i - 1;
  }
  return tokens.length - 1;
}

/** The same of a call in FROM, with ORDINALITY. */
export function endOfCall(tokens: readonly Token[], first: number): number {
  const open = tokens.findIndex(({ text }, i) => i > first && text === "(");
  const close = tokens.findIndex(({ text, depth }, i) => i > open && text === ")" && depth === tokens[open]!.depth);
  const isOrdinal = tokens[close + 1]?.text === "with" && tokens[close + 2]?.text === "ordinality";
  return isOrdinal ? close + 2 : close;
}
