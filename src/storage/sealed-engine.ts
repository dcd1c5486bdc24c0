/**
 * Encrypts the values of an engine, each with its tenant's key and bound to its own key (tenant-keys.ts). Keys stay as
 * they are, because they are ordered. Stands between RocksDB and the layers; made by shard-on-disk.ts where
 * storage.encryption is on.
 */
import type { EngineMetrics, RecordCacheMetrics } from "../protocol/thread-metrics.js";
import type { Engine } from "./engine.js";
import { APPLIED_SEQUENCE_KEY, SPACE } from "./keys.js";
import type { Operation } from "./operation.js";
import type { Cursor, Entries, KeyRange } from "./store.js";
import { keyTenantOf, sealBox, type TenantKeys } from "./tenant-keys.js";

/** Written on this thread, in the tenants' turns: so there is no `writeElsewhere`. */
export class SealedEngine implements Engine {
  constructor(
    private readonly engine: Engine,
    private readonly keys: TenantKeys,
  ) {}

  get(key: Uint8Array): Uint8Array | undefined {
    return this.opened(key, this.engine.get(key));
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const values = this.engine.getMany(keys);
    for (let i = 0; i < values.length; i++) values[i] = this.opened(keys[i]!, values[i]);
    return values;
  }

  cursor(range: KeyRange): Cursor {
    if (range.only === "keys" || range.only === "count") return this.engine.cursor(range);
    const { gte, lt, reverse } = range;
    const cursor = this.engine.cursor({ gte, lt, ...(reverse !== undefined && { reverse }) });
    return {
      next: (max) => this.nextOf(cursor, max),
      seek: (key) => cursor.seek?.(key) === true,
      close: () => cursor.close(),
    };
  }

  private nextOf(cursor: Cursor, max: number): Entries {
    for (;;) {
      const { keys, values } = cursor.next(max);
      if (keys.length === 0) return { keys, values };
      const opened: { readonly keys: Uint8Array[]; readonly values: Uint8Array[] } = { keys: [], values: [] };
      for (let i = 0; i < keys.length; i++) {
        const value = this.opened(keys[i]!, values[i]);
        if (value === undefined) continue;
        opened.keys.push(keys[i]!);
        opened.values.push(value);
      }
      if (opened.keys.length > 0) return opened;
    }
  }

  write(operations: readonly Operation[], persisted?: boolean): void {
    const sealed = operations.map((operation) =>
      isPlain(operation.key, operation.value)
        ? operation
        : { key: operation.key, value: this.sealed(operation.key, operation.value!) },
    );
    this.engine.write(sealed, persisted);
  }

  clear(range: Pick<KeyRange, "gte" | "lt">): void {
    this.engine.clear(range);
  }

  entriesInMemory(): number {
    return this.engine.entriesInMemory();
  }

  storedBytes(): number {
    return this.engine.storedBytes();
  }

  metrics(): EngineMetrics | null {
    return this.engine.metrics();
  }

  recordCache(): RecordCacheMetrics | null {
    return this.engine.recordCache();
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  private sealed(key: Uint8Array, value: Uint8Array): Buffer {
    return sealBox(this.keys.of(keyTenantOf(key)), value, key);
  }

  private opened(key: Uint8Array, value: Uint8Array | undefined): Uint8Array | undefined {
    if (value === undefined || isPlain(key, value)) return value;
    return this.keys.open(keyTenantOf(key), value, key, "An entry") ?? undefined;
  }
}

/** Nothing of it is encrypted: it has no value, is an entry of an index that is but a key, or is the shard's mark. */
function isPlain(key: Uint8Array, value: Uint8Array | null): boolean {
  if (value === null || (value.length === 0 && key[4] === SPACE.index)) return true;
  return key.length === APPLIED_SEQUENCE_KEY.length && Buffer.compare(key, APPLIED_SEQUENCE_KEY) === 0;
}
