/**
 * Slows down guessing. Failures are counted per subject (a username with the address it is tried from, or one user's
 * codes); after a few of them each further failure closes the subject for twice as long as the one before. The
 * directory owns one throttle. Its map is bounded and in memory only: a write per failure would give whoever guesses
 * a way to load the disk.
 */

import { DbError } from "../protocol/errors.js";

export interface LoginThrottleOptions {
  /** Failures before the first delay. */
  readonly failuresMax: number;
  /** The first delay; it doubles with every further failure. */
  readonly delaySeconds: number;
  readonly delaySecondsMax: number;
  /** Subjects kept; the ones untouched for longest are forgotten first. */
  readonly trackedMax: number;
  /** Milliseconds. */
  readonly now: () => number;
}

/** One try that was let through. Exactly one of the three must be called. */
export interface Attempt {
  succeeded(): void;
  failed(): void;
  /** The try ended without an answer (the server was overloaded, say). */
  abandoned(): void;
}

/** Failures are forgotten after a day without any. */
const FORGET_MS = 24 * 3600 * 1000;

interface Subject {
  failures: number;
  /** Tries let through and not yet decided; they count as failures, or a burst of parallel guesses would pass. */
  undecided: number;
  closedUntilMs: number;
  lastFailureMs: number;
}

export class LoginThrottle {
  private readonly options: LoginThrottleOptions;
  /** Least recently touched first. */
  private readonly subjects = new Map<string, Subject>();

  constructor(options: LoginThrottleOptions) {
    this.options = options;
  }

  /** Subjects remembered now. */
  get size(): number {
    return this.subjects.size;
  }

  /** Lets a try through, or throws `rate_limited` with `details.retry_after_seconds`. */
  attempt(key: string): Attempt {
    const now = this.options.now();
    const subject = this.touch(key, now);
    if (now < subject.closedUntilMs) throw tooMany(Math.ceil((subject.closedUntilMs - now) / 1000));
    const triesLeft = Math.max(1, this.options.failuresMax - subject.failures);
    if (subject.undecided >= triesLeft) throw tooMany(1);
    subject.undecided++;
    return {
      succeeded: () => {
        subject.undecided--;
        subject.failures = 0;
        subject.closedUntilMs = 0;
        this.dropIfIdle(key, subject);
      },
      failed: () => {
        subject.undecided--;
        this.recordFailure(subject);
      },
      abandoned: () => {
        subject.undecided--;
        this.dropIfIdle(key, subject);
      },
    };
  }

  private recordFailure(subject: Subject): void {
    const { failuresMax, delaySeconds, delaySecondsMax } = this.options;
    const now = this.options.now();
    subject.failures++;
    subject.lastFailureMs = now;
    if (subject.failures < failuresMax) return;
    const doublings = Math.min(subject.failures - failuresMax, 30);
    subject.closedUntilMs = now + Math.min(delaySecondsMax, delaySeconds * 2 ** doublings) * 1000;
  }

  private touch(key: string, now: number): Subject {
    let subject = this.subjects.get(key);
    if (subject === undefined) {
      subject = { failures: 0, undecided: 0, closedUntilMs: 0, lastFailureMs: now };
      this.makeRoom();
    } else {
      this.subjects.delete(key);
      if (now - subject.lastFailureMs >= FORGET_MS) subject.failures = 0;
    }
    this.subjects.set(key, subject);
    return subject;
  }

  private makeRoom(): void {
    if (this.subjects.size < this.options.trackedMax) return;
    const oldest = this.subjects.keys().next();
    if (!oldest.done) this.subjects.delete(oldest.value);
  }

  private dropIfIdle(key: string, subject: Subject): void {
    const idle = subject.failures === 0 && subject.undecided === 0;
    if (idle && this.subjects.get(key) === subject) this.subjects.delete(key);
  }
}

function tooMany(retryAfterSeconds: number): DbError {
  const wait = retryAfterSeconds === 1 ? "1 second" : `${retryAfterSeconds} seconds`;
  return new DbError(
    "rate_limited",
    `Too many failed attempts. Sign-in is blocked for ${wait}, even with the right password.`,
    {
      retry_after_seconds: retryAfterSeconds,
    },
  );
}
