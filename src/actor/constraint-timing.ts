/** When a transaction's deferrable constraints are checked: as defined, or as SET CONSTRAINTS said last. */
import type { ForeignKeyDef } from "../catalog/table.js";

export class ConstraintTiming {
  /** SET CONSTRAINTS ALL; null: as defined. */
  private all: boolean | null = null;
  private readonly byKey = new Map<number, boolean>();

  reset(): void {
    this.all = null;
    this.byKey.clear();
  }

  /** @param keys ids of foreign keys; null: all. */
  set(keys: readonly number[] | null, deferred: boolean): void {
    if (keys === null) {
      this.all = deferred;
      this.byKey.clear();
    } else {
      for (const id of keys) this.byKey.set(id, deferred);
    }
  }

  isDeferred(key: ForeignKeyDef | null): boolean {
    if (key === null || !key.deferrable) return false;
    return this.byKey.get(key.id) ?? this.all ?? key.initiallyDeferred;
  }
}
