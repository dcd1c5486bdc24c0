/** Finds what an expression takes of a column of vectors, for indexes on expressions (values/vector-form.ts). */
import type { VectorForm } from "../../values/vector-form.js";
import type { ColumnExpr, Expr } from "./expr.js";

/** Types whose values the forms are made of. */
const OF_NUMBERS: ReadonlySet<string> = new Set(["vector", "halfvec", "sparsevec"]);
const OF_BITS: ReadonlySet<string> = new Set(["bit", "varbit"]);

export interface FormedColumn {
  readonly column: ColumnExpr;
  readonly form: VectorForm;
}

/** Null: nothing that an index could have. */
export function formOf(given: Expr): FormedColumn | null {
  const expr = withoutBareCast(given);
  if (expr.kind !== "cast" || expr.type.element !== null || expr.type.modifier === null) return null;
  const { name: type, modifier: dimensions } = expr.type;
  const input = withoutBareCast(expr.input);
  if (type === "bit") {
    const bits = columnIn(input, OF_BITS);
    if (bits !== null) return { column: bits, form: { type, dimensions, isOfBits: true } };
    const column = input.kind === "call" && input.fn.name === "binary_quantize" ? columnIn(input.args[0]!) : null;
    return column === null ? null : { column, form: { type, dimensions } };
  }
  if (type !== "vector" && type !== "halfvec") return null;
  if (input.kind !== "call") {
    const column = columnIn(input);
    return column === null ? null : { column, form: { type, dimensions } };
  }
  const [vector, start, count] = input.args;
  const column = input.fn.name === "subvector" ? columnIn(vector!) : null;
  if (column === null || start?.kind !== "const" || count?.kind !== "const") return null;
  const part = [Number(start.value), Number(count.value)] as const;
  return part[0] < 1 || part[1] < 1 ? null : { column, form: { type, dimensions, part } };
}

/** A conversion between the types keeps the numbers, but for their precision. */
function columnIn(given: Expr, types = OF_NUMBERS): ColumnExpr | null {
  let expr = given;
  while (expr.kind === "cast" && expr.type.modifier === null && types.has(expr.type.name)) expr = expr.input;
  return expr.kind === "column" && expr.type.element === null && types.has(expr.type.name) ? expr : null;
}

/** As the argument of a function a value loses its modifier. */
function withoutBareCast(expr: Expr): Expr {
  const isBare = expr.kind === "cast" && expr.type.modifier === null && expr.type.name === expr.input.type.name;
  return isBare ? withoutBareCast(expr.input) : expr;
}
