/**
 * Writes the JSON text of a large value in pieces of a few thousand characters, so that its caller can give way
 * between them. The text is the same as jsonWriter's, which writes the small parts. Used by session/heavy-rows.ts.
 */
import { type JsonWriter, jsonWriter } from "./json-format.js";
import { jsonbToText, jsonToCompactText, sortedKeys } from "./json-text.js";
import { Numeric } from "./numeric.js";
import { costLeft } from "./value-cost.js";
import type { Json, SqlArray, SqlType, Value } from "./values.js";
import { GraphNode, GraphPath, GraphRelationship, type Variant } from "./variant.js";
import { isList, variantToJson } from "./variant-format.js";

/** Parts of a value that are written at once. */
const PARTS_AT_ONCE = 2048;
/** Characters of a piece, roughly, and of a text that are written at once. */
const PIECE_CHARACTERS = 64 * 1024;

type Pieces = Iterable<string>;

/**
 * The piece as one string: V8 keeps what was put together as a tree, and makes one string of a tree with millions of
 * leaves in tenths of a second, when somebody asks for its characters.
 */
export function flattened(piece: string): string {
  piece.charCodeAt(piece.length - 1);
  return piece;
}

/** The pieces of a value that is not NULL. */
export function jsonPieces(type: SqlType, value: Value): Pieces {
  switch (type.name) {
    case "unknown":
    case "text":
    case "varchar":
    case "bpchar":
    case "citext":
      return textPieces(value as string);
    case "jsonb":
      return compactPieces(value as Json);
    case "array":
      return arrayPieces(type.element as SqlType, value as SqlArray);
    case "variant":
      return variantPieces(value as Variant);
    default:
      return [jsonWriter(type)(value)];
  }
}

function isSmall(value: unknown): boolean {
  return costLeft(value, PARTS_AT_ONCE) >= 0;
}

function* textPieces(text: string): Pieces {
  yield '"';
  for (let at = 0; at < text.length; ) {
    let end = at + PIECE_CHARACTERS;
    // The halves of a surrogate pair stay together.
    if (text.charCodeAt(end - 1) >> 10 === 0x36) end++;
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

/** Items with commas between them: small ones many at once, a large one by `large`. */
function* itemPieces<T>(items: Iterable<T>, write: (item: T) => string, large: (item: T) => Pieces | null): Pieces {
  let text = "";
  let parts = 0;
  let isFirst = true;
  for (const item of items) {
    if (!isFirst) text += ",";
    isFirst = false;
    const pieces = large(item);
    if (pieces === null) text += write(item);
    if (pieces === null && ++parts < PARTS_AT_ONCE && text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = "";
    parts = 0;
    if (pieces !== null) yield* pieces;
  }
  yield text;
}

function* listPieces<T>(items: Iterable<T>, write: (item: T) => string, pieces: (item: T) => Pieces): Pieces {
  yield "[";
  yield* itemPieces(items, write, (item) => (isSmall(item) ? null : pieces(item)));
  yield "]";
}

function* objectPieces<T>(
  members: Iterable<readonly [string, T]>,
  write: (value: T) => string,
  pieces: (value: T) => Pieces,
): Pieces {
  yield "{";
  yield* itemPieces(
    members,
    ([name, value]) => `${JSON.stringify(name)}:${write(value)}`,
    ([name, value]) => (isSmall(value) ? null : after(`${JSON.stringify(name)}:`, pieces(value))),
  );
  yield "}";
}

function* after(text: string, pieces: Pieces): Pieces {
  yield text;
  yield* pieces;
}

function compactPieces(json: Json): Pieces {
  return json.compact === undefined ? documentPieces(json.value) : slicesOf(json.compact);
}

function* slicesOf(text: string): Pieces {
  for (let at = 0; at < text.length; at += PIECE_CHARACTERS) yield text.slice(at, at + PIECE_CHARACTERS);
}

/** Of a parsed jsonb value. */
function documentPieces(value: unknown): Pieces {
  if (typeof value === "string") return textPieces(value);
  if (typeof value !== "object" || value === null || value instanceof Numeric) return [jsonToCompactText(value)];
  if (Array.isArray(value)) return listPieces(value, jsonToCompactText, documentPieces);
  return objectPieces(membersOf(value), jsonToCompactText, documentPieces);
}

/** Of a parsed jsonb value as a text of SQL, with jsonb's spaces and order. */
export function* jsonbTextPieces(value: unknown): Pieces {
  if (isSmall(value)) yield jsonbToText(value);
  else if (typeof value === "string") yield* textPieces(value);
  else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      yield i === 0 ? "[" : ", ";
      yield* jsonbTextPieces(value[i]);
    }
    yield "]";
  } else {
    const object = value as Readonly<Record<string, unknown>>;
    let before = "{";
    for (const key of sortedKeys(object)) {
      yield `${before}${JSON.stringify(key)}: `;
      yield* jsonbTextPieces(object[key]);
      before = ", ";
    }
    yield "}";
  }
}

/** Of any value, as JSON.stringify writes it; "null" where that has nothing. */
export function plainPieces(value: unknown): Pieces {
  if (typeof value === "string") return textPieces(value);
  if (Array.isArray(value)) return listPieces(value, stringified, plainPieces);
  if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    if (!("toJSON" in value)) return objectPieces(writtenMembers(value), stringified, plainPieces);
  }
  return [stringified(value)];
}

type Member = readonly [string, unknown];

/** Key by key: V8 takes tens of milliseconds to list the entries of an object of thousands of members. */
function* membersOf(object: object): Iterable<Member> {
  for (const name of Object.keys(object)) yield [name, (object as Readonly<Record<string, unknown>>)[name]];
}

function* writtenMembers(object: object): Iterable<Member> {
  for (const member of membersOf(object)) {
    if (member[1] !== undefined && typeof member[1] !== "function") yield member;
  }
}

function stringified(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

function arrayPieces(element: SqlType, array: SqlArray): Pieces {
  const write = jsonWriter(element);
  const { elements, dimensions } = array;
  // Elements below one item of each dimension.
  const sizes = dimensions.map((_, depth) => dimensions.slice(depth + 1).reduce((product, size) => product * size, 1));
  const level = (depth: number, from: number): Pieces => {
    const size = sizes[depth] ?? 1;
    const count = dimensions[depth] ?? 0;
    if (depth + 1 >= dimensions.length) {
      return listPieces(elements.slice(from, from + count), write, (item) => elementPieces(element, write, item));
    }
    return nested(depth, from, count, size);
  };
  function* nested(depth: number, from: number, count: number, size: number): Pieces {
    yield "[";
    for (let i = 0; i < count; i++) {
      if (i > 0) yield ",";
      yield* level(depth + 1, from + i * size);
    }
    yield "]";
  }
  return level(0, 0);
}

function elementPieces(type: SqlType, write: JsonWriter, value: Value): Pieces {
  return value === null ? [write(value)] : jsonPieces(type, value);
}

function variantPieces(value: Variant): Pieces {
  if (typeof value === "string") return textPieces(value);
  if (isList(value)) return listPieces(value, variantToJson, variantPieces);
  if (value instanceof Map) return objectPieces(value as ReadonlyMap<string, Variant>, variantToJson, variantPieces);
  if (value instanceof Uint8Array) return bytesPieces(value);
  if (value instanceof GraphPath) return pathPieces(value);
  if (value instanceof GraphNode || value instanceof GraphRelationship) return entityPieces(value);
  return [variantToJson(value)];
}

const BYTES_PER_PIECE = 8192;

function* bytesPieces(bytes: Uint8Array): Pieces {
  yield '"\\\\x';
  for (let at = 0; at < bytes.length; at += BYTES_PER_PIECE) {
    yield Buffer.from(bytes.subarray(at, at + BYTES_PER_PIECE)).toString("hex");
  }
  yield '"';
}

function* pathPieces({ nodes, relationships }: GraphPath): Pieces {
  yield '{"nodes":';
  yield* listPieces(nodes, variantToJson, variantPieces);
  yield ',"relationships":';
  yield* listPieces(relationships, variantToJson, variantPieces);
  yield `,"length":${relationships.length}}`;
}

/** As it is written, but for its properties. */
function* entityPieces(entity: GraphNode | GraphRelationship): Pieces {
  const { properties } = entity;
  const none = new Map<string, Variant>();
  const bare =
    entity instanceof GraphNode
      ? new GraphNode(entity.id, entity.labels, none)
      : new GraphRelationship(entity.id, entity.type, entity.src, entity.dst, none);
  yield variantToJson(bare).slice(0, -"{}}".length);
  const members: [string, Variant][] = [];
  properties.forEach((value, key) => void members.push([key, value]));
  yield* objectPieces(members, variantToJson, variantPieces);
  yield "}";
}
