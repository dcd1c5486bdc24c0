/**
 * Operators and functions of pgvector's types halfvec and sparsevec. They are families that ask for one argument of the
 * type, so that calls with literals alone stay those of vectors.
 */
import { sqlError } from "../../../protocol/errors.js";
import {
  compareSparse,
  type Sparse,
  sparseCosine,
  sparseIn,
  sparseL1,
  sparseL2,
  sparseNorm,
  sparseNormalized,
  sparseProduct,
  sparseToText,
} from "../../../values/sparse-vector.js";
import { BIT, FLOAT8, HALFVEC, INT4, SPARSEVEC, type SqlType } from "../../../values/values.js";
import { compareVectors } from "../../../values/vector-math.js";
import type { ScalarFunction } from "../expr.js";
import { type FunctionFamily, family, fn, op } from "./define.js";
import { vectorConcatenation, vectorFunctions, vectorOperators } from "./vector.js";

const SERVES: Readonly<Record<string, ReadonlySet<string>>> = {
  halfvec: new Set(["halfvec", "vector", "unknown"]),
  sparsevec: new Set(["sparsevec", "halfvec", "vector", "unknown"]),
};

/** The function where one argument is of the type, and the others of its kind can be made it. */
function familyOf(made: ScalarFunction, type: SqlType): FunctionFamily {
  const kinds = made.args.map((arg) => arg.name === type.name);
  const form = `(${made.args.map(({ name }) => name).join(", ")}) → ${made.returns.name}`;
  return family(made.name, form, (types) => {
    const fits = (given: SqlType, i: number) =>
      given.element === null && (!kinds[i] || SERVES[type.name]!.has(given.name));
    const isMeant = types.some((given, i) => kinds[i] && given.name === type.name);
    return isMeant && types.length === made.args.length && types.every(fits) ? made : null;
  });
}

const PAIR: readonly SqlType[] = [SPARSEVEC, SPARSEVEC];

type Measure = (a: Sparse, b: Sparse) => number;
const measured =
  (measure: Measure) =>
  (a: string, b: string): number =>
    measure(sparseIn(a), sparseIn(b));

const SPARSE_OPERATORS = (
  [
    ["<->", sparseL2],
    ["<#>", (a, b) => -sparseProduct(a, b)],
    ["<=>", sparseCosine],
    ["<+>", sparseL1],
  ] as readonly (readonly [string, Measure])[]
).map(([name, measure]) => op(name, PAIR, FLOAT8, measured(measure)));

const SPARSE_FUNCTIONS: readonly ScalarFunction[] = [
  fn("l2_distance", PAIR, FLOAT8, measured(sparseL2)),
  fn("inner_product", PAIR, FLOAT8, measured(sparseProduct)),
  fn("cosine_distance", PAIR, FLOAT8, measured(sparseCosine)),
  fn("l1_distance", PAIR, FLOAT8, measured(sparseL1)),
  fn("l2_norm", [SPARSEVEC], FLOAT8, (a: string) => sparseNorm(sparseIn(a))),
  fn("l2_normalize", [SPARSEVEC], SPARSEVEC, (a: string) => sparseToText(sparseNormalized(sparseIn(a)))),
];

/** Throws 22000 for bit strings of other lengths. */
function eachBit(a: string, b: string, differs: (x: boolean, y: boolean) => boolean): number {
  if (a.length !== b.length) throw sqlError("22000", `different bit lengths ${a.length} and ${b.length}`);
  let count = 0;
  for (let i = 0; i < a.length; i++) if (differs(a[i] === "1", b[i] === "1")) count++;
  return count;
}

const hamming = (a: string, b: string): number => eachBit(a, b, (x, y) => x !== y);

function jaccard(a: string, b: string): number {
  const both = eachBit(a, b, (x, y) => x && y);
  return both === 0 ? 1 : 1 - both / eachBit(a, b, (x, y) => x || y);
}

const BITS: readonly SqlType[] = [BIT, BIT];

/** Distances of bit strings, such as binary_quantize gives. */
export const BIT_DISTANCE_OPERATORS: readonly ScalarFunction[] = [
  op("<~>", BITS, FLOAT8, hamming),
  op("<%>", BITS, FLOAT8, jaccard),
];

export const BIT_DISTANCE_FUNCTIONS: readonly ScalarFunction[] = [
  fn("hamming_distance", BITS, FLOAT8, hamming),
  fn("jaccard_distance", BITS, FLOAT8, jaccard),
];

const ofHalves = (made: readonly ScalarFunction[]) => made.map((of) => familyOf(of, HALFVEC));

export const VECTOR_TYPE_OPERATORS: readonly FunctionFamily[] = [
  ...ofHalves([...vectorOperators(HALFVEC), vectorConcatenation(HALFVEC)]),
  ...SPARSE_OPERATORS.map((of) => familyOf(of, SPARSEVEC)),
];

const HALVES: readonly SqlType[] = [HALFVEC, HALFVEC];
const compareHalves = (a: Float32Array, b: Float32Array): number => Math.sign(compareVectors(a, b));

export const VECTOR_TYPE_FUNCTIONS: readonly FunctionFamily[] = [
  ...ofHalves(vectorFunctions(HALFVEC)),
  ...SPARSE_FUNCTIONS.map((of) => familyOf(of, SPARSEVEC)),
];

/** Names that one type alone has, so that texts are taken for it. */
export const VECTOR_COMPARISONS: readonly ScalarFunction[] = [
  fn("halfvec_cmp", HALVES, INT4, compareHalves),
  fn("sparsevec_cmp", PAIR, INT4, (a: string, b: string) => Math.sign(compareSparse(a, b))),
];
