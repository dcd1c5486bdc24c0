import type { IndexDef, TableDef } from "./table.js";

/** An index that is being built, as others see it. Whoever builds it keeps it up to date. */
export interface IndexBuild {
  readonly table: TableDef;
  readonly index: IndexDef;
  phase: "scanning table" | "sorting live tuples" | "loading tuples in tree";
  /** Rows that have been read; about how many there are. */
  rows: number;
  readonly rowsExpected: number;
}
