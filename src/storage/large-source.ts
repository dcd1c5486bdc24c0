/**
 * The writes of large commits, as recent versions (versions.ts) and the engine take them: the maps and loads that the
 * transaction made.
 */
import type { Operation } from "./operation.js";
import { type OrderedEntries, STOP_WALK } from "./ordered-map.js";
import type { LoadPart } from "./sorted-run.js";

/** One of a transaction's writes. */
export type TextOperation = Operation & { readonly text: string };

/**
 * A large commit, kept as the maps that its transaction made: adding it takes no time, whatever its size. Its keys get
 * versions of their own only when something else happens to them. The maps do not change any more.
 */
export interface LargeCommit {
  readonly sequence: number;
  /** Where two have a key, the earlier one counts. */
  readonly sources: readonly LargeSource[];
}

export interface LargeSource {
  readonly writes: WritesByKey<TextOperation>;
  readonly ordered: OrderedEntries<TextOperation>;
}

/** What is used of a transaction's map of writes. */
export interface WritesByKey<W> {
  readonly size: number;
  get(text: string): W | undefined;
  has(text: string): boolean;
  values(): IterableIterator<W>;
  /** Of a load: those of the runs that are wanted. */
  operations?(wants: (prefix: Uint8Array) => boolean): IterableIterator<Operation>;
  /** Of a load: so many operations and bytes at a time. */
  parts?(operationsMax: number, bytesMax: number): IterableIterator<LoadPart>;
  /** Of a load: ranges that all of its keys are in. */
  ranges?(): Iterable<{ readonly low: string; readonly high: string }>;
  /** Of a load: what some of its keys begin with. */
  readonly anyPrefix?: Uint8Array | undefined;
  /** Of a load: it is in a file, so that a look for one write is better than a walk through all. */
  readonly isStored?: boolean;
  /** Of a load: nobody reads it any more. */
  release?(): void;
}

export type OwnWrites = WritesByKey<{ readonly text: string; readonly snapshot: number }>;

export function releaseSources(sources: readonly LargeSource[]): void {
  for (const { writes } of sources) writes.release?.();
}

/** What one of the keys begins with: all are of one tenant. */
export function anyPrefixOf(sources: Iterable<WritesByKey<Operation>>): Uint8Array | undefined {
  for (const writes of sources) {
    if (writes.anyPrefix !== undefined) return writes.anyPrefix;
    if (writes.parts === undefined) for (const { key } of writes.values()) return key;
  }
  return undefined;
}

export function writeOf({ sources }: LargeCommit, text: string): TextOperation | undefined {
  for (const { writes } of sources) {
    const write = writes.get(text);
    if (write !== undefined) return write;
  }
  return undefined;
}

export function touches({ sources }: LargeCommit, low: string, high: string): boolean {
  return sources.some(({ ordered }) => typeof ordered.forRange(low, high, false, () => STOP_WALK) !== "number");
}

export function isOverwrittenBy(large: LargeCommit, writes: OwnWrites): boolean {
  const ranges = writes.ranges?.();
  // Of very many keys, to look for each takes longer than a turn.
  if (ranges !== undefined && ![...ranges].some(({ low, high }) => touches(large, low, high))) return false;
  for (const { text, snapshot } of writes.values()) {
    if (large.sequence > snapshot && large.sources.some((source) => source.writes.has(text))) return true;
  }
  return false;
}
