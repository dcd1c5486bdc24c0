/**
 * Chooses the next token of a model of speech: the likeliest that is valid after those before. Times are tokens, too,
 * in steps of 0.02 s. Radford et al., "Robust speech recognition via large-scale weak supervision" (Whisper), 2022,
 * section 4.5, and whisper/decoding.py of https://github.com/openai/whisper. Called by transcriber.ts; pure.
 */

export interface TokenRules {
  /** Ends a text; what stands before it in the vocabulary are words. */
  readonly end: number;
  /** Of 0.00 s; the others follow. Null: the model says no times. */
  readonly firstTime: number | null;
  /** Never said. */
  readonly suppressed: ReadonlySet<number>;
  /** Not said first. */
  readonly suppressedFirst: ReadonlySet<number>;
}

export interface ChosenToken {
  readonly id: number;
  /** Of its probability among those that made sense. */
  readonly log: number;
}

/** Steps of 0.02 s into a window at which the first words begin, at most. */
const FIRST_TIME_STEPS_MAX = 50;

/** `said`: behind the prompt. `logits` are changed. */
export function nextToken(logits: Float32Array, said: readonly number[], rules: TokenRules): ChosenToken {
  const { end, firstTime, suppressed, suppressedFirst } = rules;
  for (const id of suppressed) forbid(logits, id, id + 1);
  if (said.length === 0) for (const id of suppressedFirst) forbid(logits, id, id + 1);
  if (firstTime !== null) {
    forbid(logits, firstTime - 1, firstTime);
    keepTimesInOrder(logits, said, firstTime, end);
    preferTimes(logits, firstTime);
  }
  let id = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i]! > logits[id]!) id = i;
  return { id, log: logits[id]! - logOfSum(logits, 0, logits.length) };
}

/**
 * Times come in pairs, of an end and the beginning of what follows, but for the first and the last; they never go back.
 */
function keepTimesInOrder(logits: Float32Array, said: readonly number[], firstTime: number, end: number): void {
  const isTime = (id: number | undefined) => id !== undefined && id >= firstTime;
  if (said.length === 0) {
    forbid(logits, 0, firstTime);
    forbid(logits, firstTime + FIRST_TIME_STEPS_MAX + 1, logits.length);
    return;
  }
  const last = said.at(-1);
  const isSecond = said.length < 2 || isTime(said.at(-2));
  if (isTime(last)) {
    if (isSecond) forbid(logits, firstTime, logits.length);
    else forbid(logits, 0, end);
  }
  const before = said.findLast(isTime);
  if (before === undefined) return;
  // A stretch of words takes some time.
  const from = isTime(last) && !isSecond ? before : before + 1;
  forbid(logits, firstTime, from);
}

/** Where a time of whatever value is likelier than any one word, a time is said. */
function preferTimes(logits: Float32Array, firstTime: number): void {
  let word = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < firstTime; i++) if (logits[i]! > word) word = logits[i]!;
  if (logOfSum(logits, firstTime, logits.length) > word) forbid(logits, 0, firstTime);
}

function forbid(logits: Float32Array, from: number, to: number): void {
  logits.fill(Number.NEGATIVE_INFINITY, from, to);
}

/** The logarithm of the sum of the exponentials. */
export function logOfSum(logits: Float32Array, from: number, to: number): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let i = from; i < to; i++) if (logits[i]! > most) most = logits[i]!;
  if (most === Number.NEGATIVE_INFINITY) return most;
  let sum = 0;
  for (let i = from; i < to; i++) sum += Math.exp(logits[i]! - most);
  return most + Math.log(sum);
}
