/**
 * Values of type variant: each carries its own type, as Cypher's do. Properties of nodes and relationships hold them,
 * and Cypher's expressions give them. A variant is one of
 *
 * | Cypher                  | JavaScript value                                                                     |
 * |-------------------------|--------------------------------------------------------------------------------------|
 * | null                    | null                                                                                 |
 * | BOOLEAN                 | boolean                                                                              |
 * | INTEGER (64 bits)       | a safe integer as number, else bigint (always normalised that way, as int8)          |
 * | FLOAT                   | a number that is no integer (NaN and infinities too), else Float; −0 is a Float      |
 * | STRING                  | string                                                                               |
 * | LIST                    | readonly Variant[]                                                         |
 * | MAP                     | ReadonlyMap<string, Variant>, in the order of insertion                    |
 * | NODE RELATIONSHIP PATH  | GraphNode, GraphRelationship, GraphPath                                              |
 * | POINT                   | CypherPoint (point.ts)                                                               |
 * | BYTES                   | Uint8Array, which nobody changes                                                      |
 * | VECTOR                  | CypherVector (cypher-vector.ts)                                                      |
 * | DATE and its kin        | the classes of temporal.ts                                                           |
 *
 * So a bool, an int8 or a text may stand where a variant is wanted, as it is; a float8 must pass `floatValue`.
 */
import { cypherError } from "./cypher-error.js";
import type { CypherVector } from "./cypher-vector.js";
import type { CypherPoint } from "./point.js";
import type { Temporal } from "./temporal.js";

/** A float that has an integer's value, so that 1.0 and 1 stay apart. Other floats are plain numbers. */
export class Float {
  constructor(readonly value: number) {}
}

/** The variant of a float. */
export function floatValue(value: number): number | Float {
  return Number.isInteger(value) ? new Float(value) : value;
}

/** Of a variant number the nearest float64; of anything else NaN. */
export function doubleOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (value instanceof Float) return value.value;
  return typeof value === "bigint" ? Number(value) : Number.NaN;
}

/** Whether a variant number is an INTEGER. */
export function isIntegerValue(value: unknown): value is number | bigint {
  return typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
}

export type VariantMap = ReadonlyMap<string, Variant>;

export type Variant =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float
  | readonly Variant[]
  | VariantMap
  | GraphNode
  | GraphRelationship
  | GraphPath
  | CypherPoint
  | Uint8Array
  | CypherVector
  | Temporal;

export class GraphNode {
  constructor(
    readonly id: number,
    /** In code unit order, none twice. */
    readonly labels: readonly string[],
    readonly properties: VariantMap,
  ) {}
}

export class GraphRelationship {
  constructor(
    readonly id: number,
    readonly type: string,
    /** Ids of the nodes that it leaves and enters. */
    readonly src: number,
    readonly dst: number,
    readonly properties: VariantMap,
  ) {}
}

export class GraphPath {
  constructor(
    /** One more than relationships. */
    readonly nodes: readonly GraphNode[],
    readonly relationships: readonly GraphRelationship[],
  ) {}
}

/**
 * How a node's labels lie in its record and in the column `labels`: in code unit order, each after LABEL_MARK and one
 * LABEL_MARK at the end, so that "has the label" is a search for the label between marks; "" for none.
 */
export const LABEL_MARK = "\u001f";

/** What the column `labels` is once a clause has deleted its node; of a relationship it stands before the type. */
export const DELETED_MARK = "\u0000";

/** The properties of a deleted entity: there are none, and reading one is an error. */
class DeletedProperties extends Map<string, Variant> {
  override get(): never {
    throw deletedEntity();
  }
  override has(): never {
    throw deletedEntity();
  }
}

/** `properties` of nodes and relationships that a clause has deleted. */
export const DELETED_PROPERTIES: VariantMap = new DeletedProperties();

/** EntityNotFound for asking what a deleted node or relationship had. */
export function deletedEntity() {
  return cypherError("EntityNotFound", "DeletedEntityAccess", "the node or relationship has been deleted");
}
