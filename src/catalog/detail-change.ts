/**
 * What PostgreSQL says about how tables and columns are stored, and has no meaning here: kept for the catalog, for
 * dumps and for programs that look. Set by CREATE TABLE and ALTER TABLE.
 */

/** Absent: as usual for the type. */
export interface ColumnDetails {
  /** C, POSIX or ucs_basic, which all order alike. */
  readonly collation?: string;
  readonly storage?: "plain" | "external" | "extended" | "main";
  readonly compression?: "pglz" | "lz4";
  /** SET STATISTICS. */
  readonly statistics?: number;
}

/** One of them given anew; null: as usual again. */
export type ColumnDetail = { readonly [K in keyof ColumnDetails]: ColumnDetails[K] | null };

export type DetailChange = { readonly kind: "set detail" } & (
  | { readonly what: "logged"; readonly unlogged: boolean }
  | { readonly what: "column"; readonly name: string; readonly detail: ColumnDetail }
  /** Null: it is clustered on none. */
  | { readonly what: "cluster"; readonly index: string | null }
);
