/** What derived-indexes.ts says of its indexes. */

/** What can be said of an index that is held. */
export interface IndexProgress {
  readonly state: "opening" | "ready";
  readonly rowsRead: number;
  readonly count: number;
  readonly bytes: number;
  /** Work is left that makes searches faster. */
  readonly hasWork: boolean;
  /** Items that this work is about. */
  readonly waiting: number;
  /** How many items a usual search looks at on its way; null: the index does not choose that. */
  readonly candidates: number | null;
}

/** Of all indexes of a partition. */
export interface IndexMetrics {
  readonly indexes: number;
  readonly indexBytes: number;
  readonly indexItemsWaiting: number;
  readonly indexRowsFolded: number;
}
