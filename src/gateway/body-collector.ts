/** Puts a request's body together from its chunks. Made by a request when the first chunk is not the last one. */

const FIRST_BYTES = 16 * 1024;

export class BodyCollector {
  private bytes: Uint8Array;
  length = 0;

  /**
   * `expected`: the declared Content-Length, or 0; memory grows with the received bytes, never by the declared length.
   */
  constructor(
    private readonly expected: number,
    private readonly bytesMax: number,
  ) {
    this.bytes = new Uint8Array(FIRST_BYTES);
  }

  /** Copies the chunk, which is only valid during the call. False when the body would be longer than allowed. */
  add(chunk: Uint8Array): boolean {
    const length = this.length + chunk.length;
    if (length > this.bytesMax) return false;
    if (length > this.bytes.length) this.grow(length);
    this.bytes.set(chunk, this.length);
    this.length = length;
    return true;
  }

  get body(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  private grow(length: number): void {
    const doubled = Math.max(length, this.bytes.length * 2);
    const size = this.expected >= length ? Math.min(doubled, this.expected) : doubled;
    const grown = new Uint8Array(size);
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}
