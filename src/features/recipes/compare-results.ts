/** What a recipe's test expects of a step, beside what the step gave. Pure; called by certify-recipe.ts. */
import type { Expectation } from "../../recipe/recipe.js";
import type { StepResult } from "./recipe-runner.js";

const TOLERANCE = 1e-9;
const SHOWN_CHARACTERS = 400;

/** Null: it is as expected. */
export function faultOfResult(expected: Expectation, result: StepResult): string | null {
  const {
    skipped,
    columns,
    rows,
    contains,
    row_count: count,
    row_count_min: atLeast,
    tolerance = TOLERANCE,
  } = expected;
  if ((skipped ?? false) !== (result.skipped ?? false)) {
    return skipped ? "expected to be skipped, and it ran" : "it was skipped";
  }
  const found = result.rows ?? [];
  const names = (result.columns ?? []).map(({ name }) => name);
  const equal = (a: unknown, b: unknown) => isEqual(a, b, tolerance);
  if (columns !== undefined && !equal(columns, names)) return differs("columns", columns, names);
  if (rows !== undefined && !equal(rows, found)) return differs("rows", rows, found);
  const missing = contains?.find((row) => !found.some((other) => equal(row, other)));
  if (missing !== undefined) return differs("among the rows", missing, found);
  const number = result.row_count ?? 0;
  if (count !== undefined && number !== count) return differs("row_count", count, number);
  if (atLeast !== undefined && number < atLeast) return differs("row_count of at least", atLeast, number);
  const affected = result.rows_affected ?? null;
  const { rows_affected: wanted } = expected;
  return wanted !== undefined && affected !== wanted ? differs("rows_affected", wanted, affected) : null;
}

function differs(what: string, expected: unknown, found: unknown): string {
  return `expected ${what} ${shown(expected)}, got ${shown(found)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/** Of JSON values: members in any order, numbers by tolerance. */
function isEqual(a: unknown, b: unknown, tolerance: number): boolean {
  if (typeof a === "number" && typeof b === "number") {
    return Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b));
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  const member = (value: object, key: string) => (value as Record<string, unknown>)[key];
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(member(a, key), member(b, key), tolerance))
  );
}
