/**
 * Expressions as they are sent to another process: plain values, whose functions are named by their places in the
 * tables.
 */
import type { TypeName } from "../../values/values.js";

/** Of a built-in type; others mean nothing in another process. */
export interface TypeKey {
  readonly name: TypeName;
  readonly modifier: number | null;
  readonly element: TypeKey | null;
}

/** A table of functions and the place there; of a family, the types that it was made for as well. */
export type FunctionKey =
  | { readonly table: "functions" | "operators" | "cypher"; readonly name: string; readonly place: number }
  | {
      readonly table: "families" | "operator families";
      readonly name: string;
      readonly place: number;
      readonly types: readonly TypeKey[];
    };

/** `leaf`: a value that is sent beside the expression, by its place. */
export type SentExpr =
  | { readonly leaf: number; readonly type: TypeKey }
  | { readonly fn: FunctionKey; readonly args: readonly SentExpr[]; readonly type: TypeKey }
  | { readonly cast: SentExpr; readonly type: TypeKey };
