/** The syntax tree of statements about rules. Made by from-pg-rules.ts. */
import type { ExprNode, NameNode } from "./ast-query.js";

/** `Action`: a statement; ast.ts says what that is. */
export interface CreateRuleNode<Action> {
  readonly kind: "create rule";
  readonly name: string;
  readonly replace: boolean;
  readonly relation: NameNode;
  readonly event: "select" | "insert" | "update" | "delete";
  readonly instead: boolean;
  readonly where: ExprNode | null;
  /** Empty: NOTHING. */
  readonly actions: readonly Action[];
  /** The whole statement, which the definition keeps. */
  readonly text: string;
  readonly position: number;
}

export interface DropRuleStatement {
  readonly kind: "drop rule";
  readonly name: string;
  readonly relation: NameNode;
  readonly ifExists: boolean;
  readonly position: number;
}

export interface RenameRuleStatement {
  readonly kind: "rename rule";
  readonly name: string;
  readonly relation: NameNode;
  readonly newName: string;
  readonly position: number;
}
