/**
 * A bounded number of running requests; a bounded number of others waits in the order they came. Owned by one
 * provider.
 */
import { DbError } from "../../protocol/errors.js";

export class Places {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly max: number,
    private readonly waitingMax: number,
  ) {}

  /** Resolves, when there is a place, with what gives it back. Throws `overloaded`, and the signal's reason. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.taken >= this.max) {
      if (this.waiting.length >= this.waitingMax) {
        throw new DbError("overloaded", "Too many requests wait for the language model's provider; retry shortly.", {
          retry_after_seconds: 2,
        });
      }
      await this.wait(signal);
    } else this.taken++;
    let left = false;
    return () => {
      if (!left) this.leave();
      left = true;
    };
  }

  /** A request that ends hands its place over. */
  private wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      this.waiting.push(enter);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.taken--;
    else next();
  }
}
