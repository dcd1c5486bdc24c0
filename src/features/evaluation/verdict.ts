/** Says in words whether one of two settings is better. Pure. */
import type { Interval } from "./intervals.js";

/** With fewer questions resampling is not to be trusted. */
export const VERDICT_QUESTIONS_MIN = 10;

export interface Difference {
  /** The first setting's mean less the second's. */
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly verdict: string;
}

/** `lowerIsBetter`: of a metric such as the share of questions without a hit. `about`: "questions". */
export function differenceOf(
  [first, second]: readonly [string, string],
  value: number,
  [low, high]: Interval,
  questions: number,
  lowerIsBetter = false,
  about = "questions",
): Difference {
  const known = questions >= VERDICT_QUESTIONS_MIN && (low > 0 || high < 0);
  if (!known) {
    const verdict = `no difference can be told with ${questions} ${about}`;
    return { value, low, high, verdict };
  }
  // Told of the better one.
  const isFirst = low > 0 !== lowerIsBetter;
  const [better, other] = isFirst ? [first, second] : [second, first];
  const [by, from, to] = isFirst ? [value, low, high] : [-value, -high, -low];
  const verdict = `${better} is better than ${other}: ${signed(by)}, interval ${figure(from)} to ${figure(to)}`;
  return { value, low, high, verdict };
}

function figure(value: number): string {
  return value.toFixed(3).replace(/^(-?)0\./, "$1.");
}

const signed = (value: number) => (value >= 0 ? `+${figure(value)}` : figure(value));
