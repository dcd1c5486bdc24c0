/** Which names are functions and which aggregates of Cypher, for the checker. */
import { functionTypes } from "./function-types.js";

const AGGREGATES: ReadonlyMap<string, { readonly directArgs: number }> = new Map([
  ...["count", "collect", "min", "max", "sum", "avg", "stdev", "stdevp"].map(
    (name) => [name, { directArgs: 0 }] as const,
  ),
  ["percentilecont", { directArgs: 1 }],
  ["percentiledisc", { directArgs: 1 }],
]);

export const cypherAggregate = (name: string): { readonly directArgs: number } | null =>
  AGGREGATES.get(name.toLowerCase()) ?? null;

export function cypherFunction(
  name: string,
  _args: number,
): object | { error: "unknown" | "arity"; expected?: string } {
  return functionTypes(name) === null ? { error: "unknown" } : {};
}
