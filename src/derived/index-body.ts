/**
 * The interface of an index's body to derived-index.ts, which keeps it alive. `vector` and `text` have one body each.
 * A body knows items by slots and knows nothing of keys, transactions, threads or files.
 */

export interface IndexBody<Item> {
  /** Items held. */
  readonly count: number;
  /** Memory, bytes. */
  readonly bytes: number;
  /** Takes an item and answers its slot: a small integer, which may be one that was removed before. */
  add(item: Item): number;
  remove(slot: number): void;
  /** Of bodies whose slots are said by keys, or that may hold more than was in their keys' file. */
  has?(slot: number): boolean;
  /** Takes an item in place of the one in its slot, if there is one: of bodies whose slots are said by keys. */
  replace?(item: Item): void;
  /** Whether the slot's item is this one. */
  holds(slot: number, item: Item): boolean;
  /**
   * The three in short steps, of bodies whose items may be large; nothing else is asked of the body until one is
   * done. Such a body has no `longWork`.
   */
  addInSteps?(item: Item): Generator<undefined, number>;
  removeInSteps?(slot: number): Generator<undefined, void>;
  holdsInSteps?(slot: number, item: Item): Generator<undefined, boolean>;
  /** There is work left that makes searches faster; they are right without it. */
  readonly hasWork: boolean;
  /** It is in the middle of work that changes would spoil: newer entries wait. */
  readonly isBusy?: boolean;
  /** How many items the work is about, where that can be said. */
  readonly waitingCount?: number;
  /** How many items a usual search looks at on its way, of bodies that choose that. */
  readonly candidates?: number;
  /** Does some of it, a millisecond's at most. */
  work(): void;
  /** Bodies whose work may come to seconds have this. */
  readonly longWork?: LongWork;
  /** Everything that `load` of the kind needs; the body must not change until the last part was taken. Short steps. */
  save(): Iterable<Uint8Array>;
  /**
   * The same of bodies that may change meanwhile: the parts are those of now, whenever they are taken, until `saved` is
   * called. Work waits for that.
   */
  saveNow?(): Iterable<Uint8Array>;
  saved?(): void;
}

/** Work of a body that other threads do in memory that they share with it, while it goes on serving and changing. */
export interface LongWork {
  /** There is enough work for other threads, and they are not at it. */
  readonly isWanted: boolean;
  /** Others are at work; the body cannot be saved. */
  readonly isAway: boolean;
  /** Work for so many threads begins: what each is given. Empty: it cannot be shared now. */
  begin(threads: number): readonly unknown[];
  /** They are to end soon, wherever they are. */
  stop(): void;
  /**
   * All of them have ended without an error; in short steps. What they have not done is left. False: they could do
   * nothing of it, and others could not either.
   */
  end(): Generator<undefined, boolean>;
}

/** Threads that do a body's long work. */
export interface IndexThreadsElsewhere {
  /** Those without work. */
  readonly free: number;
  /** Rejects when the thread ended before the work did. */
  run(job: unknown): Promise<void>;
}

export type ItemsAt<Item> = (slots: readonly number[]) => readonly (Item | undefined)[];

export const LOADED_AHEAD = 1024 * 1024;

/** One definition of an index. */
export interface IndexKind<Item, Body extends IndexBody<Item>> {
  /** All that decides what the body holds (column, dimensions, language …): a saved body of another one is not used. */
  readonly definition: string;
  /** `itemsAt` reads the items of slots that are in use out of their records, for bodies that do not keep all of it. */
  create(itemsAt: ItemsAt<Item>): Body;
  /** In short steps. Throws when the bytes are not what `save` gave. */
  load(bytes: Uint8Array, itemsAt: ItemsAt<Item>): Generator<undefined, Body>;
  /**
   * The same of pieces of any length; no step takes more than LOADED_AHEAD bytes. What it gives may still be thrown
   * away.
   */
  loadPieces?(pieces: Iterable<Uint8Array>, itemsAt: ItemsAt<Item>): Generator<undefined, Body>;
  /** Whether a body is one of those that it makes. */
  isBody(body: IndexBody<never>): body is Body;
  /** Null: the row is not in the index. */
  itemOf(record: Uint8Array): Item | null;
  /**
   * A row's slot, by the end of its key from `at` on, where that says it: then the index keeps no keys, and `add`
   * answers this slot. Such a body has `has` and `replace`, and takes no steps.
   */
  slotOf?(key: Uint8Array, at: number): number;
}
