/**
 * The jobs of a partition's tenants: work that no client waits for. The life of one:
 *
 *  1. A handler asks `admit`, then writes the job's record (`putJob`) in the transaction that makes the job, and calls
 *     `start` after the commit.
 *  2. Once that is on disk, the job runs when its tenant has room for one more of its kind; others wait in order.
 *  3. The job removes its record (`deleteJob`) in the transaction that ends it, and its run resolves.
 *  4. If something stops it before (the tenant moves, the actor closes or is killed), the record stays, and the job
 *     runs again from where it had got: here after a restart, or in the partition to which the tenant went with its
 *     records.
 *
 * Made and owned by the partition; actor.ts says with `begin` how kinds are run.
 */
import { DbError } from "../../protocol/errors.js";
import { type IdentityChange, isAbout } from "../../protocol/identity.js";
import type { JobRecord } from "../../protocol/placement.js";
import type { JobMetrics } from "../../protocol/thread-metrics.js";
import type { Shard } from "../../storage/shard.js";
import { type JobName, loadJobs, replaceJobs } from "./job-records.js";

/** A kind, as this file knows it. */
export interface RunnableKind {
  readonly name: string;
  /** Of one tenant. */
  readonly runningMax: number;
  readonly waitingMax: number;
  /** `signal` fires when the run is to end without ending the job, or because the job was cancelled. */
  run(job: JobRecord, signal: AbortSignal): Promise<void>;
  /** Ends the job for good; absent: jobs of the kind go on without their maker. */
  fail?(job: JobRecord, error: DbError): Promise<void>;
}

export interface JobsHost {
  readonly shard: Shard;
  /** Resolves when everything that was committed is on disk. */
  durable(): Promise<void>;
  flushSoon(): void;
  /** The tenant's data are here for certain. */
  isServed(tenant: number): boolean;
  /** It has left for certain. */
  hasLeft(tenant: number): boolean;
}

interface Entry {
  readonly record: JobRecord;
  readonly controller: AbortController;
  /** Null while it waits. */
  run: Promise<void> | null;
  /** Its tenant came back while it was still stopping. */
  runAgain: boolean;
  /** The waiters for its end. */
  readonly ended: (() => void)[];
}

/** How long a job may take to stop before a move of its tenant is given up. */
const STOPPING_MS = 10_000;

export class BackgroundJobs {
  private kinds: ReadonlyMap<string, RunnableKind> = new Map();
  private failed: (job: JobRecord, error: unknown) => void = () => undefined;
  /** By tenant, then by kind and id, in the order in which they run. */
  private readonly tenants = new Map<number, Map<string, Entry>>();
  private readonly paused = new Set<number>();
  private begun = false;
  private closing = false;

  constructor(private readonly host: JobsHost) {}

  /** Runs the jobs in the records; `failed` receives runs that threw although nobody stopped them. */
  begin(kinds: readonly RunnableKind[], failed: (job: JobRecord, error: unknown) => void): void {
    this.kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    this.failed = failed;
    this.begun = true;
    const left = new Set<number>();
    for (const record of loadJobs(this.host.shard)) {
      if (this.host.hasLeft(record.tenant)) left.add(record.tenant);
      else if (this.host.isServed(record.tenant)) this.add(record);
    }
    for (const tenant of left) this.left(tenant);
    for (const tenant of this.tenants.keys()) this.next(tenant);
  }

  /** By kind: those that run, and those that wait for their turn. */
  get metrics(): JobMetrics[] {
    const counts = new Map<string, { running: number; waiting: number }>();
    for (const kind of this.kinds.keys()) counts.set(kind, { running: 0, waiting: 0 });
    for (const entries of this.tenants.values()) {
      for (const { record, run } of entries.values()) {
        const count = counts.get(record.kind);
        if (count !== undefined) count[run === null ? "waiting" : "running"]++;
      }
    }
    return [...counts].map(([kind, count]) => ({ kind, ...count }));
  }

  /** Throws rate_limited when the tenant has as many jobs of the kind as it may. */
  admit(tenant: number, kind: string): void {
    const { runningMax, waitingMax } = this.kinds.get(kind)!;
    let count = 0;
    for (const { record } of this.tenants.get(tenant)?.values() ?? []) if (record.kind === kind) count++;
    if (count < runningMax + waitingMax) return;
    throw new DbError(
      "rate_limited",
      `${count} jobs of this kind are already running or waiting, which is the limit for a tenant.`,
      {
        retry_after_seconds: 10,
      },
    );
  }

  /** After the commit of the job's record; it runs once that is on disk. */
  start(record: JobRecord): void {
    if (this.closing || this.paused.has(record.tenant)) return;
    const entry = this.add(record);
    entry.run ??= this.host.durable().then(
      () => {
        entry.run = null;
        if (!entry.controller.signal.aborted) this.next(record.tenant);
        else this.forget(entry);
      },
      // The commit was undone, and with it the job.
      () => this.forget(entry),
    );
  }

  /** Jobs of a kind that a statement may have made or ended begin, or end, as the records say now. */
  look(tenant: number, kind: string): void {
    if (!this.begun || this.closing || this.paused.has(tenant)) return;
    const records = loadJobs(this.host.shard, tenant).filter((record) => record.kind === kind);
    const entries = this.tenants.get(tenant);
    const ids = new Set(records.map(({ id }) => id));
    for (const { record } of entries?.values() ?? []) {
      if (record.kind === kind && !ids.has(record.id)) void this.cancel(record);
    }
    for (const record of records) if (!entries?.has(nameOf(kind, record.id))) this.start(record);
  }

  /** The job was ended by somebody else: its run, if any, ends. Resolves when it has. */
  async cancel({ tenant, kind, id }: JobName): Promise<void> {
    const entry = this.tenants.get(tenant)?.get(nameOf(kind, id));
    if (entry === undefined) return;
    entry.controller.abort(new DbError("cancelled"));
    if (entry.run === null) this.forget(entry);
    else await entry.run;
    this.next(tenant);
  }

  /** Their maker was disabled or removed: jobs that do not belong to the tenant as a whole end. */
  async identityEnded(change: IdentityChange, error: DbError): Promise<void> {
    const records = [...this.tenants.values()].flatMap((entries) => [...entries.values()].map(({ record }) => record));
    for (const record of records) {
      const kind = this.kinds.get(record.kind);
      if (kind?.fail === undefined || !isAbout(change, record.owner)) continue;
      try {
        await kind.fail(record, error);
        await this.cancel(record);
      } catch (thrown) {
        this.failed(record, thrown);
      }
    }
  }

  /** Resolves when the job's run has ended and it does not wait for another. */
  whenEnded({ tenant, kind, id }: JobName): Promise<void> {
    const entry = this.tenants.get(tenant)?.get(nameOf(kind, id));
    if (entry === undefined) return Promise.resolve();
    return new Promise((resolve) => entry.ended.push(resolve));
  }

  /** Stops the tenant's jobs until `resume`; their records stay. Rejects when one of them does not stop in time. */
  async pause(tenant: number): Promise<void> {
    this.paused.add(tenant);
    const entries = [...(this.tenants.get(tenant)?.values() ?? [])];
    for (const entry of entries) if (entry.run === null) this.forget(entry);
    for (const { controller } of entries) controller.abort(new DbError("cancelled"));
    const stopped = Promise.all(entries.map(({ run }) => run));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("its jobs do not stop")), STOPPING_MS);
    });
    await Promise.race([stopped, late]).finally(() => clearTimeout(timer));
  }

  /** The tenant is here: its jobs run as the records say. */
  resume(tenant: number): void {
    this.paused.delete(tenant);
    if (!this.begun || this.closing) return;
    for (const record of loadJobs(this.host.shard, tenant)) {
      const entry = this.tenants.get(tenant)?.get(nameOf(record.kind, record.id));
      if (entry === undefined) this.add(record);
      else entry.runAgain ||= entry.controller.signal.aborted;
    }
    this.next(tenant);
  }

  /** For the partition to which the tenant goes. */
  recordsOf(tenant: number): readonly JobRecord[] {
    return loadJobs(this.host.shard, tenant);
  }

  /** The tenant is elsewhere for good; its jobs were stopped before. */
  left(tenant: number): void {
    this.drop(tenant);
    const tx = this.host.shard.begin({ isolation: "read committed" });
    replaceJobs(tx, tenant, []);
    tx.commit();
    this.host.flushSoon();
  }

  /** The records of the tenant's jobs are gone: what runs ends. */
  drop(tenant: number): void {
    for (const entry of [...(this.tenants.get(tenant)?.values() ?? [])]) {
      entry.controller.abort(new DbError("cancelled"));
      this.forget(entry);
    }
    this.paused.delete(tenant);
  }

  /** Commits were undone: what is stored counts. */
  undone(): void {
    for (const tenant of [...this.tenants.keys()]) {
      void this.pause(tenant).then(
        () => this.resume(tenant),
        () => this.resume(tenant),
      );
    }
  }

  /** Stops all of them; their records stay. Resolves when none runs any more. */
  async close(): Promise<void> {
    this.closing = true;
    const runs: (Promise<void> | null)[] = [];
    for (const entries of this.tenants.values()) {
      for (const { controller, run } of entries.values()) {
        controller.abort(new DbError("shutting_down"));
        runs.push(run);
      }
    }
    await Promise.all(runs);
  }

  private add(record: JobRecord): Entry {
    const { tenant, kind, id } = record;
    let entries = this.tenants.get(tenant);
    if (entries === undefined) {
      entries = new Map();
      this.tenants.set(tenant, entries);
    }
    const name = nameOf(kind, id);
    let entry = entries.get(name);
    if (entry === undefined) {
      entry = { record, controller: new AbortController(), run: null, runAgain: false, ended: [] };
      entries.set(name, entry);
    }
    return entry;
  }

  private forget({ record, ended }: Entry): void {
    const { tenant, kind, id } = record;
    for (const resolve of ended) resolve();
    const entries = this.tenants.get(tenant);
    entries?.delete(nameOf(kind, id));
    if (entries?.size === 0) this.tenants.delete(tenant);
  }

  /** Runs what may run of the tenant's jobs. */
  private next(tenant: number): void {
    if (!this.begun || this.closing || this.paused.has(tenant)) return;
    const running = new Map<string, number>();
    const entries = [...(this.tenants.get(tenant)?.values() ?? [])];
    for (const { record, run } of entries) {
      if (run !== null) running.set(record.kind, (running.get(record.kind) ?? 0) + 1);
    }
    for (const entry of entries) {
      const { kind } = entry.record;
      const count = running.get(kind) ?? 0;
      const runnable = this.kinds.get(kind);
      if (entry.run !== null || runnable === undefined || count >= runnable.runningMax) continue;
      running.set(kind, count + 1);
      entry.run = this.run(entry, runnable);
    }
  }

  private async run(entry: Entry, kind: RunnableKind): Promise<void> {
    const { signal } = entry.controller;
    try {
      await kind.run(entry.record, signal);
    } catch (error) {
      // A fault of ours: the record stays, and the next start tries again.
      if (!signal.aborted) this.failed(entry.record, error);
    }
    this.forget(entry);
    if (entry.runAgain) this.add(entry.record);
    this.next(entry.record.tenant);
  }
}

function nameOf(kind: string, id: string): string {
  return `${kind}/${id}`;
}
