/** Bodies of functions that are written as statements (RETURN …, BEGIN ATOMIC … END), as text and as statements. */
import { type Token, tokenize } from "./tokens.js";

const isWord = (token: Token | undefined, text: string) => token?.kind === "word" && token.text === text;

/** The part of a CREATE FUNCTION statement that is its body: it comes last. */
export function standardBody(statement: string): string {
  const tokens = tokenize(statement);
  const start = tokens.findIndex(
    (token, i) =>
      token.depth === 0 && (isWord(token, "return") || (isWord(token, "begin") && isWord(tokens[i + 1], "atomic"))),
  );
  return statement.slice(tokens[start]!.start);
}

/** The body as statements of SQL: `RETURN x` is a query. All that stays is where it was. */
export function standardBodyText(body: string): string {
  const tokens = tokenize(body);
  const isBlock = isWord(tokens[0], "begin");
  const inner = isBlock ? tokens.slice(2, -1) : tokens;
  let at = inner[0]?.start ?? (isBlock ? tokens.at(-1)!.start : 0);
  let text = body.slice(0, at).replace(/\S/gu, " ");
  inner.forEach((token, i) => {
    const begins = i === 0 || (inner[i - 1]!.text === ";" && inner[i - 1]!.depth === 0);
    if (!begins || !isWord(token, "return")) return;
    text += `${body.slice(at, token.start)}SELECT`;
    at = token.end;
  });
  return text + body.slice(at, isBlock ? tokens.at(-1)!.start : body.length);
}
