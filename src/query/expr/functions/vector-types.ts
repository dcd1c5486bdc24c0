/**
 * Operators and functions of pgvector's types halfvec and sparsevec. They are families that ask for one argument of the
 * type, so that calls with literals alone stay those of vectors.
 */
import { sqlError } from "../../../protocol/errors.js";
import { asHalves } from "../../../values/half-vector.js";
import {
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
import { BIT, FLOAT8, HALFVEC, SPARSEVEC, type SqlType, VECTOR } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { type FunctionFamily, family, fn, op } from "./define.js";
import { VECTOR_FUNCTIONS, VECTOR_OPERATOR_FAMILIES, VECTOR_OPERATORS } from "./vector.js";

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

/** What vectors have, of halves: they are vectors whose members are rounded. */
function ofHalves(made: ScalarFunction): ScalarFunction {
  const swap = (type: SqlType) => (type === VECTOR ? HALFVEC : type);
  const { apply } = made;
  const givesVector = made.returns === VECTOR;
  return Object.freeze({
    ...made,
    args: made.args.map(swap),
    returns: swap(made.returns),
    apply: givesVector
      ? (...args: Parameters<typeof apply>) => asHalves((apply(...args) as Float32Array).slice())
      : apply,
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

const halves = (made: readonly ScalarFunction[]) => made.map((of) => familyOf(ofHalves(of), HALFVEC));
const CONCATENATION = VECTOR_OPERATOR_FAMILIES[0]!.instantiate([VECTOR, VECTOR])!;

export const VECTOR_TYPE_OPERATORS: readonly FunctionFamily[] = [
  ...halves([...VECTOR_OPERATORS, CONCATENATION]),
  ...SPARSE_OPERATORS.map((of) => familyOf(of, SPARSEVEC)),
];

/** Names of its own that vector_norm has stay with vectors, as in pgvector. */
export const VECTOR_TYPE_FUNCTIONS: readonly FunctionFamily[] = [
  ...halves(VECTOR_FUNCTIONS.filter(({ name }) => name !== "vector_norm")),
  ...SPARSE_FUNCTIONS.map((of) => familyOf(of, SPARSEVEC)),
];
