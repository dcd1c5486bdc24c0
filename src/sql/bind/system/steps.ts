/**
 * Work that takes tens of milliseconds when it is first asked for: a generator that stops after each step of some
 * microseconds. Used by what reads the tables of PostgreSQL's catalog (data/*.ts).
 */
/** Milliseconds at a stretch. */
const STRETCH_MS = 1;

/** Runs to the end at once. */
export function toEnd<T>(steps: Iterator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs to the end; a promise where that takes long: then others get their turns in between. */
export function inStretches<T>(steps: Iterator<undefined, T>): T | Promise<T> {
  const first = stretch(steps);
  return first.done === true ? first.value : inRounds(steps);
}

/** With a round of the event loop before each stretch. */
async function inRounds<T>(steps: Iterator<undefined, T>): Promise<T> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    const step = stretch(steps);
    if (step.done === true) return step.value;
  }
}

function stretch<T>(steps: Iterator<undefined, T>): IteratorResult<undefined, T> {
  const end = performance.now() + STRETCH_MS;
  for (;;) {
    const step = steps.next();
    if (step.done === true || performance.now() > end) return step;
  }
}
