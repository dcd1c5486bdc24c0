/**
 * Vectors as text (`[1,2.5,-3]`) and out of lists of numbers, with the errors of the pgvector extension. Used by the
 * formats of values and by casts.
 */
import { type DbError, sqlError } from "./errors.js";
import { float4ToText } from "./float-text.js";
import { VECTOR_DIMENSIONS_MAX } from "./limits.js";
import type { SqlType } from "./values.js";

export function vectorToText(vector: Float32Array): string {
  let text = `[${float4ToText(vector[0] as number)}`;
  for (let i = 1; i < vector.length; i++) text += `,${float4ToText(vector[i] as number)}`;
  return `${text}]`;
}

/** Throws 22P02 for other text, 22000 for NaN, infinity and other dimensions than the type's, 22003, 54000. */
export function vectorFromText(type: SqlType, text: string): Float32Array {
  return vectorFromJson(type, text) ?? vectorFromMembers(type, text);
}

/** The usual form is JSON, too, whose parser is the fastest there is. Null for anything that is not as usual. */
function vectorFromJson(type: SqlType, text: string): Float32Array | null {
  let members: unknown;
  try {
    members = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(members) || members.length === 0 || members.length > VECTOR_DIMENSIONS_MAX) return null;
  const vector = new Float32Array(members.length);
  for (let i = 0; i < members.length; i++) {
    const member: unknown = members[i];
    if (typeof member !== "number") return null;
    vector[i] = member;
    if (!Number.isFinite(vector[i])) return null;
  }
  return fitVector(type, vector);
}

function vectorFromMembers(type: SqlType, text: string): Float32Array {
  const match = /^\s*\[(.*)\]\s*$/s.exec(text);
  if (match === null) throw invalid(text);
  const body = (match[1] as string).trim();
  if (body === "") throw noDimension();
  const members = body.split(",");
  if (members.length > VECTOR_DIMENSIONS_MAX) throw tooManyDimensions();
  const vector = new Float32Array(members.length);
  for (const [i, member] of members.entries()) {
    const source = member.trim();
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(source)) {
      if (/^[+-]?(nan|inf(inity)?)$/i.test(source)) throw notFinite(source);
      throw invalid(text);
    }
    vector[i] = Number(source);
    if (!Number.isFinite(vector[i])) throw outOfRange(source);
  }
  return fitVector(type, vector);
}

/** A vector out of numbers; every one must be finite in single precision. Throws 22000, 22003, 54000. */
export function vectorOf(type: SqlType, members: ArrayLike<number>): Float32Array {
  if (members.length === 0) throw noDimension();
  if (members.length > VECTOR_DIMENSIONS_MAX) throw tooManyDimensions();
  const vector = Float32Array.from(members);
  for (let i = 0; i < vector.length; i++) {
    if (Number.isFinite(vector[i])) continue;
    if (!Number.isFinite(members[i])) throw notFinite(String(members[i]));
    throw outOfRange(String(members[i]));
  }
  return fitVector(type, vector);
}

/** Refuses a vector of other dimensions than the type's. Throws 22000. */
export function fitVector(type: SqlType, vector: Float32Array): Float32Array {
  if (type.modifier !== null && vector.length !== type.modifier) {
    throw sqlError("22000", `expected ${type.modifier} dimensions, not ${vector.length}`);
  }
  return vector;
}

/** Two vectors that an operation takes together. Throws 22000. */
export function checkDimensions(a: Float32Array, b: Float32Array): void {
  if (a.length !== b.length) throw sqlError("22000", `different vector dimensions ${a.length} and ${b.length}`);
}

export const noDimension = (): DbError => sqlError("22000", "vector must have at least 1 dimension");

export const tooManyDimensions = (): DbError =>
  sqlError("54000", `vector cannot have more than ${VECTOR_DIMENSIONS_MAX} dimensions`);

const invalid = (text: string) => sqlError("22P02", `invalid input syntax for type vector: "${text}"`);

const outOfRange = (source: string) => sqlError("22003", `"${source}" is out of range for type vector`);

const notFinite = (source: string) =>
  sqlError("22000", `${/nan/i.test(source) ? "NaN" : "infinite value"} not allowed in vector`);
