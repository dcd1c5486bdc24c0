/**
 * Columns of a tenant's long tables as they were after a commit. A read of the past takes the segments that the table
 * has now, and notes as newer entries the rows that were written since that commit, with what they were. What was at a
 * moment never changes, so nothing has to be followed. One `Pasts` per partition, owned by its column store; asked
 * by statements that read the past (session/as-of.ts).
 */

import { storageOf } from "../../../../catalog/table.js";
import { giveWay, type Turns } from "../../../../protocol/turns.js";
import type { LayeredEngine } from "../../../../storage/layered-engine.js";
import { keyText } from "../../../../storage/ordered-map.js";
import type { TableLayout } from "../../table-layout.js";
import type { Segment } from "../segment.js";
import { SegmentCache } from "../segment-cache.js";
import { TableSegments } from "../table-segments.js";
import type { Lendings } from "./lendings.js";
import { eachNewerKeys, eachWrittenKeys, lentColumnsOf, lentSegmentsOf } from "./lent-segments.js";

/** Rows of a table, beside the first ones, that may differ: beyond that its records are read. */
const DIFFERENT_SHARE_MAX = 0.1;
const DIFFERENT_MIN = 1024;
/** Rows that a step without any counts as: it looks through about a thousand entries. */
const STEP_COST = 16;
/** Moments that are kept at hand, and for how long after they were last asked for. */
const MOMENTS_MAX = 4;
const KEPT_MS = 30_000;
/** Of the memory for segments, what rows that differ may take at each moment. */
const BYTES_SHARE = 1 / 32;

export class Pasts {
  /** By "tenant/commit"; the one that was asked for longest ago first. */
  private readonly moments = new Map<string, { readonly past: PastSegments; usedMs: number }>();

  constructor(
    private readonly layers: LayeredEngine,
    private readonly cache: SegmentCache,
    private readonly turnsOf: (tenantNumber: number) => Turns,
    private readonly lendings: Lendings,
  ) {}

  at(tenantNumber: number, sequence: number): SegmentCache {
    const name = `${tenantNumber}/${sequence}`;
    const past =
      this.moments.get(name)?.past ??
      new PastSegments(this.layers, this.cache, this.turnsOf(tenantNumber), this.lendings, tenantNumber, sequence);
    this.moments.delete(name);
    this.moments.set(name, { past, usedMs: performance.now() });
    for (const [oldest] of this.moments) {
      if (this.moments.size <= MOMENTS_MAX) break;
      this.moments.delete(oldest);
    }
    return past;
  }

  /** Files of segments that were replaced stay open for as long as a moment is at hand. */
  sweep(): void {
    const until = performance.now() - KEPT_MS;
    for (const [name, { usedMs }] of this.moments) if (usedMs < until) this.moments.delete(name);
  }
}

/** Of one moment of a tenant. It makes no segments of its own. */
class PastSegments extends SegmentCache {
  /** Tables that have too few rows in common with these segments of now. Weak: see lent-segments.ts. */
  private readonly refused = new WeakMap<readonly Segment[], Set<number>>();

  constructor(
    private readonly layers: LayeredEngine,
    private readonly present: SegmentCache,
    private readonly turns: Turns,
    private readonly lendings: Lendings,
    private readonly tenantNumber: number,
    private readonly sequence: number,
  ) {
    super(present.bytesMax * BYTES_SHARE, present.sizes, present.pages);
    this.lenders.add({ lend: (_, layout) => this.lend(layout) });
  }

  override get bytes(): number {
    return this.tableBytes;
  }

  override claim(): null {
    return null;
  }

  private lend(layout: TableLayout): Promise<void> | null {
    const { present, tenantNumber } = this;
    const storageId = storageOf(layout.table);
    if (this.lendings.isEnding || this.tableOf(tenantNumber, storageId) !== null) return null;
    const opening = present.openingOf(tenantNumber, layout);
    // It may be opened as one of another definition; then there is nothing to lend.
    if (opening !== null) return opening.then(() => this.lend(layout) ?? undefined);
    const lender = present.tableOf(tenantNumber, storageId);
    if (lender === null || !lender.isReady || this.refused.get(lender.segments)?.has(storageId) === true) return null;
    const columns = lentColumnsOf(lender, layout);
    const table = new TableSegments(tenantNumber, storageId, lender.rowPrefix);
    table.segments = lentSegmentsOf(table, lender);
    if (table.segments.length === 0 || columns.size === 0) return null;
    table.hold(columns);
    table.isReady = false;
    this.adopt(table);
    const name = `${tenantNumber}/${storageId}`;
    const { segments } = lender;
    const lending = this.correct(table, lender)
      .catch(() => false)
      .then((isDone) => {
        this.opening.delete(name);
        table.isReady = isDone;
        if (isDone) return;
        // Until the table has other segments, or else the next scan would try the same again.
        this.refused.set(segments, (this.refused.get(segments) ?? new Set()).add(storageId));
        this.drop(table);
      });
    this.opening.set(name, lending);
    this.lendings.add(lending);
    return lending;
  }

  /** Notes the rows that were written since. False: they are too many. */
  private async correct(table: TableSegments, lender: TableSegments): Promise<boolean> {
    const { layers, tenantNumber, sequence, turns } = this;
    let room = DIFFERENT_MIN + DIFFERENT_SHARE_MAX * table.rows;
    const differ = async (keys: readonly Uint8Array[]): Promise<boolean> => {
      // To look through what was replaced before costs something, too.
      room -= Math.max(keys.length, STEP_COST);
      if (room >= 0 && !table.dropped) this.noteKeys(table, keys);
      if (!table.dropped) await giveWay(turns);
      return room >= 0 && !table.dropped && !this.lendings.isEnding;
    };
    if (!(await eachNewerKeys(lender.entries.clone(), differ))) return false;
    if (!(await eachWrittenKeys(layers, table.rowPrefix, sequence, differ))) return false;
    // What was forgotten meanwhile may lack in what was read.
    layers.requireReadable(tenantNumber, sequence);
    return !table.dropped;
  }

  private noteKeys(table: TableSegments, keys: readonly Uint8Array[]): void {
    const wanted = keys.filter((key) => {
      const text = keyText(key);
      return table.segmentOf(text) !== null && !table.entries.has(text);
    });
    if (wanted.length === 0) return;
    for (const [i, value] of this.layers.getManyAsOf(wanted, this.sequence).entries()) {
      if (!table.dropped) this.note(table, { key: wanted[i]!, value: value ?? null });
    }
  }
}
