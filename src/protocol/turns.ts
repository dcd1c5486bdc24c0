/**
 * How long work gives way to other work of its thread. Requests, statements and jobs are that to what works for them.
 */
export interface Turns {
  /** The turn is used up. Cheap: it may be asked every few hundred steps. */
  shouldYield(): boolean;
  /** Resolves at the next turn. Rejects when the work is to end. */
  yieldTurn(): Promise<void>;
}

/** The same of work that may be ended between two looks at the clock. */
export interface CheckedTurns extends Turns {
  /** Throws when the work was cancelled or ran past its deadline. */
  checkpoint(): void;
  /** Fires when `checkpoint` would throw, with its error; absent: never. */
  signal?(): AbortSignal;
}

/** Waits for something that takes long, or throws the error with which the work is to end. */
export async function unlessStopped(waited: Promise<void>, turns: CheckedTurns): Promise<void> {
  const stop = turns.signal?.();
  if (stop === undefined) return waited;
  stop.throwIfAborted();
  let aborted = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    aborted = () => reject(stop.reason as Error);
    stop.addEventListener("abort", aborted);
  });
  await Promise.race([waited, stopped]).finally(() => stop.removeEventListener("abort", aborted));
}

/** Between steps that take milliseconds each: waits for the next turn where this one is used up. */
export async function giveWay(turns: Turns): Promise<void> {
  if (turns.shouldYield()) await turns.yieldTurn();
}
