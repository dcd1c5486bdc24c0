/**
 * A bounded cache in two generations. An entry that is used moves to the young generation; when that is full it
 * becomes the old one, and the old one is dropped. A hit in the young generation costs one Map lookup; keeping the
 * exact order of use would double that. No package: docs/decisions/packages-or-own-code.md.
 */
export class LruCache<K, V> {
  private young = new Map<K, V>();
  private old = new Map<K, V>();

  /** Holds between half of and all of `entriesMax`. */
  constructor(private readonly entriesMax: number) {}

  /** Entries, those that are in both generations twice. */
  get size(): number {
    return this.young.size + this.old.size;
  }

  get(key: K): V | undefined {
    const young = this.young.get(key);
    if (young !== undefined) return young;
    const old = this.old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    if (this.young.size >= this.entriesMax / 2) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
  }

  delete(key: K): void {
    this.young.delete(key);
    this.old.delete(key);
  }

  /** Every entry, some perhaps twice. Deleting while iterating is fine. */
  *entries(): Generator<[K, V]> {
    yield* this.young;
    yield* this.old;
  }
}
