/**
 * Estimates what writing a value costs. It looks at no more of the value than a bound allows. Writers of rows use it
 * to tell which rows need turns in between. Shared parts count each time, because they are written each time.
 */
import { CypherVector } from "./cypher-vector.js";
import { Numeric } from "./numeric.js";
import { Json, type SqlType, type Value } from "./values.js";
import { GraphNode, GraphPath, GraphRelationship } from "./variant.js";

/** Characters of a text that cost as much as one part of a value. */
const CHARACTERS_PER_PART = 64;
/** Of a JSON text that cost as much as one part, roughly: nobody looks through it. */
const CHARACTERS_PER_JSON_PART = 8;

/** Whether values of the type may be large: lists, documents, texts. */
export function mayBeLarge({ name }: SqlType): boolean {
  switch (name) {
    case "unknown":
    case "text":
    case "varchar":
    case "bpchar":
    case "citext":
    case "hstore":
    case "ltree":
    case "lquery":
    case "ltxtquery":
    case "int4multirange":
    case "int8multirange":
    case "nummultirange":
    case "datemultirange":
    case "tsmultirange":
    case "tstzmultirange":
    case "multirange":
    case "bytea":
    case "json":
    case "jsonb":
    case "array":
    case "record":
    case "variant":
    case "vector":
    case "halfvec":
    case "sparsevec":
    case "tsvector":
    case "tsquery":
    case "numeric":
      return true;
    default:
      return false;
  }
}

/** What is left of the parts that may be written; negative when the value has more. */
export function costLeft(value: unknown, left: number): number {
  if (typeof value === "string") return left - 1 - Math.floor(value.length / CHARACTERS_PER_PART);
  if (typeof value !== "object" || value === null) return left - 1;
  if (value instanceof Numeric) return left - 1;
  if (ArrayBuffer.isView(value)) return left - 1 - Math.floor(value.byteLength / CHARACTERS_PER_PART);
  if (Array.isArray(value)) return listCost(value, left);
  if (value instanceof Json) return jsonCost(value, left);
  if (value instanceof Map) return "characters" in value ? storedCost(value, left) : mapCost(value, left);
  // Outside of storage it is written as a list.
  if (value instanceof CypherVector) return left - 1 - value.dimension;
  if (value instanceof GraphNode || value instanceof GraphRelationship) return costLeft(value.properties, left - 1);
  if (value instanceof GraphPath) return listCost(value.relationships, listCost(value.nodes, left));
  if ("elements" in value) return listCost(value.elements as readonly Value[], left);
  if (Object.getPrototypeOf(value) === Object.prototype) return objectCost(value, left);
  return "characters" in value ? storedCost(value, left) : left - 1;
}

/** What is still in its stored form is not read for this. */
function storedCost({ characters }: { readonly characters?: unknown }, left: number): number {
  return left - 1 - Math.floor((characters as number) / CHARACTERS_PER_JSON_PART);
}

function jsonCost(json: Json, left: number): number {
  if (json.text !== undefined) return costLeft(json.text, left);
  if (json.compact !== undefined) return left - 1 - Math.floor(json.compact.length / CHARACTERS_PER_JSON_PART);
  return costLeft(json.value, left);
}

function listCost(list: readonly unknown[], left: number): number {
  let rest = left - 1;
  if (list.length > rest) return -1;
  for (let i = 0; i < list.length && rest >= 0; i++) rest = costLeft(list[i], rest);
  return rest;
}

function mapCost(map: ReadonlyMap<string, unknown>, left: number): number {
  let rest = left - 1;
  if (map.size > rest) return -1;
  for (const [key, value] of map) {
    rest = costLeft(value, rest - Math.floor(key.length / CHARACTERS_PER_PART));
    if (rest < 0) break;
  }
  return rest;
}

function objectCost(object: object, left: number): number {
  let rest = left - 1;
  for (const key in object) {
    rest = costLeft(
      (object as Readonly<Record<string, unknown>>)[key],
      rest - Math.floor(key.length / CHARACTERS_PER_PART),
    );
    if (rest < 0) break;
  }
  return rest;
}
