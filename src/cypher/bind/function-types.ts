/**
 * Static types of Cypher's functions, as far as mistakes show before a query runs; used by check-calls.ts. Which
 * functions there are, and how many arguments they take, is the business of query/expr/cypher/registry.ts: one that is
 * not listed here takes and gives anything. Names are lower case.
 */
import {
  ANY,
  BOOLEAN,
  commonTypeOf,
  FLOAT,
  INTEGER,
  itemType,
  listOf,
  MAP,
  NODE,
  NUMBER,
  RELATIONSHIP,
  STRING,
  type StaticKind,
  type StaticType,
  TEMPORAL,
} from "./static-type.js";

export interface FunctionTypes {
  /** Kinds that each argument may have, by position; what is not listed may be anything. */
  readonly args: readonly (readonly StaticKind[])[];
  readonly result: (args: readonly StaticType[]) => StaticType;
}

type Result = StaticType | ((args: readonly StaticType[]) => StaticType);

const typed = (args: readonly (readonly StaticKind[])[], result: Result): FunctionTypes => ({
  args,
  result: typeof result === "function" ? result : () => result,
});

const ENTITY = ["node", "relationship"] as const;
const TEXT = ["string"] as const;
const NUMERIC = ["number"] as const;

const sameAsFirst: Result = ([first = ANY]) => first;
const itemOfFirst: Result = ([first = ANY]) => itemType(first) ?? ANY;

/** All of one shape. */
const each = (names: string, types: FunctionTypes): [string, FunctionTypes][] =>
  names.split(" ").map((name) => [name, types]);

const TYPES: ReadonlyMap<string, FunctionTypes> = new Map([
  ...each("labels", typed([["node"]], listOf(STRING))),
  ...each("type", typed([["relationship"]], STRING)),
  ...each("id", typed([ENTITY], INTEGER)),
  ...each("elementid", typed([ENTITY], STRING)),
  ...each("startnode endnode", typed([["relationship"]], NODE)),
  ...each("length", typed([["path"]], INTEGER)),
  ...each("nodes", typed([["path"]], listOf(NODE))),
  ...each("relationships rels", typed([["path"]], listOf(RELATIONSHIP))),
  ...each("properties", typed([[...ENTITY, "map"]], MAP)),
  ...each("keys", typed([[...ENTITY, "map"]], listOf(STRING))),
  ...each("graph.names", typed([], listOf(STRING))),
  ...each("graph.propertiesbyname", typed([TEXT], MAP)),
  ...each("size", typed([["list", "string"]], INTEGER)),
  ...each("char_length character_length", typed([TEXT], INTEGER)),
  ...each("head last", typed([["list"]], itemOfFirst)),
  ...each("tail", typed([["list"]], sameAsFirst)),
  ...each("reverse", typed([["list", "string"]], sameAsFirst)),
  ...each("coalesce nullif", typed([], commonTypeOf)),
  ...each("range", typed([], listOf(INTEGER))),
  ...each("exists isempty isnan", typed([], BOOLEAN)),
  ...each("toboolean tobooleanornull", typed([], BOOLEAN)),
  ...each("tointeger toint tointegerornull", typed([], INTEGER)),
  ...each("tofloat tofloatornull", typed([], FLOAT)),
  ...each("tostring tostringornull", typed([], STRING)),
  ...each("tolower toupper lower upper trim ltrim rtrim", typed([TEXT], STRING)),
  ...each("left right substring", typed([TEXT, NUMERIC, NUMERIC], STRING)),
  ...each("replace", typed([TEXT, TEXT, TEXT], STRING)),
  ...each("split", typed([TEXT], listOf(STRING))),
  ...each("abs", typed([NUMERIC], sameAsFirst)),
  ...each("sign", typed([NUMERIC], INTEGER)),
  ...each("ceil floor round sqrt exp log log10 radians degrees haversin", typed([NUMERIC], FLOAT)),
  ...each("sin cos tan cot asin acos atan sinh cosh tanh coth", typed([NUMERIC], FLOAT)),
  ...each("atan2", typed([NUMERIC, NUMERIC], FLOAT)),
  ...each("e pi rand", typed([], FLOAT)),
  ...each("timestamp", typed([], INTEGER)),
  ...each("randomuuid", typed([], STRING)),
  // Aggregates.
  ...each("count", typed([], INTEGER)),
  ...each(
    "collect",
    typed([], ([item = ANY]) => listOf(item)),
  ),
  ...each("min max", typed([], sameAsFirst)),
  ...each(
    "sum avg",
    typed([["number", "temporal"]], ([of = ANY]) => (of.kind === "temporal" ? TEMPORAL : NUMBER)),
  ),
  ...each("stdev stdevp", typed([NUMERIC], FLOAT)),
  ...each("percentilecont", typed([NUMERIC, NUMERIC], FLOAT)),
  ...each("percentiledisc", typed([NUMERIC, NUMERIC], NUMBER)),
]);

const TEMPORAL_TYPES = typed([], TEMPORAL);
const TEMPORAL_NAME = /^(date|time|localtime|datetime|localdatetime|duration)(\.\w+)?$/;

export function functionTypes(name: string): FunctionTypes | null {
  const lower = name.toLowerCase();
  return TYPES.get(lower) ?? (TEMPORAL_NAME.test(lower) ? TEMPORAL_TYPES : null);
}

/** Their value is another one at each call, so nothing can be grouped or aggregated by it. */
export const isVolatileFunction = (name: string): boolean => /^(rand|randomuuid)$/i.test(name);
