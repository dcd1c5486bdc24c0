/**
 * Which keys commits wrote that are not on disk yet. So a transaction can tell the newest of them that it has read, and
 * a reply inside of it need not wait for others. Owned by the shard.
 */
import { isRowKey, SPACE } from "./keys.js";
import { keyText } from "./ordered-map.js";

interface Written {
  readonly key: Uint8Array;
  readonly text?: string;
}

export class UnsyncedKeys {
  /** The newest commit that everybody who reads anything counts as read: what it wrote is not known by key. */
  private forAll = 0;
  private readonly newest = new Map<string, number>();
  /** In the order of the commits. */
  private commits: { readonly sequence: number; readonly texts: readonly string[] }[] = [];

  /** 0: there is no such commit. */
  get newestForAll(): number {
    return this.forAll;
  }

  get isEmpty(): boolean {
    return this.newest.size === 0 && this.forAll === 0;
  }

  /** Only rows and entries of indexes are read by key alone. */
  add(sequence: number, writes: readonly Written[]): void {
    const texts: string[] = [];
    for (const { key, text = keyText(key) } of writes) {
      if (!isRowKey(key) && key[4] !== SPACE.index) {
        this.addAll(sequence);
        return;
      }
      texts.push(text);
    }
    for (const text of texts) this.newest.set(text, sequence);
    this.commits.push({ sequence, texts });
  }

  addAll(sequence: number): void {
    this.forAll = sequence;
  }

  /** The newest commit that a read of the key has seen; 0: only such as are on disk. */
  seenAt(text: string): number {
    return Math.max(this.forAll, this.newest.get(text) ?? 0);
  }

  /** Commits up to `sequence` are on disk. */
  synced(sequence: number): void {
    if (this.forAll <= sequence) this.forAll = 0;
    const { commits } = this;
    let count = 0;
    while (count < commits.length && commits[count]!.sequence <= sequence) this.forget(commits[count++]!);
    if (count > 0) this.commits = commits.slice(count);
  }

  /** Commits from `first` on never came to be. Keys that earlier ones wrote, too, count as read by everybody. */
  undo(first: number): void {
    if (this.commits.length > 0) this.forAll = Math.max(this.forAll, first - 1);
    while (this.commits.length > 0 && this.commits.at(-1)!.sequence >= first) this.forget(this.commits.pop()!);
    this.forAll = Math.min(this.forAll, first - 1);
  }

  private forget({ sequence, texts }: { readonly sequence: number; readonly texts: readonly string[] }): void {
    for (const text of texts) if (this.newest.get(text) === sequence) this.newest.delete(text);
  }
}
