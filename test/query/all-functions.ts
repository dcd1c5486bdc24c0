/**
 * Every function, operator, aggregate and window function that a statement can call, those that rooms above the
 * expressions register, too; of families, an overload for each combination of some types.
 */

import { AGGREGATES as CYPHER_AGGREGATES } from "../../src/query/expr/cypher/aggregates.js";
import { COALESCE } from "../../src/query/expr/cypher/list-functions.js";
import { CYPHER_FUNCTIONS, cypherOperators } from "../../src/query/expr/cypher/registry.js";
import type { AggregateFunction, ScalarFunction, WindowFunction } from "../../src/query/expr/expr.js";
import type { Family } from "../../src/query/expr/functions/define.js";
import { multirangeOfOwn } from "../../src/query/expr/functions/own-ranges.js";
import { CHAPTERS, REGISTERED_FUNCTIONS } from "../../src/query/expr/functions/registry.js";
import { TABLE_FUNCTION_FAMILIES, TABLE_FUNCTIONS } from "../../src/query/expr/functions/table-registry.js";
import type { TableFunction } from "../../src/query/expr/table-function.js";
import {
  arrayOf,
  HALFVEC,
  INT4,
  JSONB,
  JSONPATH,
  NUMERIC,
  SPARSEVEC,
  type SqlType,
  TEXT,
  userType,
  VARIANT,
  VECTOR,
} from "../../src/values/values.js";

const OWN = { schema: "public", labels: [], fields: [], base: null } as const;
const TYPES: readonly SqlType[] = [TEXT, INT4, JSONB, NUMERIC, arrayOf(INT4), arrayOf(TEXT)];
const LAST_TYPES: readonly SqlType[] = [INT4, TEXT, arrayOf(TEXT)];
const LIST = { id: 2, schema: "public", name: "text_spans" };
const OWN_RANGE = userType({ ...OWN, kind: "range", id: 1, name: "text_span", part: TEXT, list: LIST });
const OWN_LIST = multirangeOfOwn(OWN_RANGE);
const OTHERS: readonly (readonly SqlType[])[] = [
  [VECTOR, VECTOR],
  [HALFVEC],
  [HALFVEC, HALFVEC],
  [HALFVEC, INT4, INT4],
  [SPARSEVEC],
  [SPARSEVEC, SPARSEVEC],
  [VARIANT, TEXT],
  [TEXT, JSONB, JSONPATH, JSONB, TEXT, TEXT],
  [OWN_RANGE],
  [OWN_LIST],
];
/** Of a family for the same number of arguments: more of them do the same. */
const INSTANCES_MAX = 4;

/** By the number of types. */
const COMBINATIONS: readonly (readonly (readonly SqlType[])[])[] = [
  [[]],
  TYPES.map((a) => [a]),
  TYPES.flatMap((a) => TYPES.map((b) => [a, b])),
  TYPES.flatMap((a) => TYPES.flatMap((b) => LAST_TYPES.map((c) => [a, b, c]))),
  OTHERS,
];

/** Throws when none of the combinations fits: then one has to be added. */
function instancesOf<F>({ name, form, instantiate }: Family<F>): readonly F[] {
  const instances = COMBINATIONS.flatMap((combinations) => {
    const made = new Set<F>();
    for (const types of combinations) {
      const instance = fitting(() => instantiate(types));
      if (instance !== null && made.size < INSTANCES_MAX) made.add(instance);
    }
    return [...made];
  });
  if (instances.length === 0 && !OF_TENANTS_TYPES.test(form)) throw new Error(`no overload of ${name}${form}`);
  return instances;
}

/**
 * Over types that a tenant has made, or that only a statement has: enums are short, records are compared value by
 * value.
 */
const OF_TENANTS_TYPES = /anyenum|record|anycompositetype/;

/** Some families throw what the statement is told when the types do not fit. */
function fitting<F>(instantiate: () => F | null): F | null {
  try {
    return instantiate();
  } catch {
    return null;
  }
}

export function scalarFunctions(): readonly ScalarFunction[] {
  const ofSql = CHAPTERS.flatMap((chapter) => [
    ...(chapter.functions ?? []),
    ...(chapter.operators ?? []),
    ...[...(chapter.families ?? []), ...(chapter.operatorFamilies ?? [])].flatMap(instancesOf),
  ]);
  return [...ofSql, ...REGISTERED_FUNCTIONS, ...CYPHER_FUNCTIONS, COALESCE, ...cypherOperators()];
}

export function aggregateFunctions(): readonly AggregateFunction[] {
  const ofSql = CHAPTERS.flatMap((chapter) => [
    ...(chapter.aggregates ?? []),
    ...(chapter.aggregateFamilies ?? []).flatMap(instancesOf),
  ]);
  return [...ofSql, ...CYPHER_AGGREGATES.map(({ fn, directArgs }) => Object.freeze({ ...fn, directArgs }))];
}

export function windowFunctions(): readonly WindowFunction[] {
  return CHAPTERS.flatMap((chapter) => [
    ...(chapter.windowFunctions ?? []),
    ...(chapter.windowFamilies ?? []).flatMap(instancesOf),
  ]);
}

/** Those that return rows. */
export function tableFunctions(): readonly TableFunction[] {
  return [
    ...[...TABLE_FUNCTIONS.values()].flat(),
    ...[...TABLE_FUNCTION_FAMILIES.values()].flat().flatMap(instancesOf),
  ];
}
