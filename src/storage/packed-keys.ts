/** Keys with their lengths, end to end in few buffers: length u16 (little-endian), bytes. Filled by newer-writes.ts. */

const PART_BYTES = 256 * 1024;
const LENGTH_BYTES = 2;

export class PackedKeys {
  /** How many there are. */
  count = 0;
  private readonly full: Uint8Array[] = [];
  private part = Buffer.alloc(0);
  private used = 0;

  /** Those bytes of `source` are the key. */
  add(source: Uint8Array, from: number, to: number): void {
    const at = this.begin(to - from);
    const { part } = this;
    // Keys are short: a call of the runtime would take longer.
    for (let i = from, next = at; i < to; i++, next++) part[next] = source[i]!;
  }

  /** A key as text (ordered-map.ts). */
  addText(text: string): void {
    const at = this.begin(text.length);
    this.part.write(text, at, "latin1");
  }

  /** Writes the length. Answers where the key begins. */
  private begin(length: number): number {
    const bytes = LENGTH_BYTES + length;
    if (this.used + bytes > this.part.length) {
      if (this.used > 0) this.full.push(this.part.subarray(0, this.used));
      this.part = Buffer.allocUnsafe(Math.max(PART_BYTES, bytes));
      this.used = 0;
    }
    const at = this.used;
    this.part[at] = length & 0xff;
    this.part[at + 1] = length >>> 8;
    this.used += bytes;
    this.count++;
    return at + LENGTH_BYTES;
  }

  parts(): readonly Uint8Array[] {
    return this.used === 0 ? this.full : [...this.full, this.part.subarray(0, this.used)];
  }
}
