/** Arbitrary values of every SQL type, and PostgreSQL's order of them, for the tests of both codecs. */
import fc from "fast-check";
import { compareJson } from "../../src/query/expr/compare.js";
import { parseJson } from "../../src/values/json-text.js";
import { type Network, networkFromText, networkOf } from "../../src/values/network.js";
import { Numeric } from "../../src/values/numeric.js";
import {
  type Bound,
  compareMultiranges,
  compareRanges,
  compareValues,
  makeRange,
  mergedRanges,
  multirangeText,
  type Range,
  rangeOf,
  rangesOf,
  rangeText,
} from "../../src/values/range.js";
import { type Timestamp, timestampOf } from "../../src/values/timestamp.js";
import {
  arrayOf,
  BOOL,
  BPCHAR,
  BYTEA,
  CITEXT,
  DATE,
  FLOAT4,
  FLOAT8,
  INET,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  type Interval,
  JSON_TYPE,
  JSONB,
  Json,
  MULTIRANGES,
  type MultirangeName,
  NAME,
  NUMERIC,
  OID,
  RANGES,
  type RangeName,
  recordOf,
  type SqlArray,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMETZ,
  type TimeTz,
  UUID,
  VARCHAR,
  type Value,
  VECTOR,
} from "../../src/values/values.js";

export interface TypeCase {
  readonly type: SqlType;
  readonly values: fc.Arbitrary<Value>;
  /** Negative, zero or positive; absent for types without an order. */
  readonly compare?: (a: never, b: never) => number;
}

const byNumber = (a: number | bigint, b: number | bigint) => (a < b ? -1 : a > b ? 1 : 0);
/** NaN is the greatest number. */
const byFloat = (a: number, b: number) =>
  Number.isNaN(a) || Number.isNaN(b) ? Number(Number.isNaN(a)) - Number(Number.isNaN(b)) : byNumber(a, b);
const byBytes = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b);
const byText = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const byLowerText = (a: string, b: string) => byText(a.toLowerCase(), b.toLowerCase());
const byTrimmed = (a: string, b: string) => byText(a.replace(/ +$/, ""), b.replace(/ +$/, ""));

const DAY = 86_400_000_000n;
const lengthOf = ({ months, days, micros }: Interval) => (BigInt(months) * 30n + BigInt(days)) * DAY + BigInt(micros);

const byNumeric = (a: Numeric, b: Numeric) => {
  const rank = (x: Numeric) => (x.special === "NaN" ? 2 : x.special === "Infinity" ? 1 : x.special === null ? 0 : -1);
  if (a.special !== null || b.special !== null) return rank(a) - rank(b);
  const scale = Math.max(a.scale, b.scale);
  return byNumber(a.unscaled * 10n ** BigInt(scale - a.scale), b.unscaled * 10n ** BigInt(scale - b.scale));
};

const int8 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
});
/** Values close to each other and to zero are where encodings of order break. */
const small = fc.integer({ min: -300, max: 300 });
/** The first and the last timestamp, and places where its forms change. */
const TIMESTAMP_EDGES = [
  -210_866_803_200_000_000n,
  9_224_318_015_999_999_999n,
  -(2n ** 53n),
  2n ** 53n,
  2n ** 55n,
  2n ** 63n,
];
export const timestamps: fc.Arbitrary<Timestamp> = fc.oneof(
  small,
  fc.bigInt({ min: TIMESTAMP_EDGES[0]!, max: TIMESTAMP_EDGES[1]! }).map(timestampOf),
  fc
    .tuple(fc.constantFrom(...TIMESTAMP_EDGES), fc.bigInt({ min: -40n, max: 40n }))
    .map(([edge, near]) => edge + near)
    .filter((micros) => micros >= TIMESTAMP_EDGES[0]! && micros <= TIMESTAMP_EDGES[1]!)
    .map(timestampOf),
  fc.constantFrom(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", " ", "\0", "\u0001", "é", "\uffff", "😀"), maxLength: 6 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
);
const numeric: fc.Arbitrary<Numeric> = fc.oneof(
  fc.tuple(fc.bigInt({ min: -2000n, max: 2000n }), fc.integer({ min: 0, max: 4 })).map(([n, s]) => Numeric.of(n, s)),
  fc.tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.nat(300)).map(([n, s]) => Numeric.of(n, s)),
  fc.constantFrom(Numeric.NAN, Numeric.INFINITY, Numeric.NEGATIVE_INFINITY),
);
const int32 = fc.oneof(small, fc.integer());

/** Addresses that share many bits, of both families. */
const networks = fc.oneof(
  fc
    .tuple(fc.constantFrom(10, 11, 192), fc.constantFrom(0, 1, 128), fc.nat(255), fc.nat(32))
    .map(([a, b, c, bits]) => networkFromText("inet", `${a}.${b}.0.${c}/${bits}`)),
  fc
    .tuple(fc.constantFrom("", "10:1", "ffff:ff00"), fc.nat(3), fc.nat(128))
    .map(([head, last, bits]) => networkFromText("inet", `${head}::${last}/${bits}`)),
);
const bitsOf = ({ bytes }: Network) => Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
/** Bit by bit, which the code under test is not. */
const byNetwork = (x: string, y: string) => {
  const [a, b] = [networkOf(x), networkOf(y)];
  const covered = Math.min(a.bits, b.bits);
  const parts = (network: Network) => bitsOf(network).slice(0, covered);
  return (
    a.bytes.length - b.bytes.length || byText(parts(a), parts(b)) || a.bits - b.bits || byText(bitsOf(a), bitsOf(b))
  );
};

/** NULL fields last. */
const byRow = (a: readonly Value[], b: readonly Value[]) => {
  for (const i of [0, 1]) {
    const [x, y] = [a[i]!, b[i]!];
    const order =
      x === null || y === null
        ? Number(x === null) - Number(y === null)
        : i === 0
          ? byNumber(x as number, y as number)
          : byText(x as string, y as string);
    if (order !== 0) return order;
  }
  return 0;
};

const json = fc.jsonValue({ maxDepth: 4 });

/** Of a range: nothing, bounds near each other, one bound or none. */
function ranges(name: RangeName, bound: fc.Arbitrary<Bound>): fc.Arbitrary<Range> {
  return fc.tuple(fc.option(bound), fc.option(bound), fc.boolean(), fc.boolean()).map(([a, b, lowerInc, upperInc]) => {
    const isTurned = a !== null && b !== null && compareValues(a, b) > 0;
    return makeRange(name, isTurned ? b : a, isTurned ? a : b, lowerInc, upperInc);
  });
}

function rangeCases(range: RangeName, list: MultirangeName, bound: fc.Arbitrary<Bound>): TypeCase[] {
  const one = ranges(range, bound);
  return [
    {
      type: RANGES[range],
      values: one.map((value) => rangeText(range, value)),
      compare: (a: string, b: string) => compareRanges(rangeOf(range, a), rangeOf(range, b)),
    },
    {
      type: MULTIRANGES[list],
      values: fc.array(one, { maxLength: 4 }).map((values) => multirangeText(list, mergedRanges(values))),
      compare: (a: string, b: string) => compareMultiranges(rangesOf(list, a), rangesOf(list, b)),
    },
  ];
}

export const ORDERED: readonly TypeCase[] = [
  { type: BOOL, values: fc.boolean(), compare: (a: boolean, b: boolean) => Number(a) - Number(b) },
  { type: INT2, values: fc.oneof(small, fc.integer({ min: -32768, max: 32767 })), compare: byNumber },
  { type: INT4, values: int32, compare: byNumber },
  { type: OID, values: fc.nat({ max: 2 ** 32 - 1 }), compare: byNumber },
  { type: INT8, values: fc.oneof(small, int8), compare: byNumber },
  { type: FLOAT4, values: fc.oneof(small, fc.float()), compare: byFloat },
  { type: FLOAT8, values: fc.oneof(small, fc.double()), compare: byFloat },
  { type: VECTOR, values: fc.float32Array({ maxLength: 40 }), compare: byMember },
  { type: NUMERIC, values: numeric, compare: byNumeric },
  { type: TEXT, values: text, compare: byText },
  { type: VARCHAR, values: text, compare: byText },
  { type: NAME, values: text, compare: byText },
  { type: BPCHAR, values: text, compare: byTrimmed },
  { type: CITEXT, values: text, compare: byLowerText },
  { type: BYTEA, values: fc.uint8Array({ maxLength: 300 }), compare: byBytes },
  { type: UUID, values: fc.uuid(), compare: byText },
  { type: INET, values: networks, compare: byNetwork },
  {
    type: recordOf([
      { name: "a", type: INT4 },
      { name: "b", type: TEXT },
    ]),
    values: fc.tuple(fc.option(small), fc.option(text)) as fc.Arbitrary<readonly Value[]>,
    compare: byRow,
  },
  {
    type: DATE,
    values: fc.oneof(
      int32.filter((x) => x > -(2 ** 31) && x < 2 ** 31 - 1),
      fc.constantFrom(-Infinity, Infinity),
    ),
    compare: byNumber,
  },
  { type: TIME, values: fc.integer({ min: 0, max: 86_400_000_000 }), compare: byNumber },
  { type: TIMESTAMP, values: timestamps, compare: byNumber },
  { type: TIMESTAMPTZ, values: timestamps, compare: byNumber },
  {
    type: TIMETZ,
    values: fc
      .tuple(
        fc.integer({ min: 0, max: 86_400_000_000 }),
        fc.oneof(fc.constantFrom(0, 3600, -3600), fc.integer({ min: -57_600, max: 57_600 })),
      )
      .map(([micros, offset]) => ({ micros, offset })),
    compare: (a: TimeTz, b: TimeTz) =>
      byNumber(a.micros - a.offset * 1e6, b.micros - b.offset * 1e6) || byNumber(-a.offset, -b.offset),
  },
  {
    type: INTERVAL,
    values: fc
      .tuple(small, small, fc.integer({ min: -(2 ** 50), max: 2 ** 50 }))
      .map(([months, days, micros]) => ({ months, days, micros })),
    compare: (a: Interval, b: Interval) => byNumber(lengthOf(a), lengthOf(b)),
  },
  ...rangeCases("int4range", "int4multirange", small),
  ...rangeCases(
    "int8range",
    "int8multirange",
    fc.oneof(
      small,
      int8.filter((value) => value !== 2n ** 63n - 1n),
    ),
  ),
  ...rangeCases("numrange", "nummultirange", numeric),
  ...rangeCases("daterange", "datemultirange", fc.oneof(small, fc.constantFrom(-Infinity, Infinity))),
  ...rangeCases("tstzrange", "tstzmultirange", timestamps),
  { type: arrayOf(INT4), values: arrays(int32), compare: byArray(byNumber) },
  { type: arrayOf(TEXT), values: arrays(text), compare: byArray(byText) },
  { type: arrayOf(NUMERIC), values: arrays(numeric), compare: byArray(byNumeric) },
  {
    type: JSONB,
    values: fc
      .oneof(json, fc.oneof(small, fc.constantFrom([], {}, null, "", "1", { unscaled: 1 }, [[]], [1.5])))
      .map((value) => new Json(JSON.parse(JSON.stringify(value)))),
    compare: (a: Json, b: Json) => compareJson(a.value, b.value),
  },
];

export const ALL: readonly TypeCase[] = [
  ...ORDERED,
  // Numbers with more digits than a double keeps.
  {
    type: JSONB,
    values: fc
      .array(fc.bigInt({ min: 10n ** 17n, max: 10n ** 40n }))
      .map(
        (numbers) => new Json(parseJson(JSON.stringify({ a: 1 }).replace("1", `[${numbers.map((n) => `${n}.10`)}]`))),
      ),
  },
  {
    type: JSON_TYPE,
    values: json.map((value) => {
      const spaced = JSON.stringify(value, null, 2);
      return new Json(JSON.parse(spaced), spaced);
    }),
  },
];

function byMember(a: Float32Array, b: Float32Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = byFloat(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function arrays(elements: fc.Arbitrary<Value>): fc.Arbitrary<SqlArray> {
  const flat = fc.array(fc.option(elements, { freq: 4 }), { maxLength: 5 });
  return fc.tuple(flat, fc.integer({ min: -2, max: 2 })).map(([items, bound]) => ({
    elements: items,
    dimensions: items.length === 0 ? [] : [items.length],
    lowerBounds: items.length === 0 ? [] : [bound],
  }));
}

function byArray<T>(compare: (a: T, b: T) => number): (a: SqlArray, b: SqlArray) => number {
  return (a, b) => {
    for (let i = 0; i < Math.min(a.elements.length, b.elements.length); i++) {
      const [x, y] = [a.elements[i]!, b.elements[i]!];
      const order =
        x === null || y === null
          ? Number(x === null) - Number(y === null)
          : compare(x as unknown as T, y as unknown as T);
      if (order !== 0) return order;
    }
    return a.elements.length - b.elements.length || byNumber(a.lowerBounds[0] ?? 0, b.lowerBounds[0] ?? 0);
  };
}
