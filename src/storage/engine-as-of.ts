/** Everything as it was after a commit; made by layered-engine.ts. */
import { DbError } from "../protocol/errors.js";
import type { Engine } from "./engine.js";
import { tenantOfKey } from "./keys.js";
import { type Cursor, type KeyRange, readSome } from "./store.js";

/** What knows the past. */
interface PastEntries {
  /** Throws when the past has been forgotten meanwhile. */
  requireReadable(tenant: number, sequence: number): void;
  getAsOf(key: Uint8Array, sequence: number): Uint8Array | undefined;
  getManyAsOf(keys: readonly Uint8Array[], sequence: number): (Uint8Array | undefined)[];
  cursorAsOf(range: KeyRange, sequence: number): Cursor;
}

/** Reads the past only. */
export class EngineAsOf implements Engine {
  constructor(
    private readonly engine: PastEntries,
    private readonly sequence: number,
  ) {}

  get(key: Uint8Array): Uint8Array | undefined {
    this.engine.requireReadable(tenantOfKey(key), this.sequence);
    return this.engine.getAsOf(key, this.sequence);
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    if (keys.length === 0) return [];
    this.engine.requireReadable(tenantOfKey(keys[0]!), this.sequence);
    return this.engine.getManyAsOf(keys, this.sequence);
  }

  cursor(range: KeyRange): Cursor {
    const tenant = tenantOfKey(range.gte);
    this.engine.requireReadable(tenant, this.sequence);
    const cursor = this.engine.cursorAsOf(range, this.sequence);
    return {
      get at() {
        return cursor.at ?? null;
      },
      next: (max) => {
        this.engine.requireReadable(tenant, this.sequence);
        return cursor.next(max);
      },
      step: (max) => {
        this.engine.requireReadable(tenant, this.sequence);
        return readSome(cursor, max);
      },
      close: () => cursor.close(),
    };
  }

  write(): never {
    throw new DbError("read_only_transaction");
  }

  clear(): never {
    throw new DbError("read_only_transaction");
  }

  entriesInMemory(): number {
    return 0;
  }

  storedBytes(): number {
    return 0;
  }

  metrics(): null {
    return null;
  }

  recordCache(): null {
    return null;
  }

  async close(): Promise<void> {}
}
