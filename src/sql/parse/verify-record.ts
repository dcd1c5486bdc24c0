/** VERIFY RECORD: which row of an immutable table is meant. Called by dialect.ts; stateless. */
import type { VerifyKey, VerifyStatement } from "./ast.js";
import { isName, isSymbol, isWord, nameOf, stringValue, type Token, tableName } from "./tokens.js";

/**
 * `VERIFY RECORD key {IN | FROM | OF} [TABLE] t`, `VERIFY RECORD {IN | FROM | OF} t WHERE column = key [AND …]`,
 * `VERIFY RECORD t key`
 */
export function verifyRecord(tokens: readonly Token[]): Omit<VerifyStatement, "position"> | null {
  const isOf = (token: Token | undefined) => isWord(token, "in", "from", "of");
  const tableFrom = (at: number) => tableName(tokens, isWord(tokens[at], "table") ? at + 1 : at);
  const of = tokens.findIndex(isOf);
  if (of > 2) {
    const table = tableFrom(of + 1);
    const key = keyValues(tokens.slice(2, of));
    return table === null || key === null || table.next < tokens.length
      ? null
      : { kind: "verify", table: table.name, key };
  }
  const table = tableFrom(of === 2 ? 3 : 2);
  if (table === null) return null;
  const rest = tokens.slice(table.next);
  const key = isWord(rest[0], "where") ? keyConditions(rest.slice(1)) : of === 2 ? null : keyValues(rest);
  return key === null ? null : { kind: "verify", table: table.name, key };
}

/** `1`, `'a'`, `$1`, `(1, 'a')` */
function keyValues(tokens: readonly Token[]): VerifyKey[] | null {
  const inner = isSymbol(tokens[0], "(") && isSymbol(tokens.at(-1), ")") ? tokens.slice(1, -1) : tokens;
  const values: VerifyKey[] = [];
  for (let at = 0; at < inner.length; at += 2) {
    const value = keyValue(inner[at]!);
    if (value === null || (at + 1 < inner.length && !isSymbol(inner[at + 1], ","))) return null;
    values.push({ column: null, value });
  }
  return values.length === 0 ? null : values;
}

/** `a = 1 AND b = 'x'` */
function keyConditions(tokens: readonly Token[]): VerifyKey[] | null {
  const values: VerifyKey[] = [];
  for (let at = 0; at < tokens.length; at += 4) {
    const [name, equals, given, and] = tokens.slice(at, at + 4);
    const value = given === undefined ? null : keyValue(given);
    if (!isName(name) || !isSymbol(equals, "=") || value === null) return null;
    if (and !== undefined && !isWord(and, "and")) return null;
    values.push({ column: nameOf(name), value });
  }
  return values.length === 0 ? null : values;
}

function keyValue(token: Token): string | number | null {
  if (token.kind === "string") return stringValue(token);
  if (token.kind === "number") return token.text;
  return token.kind === "parameter" ? Number(token.text.slice(1)) : null;
}
