/** The syntax tree of statements about triggers. Made by from-pg-triggers.ts. */
import type { ExprNode, NameNode } from "./ast-query.js";

export interface CreateTriggerStatement {
  readonly kind: "create trigger";
  readonly name: string;
  readonly replace: boolean;
  readonly relation: NameNode;
  readonly timing: "before" | "after" | "instead of";
  readonly level: "row" | "statement";
  readonly events: readonly ("insert" | "update" | "delete" | "truncate")[];
  /** UPDATE OF; empty: any column. */
  readonly columns: readonly string[];
  readonly when: ExprNode | null;
  readonly function: readonly string[];
  readonly args: readonly string[];
  /** CREATE CONSTRAINT TRIGGER. */
  readonly constraint: {
    readonly from: NameNode | null;
    readonly deferrable: boolean;
    readonly initiallyDeferred: boolean;
  } | null;
  /** REFERENCING. */
  readonly transitions: readonly { readonly name: string; readonly isNew: boolean; readonly isTable: boolean }[];
  readonly position: number;
}

export interface DropTriggerStatement {
  readonly kind: "drop trigger";
  readonly name: string;
  readonly relation: NameNode;
  readonly ifExists: boolean;
  readonly position: number;
}

export interface RenameTriggerStatement {
  readonly kind: "rename trigger";
  readonly name: string;
  readonly relation: NameNode;
  readonly newName: string;
  readonly position: number;
}

/** COMMENT ON TRIGGER. */
export interface CommentOnTriggerStatement {
  readonly kind: "comment on trigger";
  readonly name: string;
  readonly relation: NameNode;
  readonly comment: string | null;
  readonly position: number;
}

export type TriggerStatement =
  | CreateTriggerStatement
  | DropTriggerStatement
  | RenameTriggerStatement
  | CommentOnTriggerStatement;
