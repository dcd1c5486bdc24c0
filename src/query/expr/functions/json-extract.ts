/**
 * JSON as MySQL's and SQLite's clients ask for it: paths such as `$.a.b[0]` in `->`, `->>` and JSON_EXTRACT,
 * JSON_CONTAINS, JSON_UNQUOTE. A path names members; filters and methods are SQL/JSON's (json-path-functions.ts).
 */
import { sqlError } from "../../../protocol/errors.js";
import { spend } from "../../../protocol/stretch.js";
import { Numeric } from "../../../values/numeric.js";
import { fromText, toText } from "../../../values/text-format.js";
import { BOOL, JSON_TYPE, JSONB, Json, NUMERIC, type SqlType, TEXT } from "../../../values/values.js";
import { compareJson } from "../compare.js";
import type { ScalarFunction } from "../expr.js";
import { composedJson } from "./composed-value.js";
import { fn } from "./define.js";
import { isJsonObject } from "./json-member.js";

/** A key, an index (negative: from the end), or all members. */
type Step = string | number | { readonly all: "keys" | "elements" };

interface MemberPath {
  readonly steps: readonly Step[];
  /** It may name several members. */
  readonly many: boolean;
}

const STEP =
  /\.\s*(?:(?<star>\*)|(?<key>[\p{L}_$][\p{L}\p{N}_$-]*)|"(?<quoted>(?:[^"\\]|\\.)*)")|\[\s*(?:(?<all>\*)|(?<index>\d+)|last\s*(?:-\s*(?<back>\d+))?|#?\s*-\s*(?<minus>\d+))\s*\]|\s+/uy;

/** `$`, `$.a`, `$[0]`, `$."a b"[last].c`, `$.items[*]`. A key that is no such text is none. */
export const isMemberPath = (text: string): boolean => /^\s*\$\s*(?:[.[]|$)/.test(text);

/** Roughly the cost of looking at one. */
const NANOS_PER_MEMBER = 50;

/** The last one read: a statement uses few, for many rows. */
let last: { readonly text: string; readonly path: MemberPath } | null = null;

/** Throws 22023 with what paths can be. */
function memberPath(text: string): MemberPath {
  if (last?.text === text) return last.path;
  const steps: Step[] = [];
  STEP.lastIndex = text.indexOf("$") + 1;
  while (STEP.lastIndex < text.length) {
    const at = STEP.lastIndex;
    const groups = STEP.exec(text)?.groups;
    if (groups === undefined || !isMemberPath(text)) throw invalidPath(text, at);
    const { star, key, quoted, all, index, back, minus } = groups;
    if (text.slice(at, STEP.lastIndex).trim() === "") continue;
    if (star !== undefined) steps.push({ all: "keys" });
    else if (all !== undefined) steps.push({ all: "elements" });
    else if (key !== undefined) steps.push(key);
    else if (quoted !== undefined) steps.push(quotedKey(quoted, text, at));
    else if (index !== undefined) steps.push(Number(index));
    else steps.push(minus === undefined ? -1 - Number(back ?? 0) : -Number(minus));
  }
  if (!isMemberPath(text)) throw invalidPath(text, 0);
  const path = { steps, many: steps.some((step) => typeof step === "object") };
  last = { text, path };
  return path;
}

function quotedKey(quoted: string, text: string, at: number): string {
  try {
    return JSON.parse(`"${quoted}"`) as string;
  } catch {
    throw invalidPath(text, at);
  }
}

function invalidPath(text: string, at: number): Error {
  return sqlError("22023", `"${text}" is not a valid path: the mistake begins at character ${at + 1}`, {
    hint: 'A path is $ with steps .key, ."any key", [0], [last], .* or [*]. Filters and methods: jsonb_path_query(value, path).',
  });
}

/** What the path finds: undefined for nothing; a path with `*` finds an array of all. */
export function atMemberPath(value: unknown, text: string): unknown {
  const { steps, many } = memberPath(text);
  let found: unknown[] = [value];
  for (const step of steps) found = found.flatMap((each) => membersOf(each, step));
  if (found.length === 0) return undefined;
  return many ? found : found[0];
}

function membersOf(value: unknown, step: Step): unknown[] {
  if (typeof step === "object") {
    const count = Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0;
    spend(count * NANOS_PER_MEMBER);
    if (step.all === "elements") return Array.isArray(value) ? value : [];
    return isJsonObject(value) ? Object.values(value) : [];
  }
  if (typeof step === "string") return isJsonObject(value) && Object.hasOwn(value, step) ? [value[step]] : [];
  if (!Array.isArray(value)) return step === 0 || step === -1 ? [value] : [];
  const index = step < 0 ? value.length + step : step;
  return index >= 0 && index < value.length ? [value[index]] : [];
}

const JSON_INPUTS: readonly SqlType[] = [JSONB, JSON_TYPE, TEXT];
const jsonOf = (json: Json | string): unknown =>
  typeof json === "string" ? (fromText(JSONB, json) as Json).value : json.value;

/** With several paths an array of what they find. */
function extract(json: Json | string, ...paths: (string | null)[]): Json | null {
  if (paths.includes(null)) return null;
  const value = jsonOf(json);
  if (paths.length === 1) {
    const found = atMemberPath(value, paths[0]!);
    return found === undefined ? null : new Json(found);
  }
  const found = paths.map((path) => atMemberPath(value, path!)).filter((each) => each !== undefined);
  return found.length === 0 ? null : composedJson(found);
}

/** MySQL's containment: a value that is not an array is contained in an array if one of the elements contains it. */
function contains(target: unknown, candidate: unknown): boolean {
  spend(NANOS_PER_MEMBER);
  if (Array.isArray(target)) {
    const wanted = Array.isArray(candidate) ? candidate : [candidate];
    return wanted.every((one) => target.some((each) => contains(each, one)));
  }
  if (isJsonObject(target)) {
    if (!isJsonObject(candidate)) return false;
    return Object.keys(candidate).every((key) => Object.hasOwn(target, key) && contains(target[key], candidate[key]));
  }
  return !Array.isArray(candidate) && !isJsonObject(candidate) && compareJson(target, candidate) === 0;
}

function containsAt(target: Json | string, candidate: Json | string, path = "$"): boolean | null {
  const found = atMemberPath(jsonOf(target), path);
  return found === undefined ? null : contains(found, jsonOf(candidate));
}

/** Strings without their quotes; null is NULL. */
function unquoted({ value }: Json): string | null {
  if (value === null) return null;
  return typeof value === "string" ? value : toText(JSONB, new Json(value));
}

/** What JSON_EXTRACT's values are where they are compared with values of other types. */
export const JSON_AS = {
  text: fn("json_unquote", [JSONB], TEXT, unquoted),
  number: fn("json_as_number", [JSONB], NUMERIC, ({ value }: Json) => {
    if (value instanceof Numeric) return value;
    return typeof value === "number" ? Numeric.fromNumber(value) : null;
  }),
  boolean: fn("json_as_boolean", [JSONB], BOOL, ({ value }: Json) => (typeof value === "boolean" ? value : null)),
} as const;

export const JSON_EXTRACT_NAME = "json_extract";

export const JSON_EXTRACT_FUNCTIONS: readonly ScalarFunction[] = [
  ...JSON_INPUTS.map((type) =>
    // Of jsonb, only the members that are looked at count; a text is read whole.
    fn(JSON_EXTRACT_NAME, [type, TEXT], JSONB, extract, { variadic: TEXT, ...(type === JSONB && { nanosPerUnit: 0 }) }),
  ),
  ...JSON_INPUTS.flatMap((type) =>
    JSON_INPUTS.flatMap((other) => [
      fn("json_contains", [type, other], BOOL, containsAt),
      fn("json_contains", [type, other, TEXT], BOOL, containsAt),
    ]),
  ),
  ...Object.values(JSON_AS),
];
