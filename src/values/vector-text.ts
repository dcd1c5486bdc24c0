/**
 * Vectors as text (`[1,2.5,-3]`) and out of lists of numbers, with the errors of the pgvector extension. Used by the
 * formats of values and by casts.
 */
import { type DbError, sqlError } from "../protocol/errors.js";
import { SPARSE_MEMBERS_MAX, VECTOR_DIMENSIONS_MAX } from "../protocol/limits.js";
import { float4ToText, shortFloat4 } from "./float-text.js";
import type { SqlArray, SqlType } from "./values.js";

/** As PostgreSQL prints it. */
export function vectorToText(vector: Float32Array): string {
  return listOf(vector, float4ToText);
}

/** As a JSON array of numbers, with the fewest digits that read back in single precision. */
export function vectorToJson(vector: Float32Array): string {
  return listOf(vector, (x) => String(shortFloat4(x)));
}

/** Characters of a member at most: 22 of a whole number below 10^21, a sign, a comma. */
const MEMBER_BYTES_MAX = 24;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;

let scratch = Buffer.allocUnsafeSlow(1024 * MEMBER_BYTES_MAX);

/**
 * Members of embeddings are fractions with up to nine digits. Those are written digit by digit, which costs a quarter
 * of making text of each; `textOf` is for all other numbers.
 */
function listOf(vector: Float32Array, textOf: (x: number) => string): string {
  const room = vector.length * MEMBER_BYTES_MAX + 2;
  if (scratch.length < room) scratch = Buffer.allocUnsafeSlow(room);
  const out = scratch;
  let at = 0;
  out[at++] = 0x5b;
  for (let i = 0; i < vector.length; i++) {
    if (i > 0) out[at++] = COMMA;
    const x = vector[i]!;
    const size = Math.abs(x);
    const end = size < 1 && size >= 1e-4 ? writeFraction(out, x, size, at) : 0;
    at = end > 0 ? end : at + out.write(textOf(x), at, "latin1");
  }
  out[at++] = 0x5d;
  return out.toString("latin1", 0, at);
}

const POWERS = Float64Array.of(1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12);

/** The two digits of each number below 100, the first in the lower byte. */
const PAIRS = Uint16Array.from({ length: 100 }, (_, n) => ZERO + ((n / 10) | 0) + ((ZERO + (n % 10)) << 8));

/**
 * Digits after the point as `shortFloat4` finds them; answers by where they end, 0 when nine are not enough. Most
 * numbers need eight, so that is tried first: what is enough stays enough with more.
 */
function writeFraction(out: Buffer, x: number, size: number, start: number): number {
  const sixth = size < 1e-2 ? (size < 1e-3 ? 9 : 8) : size < 1e-1 ? 7 : 6;
  let places = sixth + 2;
  let rest = digitsAt(size, POWERS[places - 6]!);
  if (rest < 0) {
    rest = digitsAt(size, POWERS[++places - 6]!);
    if (rest < 0) return 0;
  } else {
    for (let fewer = digitsAt(size, POWERS[places - 7]!); fewer >= 0; fewer = digitsAt(size, POWERS[places - 7]!)) {
      rest = fewer;
      if (--places === sixth) break;
    }
  }
  let at = start;
  if (x < 0) out[at++] = MINUS;
  out[at++] = ZERO;
  out[at++] = POINT;
  at += places;
  let place = at;
  for (let left = places; left >= 2; left -= 2) {
    const hundreds = (rest / 100) | 0;
    const pair = PAIRS[rest - hundreds * 100]!;
    out[--place] = pair >> 8;
    out[--place] = pair & 0xff;
    rest = hundreds;
  }
  if ((places & 1) === 1) out[--place] = ZERO + rest;
  while (out[at - 1] === ZERO) at--;
  return at;
}

/** The number's digits down to 1 / scale, as a whole number; −1: they do not read back as it. */
function digitsAt(size: number, scale: number): number {
  // Below 2^31: at most nine digits, or ten to the ninth.
  const digits = (size * scale + 0.5) | 0;
  return Math.fround(digits / scale) === size ? digits : -1;
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

/** Of a text: more of them are no vector. */
const CHARACTERS_MAX = 4_000_000;

function vectorFromMembers(type: SqlType, text: string): Float32Array {
  if (text.length > CHARACTERS_MAX) throw tooManyDimensions(type);
  const written = text.trim();
  if (written[0] !== "[") throw invalid(type, text, 'Vector contents must start with "[".');
  if (written.length < 2 || !written.endsWith("]")) {
    throw invalid(type, text, written.includes("]") ? "Junk after closing right brace." : null);
  }
  const body = written.slice(1, -1).trim();
  if (body === "") throw noDimension(type.name);
  const members = body.split(",");
  if (members.length > VECTOR_DIMENSIONS_MAX) throw tooManyDimensions(type);
  const vector = new Float32Array(members.length);
  for (const [i, member] of members.entries()) {
    const source = member.trim();
    if (!/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(source)) {
      if (/^[+-]?(nan|inf(inity)?)$/i.test(source)) throw notFinite(type, source);
      throw invalid(type, text);
    }
    vector[i] = Number(source);
    if (!Number.isFinite(vector[i])) throw outOfRange(type, source);
  }
  return fitVector(type, vector);
}

/** A vector out of numbers; every one must be finite in single precision. Throws 22000, 22003, 54000. */
export function vectorOf(type: SqlType, members: ArrayLike<number>): Float32Array {
  if (members.length > VECTOR_DIMENSIONS_MAX) throw tooManyDimensions(type);
  return checkedVector(type, Float32Array.from(members), members);
}

/** The vector itself, if it is one; `members` is what it was made of. Throws as `vectorOf`. */
export function checkedVector(type: SqlType, vector: Float32Array, members: ArrayLike<number> = vector): Float32Array {
  if (vector.length === 0) throw noDimension(type.name);
  if (vector.length > VECTOR_DIMENSIONS_MAX) throw tooManyDimensions(type);
  for (let i = 0; i < vector.length; i++) {
    if (Number.isFinite(vector[i])) continue;
    if (!Number.isFinite(members[i])) throw notFinite(type, String(members[i]));
    throw outOfRange(type, String(members[i]));
  }
  return fitVector(type, vector);
}

/** Out of an array of numbers; what is too large in single precision is infinite. Throws 22000, 22004, 54000. */
export function vectorOfArray(type: SqlType, { elements, dimensions }: SqlArray): Float32Array {
  if (dimensions.length > 1) throw sqlError("22000", "array must be 1-D");
  if (elements.includes(null)) throw sqlError("22004", "array must not contain nulls");
  const numbers = (elements as readonly number[]).map(Math.fround);
  if (type.name === "sparsevec" && numbers.length > SPARSE_MEMBERS_MAX) {
    const count = numbers.reduce((sum, number) => (number === 0 ? sum : sum + 1), 0);
    if (count > SPARSE_MEMBERS_MAX) throw tooManyMembers();
  }
  return vectorOf(type, numbers);
}

/** Refuses a vector of other dimensions than the type's. Throws 22000. */
export function fitVector(type: SqlType, vector: Float32Array): Float32Array {
  if (type.modifier !== null && vector.length !== type.modifier) {
    throw sqlError("22000", `expected ${type.modifier} dimensions, not ${vector.length}`);
  }
  return vector;
}

/** Two vectors that an operation takes together. Throws 22000. */
export function checkDimensions(a: Float32Array, b: Float32Array, type: string): void {
  if (a.length !== b.length) throw sqlError("22000", `different ${type} dimensions ${a.length} and ${b.length}`);
}

export const noDimension = (type: string): DbError => sqlError("22000", `${type} must have at least 1 dimension`);

export const tooManyDimensions = ({ name }: SqlType): DbError =>
  sqlError("54000", `${name} cannot have more than ${VECTOR_DIMENSIONS_MAX} dimensions`);

export const tooManyMembers = (): DbError =>
  sqlError("54000", `sparsevec cannot have more than ${SPARSE_MEMBERS_MAX} non-zero elements`);

const invalid = ({ name }: SqlType, text: string, detail: string | null = null) =>
  sqlError("22P02", `invalid input syntax for type ${name}: "${text}"`, detail === null ? {} : { detail });

const outOfRange = ({ name }: SqlType, source: string) =>
  sqlError("22003", `"${source}" is out of range for type ${name}`);

const notFinite = ({ name }: SqlType, source: string) =>
  sqlError("22000", `${/nan/i.test(source) ? "NaN" : "infinite value"} not allowed in ${name}`);
