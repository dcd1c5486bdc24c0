/**
 * The commit log of a partition that this node owns: commits go to the log service, and into this node's own log when
 * the service has acknowledged them. The shard above applies them to its engine only then (`applyWhen: "durable"`). So
 * nothing that the service may not have touches this node's disk, and an owner that was deposed has nothing to take
 * back.
 *
 *   append ─▶ queue (memory) ─▶ one append at a time ─▶ acknowledged ─▶ own log ─▶ sync resolves
 *
 * While an append is under way, what comes is gathered for the next (append-gathering.ts). Owned by one shard;
 * belongs to one epoch.
 */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../protocol/errors.js";
import type { OwnedMetrics } from "../protocol/messages.js";
import type { CommitLog, LogEntry, PartsFiles } from "../storage/commit-log.js";
import { type Loggable, PARTS_IDS, partsKey, RECORD_KIND, recordBytes, writeRecord } from "../storage/log-record.js";
import type { CommitParts, Operation } from "../storage/operation.js";
import type { LoadPart } from "../storage/sorted-run.js";
import { AppendGathering } from "./append-gathering.js";
import { SYSTEM_CLOCK } from "./lease-memory.js";
import { APPEND_HEADER_BYTES, damagedLog, writeAppend } from "./log-append.js";
import { LogFollower } from "./log-follower.js";
import type { LogAppend, LogService, Position } from "./log-service.js";
import { TrimPoints } from "./trim-points.js";

export interface ReplicatedCommitLogOptions {
  readonly service: Pick<LogService, "append" | "settle" | "tail" | "trim">;
  readonly partition: number;
  /** Of this node's claim. */
  readonly epoch: number;
  /** This node's own log. */
  readonly local: CommitLog;
  /** Why writes are refused at the moment (cell-room.ts). */
  readonly refusal?: () => DbError | null;
  /** Sizes that tests make small. */
  readonly appendBytesMax?: number;
  readonly queueBytesMax?: number;
  readonly manyCommits?: number;
}

interface Queued {
  readonly bytes: Buffer;
  /** Null: a part of a commit. */
  readonly sequence: number | null;
  readonly partsId: number | null;
}

interface Waiter {
  /** Of all that was queued since open. */
  readonly count: number;
  readonly resolve: () => void;
  readonly reject: (error: DbError) => void;
}

/** etcd takes requests of up to 1.5 MiB. */
const APPEND_BYTES_MAX = 1024 * 1024;
const QUEUE_BYTES_MAX = 8 * 1024 * 1024;
const QUEUE_RECORDS_MAX = 4096;
/** An append that has waited for so long makes new ones be refused. */
const STALLED_MS = 5000;
const RETRY_MS = 100;
/** Before each sync of this node's own log. */
const LOCAL_SYNC_MS = 50;

export class ReplicatedCommitLog implements CommitLog {
  /** Copies hold the parts of a commit until they have its own record. */
  readonly takesAnySize = false;
  private readonly options: ReplicatedCommitLogOptions;
  private readonly local: CommitLog;
  private readonly follower: LogFollower;
  private readonly points = new TrimPoints();
  private readonly gathering: AppendGathering;
  /** Not acknowledged, oldest first; the first ones may be under way. */
  private queue: Queued[] = [];
  private queueBytes = 0;
  private readonly counted = { appends: 0, appendSeconds: 0, appendedBytes: 0 };
  private queued = 0;
  private acknowledged = 0;
  /** The newest commit that was queued. */
  private last: number;
  /** The newest commit when a large commit's parts began. */
  private readonly partsBegan = new Map<number, number>();
  /** Large commits by their parts, until the log of this node is trimmed. */
  private readonly completed = new Map<number, number>();
  /** Parts that no commit will name, of which some are queued. */
  private readonly dropped = new Set<number>();
  private waiters: Waiter[] = [];
  private pumping: Promise<void> | null = null;
  /** When the append began that is under way. */
  private sentAt: number | null = null;
  private failure: DbError | null = null;
  private isClosing = false;
  private localSync: Promise<void> | null = null;
  private readonly closing = new AbortController();
  /** The newest commit that this node has on its disk. */
  durableHere: number;
  private resolveEnded = (): void => {};
  /** All was acknowledged and nothing is appended any more: what is left is to close this node's files. */
  readonly ended = new Promise<void>((resolve) => {
    this.resolveEnded = resolve;
  });

  /** Takes what this node lacks from the service first. Throws as LogFollower.catchUp does, and log_unavailable. */
  static async open(options: ReplicatedCommitLogOptions): Promise<ReplicatedCommitLog> {
    const log = new ReplicatedCommitLog(options);
    await log.follower.catchUp(patient(options.service), options.partition, (append) =>
      log.points.add(append.position),
    );
    log.last = options.local.lastSequence;
    await options.local.sync();
    log.durableHere = log.last;
    return log;
  }

  private constructor(options: ReplicatedCommitLogOptions) {
    this.options = options;
    this.local = options.local;
    this.follower = new LogFollower(options.local);
    this.gathering = new AppendGathering(options.manyCommits);
    this.last = options.local.lastSequence;
    this.durableHere = 0;
  }

  get metrics(): Omit<OwnedMetrics, "partition" | "epoch"> {
    return { ...this.counted, unacknowledgedBytes: this.queueBytes };
  }

  append(commits: readonly Loggable[]): void {
    if (commits.length === 0) return;
    const { refusal } = this.options;
    const why = refusal?.() ?? null;
    if (why !== null) throw why;
    const records = commits.map((commit) => (commit.parts === undefined ? commit : this.wholeOf(commit)));
    let bytes = 0;
    for (const record of records) bytes += recordBytes(record);
    this.checkRoom(bytes, records.length);
    for (const record of records) {
      const kind = record.parts === undefined ? RECORD_KIND.commit : RECORD_KIND.whole;
      this.push(encoded(kind, record), record.sequence, null);
      this.last = record.sequence;
    }
    for (const { parts, sequence } of commits) {
      if (parts === undefined) continue;
      this.partsBegan.delete(parts.id);
      this.completed.set(parts.id, sequence);
    }
  }

  private wholeOf(commit: Loggable): Loggable {
    const { id, operations } = commit.parts!;
    const key = partsKey({ id, operations, firstSegment: this.partsBegan.get(id) ?? this.last });
    return { ...commit, operations: [{ key, value: null }, ...commit.operations] };
  }

  beginParts(): CommitParts {
    return { id: randomInt(1, PARTS_IDS), operations: 0 };
  }

  readonly partsDisk = null;

  appendPart(parts: CommitParts, operations: readonly Operation[] | LoadPart): null {
    const record: Loggable = { sequence: this.last, micros: parts.id, operations };
    this.checkRoom(recordBytes(record), 1);
    if (!this.partsBegan.has(parts.id)) this.partsBegan.set(parts.id, this.last);
    this.push(encoded(RECORD_KIND.part, record), null, parts.id);
    parts.operations += operations.length;
    return null;
  }

  filesOf(parts: CommitParts): PartsFiles | null {
    const own = this.follower.partsOf(parts.id);
    return own === null ? null : this.local.filesOf(own);
  }

  dropParts(parts: CommitParts): void {
    this.partsBegan.delete(parts.id);
    this.completed.delete(parts.id);
    this.dropped.add(parts.id);
    this.endDropped();
  }

  /** Those that are not queued any more are in this node's log, if anywhere. */
  private endDropped(): void {
    for (const id of this.dropped) {
      if (this.queue.some(({ partsId }) => partsId === id)) continue;
      this.dropped.delete(id);
      this.points.dropped(id);
      this.follower.dropParts(id);
    }
  }

  /** The engine has only what this log has acknowledged, so there are no gaps. */
  appendGap(sequence: number): void {
    throw damagedLog(`it ends at ${this.last}, and this node's engine has commits up to ${sequence}`);
  }

  private checkRoom(bytes: number, records: number): void {
    if (this.failure !== null) throw this.failure;
    if (this.isClosing) throw new DbError("shutting_down");
    if (this.sentAt !== null && performance.now() - this.sentAt > STALLED_MS) {
      throw new DbError("log_unavailable", "The replicated log has not answered for seconds; nothing was written.");
    }
    const { queueBytesMax = QUEUE_BYTES_MAX } = this.options;
    const isFull = this.queueBytes + bytes > queueBytesMax || this.queue.length + records > QUEUE_RECORDS_MAX;
    // One that is larger than the bound goes by itself.
    if (isFull && this.queue.length > 0) {
      throw new DbError("overloaded", "The replicated log does not keep up; nothing was written. Retry shortly.");
    }
  }

  private push(bytes: Buffer, sequence: number | null, partsId: number | null): void {
    this.queue.push({ bytes, sequence, partsId });
    this.queueBytes += bytes.length;
    this.queued++;
    this.gathering.came(this.queue.length);
  }

  sync(): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.queue.length === 0) return Promise.resolve();
    this.pumping ??= this.pump();
    return new Promise((resolve, reject) => this.waiters.push({ count: this.queued, resolve, reject }));
  }

  /** Sends what is queued until there is nothing more. Never rejects. */
  private async pump(): Promise<void> {
    try {
      while (this.queue.length > 0) {
        await this.gathering.wait(() => this.queue.length);
        const group = this.nextGroup();
        const beganMs = performance.now();
        await this.send(group);
        this.queue = this.queue.slice(group.length);
        this.gathering.appended(group.length, this.queue.length, performance.now() - beganMs);
        for (const { bytes } of group) this.queueBytes -= bytes.length;
        this.acknowledged += group.length;
        if (this.dropped.size > 0) this.endDropped();
        const done = this.waiters.filter(({ count }) => count <= this.acknowledged);
        this.waiters = this.waiters.filter(({ count }) => count > this.acknowledged);
        for (const { resolve } of done) resolve();
        this.localSync ??= this.syncLocal();
      }
    } catch (error) {
      this.fail(error);
    }
    this.pumping = null;
  }

  private fail(error: unknown): void {
    this.failure ??=
      error instanceof DbError ? error : new DbError("partition_unavailable", `The replicated log failed: ${error}.`);
    for (const { reject } of this.waiters.splice(0)) reject(this.failure);
  }

  private nextGroup(): readonly Queued[] {
    const { appendBytesMax = APPEND_BYTES_MAX } = this.options;
    let bytes = APPEND_HEADER_BYTES;
    let length = 0;
    for (const each of this.queue) {
      bytes += each.bytes.length;
      if (bytes > appendBytesMax && length > 0) break;
      length++;
    }
    return this.queue.slice(0, length);
  }

  /** In one append, or several if a single record is too long for one. Then this node's own log has it, too. */
  private async send(group: readonly Queued[]): Promise<void> {
    const { appendBytesMax = APPEND_BYTES_MAX, epoch } = this.options;
    const body = group.length === 1 ? group[0]!.bytes : Buffer.concat(group.map(({ bytes }) => bytes));
    const last = group.findLast(({ sequence }) => sequence !== null)?.sequence ?? null;
    const most = appendBytesMax - APPEND_HEADER_BYTES;
    for (let at = 0; at < body.length; at += most) {
      const position = this.follower.next;
      const isContinued = at + most < body.length;
      const head = {
        epoch,
        first: position.sequence,
        last: isContinued || last === null ? position.sequence - 1 : last,
        isContinued,
        continues: at > 0,
      };
      const append = { position, bytes: writeAppend(head, this.follower.chainEnd, body.subarray(at, at + most)) };
      await this.put(append);
      this.points.add(position);
      for (const { partsId } of group) if (partsId !== null) this.points.began(partsId, position);
      this.follower.take(append);
    }
  }

  /** Resolves when the service has it, however long that takes; rejects when it never will have, or nobody can say. */
  private async put(append: LogAppend): Promise<void> {
    const { service, partition, epoch } = this.options;
    this.sentAt = performance.now();
    const began = SYSTEM_CLOCK.monotonicMs();
    for (;;) {
      const outcome = await service.append(partition, epoch, append).catch(unknownOutcome);
      if (outcome === "appended") break;
      if (outcome === "fenced") throw deposed();
      if (outcome !== "full" && (await this.isThere(append))) break;
      if (outcome === "full" && this.isClosing) throw new DbError("log_unavailable", "The log service has no room.");
      await sleep(RETRY_MS);
    }
    this.counted.appendSeconds += (SYSTEM_CLOCK.monotonicMs() - began) / 1000;
    this.counted.appends++;
    this.counted.appendedBytes += append.bytes.length;
    this.sentAt = null;
  }

  /** Whether an append of unknown outcome was done. If not, the same bytes may be sent again. */
  private async isThere(append: LogAppend): Promise<boolean> {
    const { service, partition, epoch } = this.options;
    for (;;) {
      const settled = await service.settle(partition, append.position).catch(unknownOutcome);
      if (settled !== "unknown") {
        const isOwner = settled.owner?.epoch === epoch;
        if (settled.bytes === null && isOwner) return false;
        if (settled.bytes !== null && Buffer.compare(settled.bytes, append.bytes) === 0) return true;
        if (!isOwner) throw deposed();
        const where = `${append.position.sequence}.${append.position.part}`;
        throw damagedLog(`at ${where} stands another append of epoch ${epoch} than was made`);
      }
      if (this.isClosing)
        throw new DbError("partition_unavailable", "The replicated log did not answer before the end.");
      await sleep(RETRY_MS);
    }
  }

  /**
   * This node's disk has no part in what is acknowledged: it follows at its own pace, for many appends at once, so that
   * it seldom holds up the disk of an etcd member beside it.
   */
  private async syncLocal(): Promise<void> {
    try {
      while (this.durableHere < this.local.lastSequence) {
        await sleep(LOCAL_SYNC_MS, undefined, { signal: this.closing.signal }).catch(() => undefined);
        const upTo = this.local.lastSequence;
        await this.local.sync();
        this.durableHere = upTo;
      }
    } catch (error) {
      this.fail(error);
    }
    this.localSync = null;
  }

  /**
   * Drops from the service what enough nodes have on their disks: commits up to that sequence. The newest append stays.
   * False: there was nothing.
   */
  async trimReplicated(sequence: number): Promise<boolean> {
    for (const [id, commit] of this.completed) this.points.completed(id, commit);
    const before: Position | null = this.points.before(sequence);
    if (before === null) return false;
    await this.options.service.trim(this.options.partition, before);
    this.points.trimmed(before);
    return true;
  }

  /** A copy can follow that has all commits before this one. */
  get followableFrom(): number {
    return this.points.firstSequence;
  }

  get firstSequence(): number {
    return this.local.firstSequence;
  }

  get lastSequence(): number {
    return this.local.lastSequence;
  }

  get lastMicros(): number {
    return this.local.lastMicros;
  }

  get bytesAppended(): number {
    return this.local.bytesAppended;
  }

  get keeps(): CommitLog["keeps"] {
    return this.local.keeps;
  }

  set keeps(keeps: CommitLog["keeps"]) {
    this.local.keeps = keeps;
  }

  replay(fromSequence: number): Iterable<LogEntry> {
    return this.local.replay(fromSequence);
  }

  sequenceBefore(micros: number): number {
    return this.local.sequenceBefore(micros);
  }

  trim(sequence: number): void {
    this.local.trim(sequence);
    for (const [id, commit] of this.completed) {
      if (commit > sequence) continue;
      this.points.completed(id, commit);
      this.completed.delete(id);
      this.follower.forgetParts(id);
    }
  }

  /** What has no answer by then is of unknown outcome. */
  async close(): Promise<void> {
    if (this.queue.length > 0 && this.failure === null) this.pumping ??= this.pump();
    this.isClosing = true;
    this.closing.abort();
    await this.pumping;
    if (this.failure === null) this.resolveEnded();
    await this.localSync;
    await this.local.close();
  }
}

function encoded(kind: (typeof RECORD_KIND)[keyof typeof RECORD_KIND], record: Loggable): Buffer {
  const bytes = Buffer.allocUnsafe(recordBytes(record));
  writeRecord(bytes, 0, { salt: 0, kind, durable: 0 }, record);
  return bytes;
}

function unknownOutcome(error: unknown): "unknown" {
  if (error instanceof DbError && error.code === "log_unavailable") return "unknown";
  throw error;
}

function deposed(): DbError {
  const what = "The partition has another owner now. Whether changes that were not answered were made is not known.";
  return new DbError("partition_unavailable", what);
}

/** A read may be made again. If one fails while a partition opens, the actor ends, with all else that it serves. */
function patient(service: Pick<LogService, "tail">): Pick<LogService, "tail"> {
  const tail: LogService["tail"] = async (...asked) => {
    const beganMs = SYSTEM_CLOCK.monotonicMs();
    for (;;) {
      try {
        return await service.tail(...asked);
      } catch (error) {
        const isSilent = error instanceof DbError && error.code === "log_unavailable";
        if (!isSilent || SYSTEM_CLOCK.monotonicMs() - beganMs >= STALLED_MS) throw error;
        await sleep(RETRY_MS);
      }
    }
  };
  return { tail };
}
