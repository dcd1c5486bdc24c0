/** The syntax tree of statements about extended statistics. Made by from-pg-statistics.ts. */
import type { ExprNode, NameNode } from "./ast-query.js";

export interface CreateStatisticsStatement {
  readonly kind: "create statistics";
  /** null: made up. */
  readonly name: NameNode | null;
  /** Empty: all. */
  readonly kinds: readonly string[];
  readonly keys: readonly ({ readonly column: string } | { readonly expr: ExprNode })[];
  readonly tables: readonly NameNode[];
  readonly ifNotExists: boolean;
  readonly position: number;
}

export interface DropStatisticsStatement {
  readonly kind: "drop statistics";
  readonly names: readonly NameNode[];
  readonly ifExists: boolean;
  readonly position: number;
}

/** RENAME TO, SET SCHEMA, COMMENT ON, or (without a change) SET STATISTICS. */
export interface AlterStatisticsStatement {
  readonly kind: "alter statistics";
  readonly name: NameNode;
  readonly change: { readonly name?: string; readonly schema?: string; readonly comment?: string | null };
  readonly ifExists: boolean;
  readonly position: number;
}

export type StatisticsStatement = CreateStatisticsStatement | DropStatisticsStatement | AlterStatisticsStatement;
