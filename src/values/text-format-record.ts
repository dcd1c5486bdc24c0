/** The text of records: `(1,"a b",)`. Called by text-format.ts, which knows how to read and print the fields. */
import { sqlError } from "../protocol/errors.js";
import type { Value } from "./values.js";

const QUOTED = /^$|[\s(),"\\]/;

/** `print` gets each field that is not NULL with its place. */
export function recordToText(fields: readonly Value[], print: (value: Value, index: number) => string): string {
  const parts = fields.map((field, i) => {
    if (field === null) return "";
    const text = print(field, i);
    return QUOTED.test(text) ? `"${text.replace(/["\\]/g, "$&$&")}"` : text;
  });
  return `(${parts.join()})`;
}

const malformed = (text: string, detail: string) =>
  sqlError("22P02", `malformed record literal: "${text}"`, { detail });

/** Reads a record literal of so many fields; `read` turns one field's text into its value. Throws 22P02. */
export function recordFromText(text: string, count: number, read: (field: string, index: number) => Value): Value[] {
  const start = /^\s*\(/.exec(text);
  if (start === null) throw malformed(text, "Missing left parenthesis.");
  let at = start[0].length;
  const values: Value[] = [];
  for (let i = 0; i < count; i++) {
    if (i > 0) {
      if (text[at] !== ",") throw malformed(text, text[at] === ")" ? "Too few columns." : "Unexpected end of input.");
      at++;
    }
    const field = fieldAt(text, at);
    at = field.end;
    values.push(field.value === null ? null : read(field.value, i));
  }
  if (text[at] === ",") throw malformed(text, "Too many columns.");
  // A type without columns has an empty pair of parentheses.
  if (text[at] !== ")") throw malformed(text, count === 0 ? "Too many columns." : "Unexpected end of input.");
  if (text.slice(at + 1).trim() !== "") throw malformed(text, "Junk after right parenthesis.");
  return values;
}

/** The field that begins there, with quotes and backslashes taken away; nothing at all is NULL. */
function fieldAt(text: string, start: number): { readonly value: string | null; readonly end: number } {
  let at = start;
  let quoted = false;
  let value = "";
  while (quoted || (text[at] !== "," && text[at] !== ")")) {
    const character = text[at++];
    if (character === undefined) throw malformed(text, "Unexpected end of input.");
    if (character === "\\") {
      if (at >= text.length) throw malformed(text, "Unexpected end of input.");
      value += text[at++];
    } else if (character !== '"') {
      value += character;
    } else if (quoted && text[at] === '"') {
      value += '"';
      at++;
    } else {
      quoted = !quoted;
    }
  }
  return { value: at === start ? null : value, end: at };
}
