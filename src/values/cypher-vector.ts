/** Cypher's vectors: numbers of one type, as one value. Values of type variant hold them. */
import { cypherError } from "./cypher-error.js";

/** Types of coordinates, in the order of vectors. */
export const COORDINATE_TYPES = ["INTEGER8", "INTEGER16", "INTEGER32", "INTEGER", "FLOAT32", "FLOAT"] as const;
export type CoordinateType = (typeof COORDINATE_TYPES)[number];

/** As they are written, without blanks. */
const WRITTEN = {
  INTEGER8: "INTEGER8|INT8",
  INTEGER16: "INTEGER16|INT16",
  INTEGER32: "INTEGER32|INT32",
  INTEGER: "INTEGER|INT|INT64|INTEGER64|SIGNED INTEGER",
  FLOAT32: "FLOAT32",
  FLOAT: "FLOAT|FLOAT64",
} as const satisfies Record<CoordinateType, string>;

const BY_NAME = new Map<string, CoordinateType>(
  COORDINATE_TYPES.flatMap((type) => WRITTEN[type].split("|").map((word) => [word, type])),
);

/** By name in upper case; null: there is none. */
export const coordinateTypeNamed = (words: string): CoordinateType | null => BY_NAME.get(words) ?? null;

const BYTES: Readonly<Record<CoordinateType, number>> = {
  INTEGER8: 1,
  INTEGER16: 2,
  INTEGER32: 4,
  INTEGER: 8,
  FLOAT32: 4,
  FLOAT: 8,
};

/** What `vector_distance` and `vector_norm` measure by. */
export const VECTOR_MEASURES: ReadonlySet<string> = new Set([
  "EUCLIDEAN",
  "EUCLIDEAN_SQUARED",
  "MANHATTAN",
  "COSINE",
  "DOT",
  "HAMMING",
]);

/** As in Neo4j. */
export const DIMENSIONS_MAX = 4096;

export class CypherVector {
  constructor(
    readonly type: CoordinateType,
    /** The coordinates one after the other, big-endian, as Bolt has them. Nobody changes them. */
    readonly bytes: Uint8Array,
  ) {}

  get dimension(): number {
    return this.bytes.length / BYTES[this.type];
  }
}

export const isFloatType = (type: CoordinateType): boolean => type === "FLOAT" || type === "FLOAT32";

/** A vector of bytes from outside; null: they are none. Throws ArgumentError for what no vector has. */
export function vectorOfBytes(type: CoordinateType, bytes: Uint8Array): CypherVector | null {
  const dimension = bytes.length / BYTES[type];
  if (!Number.isInteger(dimension)) return null;
  checkDimension(dimension);
  const vector = new CypherVector(type, new Uint8Array(bytes));
  if (isFloatType(type) && !doublesOf(vector).every(Number.isFinite)) throw notFinite();
  return vector;
}

const notFinite = () => invalid("a vector's coordinates are finite numbers");

const invalid = (message: string) => cypherError("ArgumentError", "InvalidArgumentValue", message);

function checkDimension(dimension: number): void {
  if (dimension >= 1 && dimension <= DIMENSIONS_MAX) return;
  throw invalid(`a vector has 1 to ${DIMENSIONS_MAX} coordinates, not ${dimension}`);
}

/** Of numbers: fractions are cut off for integers. Throws ArgumentError for what the type does not hold. */
export function vectorOfNumbers(type: CoordinateType, numbers: readonly (number | bigint)[]): CypherVector {
  checkDimension(numbers.length);
  const width = BYTES[type];
  const bytes = new Uint8Array(numbers.length * width);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) SETTERS[type](view, i * width, checked(type, number));
  return new CypherVector(type, bytes);
}

function checked(type: CoordinateType, number: number | bigint): number | bigint {
  if (typeof number === "number" && !Number.isFinite(number)) throw notFinite();
  if (isFloatType(type)) {
    const float = type === "FLOAT" ? Number(number) : Math.fround(Number(number));
    if (Number.isFinite(float)) return float;
  } else {
    const whole = typeof number === "bigint" ? number : BigInt(Math.trunc(number));
    const bits = BYTES[type] * 8;
    if (BigInt.asIntN(bits, whole) === whole) return bits === 64 ? whole : Number(whole);
  }
  throw invalid(`the coordinate ${number} is out of the range of ${type}`);
}

type Setter = (view: DataView, at: number, value: never) => void;

const SETTERS = {
  INTEGER8: (view, at, value) => view.setInt8(at, value),
  INTEGER16: (view, at, value) => view.setInt16(at, value),
  INTEGER32: (view, at, value) => view.setInt32(at, value),
  INTEGER: (view, at, value) => view.setBigInt64(at, value),
  FLOAT32: (view, at, value) => view.setFloat32(at, value),
  FLOAT: (view, at, value) => view.setFloat64(at, value),
} as const satisfies Record<CoordinateType, Setter> as Readonly<
  Record<CoordinateType, (view: DataView, at: number, value: number | bigint) => void>
>;

const GETTERS: Readonly<Record<CoordinateType, (view: DataView, at: number) => number | bigint>> = {
  INTEGER8: (view, at) => view.getInt8(at),
  INTEGER16: (view, at) => view.getInt16(at),
  INTEGER32: (view, at) => view.getInt32(at),
  INTEGER: (view, at) => view.getBigInt64(at),
  FLOAT32: (view, at) => view.getFloat32(at),
  FLOAT: (view, at) => view.getFloat64(at),
};

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** As numbers; INTEGER as bigint. */
export function coordinatesOf({ type, bytes }: CypherVector): (number | bigint)[] {
  const view = viewOf(bytes);
  const width = BYTES[type];
  const get = GETTERS[type];
  const coordinates = new Array<number | bigint>(bytes.length / width);
  for (let i = 0; i < coordinates.length; i++) coordinates[i] = get(view, i * width);
  return coordinates;
}

const TWO_32 = 2 ** 32;

/** One loop for each type, so that V8 boxes no number. */
const FILLERS: Readonly<Record<CoordinateType, (doubles: Float64Array, view: DataView) => void>> = {
  INTEGER8: (doubles, view) => {
    for (let i = 0; i < doubles.length; i++) doubles[i] = view.getInt8(i);
  },
  INTEGER16: (doubles, view) => {
    for (let i = 0; i < doubles.length; i++) doubles[i] = view.getInt16(i * 2);
  },
  INTEGER32: (doubles, view) => {
    for (let i = 0; i < doubles.length; i++) doubles[i] = view.getInt32(i * 4);
  },
  // Both parts are exact, so their sum is rounded once, as Number() rounds a bigint.
  INTEGER: (doubles, view) => {
    for (let i = 0; i < doubles.length; i++) doubles[i] = view.getInt32(i * 8) * TWO_32 + view.getUint32(i * 8 + 4);
  },
  FLOAT32: (doubles, view) => {
    for (let i = 0; i < doubles.length; i++) doubles[i] = view.getFloat32(i * 4);
  },
  FLOAT: (doubles, view) => {
    for (let i = 0; i < doubles.length; i++) doubles[i] = view.getFloat64(i * 8);
  },
};

export function doublesOf({ type, bytes }: CypherVector): Float64Array {
  const doubles = new Float64Array(bytes.length / BYTES[type]);
  FILLERS[type](doubles, viewOf(bytes));
  return doubles;
}

/** A total order: by the type of coordinates, by their number, and then by each; equal vectors only are 0. */
export function compareCypherVectors(a: CypherVector, b: CypherVector): number {
  const order = COORDINATE_TYPES.indexOf(a.type) - COORDINATE_TYPES.indexOf(b.type) || a.dimension - b.dimension;
  if (order !== 0) return order;
  const [x, y] = [viewOf(a.bytes), viewOf(b.bytes)];
  const width = BYTES[a.type];
  const get = GETTERS[a.type];
  for (let at = firstDifference(a.bytes, b.bytes, 0); at < a.bytes.length; ) {
    const start = at - (at % width);
    const [p, q] = [get(x, start), get(y, start)];
    if (p < q) return -1;
    if (p > q) return 1;
    // Zeros of two signs.
    at = firstDifference(a.bytes, b.bytes, start + width);
  }
  return 0;
}

/** Where two of one length first differ; their length: nowhere. */
function firstDifference(a: Uint8Array, b: Uint8Array, from: number): number {
  let at = from;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** Equal for two vectors exactly when `compareCypherVectors` gives 0: a zero has one sign. */
export function cypherVectorKey({ type, bytes }: CypherVector): string {
  const key = Buffer.from(bytes);
  if (isFloatType(type)) {
    const width = BYTES[type];
    // Of the two zeros only -0 has a bit set, its first.
    for (let at = 0; at < key.length; at += width) {
      if (key[at] === 0x80 && key[at + 1] === 0 && isZero(key, at, width)) key[at] = 0;
    }
  }
  return `${COORDINATE_TYPES.indexOf(type)},${key.length}:${key.toString("latin1")}`;
}

const isZero = (bytes: Buffer, at: number, width: number): boolean =>
  (width === 4 ? bytes.readFloatBE(at) : bytes.readDoubleBE(at)) === 0;

/** Its type as valueType() gives it. */
export const vectorTypeName = ({ type, dimension }: CypherVector): string => `VECTOR<${type} NOT NULL>(${dimension})`;

/** What clients are told who cannot read vectors. */
export function vectorPlaceholder({ type, dimension }: CypherVector): ReadonlyMap<string, string> {
  const name = type === "INTEGER" || type === "FLOAT" ? `${type}64` : type;
  return new Map([
    ["originalType", `VECTOR(${dimension}, ${name})`],
    ["reason", "UNKNOWN_TYPE"],
  ]);
}
