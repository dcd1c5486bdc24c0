/**
 * Functions, operators and aggregates of Cypher by name. Called by cypher/bind, which makes calls of the algebra of
 * them; SQL's are in functions/registry.ts. Names of functions are compared without case.
 */
import type { ScalarFunction } from "../expr.js";
import { AGGREGATES, type CypherAggregate } from "./aggregates.js";
import { APOC_DATE_FUNCTIONS } from "./apoc-date-functions.js";
import { APOC_FUNCTIONS } from "./apoc-functions.js";
import { COLL_FUNCTIONS } from "./coll-functions.js";
import { CONVERSIONS } from "./conversion.js";
import { GRAPH_FUNCTIONS } from "./graph-functions.js";
import { COALESCE, LIST_FUNCTIONS } from "./list-functions.js";
import { MATH_FUNCTIONS } from "./math-functions.js";
import { OPERATORS, type OperatorSymbol } from "./operators.js";
import { POINT_FUNCTIONS } from "./point-functions.js";
import { TEMPORAL_FUNCTIONS } from "./temporal-functions.js";
import { TEXT_FUNCTIONS } from "./text-functions.js";
import { VECTOR_FUNCTIONS } from "./vector-functions.js";

/** All of them but coalesce(), which takes any number of arguments. */
export const CYPHER_FUNCTIONS: readonly ScalarFunction[] = [
  ...APOC_FUNCTIONS,
  ...APOC_DATE_FUNCTIONS,
  ...GRAPH_FUNCTIONS,
  ...CONVERSIONS,
  ...LIST_FUNCTIONS,
  ...COLL_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...POINT_FUNCTIONS,
  ...TEMPORAL_FUNCTIONS,
  ...VECTOR_FUNCTIONS,
];

/** By name in lower case, then by the number of arguments. */
const byName = new Map<string, ScalarFunction[]>();
for (const fn of CYPHER_FUNCTIONS) {
  const name = fn.name.toLowerCase();
  byName.set(name, [...(byName.get(name) ?? []), fn]);
}

/** Why a call is invalid; `expected`: how many arguments the function takes ("1", "2 or 3"). */
export interface UnknownCall {
  readonly error: "unknown" | "arity";
  readonly expected?: string;
}

/** The function that `name(…)` calls with the given number of arguments. */
export function cypherFunction(name: string, argumentCount: number): ScalarFunction | UnknownCall {
  const lower = name.toLowerCase();
  if (lower === "coalesce") return argumentCount > 0 ? COALESCE : { error: "arity", expected: "1 or more" };
  const overloads = byName.get(lower);
  if (overloads === undefined) return { error: "unknown" };
  const found = overloads.find(({ args }) => args.length === argumentCount);
  return found ?? { error: "arity", expected: overloads.map(({ args }) => args.length).join(" or ") };
}

/** All that can be written in a query, with the numbers of arguments that they take. */
export function cypherFunctionList(): { name: string; aggregating: boolean; counts: readonly number[] }[] {
  const of = (name: string) => byName.get(name.toLowerCase())?.map(({ args }) => args.length) ?? [1];
  const aggregating = (name: string) => aggregates.has(name.toLowerCase());
  return cypherFunctionNames()
    .sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    .map((name) => ({ name, aggregating: aggregating(name), counts: of(name) }));
}

/** For hints. */
export function cypherFunctionNames(): string[] {
  const names = [...CYPHER_FUNCTIONS, COALESCE, ...AGGREGATES.map(({ fn }) => fn)].map(({ name }) => name);
  return [...new Set(names)].filter((name) => /^[\w.]+$/.test(name));
}

export function cypherOperators(): readonly ScalarFunction[] {
  return Object.values(OPERATORS);
}

export function cypherOperator(symbol: OperatorSymbol): ScalarFunction {
  return OPERATORS[symbol];
}

const aggregates = new Map(AGGREGATES.map((aggregate) => [aggregate.fn.name.toLowerCase(), aggregate]));

/**
 * The aggregate of that name, and how many of its last arguments have one value per group; null: there is no such
 * aggregate.
 */
export function cypherAggregate(name: string): CypherAggregate | null {
  return aggregates.get(name.toLowerCase()) ?? null;
}

export { COUNT_ALL, FIRST_VALUE } from "./aggregates.js";
export { HAS_LABEL, LABELS_OF, LIST_OF, MAP_OF, NODE_OF, PATH_OF, RELATIONSHIP_OF } from "./entities.js";
export { TRUTH } from "./operators.js";
