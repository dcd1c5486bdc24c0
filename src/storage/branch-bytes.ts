/**
 * Counts what branches hold of their own: keys and values of their entries, and the markers of what they have deleted
 * of their origins. The count is kept in the engine, and changes with the entries, in one batch. Ranges that are
 * removed at once cost no look at each entry; what they held is counted until the branch has been counted anew, some
 * entries at a time (`countSome`). So a count is never below what there is. Owned by layered-engine.ts.
 */
import type { Engine } from "./engine.js";
import { bytesKey, hiddenKey, hiddenPrefix, hiddenRange } from "./history-keys.js";
import { isOwnOnly, prefixRange, tenantPrefix } from "./keys.js";
import type { LastWritten } from "./last-written.js";
import { neighbouringValues } from "./neighbouring-values.js";
import { type Operation, sizeOf } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { KeyRange } from "./store.js";

/** A branch is counted anew, in the order of its keys; its markers come last. */
interface Recount {
  bytes: number;
  markers: number;
  /** All keys below have been counted. */
  upTo: Uint8Array;
  isAtMarkers: boolean;
}

interface Count {
  bytes: number;
  markers: number;
  recount: Recount | null;
}

/** What a batch finds of the branches that it writes: by the texts of keys, and as the batch goes on. */
export interface OwnBefore {
  /** Bytes of values of own entries; absent: there is none. */
  readonly values: Map<string, number>;
  /** What has been deleted of the origin. */
  readonly markers: Set<string>;
  readonly tenants: Set<number>;
}

const COUNT_BYTES = 17;

export class BranchBytes {
  private readonly counts = new Map<number, Count>();

  constructor(
    private readonly engine: Engine,
    private readonly last: LastWritten,
  ) {}

  /** `isNew`: it has nothing of its own yet. */
  learn(tenant: number, isNew: boolean): void {
    if (this.counts.has(tenant)) return;
    const stored = this.engine.get(bytesKey(tenant));
    if (stored !== undefined) this.counts.set(tenant, readCount(stored, tenant));
    // One that an earlier version has made was not counted.
    else this.counts.set(tenant, { bytes: 0, markers: 0, recount: isNew ? null : recountOf(tenant) });
  }

  forget(tenant: number): Operation {
    this.counts.delete(tenant);
    return { key: bytesKey(tenant), value: null };
  }

  of(tenant: number): number {
    return this.counts.get(tenant)?.bytes ?? 0;
  }

  /** Operations of branches: what these have under the keys. */
  before(operations: readonly Operation[], tenantOf: (key: Uint8Array) => number | null): OwnBefore {
    const found: OwnBefore = { values: new Map(), markers: new Set(), tenants: new Set() };
    const own = operations.filter(({ key }) => tenantOf(key) !== null).map(({ key }) => key);
    if (own.length === 0) return found;
    const values = this.last.valuesOf(own, (keys) => neighbouringValues(this.engine, keys));
    for (const [i, value] of values.entries())
      if (value !== undefined) found.values.set(keyText(own[i]!), value.length);
    this.findMarkers(operations, tenantOf, found);
    return found;
  }

  /** What has an entry of its own has no marker. */
  private findMarkers(
    operations: readonly Operation[],
    tenantOf: (key: Uint8Array) => number | null,
    found: OwnBefore,
  ): void {
    const hidden: Uint8Array[] = [];
    for (const { key, text = keyText(key) } of operations) {
      const tenant = tenantOf(key);
      if (tenant === null || isOwnOnly(key) || found.values.has(text)) continue;
      const { markers, recount } = this.counts.get(tenant)!;
      if (markers > 0 || recount !== null) hidden.push(key);
    }
    if (hidden.length === 0) return;
    for (const [i, marker] of neighbouringValues(this.engine, hidden.map(hiddenKey)).entries()) {
      if (marker !== undefined) found.markers.add(keyText(hidden[i]!));
    }
  }

  /** Counts an operation that the engine is going to take. */
  note(tenant: number, { key, value }: Operation, text: string, before: OwnBefore): void {
    const count = this.counts.get(tenant)!;
    before.tenants.add(tenant);
    const had = before.values.get(text);
    const bytes = (value === null ? 0 : key.length + value.length) - (had === undefined ? 0 : key.length + had);
    if (value === null) before.values.delete(text);
    else before.values.set(text, value.length);
    count.bytes += bytes;
    if (count.recount !== null && isCounted(count.recount, key)) count.recount.bytes += bytes;
    if (!isOwnOnly(key) && before.markers.has(text) === (value !== null)) this.noteMarker(count, key, text, before);
  }

  /** A marker that was there goes, or one that was not there comes. */
  private noteMarker(count: Count, key: Uint8Array, text: string, { markers }: OwnBefore): void {
    const marker = hiddenKey(key);
    const step = markers.has(text) ? -1 : 1;
    if (step > 0) markers.add(text);
    else markers.delete(text);
    count.bytes += step * marker.length;
    count.markers += step;
    const { recount } = count;
    if (recount === null || !recount.isAtMarkers || Buffer.compare(marker, recount.upTo) >= 0) return;
    recount.bytes += step * marker.length;
    recount.markers += step;
  }

  /** What the engine keeps of the counts that have changed. */
  written({ tenants }: OwnBefore): Operation[] {
    return [...tenants].flatMap((tenant) => {
      const count = this.counts.get(tenant);
      return count === undefined ? [] : [{ key: bytesKey(tenant), value: countValue(count) }];
    });
  }

  /** A range of the branch has been removed without a look at its entries. */
  cleared(tenant: number): Operation[] {
    const count = this.counts.get(tenant);
    if (count === undefined) return [];
    count.recount = recountOf(tenant);
    return [{ key: bytesKey(tenant), value: countValue(count) }];
  }

  /** Goes on counting one that has to be, up to `max` entries. False: there is none. */
  countSome(max: number): boolean {
    for (const [tenant, count] of this.counts) {
      if (count.recount === null) continue;
      this.goOn(tenant, count, count.recount, max);
      return true;
    }
    return false;
  }

  private goOn(tenant: number, count: Count, recount: Recount, max: number): void {
    const whole = prefixRange(tenantPrefix(tenant));
    const range: KeyRange = recount.isAtMarkers ? hiddenRange(whole) : whole;
    const cursor = this.engine.cursor({ ...range, gte: recount.upTo });
    const { keys, values } = cursor.next(max);
    for (let i = 0; i < keys.length; i++) recount.bytes += sizeOf({ key: keys[i]!, value: values[i]! });
    if (recount.isAtMarkers) recount.markers += keys.length;
    const last = keys.length < max ? null : Buffer.concat([keys.at(-1)!, Buffer.of(0)]);
    cursor.close();
    if (last !== null) recount.upTo = last;
    else if (!recount.isAtMarkers) Object.assign(recount, { isAtMarkers: true, upTo: hiddenPrefix(tenant) });
    else {
      Object.assign(count, { bytes: recount.bytes, markers: recount.markers, recount: null });
      this.engine.write([{ key: bytesKey(tenant), value: countValue(count) }]);
    }
  }
}

function recountOf(tenant: number): Recount {
  return { bytes: 0, markers: 0, upTo: tenantPrefix(tenant), isAtMarkers: false };
}

function isCounted({ isAtMarkers, upTo }: Recount, key: Uint8Array): boolean {
  return isAtMarkers || Buffer.compare(key, upTo) < 0;
}

function countValue({ bytes, markers, recount }: Count): Buffer {
  const value = Buffer.alloc(COUNT_BYTES);
  value.writeBigInt64BE(BigInt(bytes), 0);
  value.writeBigInt64BE(BigInt(markers), 8);
  value[16] = recount === null ? 0 : 1;
  return value;
}

function readCount(stored: Uint8Array, tenant: number): Count {
  const value = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const [bytes, markers] = [0, 8].map((at) => Number(value.readBigInt64BE(at)));
  return { bytes: bytes!, markers: markers!, recount: value[16] === 1 ? recountOf(tenant) : null };
}
