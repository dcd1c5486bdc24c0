/**
 * A change of a row as the feed has it: the stored record before and after, and the time that names it. Decoded at most
 * once for all who follow the table. Made by change-feed.ts and log-changes.ts.
 */
import type { TableDef } from "../../catalog/table.js";
import { layoutOf, rowOfRecord } from "../../query/exec/table-layout.js";
import type { Value } from "../../values/values.js";

export interface RowChange {
  /** Microseconds since the epoch; greater than that of every change before, so it is also the change's number. */
  readonly micros: number;
  readonly storageId: number;
  /** Null: the row was not there. */
  readonly before: Uint8Array | null;
  /** Null: the row is gone. */
  readonly after: Uint8Array | null;
}

/** Bytes that a change takes in memory, roughly. */
export function bytesOfChange({ before, after }: RowChange): number {
  return 160 + (before?.length ?? 0) + (after?.length ?? 0);
}

/** Events of a table other than changes of its rows. */
export type TableEvent = "truncated" | "dropped" | "altered";

/** A change while it is handed to those who follow the table. */
export class ChangedRow {
  private madeBefore: readonly Value[] | null | undefined = undefined;
  private madeAfter: readonly Value[] | null | undefined = undefined;

  constructor(
    readonly change: RowChange,
    private readonly mapping: RowMapping,
  ) {}

  get micros(): number {
    return this.change.micros;
  }

  /** Values of the followed table's columns, in its order; null: the row was not there. */
  get before(): readonly Value[] | null {
    if (this.madeBefore === undefined) this.madeBefore = this.mapping.valuesOf(this.change.before);
    return this.madeBefore;
  }

  get after(): readonly Value[] | null {
    if (this.madeAfter === undefined) this.madeAfter = this.mapping.valuesOf(this.change.after);
    return this.madeAfter;
  }
}

/** Reads records of a table, or of one below it in its family, as rows of the followed table. */
export class RowMapping {
  /** Column ids of the stored table, by the followed table's order. */
  private readonly ids: readonly number[];

  constructor(
    private readonly stored: TableDef,
    followed: TableDef,
  ) {
    const byName = new Map(stored.columns.map(({ name, id }) => [name, id]));
    this.ids = followed.columns.map(({ name }) => byName.get(name) ?? -1);
  }

  valuesOf(record: Uint8Array | null): readonly Value[] | null {
    if (record === null) return null;
    const row = rowOfRecord(layoutOf(this.stored), record);
    return this.ids.map((id) => row[id] ?? null);
  }
}
