/** Changes of a table as the commit log has them: for those who come back after more than memory has, or a restart. */
import type { CommitLog } from "../../storage/commit-log.js";
import { SPACE, storageIdOf, tenantOfKey } from "../../storage/keys.js";
import { keyText } from "../../storage/ordered-map.js";
import { bytesOfChange, type RowChange } from "./row-change.js";

export interface LogRange {
  readonly tenant: number;
  readonly storageIds: ReadonlySet<number>;
  /** Microseconds: changes after it, up to `upTo`. */
  readonly after: number;
  readonly upTo: number;
}

/** Commits between two turns of the loop. */
const COMMITS_AT_ONCE = 256;

/**
 * The changes, oldest first; those that do not fit into `bytesMax` are left out from the front. `since`: all after it
 * are there.
 */
export async function readLogChanges(
  log: CommitLog,
  range: LogRange,
  bytesMax: number,
  turn: () => Promise<void>,
): Promise<{ readonly changes: readonly RowChange[]; readonly since: number }> {
  let changes: RowChange[] = [];
  let { after: since } = range;
  let bytes = 0;
  for await (const part of logChanges(log, range, turn)) {
    // What a power cut took out of the log nobody can be told.
    if (part.gap) {
      changes = [];
      bytes = 0;
      since = part.micros;
    }
    for (const change of part.changes) {
      changes.push(change);
      bytes += bytesOfChange(change);
    }
    if (bytes <= bytesMax) continue;
    let dropped = 0;
    while (bytes > bytesMax / 2 && dropped < changes.length) bytes -= bytesOfChange(changes[dropped++]!);
    since = changes[dropped - 1]!.micros;
    changes = changes.slice(dropped);
  }
  return { changes, since };
}

/** Commit by commit; `gap`: the log lacks what was before `micros`. */
export async function* logChanges(
  log: CommitLog,
  range: LogRange,
  turn: () => Promise<void>,
): AsyncIterable<{ readonly changes: readonly RowChange[]; readonly gap: boolean; readonly micros: number }> {
  let count = 0;
  for (const entry of log.replay(log.sequenceBefore(range.after))) {
    const { micros, gap } = entry;
    if (micros > range.upTo) return;
    if (++count % COMMITS_AT_ONCE === 0) await turn();
    if (gap && micros > range.after) yield { changes: [], gap, micros };
    if (entry.before === undefined) continue;
    const changes = changesOf(entry, range);
    if (changes.length > 0) yield { changes, gap: false, micros };
  }
}

type Entry = ReturnType<CommitLog["replay"]> extends Iterable<infer E> ? E : never;

/** In the order in which the feed numbered them: that of what was there before. */
function changesOf({ micros, operations, before }: Entry, range: LogRange): RowChange[] {
  const changes: RowChange[] = [];
  const written = new Map<string, Uint8Array | null>();
  const isWanted = (key: Uint8Array): boolean =>
    key[4] === SPACE.rows && tenantOfKey(key) === range.tenant && range.storageIds.has(storageIdOf(key));
  for (const { key, value } of operations) if (isWanted(key)) written.set(keyText(key), value);
  for (const [i, { key, value: old }] of before!.entries()) {
    if (!isWanted(key) || micros + i <= range.after || micros + i > range.upTo) continue;
    const after = written.get(keyText(key)) ?? null;
    changes.push({ micros: micros + i, storageId: storageIdOf(key), before: copied(old), after: copied(after) });
  }
  return changes;
}

/** The log's bytes are views of a whole segment. */
function copied(bytes: Uint8Array | null): Uint8Array | null {
  return bytes === null ? null : new Uint8Array(bytes);
}
