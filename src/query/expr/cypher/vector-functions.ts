/** Vectors: how they are made, and distances and similarities of two, which may be lists of numbers for the latter. */
import { cypherError } from "../../../values/cypher-error.js";
import {
  CypherVector,
  coordinateTypeNamed,
  DIMENSIONS_MAX,
  doublesOf,
  vectorOfNumbers,
} from "../../../values/cypher-vector.js";
import { floatValue, isIntegerValue, type Variant } from "../../../values/variant.js";
import { integerValue, isList } from "../../../values/variant-format.js";
import type { ScalarFunction } from "../expr.js";
import { numberOf } from "../variant-order.js";
import { isNumber } from "./arithmetic.js";
import { cypherFn, wrongArgument } from "./define.js";

const invalid = (message: string) => cypherError("ArgumentError", "InvalidArgumentValue", message);

function numbersOf(name: string, value: Variant): Float64Array {
  if (value instanceof CypherVector) return doublesOf(value);
  if (!isList(value)) throw wrongArgument(name, "vectors or lists of numbers", value);
  return Float64Array.from(value, (item) => {
    if (isNumber(item)) return Number(numberOf(item));
    throw wrongArgument(name, "vectors or lists of numbers", item);
  });
}

type Measure = (a: Float64Array, b: Float64Array) => number;

/** Of two that have the same number of coordinates. */
function measured(name: string, a: Float64Array, b: Float64Array, measure: Measure): Variant {
  if (a.length === b.length && a.length > 0) return floatValue(measure(a, b));
  throw invalid(`${name} takes two vectors of one length`);
}

function similarity(name: string, measure: Measure): ScalarFunction {
  const called = `${name}()`;
  return cypherFn(name, 2, (first: Variant, second: Variant) =>
    measured(called, numbersOf(called, first), numbersOf(called, second), measure),
  );
}

function cosineOf(a: Float64Array, b: Float64Array): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    ofA += a[i]! * a[i]!;
    ofB += b[i]! * b[i]!;
  }
  return Math.max(-1, Math.min(1, dot / Math.sqrt(ofA * ofB)));
}

/** The sum over all coordinates. */
const sum =
  (of: (x: number, y: number) => number): Measure =>
  (a, b) => {
    let total = 0;
    for (let i = 0; i < a.length; i++) total += of(a[i]!, b[i]!);
    return total;
  };

const square = sum((x, y) => (x - y) ** 2);

/** The smaller, the nearer. */
const DISTANCES: Readonly<Record<string, Measure>> = {
  EUCLIDEAN: (a, b) => Math.sqrt(square(a, b)),
  EUCLIDEAN_SQUARED: square,
  MANHATTAN: sum((x, y) => Math.abs(x - y)),
  COSINE: (a, b) => 1 - cosineOf(a, b),
  DOT: sum((x, y) => -x * y),
  HAMMING: sum((x, y) => (x === y ? 0 : 1)),
};

const NORMS: Readonly<Record<string, Measure>> = { EUCLIDEAN: DISTANCES.EUCLIDEAN!, MANHATTAN: DISTANCES.MANHATTAN! };

function measureNamed(called: string, measures: Readonly<Record<string, Measure>>, name: Variant): Measure {
  const found = typeof name === "string" ? measures[name.toUpperCase()] : undefined;
  if (found !== undefined) return found;
  throw invalid(`${called} measures by ${Object.keys(measures).join(", ")}`);
}

function onlyVector(called: string, value: Variant): Float64Array {
  if (value instanceof CypherVector) return doublesOf(value);
  throw wrongArgument(called, "vectors, as vector() makes them", value);
}

function distance(first: Variant, second: Variant, by: Variant): Variant {
  const called = "vector_distance()";
  const measure = measureNamed(called, DISTANCES, by);
  return measured(called, onlyVector(called, first), onlyVector(called, second), measure);
}

function norm(vector: Variant, by: Variant): Variant {
  const called = "vector_norm()";
  const measure = measureNamed(called, NORMS, by);
  const numbers = onlyVector(called, vector);
  return floatValue(measure(numbers, new Float64Array(numbers.length)));
}

/** `vector([1, 2], 2, FLOAT32)`, `vector('[1, 2]', 2, INTEGER8)`. */
function vector(values: Variant, dimension: Variant, type: Variant): CypherVector {
  const coordinate = typeof type === "string" ? coordinateTypeNamed(type.toUpperCase()) : null;
  if (coordinate === null) throw invalid("vector() makes coordinates of type INTEGER, INTEGER8, …, FLOAT or FLOAT32");
  if (!isIntegerValue(dimension)) throw wrongArgument("vector()", "an integer as its dimension", dimension);
  if (dimension < 1 || dimension > DIMENSIONS_MAX) {
    throw invalid(`the dimension of a vector is from 1 to ${DIMENSIONS_MAX}, not ${dimension}`);
  }
  const numbers = typeof values === "string" ? numbersIn(values) : coordinatesIn(values);
  if (numbers.length !== Number(dimension)) {
    throw invalid(`vector() got ${numbers.length} coordinates, but its dimension is ${dimension}`);
  }
  return vectorOfNumbers(coordinate, numbers);
}

function coordinatesIn(values: Variant): readonly (number | bigint)[] {
  if (!isList(values)) throw wrongArgument("vector()", "a list of numbers or a string", values);
  return values.map((item) => {
    if (isNumber(item)) return numberOf(item);
    throw wrongArgument("vector()", "a list of numbers", item);
  });
}

const WHOLE = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function numbersIn(text: string): readonly (number | bigint)[] {
  const inside = /^\s*\[(.*)\]\s*$/s.exec(text)?.[1];
  if (inside === undefined) throw invalid("vector() takes numbers in brackets from a string: '[1.5, 2]'");
  return inside.split(",").map((part) => {
    const number = part.trim();
    if (WHOLE.test(number)) return integerValue(BigInt(number.replace("+", "")));
    if (NUMBER.test(number)) return Number(number);
    throw invalid(`vector() takes numbers in brackets from a string, not ${JSON.stringify(number.slice(0, 40))}`);
  });
}

export const VECTOR_FUNCTIONS: readonly ScalarFunction[] = [
  cypherFn("vector", 3, vector, { nanosPerUnit: 50 }),
  cypherFn("vector_dimension_count", 1, (value) => {
    if (value instanceof CypherVector) return value.dimension;
    throw wrongArgument("vector_dimension_count()", "a vector", value);
  }),
  cypherFn("vector_distance", 3, distance),
  cypherFn("vector_norm", 2, norm),
  // From 0 (opposite) to 1 (the same direction); NaN for a vector of zeros.
  similarity("vector.similarity.cosine", (a, b) => (1 + cosineOf(a, b)) / 2),
  // 1 over 1 plus the square of the distance.
  similarity("vector.similarity.euclidean", (a, b) => 1 / (1 + square(a, b))),
];
