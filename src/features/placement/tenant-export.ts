/**
 * The source's side of a move: copies the tenant's entries to the target while the tenant is served, then drains it
 * and sends the rest.
 *
 *   copy   ranges of keys in order, each read as it is now; changes of what was copied before follow in the same stream
 *   drain  jobs are stopped, open transactions of clients are waited for; then new requests wait, and running ones end
 *   send   the last changes and what is only in memory, once nothing of the tenant can change any more
 *
 * The stream is in order, so the target ends with exactly the engine's entries. What the target holds in between never
 * existed at any moment, and nobody reads it. Made by placement.ts, one per tenant that leaves.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Partition } from "../../actor/partition.js";
import type { Scheduler } from "../../actor/scheduler.js";
import { encodeEntries } from "../../backup/entries-buffer.js";
import { DbError } from "../../protocol/errors.js";
import type { TenantMemory } from "../../protocol/placement.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import type { Operation } from "../../storage/operation.js";
import { FEED } from "../feed/feed.js";
import { JOBS } from "../jobs/jobs.js";
import { TenantCopy } from "./tenant-copy.js";

/** Bytes that the target may have yet to work off. */
const WINDOW_BYTES = 1024 * 1024;
/** Changes that are left to be sent while the tenant's requests wait. */
const LAST_CHANGES_BYTES = 256 * 1024;
/** Rounds of catching up; a writer that is faster than the copy is stopped by the drain. */
const CATCH_UP_ROUNDS = 20;
/** How long running requests may take while the others wait; then they are ended. */
const RUNNING_MS = 300;
/** How long they may take to end. */
const ENDING_MS = 10_000;
const POLL_MS = 2;

const MOVED = "the tenant was moved to another partition";

export interface ExportHost {
  readonly scheduler: Pick<Scheduler, "yieldTurn">;
  /** Requests of the tenant that run, and other work of the actor's that may write for it. */
  running(partition: Partition, tenant: number): readonly { end(error: DbError): void }[];
  /** Takes the kept answers out of memory. */
  takeAnswers(tenant: number): [string, unknown][];
}

export interface ExportOptions {
  readonly transactionsMs: number;
  readonly send: (data: ArrayBuffer, last: TenantMemory | null) => void;
  readonly progress: (state: "copying" | "draining", entries: number, bytes: number) => void;
}

export class TenantExport {
  private readonly stream: TenantCopy;
  private untaken = 0;
  private wake: (() => void) | null = null;
  private stopped = false;
  private entries = 0;
  private bytes = 0;
  /** Kept answers that are on their way; they come back if the tenant stays. */
  answers: [string, unknown][] = [];
  /** When requests began to wait, on the steady clock; null before. */
  heldSince: number | null = null;

  constructor(
    readonly move: string,
    private readonly partition: Partition,
    private readonly tenant: number,
    private readonly host: ExportHost,
    private readonly options: ExportOptions,
  ) {
    this.stream = new TenantCopy(partition.shard, tenant);
  }

  applied(operations: readonly Operation[]): void {
    this.stream.applied(operations);
  }

  taken(bytes: number): void {
    this.untaken -= bytes;
    this.wake?.();
  }

  /** `run` rejects soon. */
  stop(): void {
    this.stopped = true;
    this.wake?.();
  }

  /** Resolves when the last entries are on their way; the tenant is "leaving" then. */
  async run(): Promise<void> {
    await this.copy();
    for (let round = 0; round < CATCH_UP_ROUNDS && this.stream.changeBytes > LAST_CHANGES_BYTES; round++) {
      this.sendChanges(false);
      await this.turn();
    }
    this.options.progress("draining", this.entries, this.bytes);
    await this.drain();
    // Every commit of the tenant is among the changes then.
    await engineHasAll(this.partition.shard, async () => {
      this.check();
      await sleep(0);
    });
    const { places } = this.partition;
    this.answers = this.host.takeAnswers(this.tenant);
    const memory = this.memory();
    places.set(this.tenant, { kind: "leaving", move: this.move });
    await this.partition.durable();
    this.check();
    const changes = this.takeChanges();
    this.bytes += changes.byteLength;
    this.options.progress("draining", this.entries, this.bytes);
    this.options.send(changes, memory);
  }

  private async copy(): Promise<void> {
    const work = { usedMs: 0 };
    while (!this.stream.isCopied) {
      await this.turn();
      await this.host.scheduler.yieldTurn(this.tenant, work);
      this.check();
      this.sendChanges(true);
      const entries = this.stream.next();
      if (entries.length > 0) this.send(entries);
      this.options.progress("copying", this.entries, this.bytes);
    }
  }

  private async drain(): Promise<void> {
    const { partition, tenant } = this;
    const transactions = partition.transactionsOf(partition.tenant(tenant));
    await partition.part(JOBS).queue.pause(tenant);
    this.check();
    await this.until(() => transactions.size === 0, this.options.transactionsMs);
    partition.places.set(tenant, { kind: "held" });
    this.heldSince = performance.now();
    const running = () => this.host.running(partition, tenant);
    if (!(await this.until(() => running().length === 0, RUNNING_MS))) {
      const error = new DbError("partition_unavailable", `The request was ended: ${MOVED}; retry it.`);
      for (const request of running()) request.end(error);
      if (!(await this.until(() => running().length === 0, ENDING_MS))) throw new Error("its requests do not end");
    }
    transactions.endAll(MOVED, true);
    partition.sequences.release(tenant);
  }

  private memory(): TenantMemory {
    const { partition, answers } = this;
    const tenant = partition.tenant(this.tenant);
    return {
      prepared: tenant.prepared.list(),
      answers,
      endedTransactions: partition.transactionsOf(tenant).listEnded(),
      watched: partition.part(FEED).changes.leave(this.tenant),
      jobs: partition.part(JOBS).queue.recordsOf(this.tenant),
    };
  }

  private sendChanges(onlyIfAny: boolean): void {
    if (this.stream.hasChanges || !onlyIfAny) this.post(this.takeChanges());
  }

  private takeChanges(): ArrayBuffer {
    const changes = this.stream.takeChanges();
    this.entries += changes.length;
    return encodeEntries(changes);
  }

  private send(operations: readonly Operation[]): void {
    this.entries += operations.length;
    this.post(encodeEntries(operations));
  }

  private post(data: ArrayBuffer): void {
    this.untaken += data.byteLength;
    this.bytes += data.byteLength;
    this.options.send(data, null);
  }

  /** Waits until the target has processed enough. */
  private async turn(): Promise<void> {
    while (this.untaken >= WINDOW_BYTES && !this.stopped) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = null;
    }
    this.check();
  }

  /** Answers whether it came true in time. */
  private async until(isTrue: () => boolean, ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    while (!isTrue()) {
      if (performance.now() >= end) return false;
      await sleep(POLL_MS);
      this.check();
    }
    return true;
  }

  private check(): void {
    if (this.stopped) throw new Error("the move was stopped");
  }
}
