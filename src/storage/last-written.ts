/**
 * Remembers what was written or found last under keys of branches, and of tenants whose past is kept: what the next
 * commit replaces needs no look at the engine then, where each older version of an entry costs a step. Owned by
 * layered-engine.ts, through which all is written.
 */
import type { Operation } from "./operation.js";
import { keyText } from "./ordered-map.js";

/** Estimated bytes of an entry beside its key and value: Map slot and headers. */
const ENTRY_BYTES = 160;
/** Of one generation. */
const BYTES_MAX = 2 * 1024 * 1024;

/** Two generations, as in cached-engine.ts. */
export class LastWritten {
  private young = new Map<string, Uint8Array | null>();
  private old = new Map<string, Uint8Array | null>();
  private youngBytes = 0;

  /** The values of keys, in their order; `read` looks up those that are not known. */
  valuesOf(
    keys: readonly Uint8Array[],
    read: (keys: readonly Uint8Array[]) => (Uint8Array | undefined)[],
  ): (Uint8Array | undefined)[] {
    if (this.young.size + this.old.size === 0) return read(keys);
    const values = new Array<Uint8Array | undefined>(keys.length);
    const unknown: number[] = [];
    for (let i = 0; i < keys.length; i++) {
      const text = keyText(keys[i]!);
      const young = this.young.get(text);
      const known = young === undefined ? this.old.get(text) : young;
      if (known === undefined) unknown.push(i);
      else values[i] = known ?? undefined;
    }
    if (unknown.length === 0) return values;
    const found = read(unknown.length === keys.length ? keys : unknown.map((i) => keys[i]!));
    for (const [j, i] of unknown.entries()) values[i] = found[j];
    return values;
  }

  wrote({ key, value, text = keyText(key) }: Operation): void {
    this.remember(text, value);
  }

  /** The engine has this under the key. */
  found(key: Uint8Array, value: Uint8Array): void {
    this.remember(keyText(key), value);
  }

  private remember(text: string, value: Uint8Array | null): void {
    this.young.set(text, value);
    this.youngBytes += text.length + (value?.length ?? 0) + ENTRY_BYTES;
    if (this.youngBytes < BYTES_MAX) return;
    this.old = this.young;
    this.young = new Map();
    this.youngBytes = 0;
  }

  /** For what changes entries otherwise. */
  clear(): void {
    this.young.clear();
    this.old.clear();
    this.youngBytes = 0;
  }
}
