/**
 * Bounds the memory of pdf.js, which inflates the streams of a PDF without a bound: a megabyte may become gigabytes,
 * which no limit on a thread's heap counts. pdf.js makes those buffers by the global name `Uint8Array`. While a PDF is
 * read, that name counts what this thread asks for; the thread does nothing else then. The runtime's own inflater
 * would not be counted; without one pdf.js uses its own. Used by pdf.ts.
 */
import { DbError } from "../../protocol/errors.js";
import { PDF_PAGE_BYTES_MAX } from "../../protocol/limits.js";

/** Smaller ones are too many to count, and too small to matter. */
const COUNTED_FROM_BYTES = 64 * 1024;

const noInflate = new Proxy(DecompressionStream, {
  construct(): never {
    throw new RangeError("Inflating goes through counted buffers here.");
  },
});

export class BufferBudget {
  private left = PDF_PAGE_BYTES_MAX;
  private isSpent = false;

  /** Counts until `work` ends. Throws its errors, and DbError `file_too_large` if more was asked for. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const { Uint8Array: bytes, DecompressionStream: inflate } = globalThis;
    globalThis.Uint8Array = this.countingBytes(bytes);
    globalThis.DecompressionStream = noInflate;
    try {
      const result = await work();
      this.check();
      return result;
    } catch (error) {
      this.check();
      throw error;
    } finally {
      globalThis.Uint8Array = bytes;
      globalThis.DecompressionStream = inflate;
    }
  }

  /** Between pages. pdf.js goes on after the errors of one, so that they are looked for here. */
  nextPage(): void {
    this.check();
    this.left = PDF_PAGE_BYTES_MAX;
  }

  private check(): void {
    if (!this.isSpent) return;
    const megabytes = PDF_PAGE_BYTES_MAX / 1024 / 1024;
    throw new DbError("file_too_large", `A page of the PDF inflates to more than the ${megabytes} MiB that are read.`);
  }

  private take(bytes: number): void {
    if (bytes < COUNTED_FROM_BYTES) return;
    this.left -= bytes;
    if (this.left >= 0) return;
    this.isSpent = true;
    throw new RangeError("The buffers of this page are used up.");
  }

  private countingBytes(bytes: Uint8ArrayConstructor): Uint8ArrayConstructor {
    const counting: Uint8ArrayConstructor = new Proxy(bytes, {
      construct: (target, args: unknown[], derived) => {
        if (typeof args[0] === "number") this.take(args[0]);
        return Reflect.construct(target, args, derived === counting ? target : derived) as Uint8Array;
      },
    });
    return counting;
  }
}
