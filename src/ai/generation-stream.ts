/**
 * A text that is being generated, as its reader sees it: pieces wait here until they are read, no more than a
 * request's tokens. Made by inference-lane.ts; read once, by the caller that asked for it.
 */
import type { GenerationEnd } from "./inference-messages.js";

export class Generation implements AsyncIterable<string> {
  /** How it ended; rejects as the reading does. */
  readonly ended: Promise<GenerationEnd>;
  /** Pieces that were made, each of a token or more. */
  made = 0;
  private readonly pieces: string[] = [];
  private wake: (() => void) | null = null;
  private over = false;
  private failure: Error | null = null;
  private settle!: { readonly resolve: (end: GenerationEnd) => void; readonly reject: (error: Error) => void };

  /** `stop`: has it end soon, with `cancelled`. `telling`: what readers are told of an error. */
  constructor(
    private readonly stop: () => void,
    private readonly telling: (error: Error) => Error,
  ) {
    this.ended = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    // The reader receives the failure.
    this.ended.catch(() => undefined);
  }

  /** Ends soon; harmless afterwards. */
  cancel(): void {
    if (!this.over) this.stop();
  }

  /** Pieces of the text in their order. Who leaves early cancels the rest. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    try {
      for (;;) {
        const piece = this.pieces.shift();
        if (piece !== undefined) yield piece;
        else if (this.failure !== null) throw this.failure;
        else if (this.over) return;
        else {
          await new Promise<void>((resolve) => {
            this.wake = resolve;
          });
        }
      }
    } finally {
      this.cancel();
    }
  }

  /** By the lane, as are the next two. */
  add(piece: string): void {
    this.made++;
    this.pieces.push(piece);
    this.wake?.();
  }

  end(end: GenerationEnd): void {
    this.over = true;
    this.settle.resolve(end);
    this.wake?.();
  }

  fail(error: Error): void {
    this.over = true;
    this.failure = this.telling(error);
    this.settle.reject(this.failure);
    this.wake?.();
  }
}
