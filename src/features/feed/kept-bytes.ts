/**
 * Copies of bytes that are kept for long. A commit's bytes are slices of pools (Buffer's have 8 KiB), and one small
 * slice keeps its whole pool in memory. Copies are packed into slabs that hold nothing else. Each owner forgets its
 * copies in the order in which they were made, so that slabs are freed with them.
 */
const SLAB_BYTES = 16 * 1024;

export class KeptBytes {
  private slab = new Uint8Array(0);
  private used = 0;

  copy(bytes: Uint8Array): Uint8Array {
    const { length } = bytes;
    // A long one has a buffer of its own.
    if (length > SLAB_BYTES / 4) return length * 2 > bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    if (this.used + length > this.slab.length) {
      this.slab = new Uint8Array(SLAB_BYTES);
      this.used = 0;
    }
    const copy = this.slab.subarray(this.used, this.used + length);
    copy.set(bytes);
    this.used += length;
    return copy;
  }
}
