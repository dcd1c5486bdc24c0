/**
 * Brings what a replicated log holds into this node's own commit log, in order and each commit once. Used by an owner
 * for its own appends once they are acknowledged, and by whoever opens a partition for those of the owners before.
 */
import { DbError } from "../protocol/errors.js";
import type { Commit } from "../storage/commit-log.js";
import type { CopyLog } from "../storage/followed-log.js";
import { type LogRecord, RECORD_KIND, readHead, readPartsKey, recordOf } from "../storage/log-record.js";
import type { CommitParts } from "../storage/operation.js";
import { CHAIN_START, damagedLog, type ReadAppend, readAppend } from "./log-append.js";
import { comparePositions, type LogAppend, type LogService, type Position } from "./log-service.js";
import { Turns } from "./turns.js";

/** Appends that are read at a time: each is of up to 1 MiB, and many are of a few KiB. */
const PAGE_APPENDS = 16;
const PAGE_SMALL_APPENDS = 48;
const SMALL_BYTES = 64 * 1024;

/** Records that are needed stand in earlier appends than those that were read. */
class NeedsEarlier extends Error {
  constructor(readonly sequence: number) {
    super(`the log must be read from ${sequence} on`);
  }
}

export class LogFollower {
  /** After the newest append that was taken; null: none was. */
  private chain: Buffer | null = null;
  private epoch = 0;
  /** Where the next append stands. */
  private place: Position;
  /** Parts of large commits to come in this node's log, by their numbers in the replicated one. */
  private readonly parts = new Map<number, CommitParts>();
  /** Of large commits that are there. */
  private readonly complete = new Map<number, CommitParts>();
  private pageAppends = PAGE_APPENDS;
  /** Of a record that is continued. */
  private pieces: Buffer[] = [];

  constructor(private readonly local: CopyLog) {
    this.place = { sequence: local.lastSequence + 1, part: 0 };
  }

  /** Of the log so far; the next append names it. */
  get chainEnd(): Buffer {
    return this.chain ?? CHAIN_START;
  }

  get next(): Position {
    return this.place;
  }

  partsOf(id: number): CommitParts | null {
    return this.complete.get(id) ?? this.parts.get(id) ?? null;
  }

  /** Nobody asks for them any more; their commit is complete. */
  forgetParts(id: number): void {
    this.complete.delete(id);
  }

  /** There will be no such commit. */
  dropParts(id: number): void {
    const parts = this.parts.get(id);
    if (parts !== undefined) this.local.dropParts(parts);
    this.parts.delete(id);
  }

  /**
   * Takes all that the service has. Throws partition_damaged when the log is not one chain, when this node has what it
   * lacks, and when what this node needs was trimmed. A log without appends says nothing: the copy stays as it is.
   */
  async catchUp(
    service: Pick<LogService, "tail">,
    partition: number,
    taken: (append: LogAppend) => void,
  ): Promise<void> {
    let from = this.local.lastSequence + 1;
    for (;;) {
      try {
        await this.follow(service, partition, { sequence: from, part: 0 }, taken);
        return;
      } catch (error) {
        if (!(error instanceof NeedsEarlier)) throw error;
        if (error.sequence >= from)
          throw new CopyBehind(`what begins at ${error.sequence} is not in the replicated log`);
        from = error.sequence;
      }
    }
  }

  private async follow(
    service: Pick<LogService, "tail">,
    partition: number,
    from: Position,
    taken: (append: LogAppend) => void,
  ): Promise<void> {
    this.forget(from);
    const turns = new Turns();
    let newest = 0;
    for (let isFirst = true; ; isFirst = false) {
      const { pageAppends } = this;
      const page = await service.tail(partition, isFirst ? from : this.place, pageAppends);
      const rest = isFirst ? page : page.filter(({ position }) => comparePositions(position, this.place) >= 0);
      if (rest.length === 0) break;
      // What was read last stands there no more, so what followed it may be gone, too.
      if (!isFirst && rest.length === page.length && comparePositions(rest[0]!.position, this.place) > 0)
        throw new CopyBehind(`the log was trimmed up to ${rest[0]!.position.sequence} while it was read`);
      for (const append of rest) {
        // Where the copy is read, its engine takes what is appended.
        if (turns.isOver) await turns.next();
        newest = this.take(append);
        taken(append);
      }
      if (page.length < pageAppends) break;
      const bytes = page.reduce((sum, append) => sum + append.bytes.length, 0);
      this.pageAppends = bytes / page.length <= SMALL_BYTES ? PAGE_SMALL_APPENDS : PAGE_APPENDS;
    }
    const { lastSequence } = this.local;
    if (newest > 0 && newest < lastSequence) {
      throw damagedLog(`it ends at ${newest}, and this node has acknowledged commits up to ${lastSequence}`);
    }
  }

  /** What was read so far is read again. */
  private forget(from: Position): void {
    this.endEpoch();
    this.chain = null;
    this.epoch = 0;
    this.place = from;
  }

  /** Of the owner before: what it left half done never will be. */
  private endEpoch(): void {
    for (const id of [...this.parts.keys()]) this.dropParts(id);
    this.pieces = [];
  }

  /** Takes the next append; answers the newest sequence that the log has then. */
  take({ position, bytes }: LogAppend): number {
    const append = readAppend(bytes);
    this.check(append, position);
    if (append.epoch > this.epoch) this.endEpoch();
    if (append.continues !== this.pieces.length > 0) throw new NeedsEarlier(append.first);
    this.pieces.push(append.body);
    if (!append.isContinued) {
      const body = this.pieces.length === 1 ? append.body : Buffer.concat(this.pieces);
      this.pieces = [];
      this.takeRecords(body);
    }
    this.epoch = append.epoch;
    this.chain = Buffer.from(append.after);
    const { first, last } = append;
    this.place = last >= first ? { sequence: last + 1, part: 0 } : { sequence: first, part: position.part + 1 };
    return last;
  }

  private check({ before, epoch, first }: ReadAppend, position: Position): void {
    if (position.sequence !== first)
      throw damagedLog(`the append at ${position.sequence} says that it begins at ${first}`);
    if (epoch < this.epoch) throw damagedLog(`the append at ${first} has epoch ${epoch}, the one before ${this.epoch}`);
    if (this.chain === null || this.chain.equals(before)) return;
    const digests = `${before.toString("hex")}, not ${this.chain.toString("hex")}`;
    throw damagedLog(`the append at ${first} follows the digest ${digests}`);
  }

  private takeRecords(body: Buffer): void {
    let commits: Commit[] = [];
    const flush = () => {
      if (commits.length > 0) this.local.append(commits);
      commits = [];
    };
    let last = this.local.lastSequence;
    for (let at = 0; at < body.length; ) {
      const head = readHead(body, at, 0);
      if (head === null) throw damagedLog(`a record after commit ${last} cannot be read`);
      const record = recordOf(body, at, head);
      at = head.end;
      if (head.kind === RECORD_KIND.part) {
        flush();
        this.takePart(record);
        continue;
      }
      if (record.sequence <= last) {
        if (head.kind === RECORD_KIND.whole) this.dropParts(readPartsKey(record.operations[0]!.key).id);
        continue;
      }
      if (record.sequence !== last + 1)
        throw new CopyBehind(`the copy ends at commit ${last}, and the replicated log begins at ${record.sequence}`);
      last = record.sequence;
      commits.push(head.kind === RECORD_KIND.whole ? this.wholeOf(record) : commitOf(record));
    }
    flush();
  }

  private takePart({ micros: id, operations }: LogRecord): void {
    let parts = this.parts.get(id);
    if (parts === undefined) {
      parts = this.local.beginParts();
      this.parts.set(id, parts);
    }
    this.local.appendPart(parts, operations);
  }

  private wholeOf(record: LogRecord): Commit {
    const { id, operations, firstSegment } = readPartsKey(record.operations[0]!.key);
    const parts = this.parts.get(id);
    if (parts === undefined || parts.operations !== operations) throw new NeedsEarlier(firstSegment);
    this.parts.delete(id);
    this.complete.set(id, parts);
    return { ...commitOf(record), operations: record.operations.slice(1), parts };
  }
}

function commitOf({ sequence, micros, operations, before }: LogRecord): Commit {
  return before === undefined ? { sequence, micros, operations } : { sequence, micros, operations, before };
}

/** What this node lacks was trimmed: only another node's state can help. */
export class CopyBehind extends DbError {
  constructor(why: string) {
    super("partition_damaged", `This node cannot open the partition before it has been copied from its owner: ${why}.`);
  }
}
