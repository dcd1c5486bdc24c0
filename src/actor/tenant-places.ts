/**
 * The tenants that a partition must not assume to be its own: those that are being moved, and those that have left. A
 * tenant without an entry is served. Entries other than "held" are records of the partition's shard, so that after a
 * crash nobody serves a tenant at two places; the directory decides about the undecided ones. Owned by the partition,
 * changed by placement.ts.
 */
import { placeKey, placePrefix, prefixRange, tenantOfPlaceKey } from "../storage/keys.js";
import type { Shard } from "../storage/shard.js";
import type { Transaction } from "../storage/store.js";

export type Place =
  /** Being drained: requests wait. In memory only. */
  | { readonly kind: "held" }
  /** Sent whole; whether it was taken over is not decided. */
  | { readonly kind: "leaving"; readonly move?: string }
  /** Being received, or left over from that. */
  | { readonly kind: "incoming"; readonly move?: string }
  /** Its content is being replaced by a backup's, or that was cut short: it has to be restored again. */
  | { readonly kind: "restoring"; readonly restore: string; readonly backup?: string }
  /** It is in partition `to`. Until `clean` there may be something of it to remove here. */
  | { readonly kind: "gone"; readonly to: number; readonly clean: boolean }
  /** It was deleted. Until `clean` there may be something of it to remove here. */
  | { readonly kind: "deleted"; readonly move: string; readonly tenantId: string; readonly clean: boolean };

export class TenantPlaces {
  private readonly places = new Map<number, Place>();
  /** Times that commits were undone. */
  reloads = 0;

  constructor(
    private readonly shard: Shard,
    private readonly flushSoon: () => void,
  ) {
    this.load();
  }

  /** 0 in the usual case: nothing needs to be looked up then. */
  get size(): number {
    return this.places.size;
  }

  get(tenant: number): Place | undefined {
    return this.places.get(tenant);
  }

  entries(): readonly (readonly [number, Place])[] {
    return [...this.places];
  }

  /**
   * False for a tenant that is only being received, or has left: the shard's entries are not the tenant's data then.
   */
  isServed(tenant: number): boolean {
    const kind = this.places.get(tenant)?.kind;
    return kind === undefined || kind === "held" || kind === "leaving";
  }

  /** It is elsewhere for good, or was deleted. */
  hasLeft(tenant: number): boolean {
    const kind = this.places.get(tenant)?.kind;
    return kind === "gone" || kind === "deleted";
  }

  /** A record of the place follows in the next log write, unless it is "held". */
  set(tenant: number, place: Place): void {
    this.places.set(tenant, place);
    if (place.kind !== "held") this.write(tenant, Buffer.from(JSON.stringify(place)));
  }

  /** From now on the tenant is here. */
  clear(tenant: number): void {
    const place = this.places.get(tenant);
    this.places.delete(tenant);
    if (place !== undefined && place.kind !== "held") this.write(tenant, null);
  }

  /** The same, in the commit of a transaction that has what else becomes true with it. Commits it. */
  clearWith(tenant: number, tx: Transaction): void {
    tx.delete(placeKey(tenant));
    tx.commit();
    this.places.delete(tenant);
    this.flushSoon();
  }

  /** Commits were undone: what is stored counts. */
  reload(): void {
    this.reloads++;
    for (const [tenant, place] of this.places) if (place.kind !== "held") this.places.delete(tenant);
    this.load();
  }

  private load(): void {
    const tx = this.shard.begin({ readOnly: true });
    const cursor = tx.scan(prefixRange(placePrefix()));
    for (;;) {
      const { keys, values } = cursor.next(1000);
      if (keys.length === 0) break;
      for (let i = 0; i < keys.length; i++) {
        this.places.set(tenantOfPlaceKey(keys[i]!), JSON.parse(Buffer.from(values[i]!).toString()) as Place);
      }
    }
    cursor.close();
    tx.rollback();
  }

  private write(tenant: number, value: Uint8Array | null): void {
    const tx = this.shard.begin({ isolation: "read committed" });
    if (value === null) tx.delete(placeKey(tenant));
    else tx.put(placeKey(tenant), value);
    tx.commit();
    this.flushSoon();
  }
}
