/** Cursors of layered-engine.ts: a range as it was after a commit, and a branch's range over that of its origin. */
import { ofTenant, readHiddenKey, readReplacedKey, replacedKey, replacedRange } from "./history-keys.js";
import { isOwnOnly } from "./keys.js";
import { MergedCursor } from "./merged-cursor.js";
import { keyText } from "./ordered-map.js";
import type { Corrections, Cursor, Entries, KeyRange } from "./store.js";

/** Entries that an overlay reads at a time. */
const READ_ENTRIES = 256;
/** Older entries of a key after which the rest of them is stepped over. */
const SKIPPED_MAX = 64;

interface Correction {
  readonly key: Uint8Array;
  /** Null: hides the entry. */
  readonly value: Uint8Array | null;
}

/** What a cursor gives, an entry at a time; the cursor is closed when no more is asked for. */
export function* entriesOf(cursor: Cursor): IterableIterator<{ readonly key: Uint8Array; readonly value: Uint8Array }> {
  try {
    for (;;) {
      const { keys, values } = cursor.next(READ_ENTRIES);
      for (let i = 0; i < keys.length; i++) yield { key: keys[i]!, value: values[i]! };
      if (keys.length < READ_ENTRIES) return;
    }
  } finally {
    cursor.close();
  }
}

class CorrectionSteps implements Corrections {
  text: string | null = null;
  key: Uint8Array = new Uint8Array(0);
  value: Uint8Array | null = null;

  constructor(private readonly steps: Iterator<Correction>) {
    this.advance();
  }

  advance(): void {
    const step = this.steps.next();
    if (step.done === true) {
      this.text = null;
      return;
    }
    this.key = step.value.key;
    this.value = step.value.value;
    this.text = keyText(this.key);
  }

  close(): void {
    this.steps.return?.();
  }
}

/** The range as it was after the commit `sequence`. `now`: as it is. `replaced` opens a cursor over what commits have replaced. */
export function cursorAsOf(
  now: Cursor,
  replaced: (range: KeyRange) => Cursor,
  sequence: number,
  range: KeyRange,
): Cursor {
  const overlay = new CorrectionSteps(firstReplacedAfter(replaced, sequence, range));
  return closing([now], [overlay], now, range);
}

/** Of each key the oldest value that a later commit replaced. Keys that were written very often before are stepped over. */
function* firstReplacedAfter(
  open: (range: KeyRange) => Cursor,
  sequence: number,
  range: KeyRange,
): IterableIterator<Correction> {
  const isReverse = range.reverse === true;
  let text: string | null = null;
  let found: Correction | null = null;
  for (let rest: KeyRange | null = replacedRange(range); rest !== null; ) {
    const entries: KeyRange = rest;
    rest = null;
    let skipped = 0;
    for (const entry of entriesOf(open(entries))) {
      const { key, sequence: commit } = readReplacedKey(entry.key);
      const ownText = keyText(key);
      if (ownText !== text) {
        if (found !== null) yield found;
        text = ownText;
        found = null;
        skipped = 0;
      }
      if (commit > sequence) {
        // Backwards, the older commits come later.
        if (found === null || isReverse) found = { key, value: readReplaced(entry.value) };
      } else if (++skipped === SKIPPED_MAX) {
        const past = replacedKey(key, isReverse ? 0 : sequence + 1);
        rest = isReverse ? { ...entries, lt: past } : { ...entries, gte: past };
        break;
      }
    }
  }
  if (found !== null) yield found;
}

/** `own` and `hidden` are the branch's; `origin` is the origin's range as of the fork. All go in the same direction. */
export function branchCursor(own: Cursor, hidden: Cursor, origin: Cursor, range: KeyRange, tenant: number): Cursor {
  const overlays = [new CorrectionSteps(entriesOf(own)), new CorrectionSteps(hiddenKeys(hidden))].filter(
    ({ text }) => text !== null,
  );
  return closing([own, hidden, origin], overlays, new OfTenant(origin, tenant), range);
}

function* hiddenKeys(hidden: Cursor): IterableIterator<Correction> {
  for (const { key } of entriesOf(hidden)) yield { key: readHiddenKey(key), value: null };
}

/** The same entries under another tenant's number, but for those that only their owner has. */
class OfTenant implements Cursor {
  constructor(
    private readonly cursor: Cursor,
    private readonly tenant: number,
  ) {}

  next(max: number): Entries {
    for (;;) {
      const { keys, values } = this.cursor.next(max);
      // An empty answer means the end.
      if (keys.length > 0 && keys.every(isOwnOnly)) continue;
      const given = keys.some(isOwnOnly) ? keys.flatMap((key, i) => (isOwnOnly(key) ? [] : [i])) : null;
      return {
        keys: (given === null ? keys : given.map((i) => keys[i]!)).map((key) => ofTenant(key, this.tenant)),
        values: given === null ? values : given.map((i) => values[i]!),
      };
    }
  }

  close(): void {
    this.cursor.close();
  }
}

function closing(all: readonly Cursor[], steps: readonly CorrectionSteps[], base: Cursor, range: KeyRange): Cursor {
  const overlays = steps.filter(({ text }) => text !== null);
  return new MergedCursor(base, overlays, range.reverse === true, null, () => {
    for (const cursor of all) cursor.close();
    for (const step of steps) step.close();
  });
}

/** As stored under `replacedKey`: null says that there was no entry. */
export function replacedValue(value: Uint8Array | undefined): Buffer {
  if (value === undefined) return Buffer.of(0);
  const stored = Buffer.allocUnsafe(value.length + 1);
  stored[0] = 1;
  stored.set(value, 1);
  return stored;
}

export function readReplaced(stored: Uint8Array): Uint8Array | null {
  return stored[0] === 0 ? null : stored.subarray(1);
}
