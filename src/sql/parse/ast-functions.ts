/** The syntax tree of SQL, part three: statements about functions and procedures. Made by `from-pg-functions.ts`. */
import type { CallNode, ExprNode, NameNode, TypeNode } from "./ast-query.js";

/** A type as functions declare it. */
export interface FunctionTypeNode {
  readonly type: TypeNode;
  /** `relation.column%TYPE`: the path; null for a type by its name. */
  readonly columnOf: readonly string[] | null;
}

export type ParameterMode = "in" | "out" | "inout" | "variadic" | "table";

export interface ParameterNodeOfFunction {
  readonly name: string | null;
  readonly mode: ParameterMode;
  readonly type: FunctionTypeNode;
  readonly default: ExprNode | null;
  readonly position: number;
}

/** A clause of CREATE or ALTER FUNCTION: `language sql`, `strict`. */
export interface FunctionOption {
  readonly name: string;
  readonly value: string | number | boolean;
  readonly position: number;
}

/** SET name = values; `values` null is FROM CURRENT or RESET. */
export interface FunctionSetting {
  readonly name: string;
  readonly values: readonly string[] | null;
}

export interface CreateFunctionStatement {
  readonly kind: "create function";
  readonly procedure: boolean;
  readonly replace: boolean;
  readonly name: NameNode;
  readonly parameters: readonly ParameterNodeOfFunction[];
  /** null: not written. */
  readonly returns: FunctionTypeNode | null;
  readonly options: readonly FunctionOption[];
  readonly settings: readonly FunctionSetting[];
  /** The strings after AS. */
  readonly as: readonly string[];
  /** The body is written as statements: RETURN …, BEGIN ATOMIC … END. */
  readonly standard: boolean;
  /** The whole statement. */
  readonly text: string;
  readonly position: number;
}

/** CREATE AGGREGATE */
export interface CreateAggregateStatement {
  readonly kind: "create aggregate";
  readonly replace: boolean;
  readonly name: NameNode;
  /** null: the statement says it as `basetype`, in the way of old. */
  readonly parameters: readonly ParameterNodeOfFunction[] | null;
  /** ORDER BY among the parameters: an ordered-set aggregate. */
  readonly ordered: boolean;
  readonly options: readonly AggregateOption[];
  readonly position: number;
}

/** A clause of CREATE AGGREGATE. A name is a path; `type` is set when it could be one. */
export interface AggregateOption {
  readonly name: string;
  readonly path: readonly string[];
  readonly type: FunctionTypeNode | null;
  readonly position: number;
}

/** Which function is meant; `parameters` null: the only one of that name. */
export interface SignatureNode {
  readonly name: NameNode;
  readonly parameters: readonly ParameterNodeOfFunction[] | null;
}

export type RoutineKind = "function" | "procedure" | "routine" | "aggregate";

export interface DropFunctionStatement {
  readonly kind: "drop function";
  readonly object: RoutineKind;
  readonly functions: readonly SignatureNode[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
  readonly position: number;
}

export interface AlterFunctionStatement {
  readonly kind: "alter function";
  readonly object: RoutineKind;
  readonly function: SignatureNode;
  readonly change:
    | {
        readonly kind: "options";
        readonly options: readonly FunctionOption[];
        readonly settings: readonly FunctionSetting[];
      }
    | { readonly kind: "rename"; readonly name: string }
    | { readonly kind: "set schema"; readonly schema: string }
    | { readonly kind: "comment"; readonly comment: string | null };
  readonly position: number;
}

/** CALL */
export interface CallStatement {
  readonly kind: "call procedure";
  readonly call: CallNode;
  readonly position: number;
}

/** DO; and NOTIFY, which is a call of pg_notify. */
export interface DoStatement {
  readonly kind: "do";
  /** What clients are told that has run; absent: DO. */
  readonly command?: string;
  readonly language: string;
  readonly body: string;
  readonly position: number;
}

export type FunctionStatement =
  | CreateAggregateStatement
  | CreateFunctionStatement
  | DropFunctionStatement
  | AlterFunctionStatement
  | CallStatement
  | DoStatement;
