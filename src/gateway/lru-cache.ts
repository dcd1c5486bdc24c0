/**
 * A bounded cache in two generations. An entry that is used moves to the young generation; when that is full it
 * becomes the old one, and the old one is dropped. A hit in the young generation costs one Map lookup; keeping the
 * exact order of use would double that. Where entries have weights, a generation is also full by their sum.
 * No package: docs/decisions/packages-or-own-code.md.
 */
export class LruCache<K, V> {
  private young = new Map<K, V>();
  private old = new Map<K, V>();

  /** Of what was set in the young generation, also when it was set again. */
  private weight = 0;

  /** Holds between half of and all of `entriesMax`, and no more than `weights.max`. */
  constructor(
    private readonly entriesMax: number,
    private readonly weights: { readonly max: number; readonly of: (value: V) => number } | null = null,
  ) {}

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
    const weight = this.weights?.of(value) ?? 0;
    const isFull = this.weights !== null && this.weight > 0 && this.weight + weight > this.weights.max / 2;
    if (this.young.size >= this.entriesMax / 2 || isFull) {
      this.old = this.young;
      this.young = new Map();
      this.weight = 0;
    }
    this.weight += weight;
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
