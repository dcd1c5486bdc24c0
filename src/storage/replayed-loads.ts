/**
 * Loads that recovery finds in the log (recovery.ts): the columns of their rows can be made from the log, as those of
 * loads that the engine takes while the server runs (query/exec/segments/stored/loads.ts). So a crash right after an
 * import needs no other note of it than the commit itself.
 */
import { ROW_PREFIX_BYTES } from "../values/row-place.js";
import type { Engine } from "./engine.js";
import type { FramedPart } from "./framed-part.js";
import { isRowKey, keyAfter, prefixEnd, rowPrefix, SPACE, storageIdOf, tenantOfKey } from "./keys.js";
import type { CommitParts, Operation } from "./operation.js";
import { keyText } from "./ordered-map.js";

/** Rows that a large commit has brought into a range of a table where there were none. */
export interface ReplayedLoad {
  /** Of the commit. */
  readonly sequence: number;
  readonly parts: Readonly<CommitParts>;
  readonly prefix: Uint8Array;
  readonly first: Uint8Array;
  readonly last: Uint8Array;
  readonly rows: number;
}

/** Rows of one table, in the order of their keys. */
interface Run {
  readonly prefix: Buffer;
  readonly first: Uint8Array;
  last: Uint8Array;
  rows: number;
  /** The engine's first key at or after `first` before it took any of them; null: there was none. */
  readonly next: Uint8Array | null;
}

/** Shorter ones are not worth it. */
const ROWS_MIN = 1024;
const COUNT_STEP = 1024;

/** The rows of one large commit. `engine`: it has all earlier commits, and gets each operation after it was noted. */
export class ReplayedRuns {
  /** By table; null: its operations are not a load's. */
  private readonly runs = new Map<string, Run | null>();
  private current: Run | null = null;
  /** The table whose operations were found to be none, last. */
  private givenUp: Buffer | null = null;

  constructor(private readonly engine: Engine) {}

  note({ key, value }: Operation): void {
    if (!isRowKey(key)) return;
    const { current } = this;
    if (current === null || current.prefix.compare(key, 0, current.prefix.length) !== 0)
      this.begin(key, value !== null);
    else if (value === null || Buffer.compare(key, current.last) <= 0) this.giveUp(current.prefix);
    else {
      current.last = key;
      current.rows++;
    }
  }

  /** The same of each operation; the engine gets them all afterwards. */
  noteFrames(part: FramedPart): void {
    const { frames } = part;
    // Where the greatest key of the current run is.
    let [last, lastEnd] = [-1, -1];
    const isOf = (prefix: Buffer, key: number): boolean => {
      for (let i = 0; i < ROW_PREFIX_BYTES; i++) if (frames[key + i] !== prefix[i]) return false;
      return true;
    };
    const settle = (): void => {
      if (last !== -1 && this.current !== null) this.current.last = Buffer.from(frames.subarray(last, lastEnd));
      last = -1;
    };
    part.each((key, end, isPut) => {
      if (end - key < ROW_PREFIX_BYTES || frames[key + 4] !== SPACE.rows) return;
      const { current, givenUp } = this;
      if (givenUp !== null && isOf(givenUp, key)) return;
      if (current === null || !isOf(current.prefix, key)) {
        settle();
        this.begin(Buffer.from(frames.subarray(key, end)), isPut);
        return;
      }
      const isHigher =
        last === -1
          ? frames.compare(current.last, 0, current.last.length, key, end) > 0
          : frames.compare(frames, last, lastEnd, key, end) > 0;
      if (!isPut || !isHigher) {
        last = -1;
        this.giveUp(current.prefix);
        return;
      }
      [last, lastEnd] = [key, end];
      current.rows++;
    });
    settle();
  }

  private begin(key: Uint8Array, isPut: boolean): void {
    const prefix = rowPrefix(tenantOfKey(key), storageIdOf(key));
    const name = keyText(prefix);
    if (this.runs.has(name) || !isPut) {
      // What comes in pieces is in no order.
      this.giveUp(prefix);
      return;
    }
    const next = firstKey(this.engine, key, prefixEnd(prefix));
    this.current = { prefix, first: key, last: key, rows: 1, next };
    this.runs.set(name, this.current);
  }

  private giveUp(prefix: Buffer): void {
    this.runs.set(keyText(prefix), null);
    this.current = null;
    this.givenUp = prefix;
  }

  /** Call it when the engine has all of the commit, and nothing of later ones. */
  async loads(sequence: number, parts: CommitParts, loopRound: () => Promise<void>): Promise<ReplayedLoad[]> {
    const loads: ReplayedLoad[] = [];
    for (const run of this.runs.values()) {
      if (run === null || run.rows < ROWS_MIN || !(await this.isAlone(run, loopRound))) continue;
      const { prefix, rows } = run;
      // They are views of the log's records.
      const [first, last] = [Buffer.from(run.first), Buffer.from(run.last)];
      loads.push({ sequence, parts: { ...parts }, prefix, first, last, rows });
    }
    return loads;
  }

  /** The engine has no other row in the range. Before a crash it may have got some of these. */
  private async isAlone({ first, last, rows, next }: Run, loopRound: () => Promise<void>): Promise<boolean> {
    if (next === null || Buffer.compare(next, last) > 0) return true;
    const cursor = this.engine.cursor({ gte: first, lt: keyAfter(last), only: "count", isOnce: true });
    try {
      for (let found = 0; found <= rows; await loopRound()) {
        const { keys } = cursor.next(COUNT_STEP);
        if (keys.length === 0) return found === rows;
        found += keys.length;
      }
      return false;
    } finally {
      cursor.close();
    }
  }
}

function firstKey(engine: Engine, gte: Uint8Array, lt: Uint8Array): Uint8Array | null {
  const cursor = engine.cursor({ gte, lt, only: "keys" });
  try {
    const key = cursor.next(1).keys[0];
    return key === undefined ? null : Buffer.from(key);
  } finally {
    cursor.close();
  }
}
