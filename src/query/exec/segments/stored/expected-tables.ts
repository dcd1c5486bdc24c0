/**
 * Long tables without files at a start: a load, or many writes, had come shortly before the server ended. Their files
 * are made first, and long scans wait for them. Owned by column-store.ts.
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
  private readonly tables: ExpectedTable[] = [];

  constructor(private readonly cache: Pick<SegmentCache, "expected">) {}

  get isEmpty(): boolean {
    return this.tables.length === 0;
  }

  add({ table: { tenantNumber, storageId }, folder }: StoredTable): void {
    const { expected } = this.cache;
    const name = nameOf(tenantNumber, storageId);
    const { awaited, resolve } = awaitedRows(Number.POSITIVE_INFINITY);
    // If it does not come to that, it goes on after the next start.
    mkdirSync(folder, { recursive: true });
    expected.set(name, awaited);
    const done = (): void => {
      expected.delete(name);
      resolve();
    };
    this.tables.push({ tenantNumber, storageId, resolve: done });
  }

  take(): ExpectedTable | undefined {
    return this.tables.pop();
  }

  /** Nobody waits any more. */
  end(): void {
    for (const { resolve } of this.tables) resolve();
  }
}
