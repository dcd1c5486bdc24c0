/**
 * Turns a window's tokens into segments with times, and finds where the next window begins: after the last segment
 * that is known to be whole, so that no word is cut by a window's end. As whisper/transcribe.py of
 * https://github.com/openai/whisper. Called by transcriber.ts; pure.
 */

/** Seconds of one step of a time token. */
const STEP_SECONDS = 0.02;

export interface Stretch {
  /** Seconds from the window's beginning. */
  readonly start: number;
  readonly end: number;
  /** Words alone. */
  readonly tokens: readonly number[];
}

export interface WindowTokens {
  readonly stretches: readonly Stretch[];
  /** Seconds from the window's beginning at which the next one begins. */
  readonly next: number;
}

/** `firstTime`: of 0.00 s; null: there are no times. `seconds`: of the window, at most 30. */
export function stretchesOf(tokens: readonly number[], firstTime: number | null, seconds: number): WindowTokens {
  const isTime = (id: number | undefined): boolean => firstTime !== null && id !== undefined && id >= firstTime;
  const secondsOf = (id: number) => Math.min((id - firstTime!) * STEP_SECONDS, seconds);
  const words = (some: readonly number[]) => some.filter((id) => !isTime(id));
  const cuts = [...tokens.keys()].filter((i) => i > 0 && isTime(tokens[i]) && isTime(tokens[i - 1]));
  const endsAlone = isTime(tokens.at(-1)) && !isTime(tokens.at(-2));
  if (cuts.length === 0) {
    const last = tokens.findLast(isTime);
    const first = isTime(tokens[0]) ? secondsOf(tokens[0]!) : 0;
    const end = last === undefined || secondsOf(last) <= first ? seconds : secondsOf(last);
    return { stretches: nonEmpty([{ start: Math.min(first, end), end, tokens: words(tokens) }]), next: seconds };
  }
  const ends = endsAlone ? [...cuts, tokens.length] : cuts;
  const stretches = ends.map((end, i) => {
    const some = tokens.slice(i === 0 ? 0 : ends[i - 1], end);
    const start = isTime(some[0]) ? secondsOf(some[0]!) : 0;
    return { start, end: Math.max(start, secondsOf(some.at(-1)!)), tokens: words(some) };
  });
  const next = endsAlone ? seconds : secondsOf(tokens[cuts.at(-1)! - 1]!);
  // A window that says nothing whole is gone over all the same.
  return { stretches: nonEmpty(stretches), next: next < 1 ? seconds : next };
}

function nonEmpty(stretches: readonly Stretch[]): Stretch[] {
  return stretches.filter(({ tokens }) => tokens.length > 0);
}
