/**
 * What an index in memory is to those that keep it alive (derived-index.ts). `vector` and `text` have one body each; a
 * body knows items by slots and nothing of keys, transactions, threads or files.
 */

export interface IndexBody<Item> {
  /** Items held. */
  readonly count: number;
  /** Memory, bytes. */
  readonly bytes: number;
  /** Takes an item and answers its slot: a small integer, which may be one that was removed before. */
  add(item: Item): number;
  remove(slot: number): void;
  /** Whether the slot's item is this one. */
  holds(slot: number, item: Item): boolean;
  /** There is work left that makes searches faster; they are right without it. */
  readonly hasWork: boolean;
  /** How many items the work is about, where that can be said. */
  readonly waitingCount?: number;
  /** Does some of it, a millisecond's at most. */
  work(): void;
  /** Everything that `load` of the kind needs, as it is now; the parts are not changed later. */
  save(): readonly Uint8Array[];
}

export type ItemAt<Item> = (slot: number) => Item | undefined;

/** One definition of an index. */
export interface IndexKind<Item, Body extends IndexBody<Item>> {
  /** All that decides what the body holds (column, dimensions, language …): a saved body of another one is not used. */
  readonly definition: string;
  /** `itemAt` reads the item of a slot that is in use out of its record, for bodies that do not keep all of it. */
  create(itemAt: ItemAt<Item>): Body;
  /** Throws when the bytes are not what `save` gave. */
  load(bytes: Uint8Array, itemAt: ItemAt<Item>): Body;
  /** Null: the index has nothing of this row. */
  itemOf(record: Uint8Array): Item | null;
}
