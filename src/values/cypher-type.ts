/**
 * Types of Cypher as they are written (`LIST<INTEGER NOT NULL> | STRING`), and whether a value is of one. Used by the
 * parser, by the test `IS :: TYPE` and by constraints. A type without NOT NULL includes null.
 */

import { cypherError } from "./cypher-error.js";
import { type CoordinateType, CypherVector, coordinateTypeNamed } from "./cypher-vector.js";
import { CypherPoint } from "./point.js";
import { CypherDate, Duration, LocalDateTime, LocalTime, ZonedDateTime, ZonedTime } from "./temporal.js";
import { Float, GraphNode, GraphPath, GraphRelationship, isIntegerValue, type Variant } from "./variant.js";
import { isList } from "./variant-format.js";

const SYNONYMS = {
  ANY: "ANY|ANY VALUE",
  NOTHING: "NOTHING",
  NULL: "NULL",
  BOOLEAN: "BOOLEAN|BOOL",
  STRING: "STRING|VARCHAR",
  INTEGER: "INTEGER|INT|INT64|INTEGER64|SIGNED INTEGER",
  FLOAT: "FLOAT|FLOAT64",
  DATE: "DATE",
  "LOCAL TIME": "LOCAL TIME|TIME WITHOUT TIMEZONE|TIME WITHOUT TIME ZONE",
  "ZONED TIME": "ZONED TIME|TIME WITH TIMEZONE|TIME WITH TIME ZONE|TIME",
  "LOCAL DATETIME": "LOCAL DATETIME|TIMESTAMP WITHOUT TIMEZONE|TIMESTAMP WITHOUT TIME ZONE",
  "ZONED DATETIME": "ZONED DATETIME|TIMESTAMP WITH TIMEZONE|TIMESTAMP WITH TIME ZONE|TIMESTAMP|DATETIME",
  DURATION: "DURATION",
  POINT: "POINT",
  BYTES: "BYTES",
  VECTOR: "VECTOR",
  NODE: "NODE|VERTEX|ANY NODE|ANY VERTEX",
  RELATIONSHIP: "RELATIONSHIP|EDGE|ANY RELATIONSHIP|ANY EDGE",
  PATH: "PATH",
  MAP: "MAP|ANY MAP",
  "PROPERTY VALUE": "PROPERTY VALUE|ANY PROPERTY VALUE",
  LIST: "LIST|ARRAY",
} as const;

type TypeName = keyof typeof SYNONYMS;

/** `item`: of lists what their elements are, one of several types; null: any. */
export interface CypherType {
  readonly name: TypeName;
  readonly item: readonly CypherType[] | null;
  /** Of vectors. */
  readonly vector?: VectorShape;
  readonly notNull: boolean;
}

/** null: any. */
export interface VectorShape {
  readonly coordinate: CoordinateType | null;
  readonly dimension: number | null;
}

const NAMES = new Map<string, TypeName>(
  Object.entries(SYNONYMS).flatMap(([name, words]) => words.split("|").map((word) => [word, name as TypeName])),
);

/** Of the longest name. */
export const TYPE_WORDS_MAX = 4;

/** By name in upper case; null: there is none. */
export const typeNamed = (words: string): TypeName | null => NAMES.get(words) ?? null;

/** Alternatives as one text, which `isOfType` takes and messages show. */
export function writtenType(types: readonly CypherType[]): string {
  const texts = types.map(({ name, item, vector, notNull }) => {
    const inside = name === "LIST" ? `<${item === null ? "ANY" : writtenType(item)}>` : writtenShape(vector);
    return `${name}${inside}${notNull ? " NOT NULL" : ""}`;
  });
  return texts.join(" | ");
}

/** As Neo4j shows it: `<FLOAT32 NOT NULL>(3)`. */
function writtenShape(shape: VectorShape | undefined): string {
  if (shape === undefined) return "";
  const { coordinate, dimension } = shape;
  return `${coordinate === null ? "" : `<${coordinate} NOT NULL>`}${dimension === null ? "" : `(${dimension})`}`;
}

const SHAPE = /(?:<([A-Z0-9]+) NOT NULL>)?(?:\((\d+)\))?/y;

/** Reads what `writtenType` wrote. */
function readType(text: string): readonly CypherType[] {
  let at = 0;
  const take = (token: string): boolean => {
    if (!text.startsWith(token, at)) return false;
    at += token.length;
    return true;
  };
  const one = (): CypherType => {
    const name = ORDERED.find(take);
    if (name === undefined) throw cypherError("ArgumentError", "InvalidArgumentValue", `${text} is no type`);
    if (name === "VECTOR") {
      SHAPE.lastIndex = at;
      const [shape, coordinate, dimension] = SHAPE.exec(text)!;
      at += shape.length;
      const vector = {
        coordinate: coordinate === undefined ? null : coordinateTypeNamed(coordinate),
        dimension: dimension === undefined ? null : Number(dimension),
      };
      return { name, item: null, vector, notNull: take(" NOT NULL") };
    }
    const item = take("<") ? alternatives() : null;
    if (item !== null) take(">");
    return { name, item, notNull: take(" NOT NULL") };
  };
  const alternatives = (): CypherType[] => {
    const types = [one()];
    while (take(" | ")) types.push(one());
    return types;
  };
  return alternatives();
}

const ORDERED = (Object.keys(SYNONYMS) as TypeName[]).sort((a, b) => b.length - a.length);

const STORED_NEVER: ReadonlySet<TypeName> = new Set([
  ...(["ANY", "NOTHING", "NULL", "NODE", "RELATIONSHIP", "PATH", "MAP", "PROPERTY VALUE"] as const),
]);

/** Why a constraint cannot require that a property is of the type, as `writtenType` gives it; null: it can. */
export function propertyTypeProblem(written: string): string | null {
  const types = readType(written);
  if (types.some(({ notNull }) => notNull)) return "NOT NULL is a constraint of its own: REQUIRE … IS NOT NULL";
  const items = types.flatMap(({ name, item }) => (name === "LIST" ? (item ?? []) : []));
  const wrong =
    [...types, ...items].find(({ name }) => STORED_NEVER.has(name)) ??
    items.find((each) => each.name === "LIST" || each.name === "VECTOR");
  return wrong === undefined ? null : `a constraint cannot require that a property is of type ${writtenType([wrong])}`;
}

const KNOWN_MAX = 1000;
const known = new Map<string, readonly CypherType[]>();

/** Whether the value is of one of the types, as `writtenType` gives them. */
export function isOfType(value: Variant, written: string): boolean {
  let types = known.get(written);
  if (types === undefined) {
    if (known.size >= KNOWN_MAX) known.clear();
    types = readType(written);
    known.set(written, types);
  }
  return isOneOf(value, types);
}

function isOneOf(value: Variant, types: readonly CypherType[]): boolean {
  return types.some((type) => (value === null ? !type.notNull && type.name !== "NOTHING" : is(value, type)));
}

type Present = NonNullable<Variant>;

const SIMPLE: Readonly<Record<Exclude<TypeName, "LIST" | "PROPERTY VALUE">, (value: Present) => boolean>> = {
  ANY: () => true,
  NOTHING: () => false,
  NULL: () => false,
  BOOLEAN: (value) => typeof value === "boolean",
  STRING: (value) => typeof value === "string",
  INTEGER: isIntegerValue,
  FLOAT: (value) => value instanceof Float || (typeof value === "number" && !Number.isInteger(value)),
  DATE: (value) => value instanceof CypherDate,
  "LOCAL TIME": (value) => value instanceof LocalTime,
  "ZONED TIME": (value) => value instanceof ZonedTime,
  "LOCAL DATETIME": (value) => value instanceof LocalDateTime,
  "ZONED DATETIME": (value) => value instanceof ZonedDateTime,
  DURATION: (value) => value instanceof Duration,
  POINT: (value) => value instanceof CypherPoint,
  BYTES: (value) => value instanceof Uint8Array,
  VECTOR: (value) => value instanceof CypherVector,
  NODE: (value) => value instanceof GraphNode,
  RELATIONSHIP: (value) => value instanceof GraphRelationship,
  PATH: (value) => value instanceof GraphPath,
  MAP: (value) => value instanceof Map,
};

function is(value: Present, { name, item, vector }: CypherType): boolean {
  if (vector !== undefined) {
    if (!(value instanceof CypherVector)) return false;
    const { coordinate, dimension } = vector;
    return (coordinate === null || coordinate === value.type) && (dimension === null || dimension === value.dimension);
  }
  if (name === "LIST") return isList(value) && (item === null || value.every((each) => isOneOf(each, item)));
  if (name === "PROPERTY VALUE") {
    if (isList(value)) return value.every((each) => each !== null && !isList(each) && isItem(each));
    return isProperty(value);
  }
  return SIMPLE[name](value);
}

const isItem = (value: Present): boolean => !(value instanceof CypherVector) && isProperty(value);

const isProperty = (value: Present): boolean =>
  !["NODE", "RELATIONSHIP", "PATH", "MAP"].some((name) => SIMPLE[name as "MAP"](value));
