/** A count, measure, share, time of day or date that a sentence tells. */
export interface Quantity {
  /** What is counted or measured: the stem of a noun, or "duration", "share", "year" and such. */
  readonly unit: string;
  /** Equal for an exact number. */
  readonly low: number;
  readonly high: number;
  /** Of the words. */
  readonly start: number;
  readonly end: number;
  /** What the sentence says of when, not of how much. */
  readonly isDate: boolean;
  /** All of the interval is meant, not some value in it: "from Monday to Friday". */
  readonly isSpan?: boolean;
  /** The whole that a count is a part of: the 30 of "12 of the 30 pupils". */
  readonly isTotal?: boolean;
  /** The stems of the words behind a count, one of which is what is counted: "two happy children". */
  readonly behind?: readonly string[];
}
