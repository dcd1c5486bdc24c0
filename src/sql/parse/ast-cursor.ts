/** Statements about cursors: part of the syntax tree (ast.ts). */
import type { QueryNode } from "./ast-query.js";

/** DECLARE … CURSOR. */
export interface DeclareCursorStatement {
  readonly kind: "declare cursor";
  readonly name: string;
  readonly binary: boolean;
  /** SCROLL or NO SCROLL; null: neither. */
  readonly scroll: boolean | null;
  /** WITH HOLD: outlives the transaction. */
  readonly hold: boolean;
  readonly query: QueryNode;
  readonly position: number;
}

/** FETCH and MOVE. */
export interface FetchStatement {
  readonly kind: "fetch";
  readonly name: string;
  readonly isMove: boolean;
  readonly direction: "forward" | "backward" | "absolute" | "relative";
  /** Infinity is ALL. */
  readonly count: number;
  readonly position: number;
}

/** CLOSE; `name` null: ALL. */
export interface CloseCursorStatement {
  readonly kind: "close cursor";
  readonly name: string | null;
  readonly position: number;
}

export type CursorStatement = DeclareCursorStatement | FetchStatement | CloseCursorStatement;
