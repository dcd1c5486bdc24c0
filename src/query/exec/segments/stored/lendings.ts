/**
 * What is being lent to branches and to reads of the past (lent-segments.ts, past-segments.ts). It reads the engine in
 * turns, so it has to end before that is closed. Owned by the column store.
 */
export class Lendings {
  private readonly running = new Set<Promise<void>>();
  private ending = false;

  /** Nothing more is lent, and what is being lent ends at its next turn. */
  get isEnding(): boolean {
    return this.ending;
  }

  add(lending: Promise<void>): void {
    this.running.add(lending);
    void lending.finally(() => this.running.delete(lending));
  }

  stop(): void {
    this.ending = true;
  }

  /** Resolves when all have ended. */
  async ended(): Promise<void> {
    this.stop();
    await Promise.all(this.running);
  }
}
