/**
 * What documents of `jsonb` must contain to pass a condition, as bytes of their stored text: those without it need not
 * be parsed. The condition is still asked of all others. Stored texts are compact, and their strings are written as
 * JSON.stringify writes them (values/json-text.ts). Used by segment-filter.ts.
 *
 *   doc ->> 'city' = 'Bonn'      ⇒   contains "Bonn"
 *   doc @> '{"tags": ["red"]}'   ⇒   contains "tags": and "red"
 */
import { Json, type Value } from "../../../values/values.js";
import { compileExpr } from "../../expr/compile.js";
import type { CallExpr, EvalContext, Expr } from "../../expr/expr.js";
import { likeParts } from "../../expr/functions/like.js";
import { EMPTY_ROW, NO_SLOTS } from "../slots.js";

/** What all documents that pass contain: each of the texts; empty: it cannot say. */
export type DocumentParts = (context: EvalContext) => readonly Uint8Array[];

/** Each part is looked for in all of the column. */
const PARTS_MAX = 2;
/** A number, or the text of a list or an object, is not written as it is stored. */
const STRING_ONLY = /^[^\s\d{[+-]/;
/** What is written as it is in strings, and is not between the members of lists and objects. */
const PLAIN = /[^:,"{}[\]\\\p{Cc}\p{Cs}\s][^:,"{}[\]\\\p{Cc}\p{Cs}]*/gu;
const LETTER = /\p{L}/u;

/** Null if the condition on one column is of another kind. */
export function documentPartsOf(expr: Expr): DocumentParts | null {
  if (expr.kind !== "call" || expr.args.length !== 2) return null;
  const [left, right] = expr.args as [Expr, Expr];
  switch (expr.fn.operator) {
    case "=":
      return isExtracted(left) ? partsOf(right, equalParts) : isExtracted(right) ? partsOf(left, equalParts) : null;
    case "~~":
      return isExtracted(left) ? partsOf(right, patternParts) : null;
    case "@>":
      return isDocument(left) ? partsOf(right, containedParts) : null;
    case "?":
      return isDocument(left) ? partsOf(right, (key) => [JSON.stringify(key)]) : null;
    default:
      return null;
  }
}

/** `fixed` has one value for all rows; a NULL says nothing. */
function partsOf(fixed: Expr, parts: (value: NonNullable<Value>) => readonly string[]): DocumentParts | null {
  if (fixed.kind !== "const" && fixed.kind !== "param") return null;
  const value = compileExpr(fixed, NO_SLOTS);
  return (context) => {
    const found = value(EMPTY_ROW, 0, context);
    if (found === null) return [];
    const longest = [...parts(found)].sort((a, b) => b.length - a.length);
    return longest.slice(0, PARTS_MAX).map((text) => Buffer.from(text));
  };
}

/** The text of a member of a document. */
function isExtracted(expr: Expr): boolean {
  return expr.kind === "call" && isPath(expr, ["->>", "#>>"]) && isDocument(expr.args[0]!);
}

/** A document, or a member of one. */
function isDocument(expr: Expr): boolean {
  if (expr.kind === "column") return expr.type.name === "jsonb" && expr.type.user === undefined;
  return expr.kind === "call" && isPath(expr, ["->", "#>"]) && isDocument(expr.args[0]!);
}

function isPath({ fn, args }: CallExpr, operators: readonly string[]): boolean {
  if (fn.operator === undefined || !operators.includes(fn.operator) || fn.routine !== undefined) return false;
  return args[1]!.kind === "const" || args[1]!.kind === "param";
}

/** Of members whose text this is. */
function equalParts(value: NonNullable<Value>): readonly string[] {
  const text = String(value);
  if (text === "true" || text === "false") return [text];
  return STRING_ONLY.test(text) ? [JSON.stringify(text)] : [];
}

/** Of a pattern of LIKE: no number has a letter, and the texts of lists and objects have their strings as stored. */
function patternParts(value: NonNullable<Value>): readonly string[] {
  const parts = likeParts(String(value)) ?? [];
  const plain = parts.flatMap((part) => (typeof part === "object" ? (part.text.match(PLAIN) ?? []) : []));
  return plain.filter((text) => LETTER.test(text));
}

/** Strings and names of members; numbers may be written in several ways. */
function containedParts(value: NonNullable<Value>): readonly string[] {
  const parts: string[] = [];
  const add = (part: unknown): void => {
    if (typeof part === "string") parts.push(JSON.stringify(part));
    else if (Array.isArray(part)) part.forEach(add);
    else if (typeof part === "object" && part !== null && Object.getPrototypeOf(part) === Object.prototype) {
      for (const [name, member] of Object.entries(part)) {
        parts.push(`${JSON.stringify(name)}:`);
        add(member);
      }
    }
  };
  if (value instanceof Json) add(value.value);
  return parts;
}
