/**
 * Variants in and out: JSON for answers (a node is `{"id", "labels", "properties"}`, a relationship `{"id", "type",
 * "src", "dst", "properties"}`, a path `{"nodes", "relationships", "length"}`), what MessagePack makes the same of,
 * text, and parameters. Called by json-format.ts and text-format.ts.
 *
 * Numbers are as in SQL's answers, but a FLOAT always looks like one (1.0), since nothing else tells it from an
 * INTEGER.
 */

import { sqlError } from "../protocol/errors.js";
import { RESULT_BYTES_MAX } from "../protocol/limits.js";
import { CypherVector } from "./cypher-vector.js";
import { setMember } from "./json-text.js";
import { CypherPoint, pointMembers, pointToText } from "./point.js";
import { CypherDate, Duration, LocalDateTime, LocalTime, ZonedDateTime, ZonedTime } from "./temporal.js";
import { temporalToText } from "./temporal-text.js";
import type { Value } from "./values.js";
import {
  DELETED_MARK,
  Float,
  GraphNode,
  GraphPath,
  GraphRelationship,
  type Variant,
  type VariantMap,
} from "./variant.js";
import { listOfVector } from "./vector-list.js";

/** Lists and maps inside each other; deeper values are refused wherever one is walked through. */
export const VARIANT_DEPTH_MAX = 1000;

const NEEDS_ESCAPE = /["\\\p{Cc}\p{Cs}]/u;

/**
 * Throws 54000 for what would be longer than a result may be, before it has been written without end: parts that a
 * value shares are written each time.
 */
export function variantToJson(value: Value): string {
  partsLeft = PARTS_MAX;
  return write(value as Variant, 0);
}

/** Lists, maps and characters (16 of a text are one) that may still be written of the value. */
let partsLeft = 0;
const PARTS_MAX = RESULT_BYTES_MAX / 16;

function spend(parts: number): void {
  partsLeft -= parts;
  if (partsLeft < 0) throw sqlError("54000", "a value is too large to be written: it has too many parts");
}

function write(value: Variant, depth: number): string {
  switch (typeof value) {
    case "string":
      if (value.length > LONG_TEXT) spend(value.length / 16);
      return quote(value);
    case "number":
      return Number.isFinite(value) ? String(value) : `"${value}"`;
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
      return `"${value}"`;
    default:
      return value === null ? "null" : writeObject(value, depth);
  }
}

/** Shorter texts are not counted by themselves. */
const LONG_TEXT = 64;

function quote(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function writeObject(value: Exclude<Variant, null | boolean | number | bigint | string>, depth: number): string {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  spend(isList(value) ? value.length + 1 : 1);
  if (isList(value)) return `[${value.map((item) => write(item, depth + 1)).join()}]`;
  if (value instanceof Map) return writeMap(value, depth);
  if (value instanceof Float) return floatJson(value.value);
  if (value instanceof GraphNode) return writeNode(value, depth);
  if (value instanceof GraphRelationship) return writeRelationship(value, depth);
  if (value instanceof GraphPath) {
    const nodes = value.nodes.map((node) => writeNode(node, depth)).join();
    const relationships = value.relationships.map((each) => writeRelationship(each, depth)).join();
    return `{"nodes":[${nodes}],"relationships":[${relationships}],"length":${value.relationships.length}}`;
  }
  if (value instanceof CypherPoint) return JSON.stringify(pointMembers(value));
  if (value instanceof Uint8Array) return writeBytes(value);
  if (value instanceof CypherVector) return write(listOfVector(value), depth);
  return `"${temporalToText(value as Temporal)}"`;
}

/** As a bytea. */
function writeBytes(value: Uint8Array): string {
  spend(value.length / 8);
  return `"\\\\x${Buffer.from(value).toString("hex")}"`;
}

type Temporal = Parameters<typeof temporalToText>[0];

function writeNode(node: GraphNode, depth: number): string {
  const labels = labelsOf(node).map(quote).join();
  return `{"id":${node.id},"labels":[${labels}],"properties":${writeMap(node.properties, depth)}}`;
}

const NO_LABELS: readonly string[] = [];

/** A deleted node shows none. */
function labelsOf({ labels }: GraphNode): readonly string[] {
  return labels[0] === DELETED_MARK ? NO_LABELS : labels;
}

/** A deleted relationship keeps its type behind the mark. */
function typeOf({ type }: GraphRelationship): string {
  return type.startsWith(DELETED_MARK) ? type.slice(DELETED_MARK.length) : type;
}

function writeRelationship(relationship: GraphRelationship, depth: number): string {
  const { id, src, dst, properties } = relationship;
  const ends = `"src":${src},"dst":${dst}`;
  return `{"id":${id},"type":${quote(typeOf(relationship))},${ends},"properties":${writeMap(properties, depth)}}`;
}

function writeMap(map: VariantMap, depth: number): string {
  let text = "";
  // A stored map makes no iterator for this.
  map.forEach((value, key) => {
    text += `${text === "" ? "" : ","}${quote(key)}:${write(value, depth + 1)}`;
  });
  return `{${text}}`;
}

/** With ".0" where nothing else shows that it is no integer. */
function floatJson(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  return text.includes("e") ? text : `${text}.0`;
}

/** Whether a variant is a LIST. */
export function isList(value: unknown): value is readonly Variant[] {
  return Array.isArray(value);
}

/** The cell of a MessagePack answer: as in JSON, but BYTES are bytes, INTEGER beyond 2^53 a bigint. */
export function variantToPlain(value: Value): unknown {
  partsLeft = PARTS_MAX;
  return plain(value as Variant, 0);
}

function plain(value: Variant, depth: number): unknown {
  if (typeof value === "string" && value.length > LONG_TEXT) spend(value.length / 16);
  if (typeof value !== "object" || value === null) return value;
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  spend(isList(value) ? value.length + 1 : 1);
  if (isList(value)) return value.map((item) => plain(item, depth + 1));
  if (value instanceof Map) return plainMap(value, depth);
  if (value instanceof Float) return value.value;
  if (value instanceof GraphNode) return plainNode(value, depth);
  if (value instanceof GraphRelationship) return plainRelationship(value, depth);
  if (value instanceof GraphPath) {
    return {
      nodes: value.nodes.map((node) => plainNode(node, depth)),
      relationships: value.relationships.map((each) => plainRelationship(each, depth)),
      length: value.relationships.length,
    };
  }
  if (value instanceof Uint8Array) {
    spend(value.length / 16);
    return plainBytes(value);
  }
  if (value instanceof CypherVector) return plain(listOfVector(value), depth);
  return value instanceof CypherPoint ? pointMembers(value) : temporalToText(value as Temporal);
}

/** Bytes in MessagePack; JSON writes them as those of a bytea. */
function plainBytes({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(buffer, byteOffset, length);
  return Object.defineProperty(bytes, "toJSON", { value: () => `\\x${Buffer.from(bytes).toString("hex")}` });
}

function plainNode(node: GraphNode, depth: number): object {
  return { id: node.id, labels: labelsOf(node), properties: plainMap(node.properties, depth) };
}

function plainRelationship(relationship: GraphRelationship, depth: number): object {
  const { id, src, dst, properties } = relationship;
  return { id, type: typeOf(relationship), src, dst, properties: plainMap(properties, depth) };
}

function plainMap(map: VariantMap, depth: number): object {
  const object: Record<string, unknown> = {};
  map.forEach((value, key) => {
    setMember(object, key, plain(value, depth + 1));
  });
  return object;
}

/** Strings, temporal values and numbers bare, NaN and infinities too; everything else as JSON. */
export function variantToText(value: Value): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (value instanceof CypherPoint) return pointToText(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  return isTemporal(value) ? temporalToText(value) : variantToJson(value);
}

/** Whether a variant is a date, a time or a duration. */
export function isTemporal(value: unknown): value is Temporal {
  return (
    value instanceof CypherDate ||
    value instanceof ZonedDateTime ||
    value instanceof LocalDateTime ||
    value instanceof LocalTime ||
    value instanceof ZonedTime ||
    value instanceof Duration
  );
}

/**
 * The variant that a parameter means: whole numbers within 64 bits are INTEGER, lists and objects LIST and MAP. Floats
 * and temporal values may have come as variants. Throws 54001 for what is nested too deeply.
 */
export function variantFromJson(json: unknown): Variant {
  return fromJson(json, 0);
}

function fromJson(json: unknown, depth: number): Variant {
  switch (typeof json) {
    case "string":
    case "boolean":
      return json;
    case "number":
      return fromNumber(json);
    case "bigint":
      return fromBigInt(json);
    case "object":
      return json === null ? null : fromObject(json, depth);
    case "undefined":
      return null;
    default:
      throw sqlError("22P02", `a parameter cannot be a ${typeof json}`);
  }
}

function fromNumber(x: number): Variant {
  if (Number.isSafeInteger(x)) return Object.is(x, -0) ? new Float(x) : x;
  if (!Number.isInteger(x)) return x;
  return Math.abs(x) < 2 ** 63 ? BigInt(x) : new Float(x);
}

function fromBigInt(x: bigint): Variant {
  if (BigInt.asIntN(64, x) !== x) throw sqlError("22003", `value "${x}" is out of range for an integer`);
  return integerValue(x);
}

/** An INTEGER out of a bigint within 64 bits. */
export function integerValue(x: bigint): number | bigint {
  const number = Number(x);
  return Number.isSafeInteger(number) ? number : x;
}

function fromObject(json: object, depth: number): Variant {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  if (Array.isArray(json)) return json.map((item) => fromJson(item, depth + 1));
  if (json instanceof Float || json instanceof CypherPoint || isTemporal(json)) return json;
  if (json instanceof CypherVector) return json;
  // The session hands them from one statement to the next.
  if (json instanceof GraphNode || json instanceof GraphRelationship || json instanceof GraphPath) return json;
  if (json instanceof Date) {
    if (Number.isNaN(json.getTime())) throw sqlError("22007", "the parameter is not a valid date");
    const days = Math.floor(json.getTime() / DAY_MS);
    return new ZonedDateTime(days, (json.getTime() - days * DAY_MS) * 1e6, 0, null);
  }
  // A copy: it may lie in the memory of a message, which is used again.
  if (json instanceof Uint8Array) return new Uint8Array(json);
  if (json instanceof DataView) throw sqlError("22P02", "a parameter cannot be a view of bytes");
  if (ArrayBuffer.isView(json)) {
    return Array.from(json as unknown as ArrayLike<number | bigint>, (item) => fromJson(item, depth + 1));
  }
  const entries = json instanceof Map ? json.entries() : Object.entries(json);
  const map = new Map<string, Variant>();
  for (const [key, value] of entries) map.set(String(key), fromJson(value, depth + 1));
  return map;
}

const DAY_MS = 86_400_000;

export function tooDeep() {
  return sqlError("54001", `a value is nested more than ${VARIANT_DEPTH_MAX} levels deep`);
}
