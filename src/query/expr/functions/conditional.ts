/** COALESCE, NULLIF, GREATEST and LEAST: their arguments have one common type, which is the result's too. */
import type { SqlType, Value } from "../../../values/values.js";
import { commonType } from "../coercion.js";
import { comparatorOf } from "../compare.js";
import type { ScalarFunction } from "../expr.js";
import { type FunctionFamily, family } from "./define.js";

type Shape = Pick<ScalarFunction, "apply"> & Partial<Pick<ScalarFunction, "lazy">>;

/** Functions of one common type that see NULLs. A mismatch of types is reported under the construct's own name. */
function common(name: string, counts: (count: number) => boolean, make: (type: SqlType) => Shape): FunctionFamily {
  return family(name, "(anyelement, …) → anyelement", (types) => {
    if (!counts(types.length)) return null;
    const type = commonType(types, name.toUpperCase());
    return Object.freeze({
      name,
      args: types.map(() => type),
      returns: type,
      volatility: "immutable",
      strict: false,
      ...make(type),
    });
  });
}

const some = (count: number) => count > 0;

type Thunk = () => Value;

function coalesce(...args: Thunk[]): Value {
  for (const arg of args) {
    const value = arg();
    if (value !== null) return value;
  }
  return null;
}

/** The largest by `sign` of the values that are not NULL. */
function extreme(type: SqlType, sign: number): (...values: Value[]) => Value {
  const compare = comparatorOf(type);
  return (...values) => {
    let best: Value = null;
    for (const value of values) {
      if (value !== null && (best === null || compare(value, best) * sign > 0)) best = value;
    }
    return best;
  };
}

export const CONDITIONAL_FAMILIES: readonly FunctionFamily[] = [
  common("coalesce", some, () => ({ lazy: true, apply: coalesce })),
  common(
    "ifnull",
    (count) => count === 2,
    () => ({ lazy: true, apply: coalesce }),
  ),
  common(
    "nullif",
    (count) => count === 2,
    (type) => {
      const compare = comparatorOf(type);
      return {
        apply: (a: Value, b: Value) => (a !== null && b !== null && compare(a, b) === 0 ? null : a),
      };
    },
  ),
  common("greatest", some, (type) => ({ apply: extreme(type, 1) })),
  common("least", some, (type) => ({ apply: extreme(type, -1) })),
];
