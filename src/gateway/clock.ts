/**
 * Time as the gateway sees it: a steady clock for durations, limits and deadlines, the wall clock for what leaves the
 * process, and timers. Everything in this room that waits or measures takes a Clock, so that tests move time by hand.
 */

export type Cancel = () => void;

export interface Clock {
  /** Milliseconds of a steady clock; fractions count. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** Runs once, `ms` from now. */
  after(ms: number, run: () => void): Cancel;
  /** Runs again and again; such a timer does not keep the process alive. */
  every(ms: number, run: () => void): Cancel;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  every(ms, run) {
    const timer = setInterval(run, ms).unref();
    return () => clearInterval(timer);
  },
};
