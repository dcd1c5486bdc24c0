/**
 * Measures how long a thread has computed without giving way. The scheduler begins a stretch with each slice. Code
 * whose time depends on a client's data calls `spend` and says what it is about to do. A stretch that has gone on for
 * too long throws `Overrun`; the session then runs the statement again by a plan that can wait
 * (query/optimize/wait-in-expressions.ts).
 *
 * The state belongs to the thread. Where nobody begins stretches (task threads, tools) nothing overruns.
 */

/** Nanoseconds of announced work between two looks at the clock. */
const LOOK_NANOS = 250_000;
/** One piece of work that is expected to take longer ends an eager stretch before it begins. */
const PIECE_NANOS_MAX = 4_000_000;
/** Milliseconds of a stretch, unless it may be longer. Two looks have to find it over: one may be late by itself. */
const STRETCH_MS = 6;

/**
 * Not an error of the statement: it has to be run in another way. It is no DbError, so no handler of a statement's
 * errors takes it.
 */
export class Overrun extends Error {
  constructor() {
    super("the statement has to be run in turns");
    this.name = "Overrun";
  }
}

/** One for all: nobody looks at its stack. */
const OVERRUN = new Overrun();

let announced = 0;
let untilMs = Number.POSITIVE_INFINITY;
let allowedMs = Number.POSITIVE_INFINITY;
let wasLate = false;

/** The thread has given way. `now`: milliseconds of the steady clock. */
export function beginStretch(now: number): void {
  announced = 0;
  allowedMs = STRETCH_MS;
  untilMs = now + STRETCH_MS;
  wasLate = false;
}

/** From now on the current stretch may take this many milliseconds, even in large pieces. */
export function allowLongStretch(ms: number): void {
  allowedMs = ms;
  untilMs = performance.now() + ms;
  wasLate = false;
}

/** No stretch is watched until the next one begins. */
export function endStretch(): void {
  untilMs = Number.POSITIVE_INFINITY;
  allowedMs = Number.POSITIVE_INFINITY;
}

/** Announces about this many nanoseconds of work. Throws Overrun. */
export function spend(nanos: number): void {
  announced += nanos;
  if (announced >= LOOK_NANOS) look();
}

function look(): void {
  const piece = announced;
  announced = 0;
  if (untilMs === Number.POSITIVE_INFINITY) return;
  if (piece > PIECE_NANOS_MAX && allowedMs <= STRETCH_MS) throw OVERRUN;
  const now = performance.now();
  if (now <= untilMs) return;
  // What was resumed outside of a slice finds an old one: it gets a stretch of its own.
  if (wasLate || allowedMs > STRETCH_MS) throw OVERRUN;
  wasLate = true;
  untilMs = now + allowedMs;
}
