/** A column as commands that change definitions give it. */
import type { SqlType } from "../values/values.js";
import type { ColumnDetails } from "./detail-change.js";
import type { SequenceOptions } from "./sequence.js";
import type { ColumnDef } from "./table.js";

export interface NewColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly notNull: boolean;
  readonly defaultSql: string | null;
  readonly identity: "always" | "by default" | null;
  /** Of an identity or SERIAL column: a sequence that belongs to it is made, and its next value is the default. */
  readonly sequence: SequenceOptions | null;
  readonly generatedSql?: string | null;
  /** As in ColumnDef. */
  readonly onUpdateSql?: string;
  readonly inherited?: number;
  readonly local?: boolean;
  readonly details?: ColumnDetails;
  /** Of a column that LIKE copies. */
  readonly comment?: string | null;
}

/** The parts of its definition that most columns have not. */
export function rareParts(column: NewColumn): Partial<ColumnDef> {
  const { generatedSql, onUpdateSql, inherited, local, details } = column;
  return {
    ...(generatedSql && { generatedSql }),
    ...(onUpdateSql && { onUpdateSql }),
    ...(inherited && { inherited }),
    ...(local === false && { local }),
    ...(details && { details }),
  };
}
