/**
 * Functions that syntax makes of types and operators at hand: ARRAY[…], a[i], x = ANY (array), NULLIF. One object per
 * use.
 */
import { sqlError } from "../../protocol/errors.js";
import { hashKeyOf } from "../../query/expr/compare.js";
import type { EvalContext, ScalarFunction } from "../../query/expr/expr.js";
import {
  arraySlice,
  elementAt,
  type SliceBounds,
  stackedArrays,
  withElement,
  withSlice,
} from "../../query/expr/functions/array-parts.js";
import { comparesByHash, hashedHas } from "../../query/expr/hashed-items.js";
import { EMPTY_ARRAY, sqlArray } from "../../values/text-format-array.js";
import { arrayOf, BOOL, INT4, type SqlArray, type SqlType, type Value } from "../../values/values.js";

/** Equal calls must have identical functions, so that equal expressions are recognized. */
function memoized<K, F>(make: (key: K) => F): (key: K) => F {
  const made = new Map<K, F>();
  return (key) => {
    let result = made.get(key);
    if (result === undefined) {
      result = make(key);
      made.set(key, result);
    }
    return result;
  };
}

const constructors = memoized((element: SqlType) =>
  memoized((count: number): ScalarFunction => {
    const nested = element.element !== null && element.user === undefined;
    return Object.freeze({
      name: "array",
      args: new Array<SqlType>(count).fill(element),
      returns: nested ? element : arrayOf(element),
      volatility: "immutable",
      strict: false,
      apply: nested
        ? (...arrays: (SqlArray | null)[]) => stacked(arrays)
        : (...elements: Value[]) => sqlArray(elements),
    });
  }),
);

/** `ARRAY[…]` of so many elements; elements that are arrays make one of a further dimension. */
export function arrayConstructor(element: SqlType, count: number): ScalarFunction {
  return constructors(element)(count);
}

function stacked(arrays: readonly (SqlArray | null)[]): SqlArray {
  return stackedArrays(
    arrays.map((array) => array ?? EMPTY_ARRAY),
    () => sqlError("2202E", "multidimensional arrays must have array expressions with matching dimensions"),
  );
}

const elements = memoized((type: SqlType) =>
  memoized(
    (count: number): ScalarFunction =>
      Object.freeze({
        name: "subscript",
        args: [type, ...new Array<SqlType>(count).fill(INT4)],
        returns: type.element!,
        volatility: "immutable",
        strict: true,
        apply: elementAt,
      }),
  ),
);

/** `array[i][j]…` with so many subscripts. */
export function arrayElement(type: SqlType, count: number): ScalarFunction {
  return elements(type)(count);
}

/** Which bounds of a slice are given, dimension by dimension: both, one or none. */
export type SliceForm = readonly ("both" | "lower" | "upper" | "none")[];

/** The bounds that are given, in order, back in their places. Throws 22004 for NULL. */
function boundsOf(form: SliceForm, given: readonly (number | null)[]): SliceBounds[] {
  let next = 0;
  const take = () => {
    const bound = given[next++]!;
    if (bound === null) throw sqlError("22004", "array subscript in assignment must not be null");
    return bound;
  };
  return form.map((which) => ({
    lower: which === "both" || which === "lower" ? take() : null,
    upper: which === "both" || which === "upper" ? take() : null,
  }));
}

const givenBounds = (form: SliceForm) =>
  form.reduce((count, which) => count + (which === "both" ? 2 : which === "none" ? 0 : 1), 0);

const slices = memoized((type: SqlType) =>
  memoized((key: string): ScalarFunction => {
    const form = key.split(",") as unknown as SliceForm;
    return Object.freeze({
      name: "slice",
      args: [type, ...new Array<SqlType>(givenBounds(form)).fill(INT4)],
      returns: type,
      volatility: "immutable",
      strict: true,
      apply: (array: SqlArray, ...given: number[]) => arraySlice(array, boundsOf(form, given)),
    });
  }),
);

/** `array[i:j][:k]…`; its arguments are the array and the bounds that are given. */
export function arraySliceOf(type: SqlType, form: SliceForm): ScalarFunction {
  return slices(type)(form.join());
}

/** The array with `array[i][j]…` replaced: arguments are the array, the new element and the subscripts. */
export function arrayWithElement(type: SqlType, count: number): ScalarFunction {
  return Object.freeze({
    name: "assign_element",
    args: [type, type.element!, ...new Array<SqlType>(count).fill(INT4)],
    returns: type,
    volatility: "immutable",
    strict: false,
    apply: (array: SqlArray | null, value: Value, ...given: (number | null)[]) => {
      if (given.includes(null)) throw sqlError("22004", "array subscript in assignment must not be null");
      return withElement(array, given as number[], value);
    },
  });
}

/** The array with a slice replaced: arguments are the array, the source and the bounds that are given. */
export function arrayWithSlice(type: SqlType, form: SliceForm): ScalarFunction {
  return Object.freeze({
    name: "assign_slice",
    args: [type, type, ...new Array<SqlType>(givenBounds(form)).fill(INT4)],
    returns: type,
    volatility: "immutable",
    strict: false,
    apply: (array: SqlArray | null, source: SqlArray | null, ...given: (number | null)[]) => {
      const bounds = boundsOf(form, given);
      return source === null ? array : withSlice(array, bounds, source);
    },
  });
}

const quantifiers = { any: new Map<ScalarFunction, ScalarFunction>(), all: new Map<ScalarFunction, ScalarFunction>() };

/** `x op ANY (array)`, or ALL: OR, or AND, over the elements, with the NULL rules of those. */
export function quantifiedOperator(compare: ScalarFunction, all: boolean): ScalarFunction {
  const made = all ? quantifiers.all : quantifiers.any;
  let fn = made.get(compare);
  if (fn === undefined) {
    const hashed = comparesByHash(compare, all ? "<>" : "=") ? hashKeyOf(compare.args[0]!) : null;
    fn = Object.freeze({
      name: `${compare.name} ${all ? "ALL" : "ANY"}`,
      operator: `${compare.name} ${all ? "ALL" : "ANY"}`,
      args: [compare.args[0]!, arrayOf(compare.args[1]!)],
      returns: BOOL,
      volatility: compare.volatility,
      strict: false,
      needsContext: true,
      ...(!all && { anyOf: compare }),
      apply: (context: EvalContext, left: Value, array: SqlArray | null) => {
        if (array === null) return null;
        // `<> ALL` is what `= ANY` is not.
        const found = hashed === null ? undefined : hashedHas(array.elements, left, hashed);
        if (found !== undefined) return all && found !== null ? !found : found;
        return quantified(compare, all, context, left, array);
      },
    } satisfies ScalarFunction);
    made.set(compare, fn);
  }
  return fn;
}

function quantified(fn: ScalarFunction, all: boolean, context: EvalContext, left: Value, array: SqlArray): Value {
  let undecided = false;
  for (const right of array.elements) {
    let result: Value = null;
    if (!fn.strict || (left !== null && right !== null)) {
      result = fn.needsContext ? fn.apply(context, left, right) : fn.apply(left, right);
    }
    if (result === null) undecided = true;
    else if (result !== all) return !all;
  }
  return undecided ? null : all;
}

const nullIfs = new Map<ScalarFunction, Map<SqlType, ScalarFunction>>();

/** NULLIF by that `=`: the first operand, or NULL when the two are equal. Each operand is evaluated once. */
export function nullIfFunction(equals: ScalarFunction, type: SqlType): ScalarFunction {
  let byType = nullIfs.get(equals);
  if (byType === undefined) {
    byType = new Map();
    nullIfs.set(equals, byType);
  }
  let fn = byType.get(type);
  if (fn === undefined) {
    fn = Object.freeze({
      name: "nullif",
      args: equals.args,
      returns: type,
      volatility: equals.volatility,
      strict: false,
      needsContext: true,
      apply: (context: EvalContext, left: Value, right: Value) => {
        if (left === null || right === null) return left;
        const equal = equals.needsContext ? equals.apply(context, left, right) : equals.apply(left, right);
        return equal === true ? null : left;
      },
    } satisfies ScalarFunction);
    byType.set(type, fn);
  }
  return fn;
}
