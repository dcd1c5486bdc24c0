/** Where the rows of a long INSERT stand in its text: found by session/long-insert.ts, read by listed-rows.ts. */

/** What the values of a column are beside NULL: `text` is a string without a type. */
export type ListedKind = "text" | "int4" | "int8" | "numeric" | "bool" | "default" | "parameter";

export interface ListedColumn {
  readonly kind: ListedKind;
  readonly hasNulls: boolean;
  /** All are 0, 1 or NULL, which a boolean column takes, too. */
  readonly isZeroOrOne: boolean;
  /** Of parameters: the index of the first row's, and how much the next row's is higher. */
  readonly first: number;
  readonly step: number;
}

/** Where the values stand in the text: row by row, UTF-16 indexes, end exclusive. */
export interface ListedRows {
  readonly text: string;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly count: number;
  readonly columns: readonly ListedColumn[];
  /** What a plan depends on. */
  readonly key: string;
}
