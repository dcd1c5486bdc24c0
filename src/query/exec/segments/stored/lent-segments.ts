/**
 * Lends the columns of a tenant's long tables to its branches. A branch begins as its origin was after a commit, so a
 * table of it differs from the segments of the origin's table in few rows: those that the origin has changed since
 * either of the two moments, and those that the branch has changed. A branch gets the same segments, with these rows as
 * newer entries. From then on its table follows the branch, as any table in the cache does, and not the origin.
 * One per partition, owned by its column store. Asked by scans before they begin, by way of the segment cache.
 */

import { storageOf } from "../../../../catalog/table.js";
import { giveWay, type Turns } from "../../../../protocol/turns.js";
import type { Branch } from "../../../../storage/branch-list.js";
import { ofTenant } from "../../../../storage/history-keys.js";
import { prefixRange, rowPrefix } from "../../../../storage/keys.js";
import type { LayeredEngine } from "../../../../storage/layered-engine.js";
import { keyText } from "../../../../storage/ordered-map.js";
import type { TableLayout } from "../../table-layout.js";
import { Segment } from "../segment.js";
import type { SegmentCache } from "../segment-cache.js";
import { type HeldColumn, TableSegments } from "../table-segments.js";
import type { Lendings } from "./lendings.js";
import { nameOf } from "./stored-table.js";

/** Keys that are read at a time. */
const KEYS_AT_ONCE = 64;
/** Replaced entries that are looked through at a time: most were replaced before. */
const REPLACED_AT_ONCE = 1024;
/** Rows of a table, beside the first ones, that may differ: beyond that its records are read. */
const DIFFERENT_SHARE_MAX = 0.25;
const DIFFERENT_MIN = 1024;

export class LentSegments {
  /**
   * Tables of branches, as "tenant/table", that have too few rows in common with segments of the origin's table. Weak:
   * it must not keep the files of segments open that the origin has replaced.
   */
  private readonly refused = new WeakMap<readonly Segment[], Set<string>>();

  constructor(
    private readonly layers: LayeredEngine,
    private readonly cache: SegmentCache,
    private readonly turnsOf: (tenantNumber: number) => Turns,
    private readonly lendings: Lendings,
  ) {}

  /** Resolves when the branch's table has its segments, or will not get any; null: there is nothing to wait for. */
  lend(tenantNumber: number, layout: TableLayout): Promise<void> | null {
    const branch = this.layers.branchOf(tenantNumber);
    if (branch === null || this.lendings.isEnding) return null;
    const { cache } = this;
    const storageId = storageOf(layout.table);
    const name = nameOf(tenantNumber, storageId);
    if (cache.tableOf(tenantNumber, storageId) !== null) return null;
    const opening = cache.openingOf(branch.origin, layout);
    if (opening !== null) return opening;
    const origin = cache.tableOf(branch.origin, storageId);
    if (origin === null || !origin.isReady || this.refused.get(origin.segments)?.has(name) === true) return null;
    const columns = lentColumnsOf(origin, layout);
    const table = new TableSegments(tenantNumber, storageId, rowPrefix(tenantNumber, storageId));
    table.segments = lentSegmentsOf(table, origin);
    if (table.segments.length === 0 || columns.size === 0) return null;
    table.hold(columns);
    table.isLent = true;
    table.isReady = false;
    cache.adopt(table);
    const { segments } = origin;
    const lending = this.correct(table, branch, origin)
      .catch(() => false)
      .then((isDone) => {
        cache.opening.delete(name);
        table.isReady = isDone;
        if (isDone) return;
        // Until the origin has other segments, or else the next scan would try the same again.
        this.refused.set(segments, (this.refused.get(segments) ?? new Set()).add(name));
        cache.drop(table);
      });
    cache.opening.set(name, lending);
    this.lendings.add(lending);
    return lending;
  }

  /**
   * Notes the rows that differ; what the branch writes meanwhile is noted already, and is newer. False: they are too
   * many, or the table is not wanted any more.
   */
  private async correct(table: TableSegments, { origin, start }: Branch, lender: TableSegments): Promise<boolean> {
    const { layers } = this;
    const noted = lender.entries.clone();
    const own = prefixRange(table.rowPrefix);
    const turns = this.turnsOf(table.tenantNumber);
    let room = DIFFERENT_MIN + DIFFERENT_SHARE_MAX * table.rows;
    const differ = async (keys: readonly Uint8Array[]): Promise<boolean> => {
      room -= keys.length;
      if (room >= 0 && !table.dropped) this.noteKeys(table, keys);
      if (!table.dropped) await giveWay(turns);
      return room >= 0 && !table.dropped && !this.lendings.isEnding;
    };
    const isDone =
      (await eachNewerKeys(noted, (keys) => differ(keys.map((key) => ofTenant(key, table.tenantNumber))))) &&
      (await eachWrittenKeys(layers, rowPrefix(origin, table.storageId), start.sequence, (keys) =>
        differ(keys.map((key) => ofTenant(key, table.tenantNumber))),
      )) &&
      (await this.eachChanged(table, keyText(own.lt), differ));
    // What was forgotten meanwhile may lack in what was read.
    if (isDone) layers.requireReadable(origin, start.sequence);
    return isDone && !table.dropped;
  }

  private noteKeys(table: TableSegments, keys: readonly Uint8Array[]): void {
    const wanted = keys.filter((key) => {
      const text = keyText(key);
      return table.segmentOf(text) !== null && !table.entries.has(text);
    });
    if (wanted.length === 0) return;
    for (const [i, value] of this.layers.getMany(wanted).entries()) {
      if (!table.dropped) this.cache.note(table, { key: wanted[i]!, value: value ?? null });
    }
  }

  /** Keys that the branch has written. */
  private async eachChanged(
    table: TableSegments,
    end: string,
    differ: (keys: readonly Uint8Array[]) => Promise<boolean>,
  ): Promise<boolean> {
    for (let after: Uint8Array = table.rowPrefix; ; ) {
      const keys = this.layers.changedKeys(table.tenantNumber, after, KEYS_AT_ONCE);
      const own = keys.filter((key) => keyText(key) < end);
      if (!(await differ(own))) return false;
      if (own.length < KEYS_AT_ONCE) return true;
      after = Buffer.from(own.at(-1)!);
    }
  }
}

/** Keys of rows that commits have written since that one. Told also of none, for each piece of work. */
export async function eachWrittenKeys(
  layers: LayeredEngine,
  prefix: Uint8Array,
  sequence: number,
  differ: (keys: readonly Uint8Array[]) => Promise<boolean>,
): Promise<boolean> {
  const range = prefixRange(prefix);
  for (let from: Uint8Array | null = null; ; ) {
    const { keys, next } = layers.writtenSince(range, sequence, from, REPLACED_AT_ONCE);
    for (let at = 0; at === 0 || at < keys.length; at += KEYS_AT_ONCE)
      if (!(await differ(keys.slice(at, at + KEYS_AT_ONCE)))) return false;
    if (next === null) return true;
    from = next;
  }
}

/** Keys of newer entries. */
export async function eachNewerKeys(
  entries: TableSegments["entries"],
  differ: (keys: readonly Uint8Array[]) => Promise<boolean>,
): Promise<boolean> {
  let keys: Uint8Array[] = [];
  for (const [, { key }] of entries.entries()) {
    keys.push(key);
    if (keys.length < KEYS_AT_ONCE) continue;
    if (!(await differ(keys))) return false;
    keys = [];
  }
  return differ(keys);
}

/** The lender's segments that are in files, as those of another tenant's table. Their pages are shared. */
export function lentSegmentsOf(table: TableSegments, lender: TableSegments): readonly Segment[] {
  const { start } = lender;
  const moved = (text: string): string => table.start + text.slice(start.length);
  return lender.segments
    .filter(({ stored, from, to }) => stored !== null && from.startsWith(start) && to.startsWith(start))
    .map(({ stored, from, to }) => new Segment(moved(from), moved(to), null, stored));
}

/** Columns that all of them have, and that both define in the same way. */
export function lentColumnsOf(lender: TableSegments, layout: TableLayout): ReadonlyMap<number, HeldColumn> {
  const stored = lender.segments.flatMap((segment) => (segment.stored === null ? [] : [segment.stored]));
  const ids = lender.columnIds.filter(
    (id) =>
      layout.table.columns.some((column) => column.id === id) &&
      lender.holds(layout, id) === "yes" &&
      stored.every((pages) => pages.has(id)),
  );
  return new Map(ids.map((id) => [id, lender.heldColumn(id)]));
}
