/** Values of rows as PackStream has them. Called by row-writer.ts. */

import { STRUCT, VECTOR_MARKS } from "../../protocol/bolt/message-tags.js";
import type { PackWriter } from "../../protocol/bolt/pack-writer.js";
import { CypherVector, vectorPlaceholder } from "../../values/cypher-vector.js";
import { CypherPoint } from "../../values/point.js";
import {
  CypherDate,
  Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../values/temporal.js";
import {
  DELETED_MARK,
  Float,
  GraphNode,
  GraphPath,
  GraphRelationship,
  type Variant,
  type VariantMap,
} from "../../values/variant.js";
import { isList, tooDeep, VARIANT_DEPTH_MAX } from "../../values/variant-format.js";

/** What revisions of the protocol write differently. */
export interface Dialect {
  /** Nodes and relationships have ids that are texts, too: Bolt 5. */
  readonly elementIds: boolean;
  /** Moments are told in UTC. */
  readonly utc: boolean;
  /** Vectors are values: Bolt 6. Before, a map stands for each. */
  readonly vectors: boolean;
}

const DAY_SECONDS = 86_400;
const SECOND_NANOS = 1_000_000_000;

export function writeVariant(writer: PackWriter, value: Variant, dialect: Dialect, depth = 0): void {
  switch (typeof value) {
    case "string":
      writer.string(value);
      break;
    case "boolean":
      writer.boolean(value);
      break;
    case "bigint":
      writer.integer(value);
      break;
    case "number":
      if (Number.isInteger(value)) writer.integer(value);
      else writer.float(value);
      break;
    default:
      if (value === null) writer.null();
      else writeObject(writer, value, dialect, depth);
  }
}

type Compound = Exclude<Variant, null | boolean | number | bigint | string>;

function writeObject(writer: PackWriter, value: Compound, dialect: Dialect, depth: number): void {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  if (isList(value)) {
    writer.list(value.length);
    for (const item of value) writeVariant(writer, item, dialect, depth + 1);
  } else if (value instanceof Map) writeMap(writer, value, dialect, depth);
  else if (value instanceof Float) writer.float(value.value);
  else if (value instanceof GraphNode) writeNode(writer, value, dialect, depth);
  else if (value instanceof GraphRelationship) writeRelationship(writer, value, dialect, depth);
  else if (value instanceof GraphPath) writePath(writer, value, dialect, depth);
  else if (value instanceof CypherPoint) writePoint(writer, value);
  else if (value instanceof Uint8Array) writer.bytes(value);
  else if (value instanceof CypherVector) writeVector(writer, value, dialect, depth);
  else writeTemporal(writer, value as Temporal, dialect);
}

function writePoint(writer: PackWriter, { srid, x, y, z }: CypherPoint): void {
  writer.structure(z === null ? STRUCT.point2D : STRUCT.point3D, z === null ? 3 : 4);
  writer.integer(srid);
  for (const part of z === null ? [x, y] : [x, y, z]) writer.float(part);
}

function writeVector(writer: PackWriter, vector: CypherVector, dialect: Dialect, depth: number): void {
  if (!dialect.vectors) {
    writeMap(writer, vectorPlaceholder(vector), dialect, depth);
    return;
  }
  writer.structure(STRUCT.vector, 2);
  writer.bytes(Uint8Array.of(VECTOR_MARKS[vector.type]));
  writer.bytes(vector.bytes);
}

function writeMap(writer: PackWriter, map: VariantMap, dialect: Dialect, depth: number): void {
  writer.map(map.size);
  map.forEach((value, key) => {
    writer.string(key);
    writeVariant(writer, value, dialect, depth + 1);
  });
}

const elementId = (id: number): string => String(id);

/** A deleted node shows no labels. */
function writeNode(writer: PackWriter, { id, labels, properties }: GraphNode, dialect: Dialect, depth: number): void {
  const shown = labels[0] === DELETED_MARK ? [] : labels;
  writer.structure(STRUCT.node, dialect.elementIds ? 4 : 3);
  writer.integer(id);
  writer.list(shown.length);
  for (const label of shown) writer.string(label);
  writeMap(writer, properties, dialect, depth);
  if (dialect.elementIds) writer.string(elementId(id));
}

/** A deleted relationship keeps its type behind the mark. */
function typeOf({ type }: GraphRelationship): string {
  return type.startsWith(DELETED_MARK) ? type.slice(DELETED_MARK.length) : type;
}

function writeRelationship(writer: PackWriter, relationship: GraphRelationship, dialect: Dialect, depth: number): void {
  const { id, src, dst, properties } = relationship;
  writer.structure(STRUCT.relationship, dialect.elementIds ? 8 : 5);
  writer.integer(id);
  writer.integer(src);
  writer.integer(dst);
  writer.string(typeOf(relationship));
  writeMap(writer, properties, dialect, depth);
  if (!dialect.elementIds) return;
  writer.string(elementId(id));
  writer.string(elementId(src));
  writer.string(elementId(dst));
}

/**
 * Each node and relationship once, and the way through them: numbers of relationships, negative against their
 * direction.
 */
function writePath(writer: PackWriter, { nodes, relationships }: GraphPath, dialect: Dialect, depth: number): void {
  const places = new Map<number, number>();
  const distinct: GraphNode[] = [];
  for (const node of nodes) {
    if (places.has(node.id)) continue;
    places.set(node.id, distinct.length);
    distinct.push(node);
  }
  const edgePlaces = new Map<number, number>();
  const edges: GraphRelationship[] = [];
  for (const edge of relationships) {
    if (edgePlaces.has(edge.id)) continue;
    edgePlaces.set(edge.id, edges.length);
    edges.push(edge);
  }
  writer.structure(STRUCT.path, 3);
  writer.list(distinct.length);
  for (const node of distinct) writeNode(writer, node, dialect, depth);
  writer.list(edges.length);
  for (const edge of edges) writeUnbound(writer, edge, dialect, depth);
  writer.list(relationships.length * 2);
  for (const [i, { id, src }] of relationships.entries()) {
    const number = edgePlaces.get(id)! + 1;
    writer.integer(src === nodes[i]!.id ? number : -number);
    writer.integer(places.get(nodes[i + 1]!.id)!);
  }
}

function writeUnbound(writer: PackWriter, edge: GraphRelationship, dialect: Dialect, depth: number): void {
  writer.structure(STRUCT.unboundRelationship, dialect.elementIds ? 4 : 3);
  writer.integer(edge.id);
  writer.string(typeOf(edge));
  writeMap(writer, edge.properties, dialect, depth);
  if (dialect.elementIds) writer.string(elementId(edge.id));
}

function writeTemporal(writer: PackWriter, value: Temporal, dialect: Dialect): void {
  if (value instanceof CypherDate) {
    writer.structure(STRUCT.date, 1);
    writer.integer(value.days);
  } else if (value instanceof LocalTime) {
    writer.structure(STRUCT.localTime, 1);
    writer.integer(value.nanos);
  } else if (value instanceof ZonedTime) {
    writer.structure(STRUCT.time, 2);
    writer.integer(value.nanos);
    writer.integer(value.offset);
  } else if (value instanceof LocalDateTime) {
    writer.structure(STRUCT.localDateTime, 2);
    writeMoment(writer, value, 0);
  } else if (value instanceof ZonedDateTime) writeZoned(writer, value, dialect);
  else if (value instanceof Duration) {
    writer.structure(STRUCT.duration, 4);
    writer.integer(value.months);
    writer.integer(value.days);
    writer.integer(value.seconds);
    writer.integer(value.nanos);
  } else throw new Error(`no variant: ${String(value)}`);
}

/** Seconds since 1970 and nanoseconds. */
function writeMoment(writer: PackWriter, { days, nanos }: { days: number; nanos: number }, offset: number): void {
  const seconds = Math.floor(nanos / SECOND_NANOS);
  writer.integer(days * DAY_SECONDS + seconds - offset);
  writer.integer(nanos - seconds * SECOND_NANOS);
}

function writeZoned(writer: PackWriter, value: ZonedDateTime, { utc }: Dialect): void {
  const { zone, offset } = value;
  if (zone === null) writer.structure(utc ? STRUCT.offsetDateTime : STRUCT.offsetDateTimeLocal, 3);
  else writer.structure(utc ? STRUCT.zonedDateTime : STRUCT.zonedDateTimeLocal, 3);
  writeMoment(writer, value, utc ? offset : 0);
  if (zone === null) writer.integer(offset);
  else writer.string(zone);
}
