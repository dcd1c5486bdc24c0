/** What scores need to know of all documents together: of an index's, of those that somebody may see, or of none. */
import type { PostingList } from "./posting-list.js";

export interface TextStatistics {
  /** Documents. */
  readonly count: number;
  /** Words per document. */
  readonly meanLength: number;
  documentsWith(term: string): number;
}

/** Every word is as rare as any other, so a score is about its own document alone. */
export const NO_STATISTICS: TextStatistics = Object.freeze({ count: 1, meanLength: 100, documentsWith: () => 0 });

/** Documents of an index by slot: their words, and which have a term. */
interface Documents {
  readonly documentLengths: Uint32Array;
  list(term: string): PostingList | undefined;
}

/** Of the documents in these slots. Good until the index changes. */
export class VisibleStatistics implements TextStatistics {
  readonly count: number;
  readonly meanLength: number;
  private readonly known = new Map<string, number>();

  constructor(
    private readonly body: Documents,
    private readonly visible: { slots(): Uint32Array; passes(slot: number): boolean },
  ) {
    const slots = visible.slots();
    let words = 0;
    for (const slot of slots) words += body.documentLengths[slot]!;
    this.count = slots.length;
    this.meanLength = words === 0 ? 1 : words / slots.length;
  }

  documentsWith(term: string): number {
    let count = this.known.get(term);
    if (count !== undefined) return count;
    count = 0;
    const list = this.body.list(term);
    for (let i = 0; i < (list?.length ?? 0); i++) if (this.visible.passes(list!.slots[i]!)) count++;
    this.known.set(term, count);
    return count;
  }
}
