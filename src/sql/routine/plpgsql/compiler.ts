/** What the compilers of statements share: the function that the body belongs to, and how to compile what is inside. */
import type { SqlType } from "../../../values/values.js";
import type { BindEnvironment } from "../../bind/bound-statement.js";
import type { PlStatement } from "../../parse/plpgsql-ast.js";
import type { Conversions } from "./conversions.js";
import type { Run } from "./frame.js";
import type { Namespace, Variable } from "./namespace.js";

/** How the function answers. */
export interface ResultKind {
  readonly form: "value" | "set" | "outputs" | "void" | "procedure" | "trigger";
  /** The type of the value or of a row; null: a record whose fields only the row knows. */
  readonly type: SqlType | null;
  /** OUT parameters, whose values are the answer; none: RETURN gives it. */
  readonly outputs: readonly Variable[];
}

export interface Compiler {
  readonly env: BindEnvironment;
  readonly result: ResultKind;
  readonly conversions: Conversions;
  /** FOUND. */
  readonly found: Variable;
  statements(nodes: readonly PlStatement[], names: Namespace): Run;
}
