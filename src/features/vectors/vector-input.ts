/**
 * Reads vectors from request bodies: numbers are checked as they are copied, each vector once. Used by the routes of
 * vector collections. Errors are invalid_request and name the place: "vectors[3].metadata".
 */
import { DbError } from "../../protocol/errors.js";
import type { VectorCollection } from "./vector-collection.js";

export interface VectorItem {
  readonly id: string;
  readonly vector: Float32Array;
  readonly metadata: object | null;
}

const ITEM_FIELDS: ReadonlySet<string> = new Set(["id", "vector", "values", "metadata"]);

/** The item with its vector under one of two names. `path` is what stands before its fields' names. */
export function vectorItem(item: unknown, path: string, collection: VectorCollection): VectorItem {
  const prefix = path === "" ? "" : `${path}.`;
  if (typeof item !== "object" || item === null || Array.isArray(item)) throw refused(path, "must be an object");
  for (const name in item) {
    if (!ITEM_FIELDS.has(name)) {
      throw new DbError("invalid_request", `Unknown field "${prefix}${name}". Known: ${[...ITEM_FIELDS].join(", ")}.`, {
        field: `${prefix}${name}`,
      });
    }
  }
  const { id, vector, values, metadata = null } = item as Readonly<Record<string, unknown>>;
  if (id === undefined) throw new DbError("invalid_request", `Missing field "${prefix}id".`, { field: `${prefix}id` });
  if (typeof id !== "string" || id === "") throw refused(`${prefix}id`, "must be a text that is not empty");
  if (typeof metadata !== "object" || Array.isArray(metadata)) throw refused(`${prefix}metadata`, "must be an object");
  return { id, vector: itemVector(vector, values, prefix, collection), metadata };
}

function itemVector(vector: unknown, values: unknown, prefix: string, collection: VectorCollection): Float32Array {
  if (vector !== undefined && values !== undefined) {
    throw new DbError("invalid_request", `Send "${prefix}vector" or "${prefix}values", not both.`, {
      field: `${prefix}values`,
    });
  }
  if (values !== undefined) return vectorIn(values, `${prefix}values`, collection);
  if (vector !== undefined) return vectorIn(vector, `${prefix}vector`, collection);
  throw new DbError("invalid_request", `Missing field "${prefix}vector".`, { field: `${prefix}vector` });
}

/**
 * A vector of the collection's length, every number finite in single precision; of a cosine not all of them zero.
 * Singles are not copied.
 */
export function vectorIn(given: unknown, field: string, { dimensions, metric, table }: VectorCollection): Float32Array {
  if (!Array.isArray(given) && !(given instanceof Float32Array) && !(given instanceof Float64Array)) {
    throw refused(field, "must be an array of numbers");
  }
  if (given.length !== dimensions) {
    throw refused(field, `has ${given.length} numbers, but vectors of "${table.name}" have ${dimensions}`);
  }
  const vector = given instanceof Float32Array ? given : singles(given, field);
  let squares = 0;
  for (let i = 0; i < dimensions; i++) {
    const member = vector[i]!;
    squares += member * member;
  }
  if (!Number.isFinite(squares)) {
    const i = vector.findIndex((member) => !Number.isFinite(member));
    if (i >= 0) throw refused(`${field}[${i}]`, "must be finite in single precision");
  }
  if (squares === 0 && metric === "cosine") {
    throw refused(field, "is all zeros, which has no direction for a cosine to compare");
  }
  return vector;
}

function singles(given: Float64Array | readonly unknown[], field: string): Float32Array {
  const vector = new Float32Array(given.length);
  for (let i = 0; i < given.length; i++) {
    const member: unknown = given[i];
    if (typeof member !== "number") throw refused(`${field}[${i}]`, "must be a number");
    vector[i] = member;
  }
  return vector;
}

function refused(field: string, why: string): DbError {
  return new DbError("invalid_request", `The field "${field}" ${why}.`, { field });
}
