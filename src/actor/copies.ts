/**
 * Copies of partitions that other nodes own, as this actor reads them for requests whose answers may be stale. A copy
 * follows its owner's log (src/cluster/copy-reads.ts says when and how far); nothing is ever written in it here.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../protocol/errors.js";
import { hasBudget, leadOf } from "../protocol/lead.js";
import { ageMs, type Moment } from "../protocol/moment.js";
import { copyCloses, copyTenant } from "../session/copy-tenant.js";
import { isRefusedToReader } from "../session/reader.js";
import type { Tenant } from "../session/tenant.js";
import type { Commit } from "../storage/commit-log.js";
import { FollowedLog } from "../storage/followed-log.js";
import { placePrefix } from "../storage/keys.js";
import { hasEntries } from "../storage/tenant-entries.js";
import type { ActorTenures, OpenedCopy } from "./actor-tenures.js";
import type { PartitionEvents } from "./open-partition.js";
import type { Partition } from "./partition.js";
import type { Request } from "./request.js";

export interface CopiesHost {
  open(partition: number, events: PartitionEvents): Promise<Partition>;
  /** Requests that run in it. */
  running(partition: Partition): readonly Request[];
  armTurn(): void;
}

interface Copy {
  readonly partition: Partition;
  /** By number. */
  readonly tenants: Map<number, Tenant>;
}

/** For requests that were told to end; the transactions of those that have not are ended then. */
const STOPPING_MS = 3000;
const LOOK_MS = 2;
const PLACES = placePrefix();

export class Copies {
  private readonly copies = new Map<number, Copy>();
  /** As of when they are, by partition. */
  private readonly moments = new Map<number, Moment>();

  constructor(
    private readonly host: CopiesHost,
    private readonly tenures: Pick<ActorTenures, "freshCopy">,
  ) {}

  /** Null: there is none that is read. */
  partition(number: number): Partition | null {
    return this.copies.get(number)?.partition ?? null;
  }

  /** A copy that is at least that new is there to be read; false: it cannot be had. */
  async isThere(partition: number, notBefore: Moment): Promise<boolean> {
    const moment = await this.tenures.freshCopy(partition, notBefore);
    if (moment === null || !this.copies.has(partition)) return false;
    this.moments.set(partition, moment);
    return true;
  }

  /** The tenant in a copy; null: its owner has to answer, since it is not all there, or its reads are counted. */
  tenantOf(partition: Partition, number: number, lead: string | undefined): Tenant | null {
    const copy = this.copies.get(partition.number);
    if (copy?.partition !== partition || partition.places.get(number) !== undefined) return null;
    if (hasBudget(partition.keyBudgets.budgetOf(number))) return null;
    if (lead !== undefined && hasBudget(leadOf(lead))) return null;
    let tenant = copy.tenants.get(number);
    if (tenant === undefined) {
      // It may have come to the partition since.
      if (!hasEntries(partition.shard, number)) return null;
      tenant = copyTenant(partition, number);
      copy.tenants.set(number, tenant);
    }
    return tenant;
  }

  /** How old what is read now may be, whole milliseconds. */
  ageMs(partition: number): number | null {
    const moment = this.moments.get(partition);
    return moment === undefined ? null : Math.ceil(ageMs(moment));
  }

  /** For the client, where nobody else can answer. */
  whyNot(partition: number, staleMs: number): string {
    const age = this.ageMs(partition);
    const known = age === null ? "there is none that can be read" : `the one of this node may be ${age} ms old`;
    return `No copy of the partition is at most ${staleMs} ms old: ${known}, and no owner is known.`;
  }

  async open(number: number): Promise<OpenedCopy> {
    let opened: Partition | undefined;
    const partition = await this.host.open(number, {
      wroteSomething: () => undefined,
      durable: (sequence) => {
        opened?.onDisk(sequence);
        this.host.armTurn();
      },
      // The commits are read again, and what has seen them ends.
      undone: (first, error) => opened?.undo(first, error),
      failed: (error) => opened?.gate.refuse(0, error),
    });
    opened = partition;
    const copy: Copy = { partition, tenants: new Map() };
    this.copies.set(number, copy);
    const log = new FollowedLog(partition.shard, {
      took: (commits) => this.took(copy, commits),
      durable: () => partition.durable(),
      close: () => this.close(number, copy),
    });
    return {
      log,
      get tenants() {
        return copy.tenants.size;
      },
      get failed() {
        return partition.shard.failed;
      },
    };
  }

  private took({ partition, tenants }: Copy, commits: readonly Commit[]): void {
    for (const tenant of tenants.values()) tenant.catalog.followed(partition.shard.committedSequence);
    const isPlace = (key: Uint8Array): boolean => Buffer.compare(key.subarray(0, PLACES.length), PLACES) === 0;
    if (commits.some(({ operations }) => operations.some(({ key }) => isPlace(key)))) partition.places.reload();
  }

  /** Ends what reads it. */
  private async close(number: number, { partition }: Copy): Promise<void> {
    this.copies.delete(number);
    this.moments.delete(number);
    partition.endWork();
    for (const request of this.host.running(partition)) request.end(copyCloses());
    this.host.armTurn();
    const until = performance.now() + STOPPING_MS;
    while (this.host.running(partition).length > 0 && performance.now() < until) await sleep(LOOK_MS);
    await partition.close();
  }
}

/** What read it did not end before. */
export function isCopyClosed(error: unknown): boolean {
  return error instanceof DbError && ["partition_unavailable", "shutting_down"].includes(error.code);
}

/** What is said where a read that may be stale was to write; null: it was not that. */
export function staleWrites(error: unknown): DbError | null {
  if (!(error instanceof DbError)) return null;
  const isOfWriter = error.details?.sqlstate === "25006" || error.code === "read_only_transaction";
  if (!isOfWriter && !isRefusedToReader(error)) return null;
  const why = "A read that may be stale writes nothing. Leave the header X-Tessera-Consistency out.";
  return new DbError("read_only_transaction", why, { field: "X-Tessera-Consistency", sqlstate: "25006" });
}
