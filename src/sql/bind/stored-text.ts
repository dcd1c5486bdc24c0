/**
 * Statements that definitions keep as text: queries of views, conditions of policies, bodies of functions. As in
 * stored-expression.ts functions and types stand there by their ids; all else stays as it was written, comments
 * left out.
 */
import { looksLikeReference, referenceTo } from "../../catalog/object-reference.js";
import { sqlError } from "../../protocol/errors.js";
import { sourceMap } from "../parse/source-map.js";
import { type Token, tokenize } from "../parse/tokens.js";
import type { Noted } from "./bound-statement.js";

/** A statement's tree that was bound by now, and where it is in the text. */
export interface Bound {
  readonly tree: unknown;
  /** The position, as nodes have it, of the text's first character. */
  readonly origin: number;
}

/** The text to keep. Throws 0A000 for a name that has no place in it. */
export function exactText(text: string, { tree, origin }: Bound, named: Noted["named"]): string {
  const ids = new Map<number, number>();
  const places = sourceMap(text, []);
  collect(tree, named, (position, id) => ids.set(places.indexOfCharacter(position - origin), id));
  const tokens = tokenize(text);
  let result = "";
  let end = 0;
  for (let i = 0; i < tokens.length; i++) {
    const { start } = tokens[i]!;
    result += withoutComments(text.slice(end, start));
    const id = ids.get(start);
    if (id !== undefined) {
      ids.delete(start);
      while (tokens[i + 1]?.text === "." && isName(tokens[i + 2])) i += 2;
      result += `${referenceTo(id)}.`;
    }
    const token = tokens[i]!;
    end = token.end;
    const word = text.slice(token.start, end);
    result += token.kind === "word" && looksLikeReference(word) ? `"${word.toLowerCase()}"` : word;
  }
  if (ids.size > 0) throw sqlError("0A000", "a definition cannot call a function that is not named in its text");
  return result;
}

const isName = (token: Token | undefined) =>
  token !== undefined && (token.kind === "word" || token.kind === "quoted" || token.kind === "backtick");

/** Nodes of the syntax tree are plain objects and arrays. */
function collect(value: unknown, named: Noted["named"], found: (position: number, id: number) => void): void {
  if (typeof value !== "object" || value === null) return;
  const id = named.get(value);
  if (id !== undefined) found((value as { readonly position: number }).position, id);
  for (const child of Object.values(value)) collect(child, named, found);
}

const withoutComments = (blank: string) => (/--|\/\*/.test(blank) ? (blank.includes("\n") ? "\n" : " ") : blank);
