/**
 * Reading and replacing parts of jsonb values by subscripts: `j['key'][0]`, and the same on the left of an assignment
 * (chapter 8.14.5). The binder makes calls of these; one object per shape, so that equal calls have identical
 * functions.
 */
import { sqlError } from "../../../protocol/errors.js";
import { setMember } from "../../../values/json-text.js";
import { JSONB, Json, type SqlType, TEXT } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { composedJson } from "./composed-value.js";
import { fn } from "./define.js";
import { atPath, isJsonObject } from "./json-member.js";

const made = new Map<string, ScalarFunction>();

function memoized(key: string, make: () => ScalarFunction): ScalarFunction {
  let result = made.get(key);
  if (result === undefined) {
    result = make();
    made.set(key, result);
  }
  return result;
}

const repeat = (type: SqlType, count: number) => new Array<SqlType>(count).fill(type);
/** No assignment makes an array longer than this. */
const ELEMENTS_MAX = 134_217_727;

/** `jsonb[…]…`: arguments are the value and its path of texts. */
export function jsonbElement(count: number): ScalarFunction {
  return memoized(`jsonb ${count}`, () =>
    fn("subscript", [JSONB, ...repeat(TEXT, count)], JSONB, (json: Json, ...path: string[]) => {
      const found = atPath(json.value, path);
      return found === undefined ? null : new Json(found);
    }),
  );
}

/**
 * `SET j[…]… = value`: arguments are the value, what replaces the part (NULL: JSON null) and the path. `numeric` tells
 * for each step whether its subscript was a number: where nothing is there yet, that makes an array.
 */
export function assignJsonb(numeric: readonly boolean[]): ScalarFunction {
  return memoized(`assign jsonb ${numeric.map(Number).join("")}`, () =>
    fn(
      "assign_jsonb",
      [JSONB, JSONB, ...repeat(TEXT, numeric.length)],
      JSONB,
      (json: Json | null, value: Json | null, ...path: (string | null)[]) => withJsonPart(json, path, numeric, value),
      { strict: false },
    ),
  );
}

/** `value` null: JSON null. Throws 22004. */
export function withJsonPart(
  json: Json | null,
  path: readonly (string | null)[],
  numeric: readonly boolean[],
  value: Json | null,
): Json {
  if (path.includes(null)) throw sqlError("22004", "jsonb subscript in assignment must not be null");
  const start = json === null ? emptyFor(numeric[0] === true) : json.value;
  return composedJson(withPart(start, path as readonly string[], numeric, value === null ? null : value.value, 0));
}

const emptyFor = (numeric: boolean): unknown => (numeric ? [] : {});

function withPart(
  container: unknown,
  path: readonly string[],
  numeric: readonly boolean[],
  value: unknown,
  depth: number,
): unknown {
  if (depth === path.length) return value;
  const key = path[depth] as string;
  const inner = (member: unknown) =>
    withPart(
      member === undefined && depth + 1 < path.length ? emptyFor(numeric[depth + 1] === true) : member,
      path,
      numeric,
      value,
      depth + 1,
    );
  if (Array.isArray(container)) {
    const index = indexIn(container, key, depth);
    const result = [...container];
    while (result.length < index) result.push(null);
    result[index] = inner(container[index]);
    return result;
  }
  if (!isJsonObject(container)) {
    throw sqlError("22023", "cannot replace existing key", {
      detail: "The path assumes key is a composite object, but it is a scalar value.",
    });
  }
  const result = { ...container };
  setMember(result, key, inner(Object.hasOwn(container, key) ? container[key] : undefined));
  return result;
}

function indexIn(array: readonly unknown[], key: string, depth: number): number {
  if (!/^\s*[+-]?\d+\s*$/.test(key)) {
    throw sqlError("22P02", `path element at position ${depth + 1} is not an integer: "${key}"`);
  }
  const index = Number(key);
  if (index >= 0 && index <= ELEMENTS_MAX) return index;
  if (index < 0 && index + array.length >= 0) return index + array.length;
  throw sqlError("22P02", `path element at position ${depth + 1} is out of range: ${index}`);
}
