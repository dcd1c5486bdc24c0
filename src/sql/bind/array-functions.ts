/** Functions that syntax makes of types and operators at hand: ARRAY[…], a[i], x = ANY (array). One object per use. */
import { sqlError } from "../../protocol/errors.js";
import { arrayOf, BOOL, INT4, type SqlArray, type SqlType, type Value } from "../../protocol/values.js";
import type { EvalContext, ScalarFunction } from "../../query/expr/expr.js";

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
    const nested = element.element !== null;
    return Object.freeze({
      name: "array",
      args: new Array<SqlType>(count).fill(element),
      returns: nested ? element : arrayOf(element),
      volatility: "immutable",
      strict: false,
      apply: nested
        ? (...arrays: (SqlArray | null)[]) => stacked(arrays)
        : (...elements: Value[]) => ({ elements, dimensions: [elements.length], lowerBounds: [1] }),
    });
  }),
);

/** `ARRAY[…]` of so many elements; elements that are arrays make one of a further dimension. */
export function arrayConstructor(element: SqlType, count: number): ScalarFunction {
  return constructors(element)(count);
}

function stacked(arrays: readonly (SqlArray | null)[]): SqlArray {
  const given = arrays.map((array) => array ?? { elements: [], dimensions: [], lowerBounds: [] });
  const { dimensions } = given[0]!;
  if (given.some((array) => array.dimensions.join() !== dimensions.join())) {
    throw sqlError("2202E", "multidimensional arrays must have array expressions with matching dimensions");
  }
  if (dimensions.length === 0) return given[0]!;
  const sizes = [given.length, ...dimensions];
  return { elements: given.flatMap((array) => array.elements), dimensions: sizes, lowerBounds: sizes.map(() => 1) };
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

/** NULL outside of the bounds, and when there are not as many subscripts as dimensions. */
function elementAt(array: SqlArray, ...indexes: number[]): Value {
  if (indexes.length !== array.dimensions.length) return null;
  let slot = 0;
  for (let d = 0; d < indexes.length; d++) {
    const offset = indexes[d]! - array.lowerBounds[d]!;
    if (offset < 0 || offset >= array.dimensions[d]!) return null;
    slot = slot * array.dimensions[d]! + offset;
  }
  return array.elements[slot]!;
}

const quantifiers = { any: new Map<ScalarFunction, ScalarFunction>(), all: new Map<ScalarFunction, ScalarFunction>() };

/** `x op ANY (array)`, or ALL: OR, or AND, over the elements, with the NULL rules of those. */
export function quantifiedOperator(compare: ScalarFunction, all: boolean): ScalarFunction {
  const made = all ? quantifiers.all : quantifiers.any;
  let fn = made.get(compare);
  if (fn === undefined) {
    fn = Object.freeze({
      name: `${compare.name} ${all ? "ALL" : "ANY"}`,
      operator: `${compare.name} ${all ? "ALL" : "ANY"}`,
      args: [compare.args[0]!, arrayOf(compare.args[1]!)],
      returns: BOOL,
      volatility: compare.volatility,
      strict: false,
      needsContext: true,
      apply: (context: EvalContext, left: Value, array: SqlArray | null) =>
        array === null ? null : quantified(compare, all, context, left, array),
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
