/** Indexes that were thrown out or could not be made: some searches are done without one before it is made again. */
import type { IndexName } from "./index-folder.js";

/** Searches that an index is not made for; twice as many each time, up to the most. */
const PUT_OFF_MIN = 64;
const PUT_OFF_MAX = 65_536;
/** Indexes that are remembered. */
const PUT_OFF_COUNT_MAX = 10_000;

export class PutOff {
  /** By "tenant/index". */
  private readonly indexes = new Map<string, { times: number; wait: number }>();

  /** Counts the searches. */
  has(name: IndexName): boolean {
    const found = this.indexes.get(textOf(name));
    if (found === undefined || found.wait === 0) return false;
    found.wait--;
    return true;
  }

  /** Answers how many times it was. */
  add(name: IndexName): number {
    const text = textOf(name);
    const times = (this.indexes.get(text)?.times ?? 0) + 1;
    if (this.indexes.size >= PUT_OFF_COUNT_MAX) this.indexes.clear();
    this.indexes.set(text, { times, wait: Math.min(PUT_OFF_MAX, PUT_OFF_MIN * 2 ** (times - 1)) });
    return times;
  }
}

function textOf({ tenantNumber, indexId }: IndexName): string {
  return `${tenantNumber}/${indexId}`;
}
