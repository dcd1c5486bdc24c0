/** Labels and types whose names are computed: `$(…)`, `$all(…)`, `$any(…)`. */
import { cypherError } from "../../../values/cypher-error.js";
import { decodeLabels } from "../../../values/labels.js";
import { BOOL, TEXT, VARIANT } from "../../../values/values.js";
import { GraphNode, GraphRelationship, type Variant } from "../../../values/variant.js";
import { isList } from "../../../values/variant-format.js";
import type { ScalarFunction } from "../expr.js";
import { fn } from "../functions/define.js";
import { described } from "./define.js";

/** The names that a string or a list of strings means. Throws TypeError for anything else. */
export function namesIn(value: Variant): readonly string[] {
  const names = isList(value) ? value : [value];
  for (const name of names) {
    if (typeof name === "string" && name !== "") continue;
    const what = name === "" ? "an empty string" : described(name);
    throw cypherError("TypeError", "InvalidArgumentType", `a name that is computed must be a string, not ${what}`);
  }
  return names as readonly string[];
}

function among(given: readonly string[], names: Variant, any: boolean): boolean {
  const wanted = namesIn(names);
  return any ? wanted.some((name) => given.includes(name)) : wanted.every((name) => given.includes(name));
}

/** Whether a node's column `labels` has all of the names, or any. */
export const HAS_NAMES: ScalarFunction = fn("has_names", [TEXT, VARIANT, BOOL], BOOL, (labels, names, any) =>
  among(decodeLabels(labels), names, any),
);

/** The same of a relationship's type. */
export const IS_OF_TYPES: ScalarFunction = fn("is_of_types", [TEXT, VARIANT, BOOL], BOOL, (type, names, any) =>
  among([type], names, any),
);

/** The same of a value. */
export const HAS_NAMES_VALUE: ScalarFunction = fn(
  "has_names",
  [VARIANT, VARIANT, BOOL],
  BOOL,
  (value: Variant, names: Variant, any: boolean) => {
    if (value instanceof GraphNode) return among(value.labels, names, any);
    if (value instanceof GraphRelationship) return among([value.type], names, any);
    throw cypherError("TypeError", "InvalidArgumentType", "only nodes and relationships have labels");
  },
);
