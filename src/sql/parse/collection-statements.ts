/**
 * CREATE COLLECTION name FROM FILESYSTEM 'path' [WITH (option = value, …)] and DROP COLLECTION [IF EXISTS] name [KEEP
 * DATA], which PostgreSQL's grammar does not know: they become calls of functions (features/files/folder-functions.ts).
 * Called by dialect.ts; stateless.
 */
import { sqlError } from "../../protocol/errors.js";
import { isName, isSymbol, isWord, nameOf, quotedText, stringValue, type Token } from "./tokens.js";

/** The statement that replaces it; null: it is a different statement. Throws 42601 for invalid forms. */
export function collectionStatement(tokens: readonly Token[]): string | null {
  if (!isWord(tokens[1], "collection")) return null;
  if (isWord(tokens[0], "create")) return created(tokens);
  return isWord(tokens[0], "drop") ? dropped(tokens) : null;
}

function created(tokens: readonly Token[]): string {
  const [, , name, from, filesystem, path] = tokens;
  if (!isName(name) || !isWord(from, "from") || !isWord(filesystem, "filesystem") || path?.kind !== "string") {
    throw fault(tokens, "expected CREATE COLLECTION name FROM FILESYSTEM 'path' [WITH (option = value, …)]");
  }
  const options = JSON.stringify(optionsOf(tokens, 6));
  const args = [quotedText(nameOf(name)), quotedText(stringValue(path)), `${quotedText(options)}::jsonb`];
  return `SELECT create_filesystem_collection(${args.join(", ")}) AS result`;
}

function dropped(tokens: readonly Token[]): string {
  const ifExists = isWord(tokens[2], "if") && isWord(tokens[3], "exists");
  const at = ifExists ? 4 : 2;
  const name = tokens[at];
  const keeps = isWord(tokens[at + 1], "keep") && isWord(tokens[at + 2], "data");
  if (!isName(name) || tokens.length > at + (keeps ? 3 : 1)) {
    throw fault(tokens, "expected DROP COLLECTION [IF EXISTS] name [KEEP DATA]");
  }
  return `SELECT drop_filesystem_collection(${quotedText(nameOf(name))}, ${ifExists}, ${keeps}) AS result`;
}

/** Values are texts, numbers, true and false; several patterns are one text with commas. */
function optionsOf(tokens: readonly Token[], from: number): Readonly<Record<string, unknown>> {
  if (tokens.length === from) return {};
  if (!isWord(tokens[from], "with") || !isSymbol(tokens[from + 1], "(") || !isSymbol(tokens.at(-1), ")")) {
    throw fault(tokens.slice(from), "expected WITH (option = value, …)");
  }
  const options = new Map<string, unknown>();
  for (let at = from + 2; at < tokens.length - 1; at += 4) {
    const [name, equals, value, comma] = tokens.slice(at, at + 4);
    const isLast = at + 3 === tokens.length - 1;
    if (!isName(name) || !isSymbol(equals, "=") || value === undefined || !(isLast || isSymbol(comma, ","))) {
      throw fault(tokens.slice(at), "expected option = value");
    }
    options.set(nameOf(name), optionValue(value));
  }
  return Object.fromEntries(options);
}

function optionValue(token: Token): unknown {
  if (token.kind === "string") return stringValue(token);
  if (token.kind === "number") return Number(token.text);
  if (isWord(token, "true", "on", "yes")) return true;
  if (isWord(token, "false", "off", "no")) return false;
  throw fault([token], "expected a text, a number, true or false");
}

function fault(tokens: readonly Token[], message: string) {
  return sqlError("42601", message, { position: (tokens[0]?.start ?? 0) + 1 });
}
