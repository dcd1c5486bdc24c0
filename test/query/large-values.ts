/** Values of every type of the registry of functions, small and as large as a client can make them; by type. */
import { OBJECT_MEMBERS_MAX } from "../../src/protocol/limits.js";
import { Numeric } from "../../src/values/numeric.js";
import { fromText } from "../../src/values/text-format.js";
import { Json, type SqlArray, type SqlType, type TypeName, type Value } from "../../src/values/values.js";
import { Float, type Variant } from "../../src/values/variant.js";

/** Values of `units` characters, bytes or elements. */
type Large = (units: number, type: SqlType) => readonly Value[];

const WORDS = "lorem ipsum dolor sit amet ";

export const text = (units: number): string => WORDS.repeat(Math.ceil(units / WORDS.length)).slice(0, units);
export const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => (i * 7919) % 1_000_003);

const texts: Large = (units) => [text(units), "a".repeat(units), "1".repeat(units)];

const members = (count: number): Record<string, unknown> =>
  Object.fromEntries(numbers(Math.min(count, OBJECT_MEMBERS_MAX)).map((value, i) => [`k${i}`, value]));

const trees: Large = (units) => [
  new Json(numbers(units)),
  new Json(members(units)),
  new Json(numbers(Math.ceil(units / 4)).map((value) => ({ k: [value] }))),
];

const bits = (units: number): string => "10".repeat(Math.ceil(units / 2));
const network = ["10.1.2.3/24"];

/** The texts of small values. */
const SMALL: Partial<Record<TypeName, readonly string[]>> = {
  bool: ["t"],
  int2: ["3"],
  int4: ["3", "2000000"],
  int8: ["3", "2000000"],
  oid: ["3"],
  xid: ["3"],
  tid: ["(0,3)"],
  float4: ["2.5"],
  float8: ["2.5"],
  numeric: ["2.5"],
  text: ["o", "lorem", "{}", "[]", "2024-02-29", "(lo|do)+(.*)m", "g"],
  varchar: ["o"],
  bpchar: ["o"],
  name: ["o"],
  citext: ["o"],
  hstore: ["a=>1, b=>NULL", ""],
  ltree: ["top.science", ""],
  lquery: ["*.science{1,2}.!a|b@*"],
  ltxtquery: ["science & !art*"],
  char: ["o"],
  uuid: ["00000000-0000-4000-8000-000000000001"],
  bytea: ["\\x01ff"],
  date: ["2024-02-29"],
  time: ["13:05"],
  timetz: ["13:05+01"],
  timestamp: ["2024-02-29 13:05"],
  timestamptz: ["2024-02-29 13:05+00"],
  interval: ["1 month 2 days"],
  json: ['{"a":[1,2]}'],
  jsonb: ['{"a":[1,2]}', "1"],
  jsonpath: ["$.a", "$.**", '$[*] ? (@.k == "x")'],
  vector: ["[1,2,3]"],
  halfvec: ["[1,2]"],
  sparsevec: ["{1:0.5,3:2}/10"],
  bit: ["1"],
  varbit: ["101"],
  inet: network,
  cidr: ["10.1.2.0/24"],
  macaddr: ["08:00:2b:01:02:03"],
  money: ["-12.34", "92233720368547758.07"],
  macaddr8: ["08:00:2b:01:02:03:04:05"],
  xid8: ["0", "18446744073709551615"],
  pg_lsn: ["0/0", "16/B374D848"],
  pg_snapshot: ["10:20:10,14,15"],
  txid_snapshot: ["10:20:"],
  tsvector: ["'lorem':1 'sit':2"],
  tsquery: ["'lorem' & 'sit'"],
  regconfig: ["english"],
  int4range: ["[1,5)", "empty"],
  int8range: ["[1,5)", "(,)"],
  numrange: ["[1.5,2]"],
  daterange: ["[2020-01-01,2020-02-01)"],
  tsrange: ["[2020-01-01,2020-02-01)"],
  tstzrange: ["[2020-01-01,2020-02-01)"],
  int4multirange: ["{[1,5),[7,9)}", "{}"],
  int8multirange: ["{[1,5)}"],
  nummultirange: ["{[1.5,2]}"],
  datemultirange: ["{[2020-01-01,2020-02-01)}"],
  tsmultirange: ["{[2020-01-01,2020-02-01)}"],
  tstzmultirange: ["{[2020-01-01,2020-02-01)}"],
  point: ["(1,2)"],
  lseg: ["[(1,2),(3,4)]"],
  line: ["{1,-1,2}"],
  box: ["(3,4),(1,2)"],
  path: ["((0,0),(1,3),(2,0))", "[(0,0),(1,3)]"],
  polygon: ["((0,0),(1,3),(2,0))"],
  circle: ["<(1,2),3>"],
  range: ["[o,p)", "empty"],
  multirange: ['{[o,p),["q,",)}', "{}"],
  int2vector: ["1 2"],
  oidvector: ["1 2"],
  unknown: ["o"],
};

const manyRanges: Large = (units) => [
  `{${Array.from({ length: Math.ceil(units / 12) }, (_, i) => `[${i * 3},${i * 3 + 1})`).join()}}`,
];

/** Of texts, in their order. */
const manyTexts = (units: number): string =>
  `{${Array.from({ length: Math.ceil(units / 24) }, (_, i) => `[k${1e6 + i},"k${1e6 + i} 1")`).join()}}`;

const manyPoints: Large = (units) => [
  `(${Array.from({ length: Math.ceil(units / 10) }, (_, i) => `(${i % 1000},${(i * 7) % 1000})`).join()})`,
];

const LARGE: Partial<Record<TypeName, Large>> = {
  text: texts,
  varchar: texts,
  bpchar: texts,
  citext: texts,
  hstore: (units, type) => [
    fromText(type, Array.from({ length: Math.ceil(units / 16) }, (_, i) => `k${i}=>${i}`).join()),
  ],
  ltree: (units) => [Array.from({ length: Math.min(65_535, Math.ceil(units / 4)) }, (_, i) => i % 100).join(".")],
  lquery: (units) => [new Array(Math.min(1_000, Math.ceil(units / 4))).fill("*{0,9}").join(".")],
  ltxtquery: () => [new Array(400).fill("!x").join(" & ")],
  unknown: texts,
  bytea: (units) => [new Uint8Array(units).fill(65)],
  json: (units, type) => [fromText(type, `[${new Array(Math.ceil(units / 2)).fill(1).join()}]`)],
  jsonb: trees,
  numeric: (units) => [Numeric.of(BigInt(`9${"7".repeat(Math.min(units, 130_000))}`), Math.min(units, 16_000))],
  path: manyPoints,
  polygon: manyPoints,
  range: (units) => [`[a,b${"o".repeat(units)}]`, `["a,""${"o".repeat(units)}",]`],
  multirange: (units) => [manyTexts(units), `{["a,""${"o".repeat(units)}",b)}`],
  int4multirange: manyRanges,
  int8multirange: manyRanges,
  nummultirange: manyRanges,
  vector: () => [new Float32Array(16_000).fill(0.5)],
  halfvec: () => [new Float32Array(16_000).fill(0.5)],
  sparsevec: () => [`{${Array.from({ length: 16_000 }, (_, i) => `${i + 1}:0.5`).join()}}/16000`],
  bit: (units) => [bits(units)],
  varbit: (units) => [bits(units)],
};

export const arrayOfElements = (elements: readonly Value[]): SqlArray => ({
  elements,
  dimensions: elements.length === 0 ? [] : [elements.length],
  lowerBounds: elements.length === 0 ? [] : [1],
});

/** Values as any client may give them. Throws for a type that has none here: it has to be added. */
export function smallValues(type: SqlType): readonly Value[] {
  if (type.name === "array") return smallValues(type.element!).map((value) => arrayOfElements([value, value]));
  if (type.name === "variant") return SMALL_VARIANTS;
  const texts = SMALL[type.name];
  if (texts === undefined) throw new Error(`no small values of type ${type.name}`);
  return texts.map((written) => fromText(type, written));
}

const made = new Map<string, readonly Value[]>();

/** As large as `units` allow; none where all values of the type are small. */
export function largeValues(type: SqlType, units: number): readonly Value[] {
  const key = `${type.name} ${type.element?.name} ${units}`;
  let values = made.get(key);
  if (values === undefined) {
    values = makeLarge(type, units);
    made.set(key, values);
  }
  return values;
}

/** Equal values that share nothing, as rows of a table have them; some for each kind of large value. */
export function largeCopies(type: SqlType, units: number): readonly (readonly Value[])[] {
  const copies = Array.from({ length: 24 }, () => makeLarge(type, units));
  return copies[0]!.map((_, i) => copies.map((values) => values[i]!));
}

function makeLarge(type: SqlType, units: number): readonly Value[] {
  if (type.name === "array") return [arrayOfElements(new Array(units).fill(smallValues(type.element!)[0]))];
  if (type.name === "variant") return largeVariants(units);
  return LARGE[type.name]?.(units, type) ?? [];
}

const SMALL_VARIANTS: readonly Variant[] = [3, "o", [1, 2], new Map([["k", 1]]), new Float(2), 2_000_000];

function largeVariants(units: number): readonly Variant[] {
  const pairs = numbers(Math.ceil(units / 3)).map((value) => [value, "o"]);
  const members = numbers(Math.ceil(units / 10)).map((value, i): [string, Variant] => [`k${i}`, [value]]);
  return [text(units), numbers(units), pairs, new Map(members)];
}
