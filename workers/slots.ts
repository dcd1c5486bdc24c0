/** So many may work at a time, others wait in the order they came. Made by model-tasks.ts. */

export class Slots {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /** Resolves with what gives the slot back. Rejects with the signal's reason when it fires before. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.free > 0) this.free--;
    else {
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          this.waiting.splice(this.waiting.indexOf(go), 1);
          reject(signal.reason);
        };
        const go = (): void => {
          signal.removeEventListener("abort", leave);
          resolve();
        };
        signal.addEventListener("abort", leave, { once: true });
        this.waiting.push(go);
      });
    }
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      const next = this.waiting.shift();
      if (next === undefined) this.free++;
      else next();
    };
  }
}
