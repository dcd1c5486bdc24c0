/** Of lists of indexes and constraints, those of the type that a procedure is asked for. */
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { cypherError } from "../../values/cypher-error.js";
import { BOOL, VARIANT } from "../../values/values.js";
import type { Variant } from "../../values/variant.js";
import { call } from "./variables.js";

function comparison(name: string, fits: (type: string, wanted: string) => boolean): ScalarFunction {
  return Object.freeze({
    name,
    args: [VARIANT, VARIANT],
    returns: BOOL,
    volatility: "immutable",
    strict: false,
    apply: (type: string, wanted: Variant) => {
      if (wanted === null) return true;
      if (typeof wanted === "string") return fits(type, wanted.toUpperCase());
      throw cypherError("TypeError", "InvalidArgumentType", "the type is a string such as 'RANGE', or null for all");
    },
  });
}

/** VECTOR; KEY is NODE_KEY and RELATIONSHIP_KEY. */
export const IS_TYPE = comparison("is_type", (type, wanted) => type === wanted);
export const HAS_TYPE = comparison("has_type", (type, wanted) => type.includes(wanted));

/** `wanted` undefined: all. The rows have a column `type`. */
export function ofType(rows: Plan, wanted: Expr | undefined, fits: ScalarFunction): Plan {
  if (wanted === undefined) return rows;
  const { columns } = rows;
  const type = columnExpr(columns.find(({ name }) => name === "type")!);
  return Object.freeze({ kind: "filter", input: rows, predicate: call(fits, [type, wanted]), columns });
}
