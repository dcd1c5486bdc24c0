/** The functions that operators of ranges and multiranges call, by their names in pg_proc: range_contains and so on. */
import { MULTIRANGES, RANGES, type SqlType } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { COMPARISONS } from "./comparison.js";
import { RANGE_OPERATORS } from "./ranges.js";

const RANGE_TYPES: ReadonlySet<SqlType> = new Set(Object.values(RANGES));
const LIST_TYPES: ReadonlySet<SqlType> = new Set(Object.values(MULTIRANGES));

const TESTS: Readonly<Record<string, string>> = {
  "@>": "contains",
  "<@": "contained_by",
  "&&": "overlaps",
  "-|-": "adjacent",
  "<<": "before",
  ">>": "after",
  "&<": "overleft",
  "&>": "overright",
};
const OF_ONE_KIND: Readonly<Record<string, string>> = {
  "+": "union",
  "-": "minus",
  "*": "intersect",
  "=": "eq",
  "<>": "ne",
  "<": "lt",
  "<=": "le",
  ">": "gt",
  ">=": "ge",
};

/** Null: of a bound. */
const kindOf = (type: SqlType) => (RANGE_TYPES.has(type) ? "range" : LIST_TYPES.has(type) ? "multirange" : null);

/** Null: PostgreSQL has no function of the kind. */
function nameOf({ operator, args }: ScalarFunction): string | null {
  const [left, right] = args.map(kindOf);
  if (left === undefined || right === undefined) return null;
  const test = TESTS[operator!];
  if (test === undefined) return left !== null && left === right ? `${left}_${OF_ONE_KIND[operator!]}` : null;
  if (left === null) return `elem_${test}_${right}`;
  if (right === null) return `${left}_${test}_elem`;
  return left === "range" && right === "range" ? `range_${test}` : `${left}_${test}_${right}`;
}

export const RANGE_OPERATOR_FUNCTIONS: readonly ScalarFunction[] = [...RANGE_OPERATORS, ...COMPARISONS].flatMap(
  (overload) => {
    const name = overload.args.some((type) => kindOf(type) !== null) ? nameOf(overload) : null;
    const { operator: _, ...called } = overload;
    return name === null ? [] : [Object.freeze({ ...called, name })];
  },
);
