/** Vectors as lists of the same numbers, and lists that stand for vectors. */
import { CypherVector, coordinatesOf, isFloatType } from "./cypher-vector.js";
import { type Float, floatValue, type Variant } from "./variant.js";

/** The coordinates as INTEGER or FLOAT. */
export function listOfVector(vector: CypherVector): readonly (number | bigint | Float)[] {
  if (isFloatType(vector.type)) return coordinatesOf(vector).map((x) => floatValue(x as number));
  return coordinatesOf(vector).map((x) => (Number.isSafeInteger(Number(x)) ? Number(x) : x));
}

/** Items of a list, or a vector's coordinates as such; undefined: it is neither. */
export function itemsOfVector(value: Variant | undefined): readonly Variant[] | undefined {
  if (value instanceof CypherVector) return listOfVector(value);
  return Array.isArray(value) ? (value as readonly Variant[]) : undefined;
}
