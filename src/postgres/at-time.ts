/** Runs something at a time that may be years away; timers alone cannot be set for so long. Called by connection.ts. */
import type { Cancel, Clock } from "../gateway/clock.js";

const TIMER_MS_MAX = 0x7fffffff;

/** `atMs`: milliseconds since 1970. */
export function atTime(clock: Clock, atMs: number, run: () => void): Cancel {
  let cancel: Cancel = () => undefined;
  const wait = (): void => {
    const leftMs = atMs - clock.wall();
    if (leftMs <= 0) run();
    else cancel = clock.after(Math.min(leftMs, TIMER_MS_MAX), wait);
  };
  cancel = clock.after(0, wait);
  return () => cancel();
}
