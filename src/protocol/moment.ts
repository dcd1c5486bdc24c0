/**
 * A moment of this machine, by two clocks: the monotonic one stands still while the machine is suspended, and the wall
 * clock may be set. The age of a moment is the greater one of what they say.
 */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function momentNow(): Moment {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

export function momentBefore({ monotonicMs, wallMs }: Moment, ms: number): Moment {
  return { monotonicMs: monotonicMs - ms, wallMs: wallMs - ms };
}

/** Whether both clocks say so. */
export function isNotBefore(moment: Moment, other: Moment): boolean {
  return moment.monotonicMs >= other.monotonicMs && moment.wallMs >= other.wallMs;
}

export function ageMs(moment: Moment): number {
  const now = momentNow();
  return Math.max(0, now.monotonicMs - moment.monotonicMs, now.wallMs - moment.wallMs);
}
