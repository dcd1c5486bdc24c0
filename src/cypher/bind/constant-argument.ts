/** Arguments of procedures that have to be known when the statement is bound. */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";

/** The type that a list of indexes or constraints is asked for, in capitals; null: all. Throws 22023 for one that is computed. */
export function typeFilter(procedure: string, type: Expr | undefined): string | null {
  if (type === undefined) return null;
  if (type.kind === "const" && type.value === null) return null;
  if (type.kind === "const" && typeof type.value === "string") return type.value.toUpperCase();
  throw sqlError("22023", `the type that ${procedure} lists must be written in the statement`);
}
