/**
 * Long tables without files at a start: a load, or many writes, had come shortly before the server ended. Their files
 * are made when the first long scan of the table comes, which waits for them; without one, when the start is over.
 * Owned by column-store.ts.
 */
import { mkdirSync } from "node:fs";
import type { SegmentCache } from "../segment-cache.js";
import { nameOf, type StoredTable } from "./stored-table.js";
import { awaitedRows } from "./table-builds.js";

export interface ExpectedTable {
  readonly tenantNumber: number;
  readonly storageId: number;
  /** Call it when its first segments are made, or will not be. */
  readonly resolve: () => void;
}

export class ExpectedTables {
  /** By "tenant/table". */
  private readonly unasked = new Map<string, ExpectedTable>();
  private readonly asked: ExpectedTable[] = [];
  /** Until then the first statements have the cores. */
  private readonly restUntilMs: number;

  constructor(
    private readonly cache: Pick<SegmentCache, "expected" | "sizes">,
    /** A table is to be made now. */
    private readonly onAsk: () => void,
  ) {
    this.restUntilMs = performance.now() + cache.sizes.startMs;
  }

  add({ table: { tenantNumber, storageId }, folder }: StoredTable): void {
    const { expected } = this.cache;
    const name = nameOf(tenantNumber, storageId);
    const { awaited, resolve } = awaitedRows(Number.POSITIVE_INFINITY);
    // If it does not come to that, it goes on after the next start.
    mkdirSync(folder, { recursive: true });
    const done = (): void => {
      expected.delete(name);
      resolve();
    };
    const table: ExpectedTable = { tenantNumber, storageId, resolve: done };
    const ask = (): void => {
      if (!this.unasked.delete(name)) return;
      this.asked.push(table);
      this.onAsk();
    };
    expected.set(name, { ...awaited, ask });
    this.unasked.set(name, table);
  }

  /** What is to be made now. */
  take(): ExpectedTable | undefined {
    if (this.asked.length > 0 || performance.now() < this.restUntilMs) return this.asked.shift();
    for (const [name, table] of this.unasked) {
      this.unasked.delete(name);
      return table;
    }
    return undefined;
  }

  /** There may be more to be made. */
  get isEmpty(): boolean {
    return this.asked.length === 0 && this.unasked.size === 0;
  }

  /** Nobody waits any more. */
  end(): void {
    for (const { resolve } of [...this.asked, ...this.unasked.values()]) resolve();
  }
}
