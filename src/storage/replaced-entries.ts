/** What commits have replaced, by key and commit, as the engine keeps it. Owned by layered-engine.ts. */
import type { Engine } from "./engine.js";
import { readReplaced } from "./history-cursors.js";
import { commitOfReplaced, LATEST, readReplacedKey, replacedKey, replacedRange } from "./history-keys.js";
import { isOfPast, prefixEnd, tenantOfKey } from "./keys.js";
import type { Operation } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { Entries, KeyRange } from "./store.js";

export interface WrittenKeys {
  readonly keys: readonly Uint8Array[];
  /** Of the commits that have written them. */
  readonly sequences: readonly number[];
  readonly next: Uint8Array | null;
}

/** Replaced entries that are read at least where those of several keys are looked for. */
const KEYS_AT_ONCE = 64;

/** An entry that a commit has replaced; null: there was none; undefined: no commit has. */
type Replaced = Uint8Array | null | undefined;

export class ReplacedEntries {
  constructor(private readonly engine: Engine) {}

  has(key: Uint8Array): boolean {
    return this.entriesOf(key, 0, "keys").keys.length > 0;
  }

  /** What the first commit after that one replaced. `commit`: it may be this one. */
  firstAfter(key: Uint8Array, sequence: number, commit?: number): Replaced {
    const stored = commit === undefined ? undefined : this.engine.get(replacedKey(key, commit));
    if (stored !== undefined) return readReplaced(stored);
    const { values } = this.entriesOf(key, sequence + 1);
    return values.length === 0 ? undefined : readReplaced(values[0]!);
  }

  private entriesOf(key: Uint8Array, sequence: number, only?: KeyRange["only"]): Entries {
    const range = { gte: replacedKey(key, sequence), lt: prefixEnd(replacedKey(key, LATEST)) };
    return firstOf(this.engine, only === undefined ? range : { ...range, only }, 1);
  }

  /** The same for many keys. `commitOf`: which commit it may be; null: there is none; undefined: any. */
  firstOfMany(
    keys: readonly Uint8Array[],
    sequence: number,
    commitOf: (key: Uint8Array) => number | null | undefined,
  ): Replaced[] {
    const found = new Array<Replaced>(keys.length);
    const [known, unknown, places]: [Uint8Array[], number[], number[]] = [[], [], []];
    for (let i = 0; i < keys.length; i++) {
      const commit = commitOf(keys[i]!);
      if (commit === undefined) unknown.push(i);
      else if (commit !== null && places.push(i) > 0) known.push(replacedKey(keys[i]!, commit));
    }
    if (known.length > 0) {
      for (const [j, stored] of this.engine.getMany(known).entries()) {
        if (stored === undefined) unknown.push(places[j]!);
        else found[places[j]!] = readReplaced(stored);
      }
    }
    if (unknown.length === 0) return found;
    const some = unknown.map((i) => keys[i]!);
    for (const [j, replaced] of this.byCursor(some, sequence).entries()) found[unknown[j]!] = replaced;
    return found;
  }

  /** By one cursor, which most often finds few. */
  private byCursor(keys: readonly Uint8Array[], sequence: number): Replaced[] {
    const replaced = new Map<string, Uint8Array | null>();
    const inOrder = keys.length === 1 ? keys : [...keys].sort(Buffer.compare);
    const max = KEYS_AT_ONCE + 2 * keys.length;
    const range = { gte: replacedKey(inOrder[0]!, 0), lt: replacedKey(inOrder.at(-1)!, LATEST) };
    const found = firstOf(this.engine, range, max);
    let last: Uint8Array | null = null;
    for (let i = 0; i < found.keys.length; i++) {
      const { key, sequence: commit } = readReplacedKey(found.keys[i]!);
      last = key;
      const text = keyText(key);
      if (commit > sequence && !replaced.has(text)) replaced.set(text, readReplaced(found.values[i]!));
    }
    const upTo = found.keys.length < max ? null : last;
    return keys.map((key) => {
      const isKnown = upTo === null || Buffer.compare(key, upTo) < 0;
      return isKnown ? replaced.get(keyText(key)) : this.firstAfter(key, sequence);
    });
  }

  /** What the operations' own commits have replaced, of each; null: nothing. `keeps`: whether the past is kept. */
  byCommits(
    operations: readonly Operation[],
    keeps: (tenant: number) => boolean,
  ): readonly (Uint8Array | undefined)[] | null {
    const mayRepeat = ({ key, commit }: Operation): boolean =>
      commit?.mayRepeat !== false && isOfPast(key) && keeps(tenantOfKey(key));
    if (!operations.some(mayRepeat)) return null;
    return this.engine.getMany(operations.map(({ key, commit }) => replacedKey(key, commit?.sequence ?? 0)));
  }

  /**
   * Keys of the range that commits after that one, up to `upTo` (null: all), have written, of up to `max` replaced
   * entries; the same key may come again. `next` says where to go on (`from`, at first null); null: that were all.
   */
  writtenSince(
    range: KeyRange,
    sequence: number,
    from: Uint8Array | null,
    max: number,
    upTo: number | null,
  ): WrittenKeys {
    const whole = replacedRange(range);
    const { keys } = firstOf(this.engine, { ...whole, gte: from ?? whole.gte, only: "keys" }, max);
    const to = upTo ?? LATEST;
    // Most often few of them are.
    const written = keys
      .filter((key) => {
        const commit = commitOfReplaced(key);
        return commit > sequence && commit <= to;
      })
      .map(readReplacedKey);
    const next = keys.length < max ? null : Buffer.concat([keys.at(-1)!, Buffer.of(0)]);
    return { keys: written.map(({ key }) => key), sequences: written.map((each) => each.sequence), next };
  }
}

/** The first entries of a range. */
export function firstOf(engine: Engine, range: KeyRange, max: number): Entries {
  const cursor = engine.cursor(range);
  const entries = cursor.next(max);
  cursor.close();
  return entries;
}
