/**
 * Changes of one table that are read from the commit log to bring up to date what was derived from its rows: of each
 * row the last one. There is a bound, because a commit may be of any size; past it, whoever reads takes the rows
 * themselves instead.
 */
import type { Operation } from "./operation.js";
import { keyText } from "./ordered-map.js";

/** Memory for the changes of a table. */
export const REPLAY_BYTES_MAX = 64 * 1024 * 1024;
/** Of a change in its map, roughly, beside its bytes. */
const ENTRY_BYTES = 250;

export class ReplayedRows {
  /** By the text of their keys. */
  readonly rows = new Map<string, Operation>();
  private bytes = 0;

  constructor(private readonly bytesMax: number) {}

  get isFull(): boolean {
    return this.bytes > this.bytesMax;
  }

  /** Copies it: what the log gives are views of larger buffers. */
  note({ key, value }: Operation): void {
    const text = keyText(key);
    const before = this.rows.get(text);
    if (before !== undefined) this.bytes -= sizeOf(before);
    const copy = { key: Buffer.from(key), value: value === null ? null : Buffer.from(value) };
    this.rows.set(text, copy);
    this.bytes += sizeOf(copy);
  }
}

function sizeOf({ key, value }: Operation): number {
  return ENTRY_BYTES + 2 * key.length + (value?.length ?? 0);
}
