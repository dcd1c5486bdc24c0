/**
 * A shard as it was after one of its commits. Transactions on it read, and hold nothing back: what they read never
 * changes.
 */
import { DbError } from "../protocol/errors.js";
import type { Engine } from "./engine.js";
import { KeyLocks } from "./key-locks.js";
import type { LayeredEngine } from "./layered-engine.js";
import type { Shard } from "./shard.js";
import type { BeginOptions } from "./shard-options.js";
import { ShardTransaction } from "./transaction.js";
import type { TransactionHost } from "./transaction-host.js";
import { UnsyncedKeys } from "./unsynced-keys.js";
import { RecentVersions } from "./versions.js";

/** What sessions use of a shard. */
export type ReadableShard = Pick<
  Shard,
  | "begin"
  | "committedSequence"
  | "appliedSequence"
  | "oldestSnapshot"
  | "layers"
  | "lastMicros"
  | "unseenBytes"
  | "locks"
>;

export class PastShard implements ReadableShard, TransactionHost<ShardTransaction> {
  readonly engine: Engine;
  readonly versions = new RecentVersions();
  /** What is past is on disk, or gone with what it was made of. */
  readonly unsynced = new UnsyncedKeys();
  readonly locks = new KeyLocks();
  /** Never what the engine has: nobody may keep what is read here as what there is now. */
  readonly appliedSequence = -1;
  readonly refusal = null;

  constructor(
    private readonly shard: Shard,
    readonly layers: LayeredEngine,
    readonly committedSequence: number,
  ) {
    this.engine = layers.asOf(committedSequence);
  }

  get log(): Shard["log"] {
    return this.shard.log;
  }

  get largeSizes(): Shard["largeSizes"] {
    return this.shard.largeSizes;
  }

  get unseenBytes(): number {
    return this.shard.unseenBytes;
  }

  get oldestSnapshot(): number {
    return this.committedSequence;
  }

  get lastMicros(): number {
    return this.shard.lastMicros;
  }

  begin(options?: BeginOptions): ShardTransaction {
    return new ShardTransaction(this, true, options?.isolation ?? "snapshot");
  }

  commit(): never {
    throw new DbError("read_only_transaction");
  }

  commitLarge(): never {
    throw new DbError("read_only_transaction");
  }

  async takeLargeTurn(): Promise<void> {}

  endLargeTurn(): void {}

  hasOtherWriters(): boolean {
    return false;
  }

  conflicted(): void {}

  refreshed(): void {}

  ended(): void {}
}
