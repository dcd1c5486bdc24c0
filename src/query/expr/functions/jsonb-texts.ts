/** jsonb_texts(jsonb): all strings in a JSON value, for searches by words in whatever a document holds. */
import { Numeric } from "../../../protocol/numeric.js";
import { JSONB, type Json, TEXT } from "../../../protocol/values.js";
import type { ScalarFunction } from "../expr.js";
import { fn } from "./define.js";

/** In their order, a line each; names of members are none. */
function textsOf(value: unknown, texts: string[]): string[] {
  if (typeof value === "string") texts.push(value);
  else if (Array.isArray(value)) for (const item of value) textsOf(item, texts);
  else if (typeof value === "object" && value !== null && !(value instanceof Numeric)) {
    for (const member of Object.values(value)) textsOf(member, texts);
  }
  return texts;
}

export const JSONB_TEXTS: readonly ScalarFunction[] = [
  fn("jsonb_texts", [JSONB], TEXT, (json: Json) => textsOf(json.value, []).join("\n")),
];
