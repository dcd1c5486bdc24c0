/** Writes to the tables that have no files of columns, so that long ones get some. Owned by column-store.ts. */

export interface WriteCount {
  writes: number;
  /** Writes at the last look: the same now means that nobody writes. */
  seen: number;
  /** Since when files are due (performance.now); null: they are not. */
  dueSinceMs: number | null;
}

export interface CountedTable {
  readonly tenantNumber: number;
  readonly storageId: number;
  readonly count: WriteCount;
}

export class WriteCounts {
  /** By tenant, then by storage id. */
  private readonly tenants = new Map<number, Map<number, WriteCount>>();

  add(tenantNumber: number, storageId: number, writes: number): void {
    let counts = this.tenants.get(tenantNumber);
    if (counts === undefined) {
      counts = new Map();
      this.tenants.set(tenantNumber, counts);
    }
    const count = counts.get(storageId);
    if (count === undefined) counts.set(storageId, { writes, seen: 0, dueSinceMs: null });
    else count.writes += writes;
  }

  delete(tenantNumber: number, storageId: number): void {
    this.tenants.get(tenantNumber)?.delete(storageId);
  }

  forgetTenant(tenantNumber: number): void {
    this.tenants.delete(tenantNumber);
  }

  *all(): Generator<CountedTable> {
    for (const [tenantNumber, counts] of this.tenants) {
      for (const [storageId, count] of counts) yield { tenantNumber, storageId, count };
    }
  }
}
