/**
 * Finds all relationships of a node by the indexes of the table of edges, for deletions. The ranges count as read at
 * any isolation level, so this transaction and another one that adds a relationship cannot both commit.
 */
import { EDGE_COLUMN } from "../../catalog/graph.js";
import type { TableDef } from "../../catalog/table.js";
import { encodeKey } from "../../storage/key-codec.js";
import { prefixRange } from "../../storage/keys.js";
import type { ExecContext } from "./context.js";
import { suffixOf } from "./entry-value.js";
import { joinKey, type KeyLayout, layoutOf, rowOfRecord, type TableLayout } from "./table-layout.js";
import type { Row } from "./table-writer.js";

/** Entries read at a time. */
const STEP_ENTRIES = 256;

export class EdgeFinder {
  private readonly layout: TableLayout;
  private readonly indexes: readonly KeyLayout[];

  constructor(
    table: TableDef,
    private readonly context: ExecContext,
  ) {
    this.layout = layoutOf(table);
    this.indexes = [EDGE_COLUMN.src, EDGE_COLUMN.dst].map(
      (end) => this.layout.indexes.find(({ columnIds, computed }) => !computed && columnIds[0] === end)!,
    );
  }

  /** Calls `visit` with the row of each relationship of the node; for a loop twice. */
  each(node: number, visit: (row: Row) => void): void {
    const { context, layout } = this;
    const prefix = layout.rowPrefixOf(context.tenantNumber);
    for (const index of this.indexes) {
      this.entries(index, node, STEP_ENTRIES, (values) => {
        const keys = values.map((value) => joinKey(prefix, suffixOf(index, value)));
        for (const record of context.tx.getMany(keys)) if (record !== undefined) visit(rowOfRecord(layout, record));
        return true;
      });
    }
  }

  /** Whether the node has any. */
  any(node: number): boolean {
    let found = false;
    for (const index of this.indexes) {
      if (found) break;
      this.entries(index, node, 1, () => {
        found = true;
        return false;
      });
    }
    return found;
  }

  private entries(
    index: KeyLayout,
    node: number,
    max: number,
    visit: (values: readonly Uint8Array[]) => boolean,
  ): void {
    const { tx, tenantNumber } = this.context;
    tx.guardReads(true);
    const cursor = tx.scan(prefixRange(encodeKey(index.prefixOf(tenantNumber), index.columns, [node])));
    tx.guardReads(false);
    try {
      for (;;) {
        const { values } = cursor.next(max);
        if (values.length === 0 || !visit(values)) return;
      }
    } finally {
      cursor.close();
    }
  }
}
