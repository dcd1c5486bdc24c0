/** A function that a call means. Made by resolve-routine.ts. */
import type { FunctionDef } from "../../catalog/function.js";
import type { SqlType } from "../../values/values.js";

/** Where each parameter's value comes from. */
export type ArgumentSource =
  | { readonly kind: "given"; readonly index: number }
  | { readonly kind: "default"; readonly sql: string }
  /** The members of the VARIADIC parameter's array. */
  | { readonly kind: "members"; readonly indexes: readonly number[] };

/** A function with the types of one call. */
export interface MatchedRoutine {
  readonly definition: FunctionDef;
  /** By parameter. */
  readonly sources: readonly ArgumentSource[];
  readonly parameterTypes: readonly SqlType[];
  readonly returns: SqlType;
}
