/**
 * The known type of a Cypher expression before it runs. Used by the checker (check*.ts) and by signatures of
 * procedures. "any": not known; "null" is allowed everywhere.
 */
export type StaticType =
  | { readonly kind: SimpleKind }
  /** `item`: what all elements have in common. */
  | { readonly kind: "list"; readonly item: StaticType };

type SimpleKind =
  | "any"
  | "null"
  | "boolean"
  | "integer"
  | "float"
  | "number"
  | "string"
  | "map"
  | "node"
  | "relationship"
  | "path"
  | "temporal";

export type StaticKind = StaticType["kind"];

const simple = (kind: SimpleKind): StaticType => Object.freeze({ kind });

export const ANY = simple("any");
export const NOTHING = simple("null");
export const BOOLEAN = simple("boolean");
export const INTEGER = simple("integer");
export const FLOAT = simple("float");
export const NUMBER = simple("number");
export const STRING = simple("string");
export const MAP = simple("map");
export const NODE = simple("node");
export const RELATIONSHIP = simple("relationship");
export const PATH = simple("path");
/** A date, a time, a moment or a duration. */
export const TEMPORAL = simple("temporal");
export const listOf = (item: StaticType): StaticType => ({ kind: "list", item });

/** What is true of both. */
export function commonType(a: StaticType, b: StaticType): StaticType {
  if (a.kind === "null") return b;
  if (b.kind === "null") return a;
  if (a.kind === "list" && b.kind === "list") return listOf(commonType(a.item, b.item));
  if (a.kind === b.kind) return a;
  return isNumeric(a) && isNumeric(b) ? NUMBER : ANY;
}

export const commonTypeOf = (types: readonly StaticType[]): StaticType => types.reduce(commonType, NOTHING);

/** What an element of a value of this type is; null: it has none, for it is no list. */
export function itemType(type: StaticType): StaticType | null {
  if (type.kind === "list") return type.item;
  return isOpen(type) ? ANY : null;
}

export const isOpen = ({ kind }: StaticType): boolean => kind === "any" || kind === "null";
export const isNumeric = ({ kind }: StaticType): boolean => kind === "integer" || kind === "float" || kind === "number";

/** Whether a value of `type` may be one of `wanted` kinds, as far as is known. */
export function mayBe(type: StaticType, wanted: readonly StaticKind[]): boolean {
  if (isOpen(type) || wanted.includes("any") || wanted.includes(type.kind)) return true;
  if (type.kind === "number") return wanted.includes("integer") || wanted.includes("float");
  return wanted.includes("number") && isNumeric(type);
}

/** For messages: "a node", "a list of strings". */
export function describeType(type: StaticType): string {
  if (type.kind !== "list") return DESCRIPTIONS[type.kind];
  return isOpen(type.item) ? "a list" : `a list of ${PLURALS[type.item.kind]}`;
}

export const describeKinds = (kinds: readonly StaticKind[]): string =>
  kinds.map((kind) => (kind === "list" ? "a list" : DESCRIPTIONS[kind])).join(" or ");

const DESCRIPTIONS: Record<SimpleKind, string> = {
  any: "a value",
  null: "null",
  boolean: "a boolean",
  integer: "an integer",
  float: "a float",
  number: "a number",
  string: "a string",
  map: "a map",
  node: "a node",
  relationship: "a relationship",
  path: "a path",
  temporal: "a temporal value",
};

const PLURALS: Record<StaticKind, string> = {
  any: "values",
  null: "nulls",
  boolean: "booleans",
  integer: "integers",
  float: "floats",
  number: "numbers",
  string: "strings",
  map: "maps",
  node: "nodes",
  relationship: "relationships",
  path: "paths",
  temporal: "temporal values",
  list: "lists",
};
