/** The syntax tree of SQL: statements about operators and casts. Made by `from-pg-operators.ts`. */
import type { RoleNode } from "./ast-access.js";
import type { AggregateOption, FunctionTypeNode, SignatureNode } from "./ast-functions.js";
import type { NameNode } from "./ast-query.js";

/** Which operator is meant; `left` null: a prefix operator. */
export interface OperatorSignatureNode {
  readonly name: NameNode;
  readonly left: FunctionTypeNode | null;
  /** Null: NONE is written there, which no operator has. */
  readonly right: FunctionTypeNode | null;
}

export interface CastTypesNode {
  readonly source: FunctionTypeNode;
  readonly target: FunctionTypeNode;
}

export type OperatorStatement =
  | {
      readonly kind: "create operator";
      readonly name: NameNode;
      readonly options: readonly AggregateOption[];
      readonly position: number;
    }
  | {
      readonly kind: "drop operator";
      readonly operators: readonly OperatorSignatureNode[];
      readonly ifExists: boolean;
      readonly cascade: boolean;
      readonly position: number;
    }
  | {
      readonly kind: "alter operator";
      readonly operator: OperatorSignatureNode;
      readonly change:
        | { readonly kind: "options"; readonly options: readonly AggregateOption[] }
        | { readonly kind: "set schema"; readonly schema: string }
        | { readonly kind: "owner"; readonly role: RoleNode }
        | { readonly kind: "comment"; readonly comment: string | null };
      readonly position: number;
    }
  | {
      readonly kind: "create cast";
      readonly cast: CastTypesNode;
      readonly method: SignatureNode | "inout" | "binary";
      readonly context: "implicit" | "assignment" | "explicit";
      readonly position: number;
    }
  | {
      readonly kind: "drop cast";
      readonly cast: CastTypesNode;
      readonly ifExists: boolean;
      readonly position: number;
    }
  | {
      readonly kind: "comment on cast";
      readonly cast: CastTypesNode;
      readonly comment: string | null;
      readonly position: number;
    };
