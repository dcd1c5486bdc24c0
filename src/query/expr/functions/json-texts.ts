/** The texts within a JSON value, in its order, as to_tsvector and ts_headline take them (chapter 12.4). */
import { sqlError } from "../../../protocol/errors.js";
import { setMember } from "../../../values/json-text.js";
import { jsonKeys } from "../compare.js";
import { isJsonObject } from "./json-member.js";

export type JsonPart = "string" | "numeric" | "boolean" | "key";

const PARTS: readonly string[] = ["string", "numeric", "boolean", "key"];

export const isTextPart = (part: JsonPart): boolean => part === "string";

const HINT = 'Possible values are: "string", "numeric", "boolean", "key", and "all".';

/** What a filter such as `["string", "numeric"]` or `"all"` lets pass. Throws 22023. */
export function jsonFilter(filter: unknown): (part: JsonPart) => boolean {
  if (filter === null || isJsonObject(filter)) {
    throw sqlError("22023", "wrong flag type, only arrays and scalars are allowed");
  }
  const wanted = new Set<string>();
  for (const flag of Array.isArray(filter) ? filter : [filter]) {
    if (typeof flag !== "string") throw sqlError("22023", "flag array element is not a string", { hint: HINT });
    const name = flag.toLowerCase();
    if (name === "all") for (const part of PARTS) wanted.add(part);
    else if (PARTS.includes(name)) wanted.add(name);
    else throw sqlError("22023", `wrong flag in flag array: "${flag}"`, { hint: HINT });
  }
  return (part) => wanted.has(part);
}

/** Texts of the parts that pass. */
export function* jsonTexts(value: unknown, passes: (part: JsonPart) => boolean): Generator<string> {
  if (value === null) return;
  if (typeof value === "string") {
    if (passes("string")) yield value;
  } else if (typeof value === "boolean") {
    if (passes("boolean")) yield String(value);
  } else if (Array.isArray(value)) {
    for (const member of value) yield* jsonTexts(member, passes);
  } else if (isJsonObject(value)) {
    for (const key of jsonKeys(value)) {
      if (passes("key")) yield key;
      yield* jsonTexts(value[key], passes);
    }
  } else if (passes("numeric")) yield String(value);
}

/** The value with each of its texts replaced. */
export function mapJsonTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((member) => mapJsonTexts(member, replace));
  if (!isJsonObject(value)) return value;
  const mapped: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setMember(mapped, key, mapJsonTexts(value[key], replace));
  return mapped;
}
