/**
 * The entries of a tenant as one stream, while the tenant is served: ranges of keys in order, each as the engine has
 * it at that moment, and in between the changes of keys that were read before. A receiver that applies the stream in
 * order, up to a point at which nothing is left, has exactly the engine's entries. For moves and backups; the
 * partition reports what the engine takes.
 */
import { isOfRetired, prefixRange, tenantOfKey, tenantPrefix } from "../../storage/keys.js";
import type { Operation } from "../../storage/operation.js";
import type { Shard } from "../../storage/shard.js";

const COPIED_AT_ONCE = 256;
const ZERO = Buffer.alloc(1);

export class TenantCopy {
  private position: Uint8Array;
  private readonly end: Uint8Array;
  private changes: Operation[] = [];
  /** Of the changes that wait. */
  changeBytes = 0;
  /** All ranges have been read. */
  isCopied = false;

  constructor(
    private readonly shard: Pick<Shard, "engine">,
    private readonly tenant: number,
  ) {
    const { gte, lt } = prefixRange(tenantPrefix(tenant));
    this.position = gte;
    this.end = lt;
  }

  /** What the engine has taken. */
  applied(operations: readonly Operation[]): void {
    for (const operation of operations) {
      const { key, value } = operation;
      if (tenantOfKey(key) !== this.tenant) continue;
      // What a retired key orders is about other keys, which may have been read.
      const isLater = !this.isCopied && !isOfRetired(key) && Buffer.compare(key, this.position) >= 0;
      if (isLater) continue;
      this.changes.push(operation);
      this.changeBytes += key.length + (value?.length ?? 0);
    }
  }

  get hasChanges(): boolean {
    return this.changes.length > 0;
  }

  /** To go before what is read next. */
  takeChanges(): readonly Operation[] {
    const { changes } = this;
    this.changes = [];
    this.changeBytes = 0;
    return changes;
  }

  /** The next range; none when all have been read. */
  next(): readonly Operation[] {
    const cursor = this.shard.engine.cursor({ gte: this.position, lt: this.end });
    const { keys, values } = cursor.next(COPIED_AT_ONCE);
    cursor.close();
    if (keys.length === 0) this.isCopied = true;
    else this.position = Buffer.concat([keys.at(-1)!, ZERO]);
    return keys.map((key, i) => ({ key, value: values[i]! }));
  }
}
