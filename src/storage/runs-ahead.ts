/**
 * Rows of loads that go into the commit log while their statement still makes more of them, as parts of the commit to
 * come (large-commit.ts): so the disk works beside the statement, and no other file holds them. Until the engine has
 * the commit, readers and the engine take them from the log's files. One per transaction. Where it goes back to a
 * savepoint the parts are dropped; runs that are left are readable, and go into the log again with the commit.
 */
import { DbError } from "../protocol/errors.js";
import type { CheckedTurns } from "../protocol/turns.js";
import type { CommitLog, PartPlace } from "./commit-log.js";
import type { Disk } from "./disk.js";
import { writeParts } from "./large-commit.js";
import type { LargeCommitSizes } from "./large-commit-sizes.js";
import type { Load } from "./load.js";
import type { LoadRun } from "./load-run.js";
import type { CommitParts } from "./operation.js";
import { FRAME_HEAD_BYTES } from "./operation-frame.js";
import { type LoadPart, partsOfRun } from "./sorted-run.js";
import { type BytesShare, type HeldBytes, type RunLog, type Slab, StoredRun } from "./stored-run.js";
import type { TransactionHost } from "./transaction-host.js";
import type { WriteSet } from "./write-set.js";

/** The shard, as it is needed here. */
interface AheadHost {
  readonly log: CommitLog;
  readonly largeSizes: LargeCommitSizes;
  readonly refusal: TransactionHost<unknown>["refusal"];
}

/** Positions in a file are below this; above it is the file's number. */
const FILE_POSITIONS = 2 ** 40;

export class RunsAhead {
  private parts: CommitParts | null = null;

  /** `checkOpen` throws if the transaction has been ended. */
  constructor(
    private readonly host: AheadHost,
    private readonly checkOpen: () => void,
  ) {}

  /**
   * Takes sorted runs of such keys; in the log they come before all other loads, so these must have none. Null: they
   * have, or it is encrypted or in no file, so that what is there cannot be read as it was written.
   */
  begin(
    prefix: Uint8Array,
    writes: Pick<WriteSet, "loads" | "holdFile">,
    shareOf: (held: HeldBytes) => BytesShare,
  ): RunLog | null {
    const { partsDisk } = this.host.log;
    const isFirst = writes.loads.every((load) => load.runsOf(prefix).every((run) => this.has(run.parts)));
    if (partsDisk === null || !isFirst) return null;
    return writes.holdFile((held) => new LoggedRuns(this, partsDisk, shareOf(held)));
  }

  private has(parts: CommitParts | null | undefined): boolean {
    return parts !== null && parts !== undefined && parts === this.parts;
  }

  async write(
    run: LoadRun,
    turns: CheckedTurns,
    written: (part: LoadPart, place: PartPlace) => void,
  ): Promise<CommitParts> {
    const { log, largeSizes, refusal } = this.host;
    if (refusal !== null) throw new DbError(refusal.code, refusal.message);
    this.parts ??= log.beginParts();
    const { parts } = this;
    const all = partsOfRun(run, largeSizes.stepOperations, largeSizes.stepBytes);
    await writeParts(log, parts, all, turns, this.checkOpen, (part, place) => written(part as LoadPart, place!));
    return parts;
  }

  /** Parts that the commit goes on with, if the log has the same runs as the loads; null: there are none. */
  take(loads: readonly Load[]): CommitParts | null {
    const { parts } = this;
    let operations = 0;
    for (const { runs } of loads) for (const run of runs) if (this.has(run.parts)) operations += run.size;
    if (parts === null || parts.operations !== operations) this.drop();
    const taken = this.parts;
    this.parts = null;
    return taken;
  }

  /** There will be no commit of what was written. */
  drop(): void {
    if (this.parts !== null) this.host.log.dropParts(this.parts);
    this.parts = null;
  }
}

/** Runs of one writer of rows, as their readers see them. */
class LoggedRuns implements RunLog {
  length = 0;
  /** Open files by their paths, and in the order of their numbers. A file that the log removes stays readable. */
  private readonly numbers = new Map<string, number>();
  private files: number[] = [];
  private isOpen = true;

  constructor(
    private readonly ahead: RunsAhead,
    private readonly disk: Pick<Disk, "open" | "read" | "close">,
    private readonly share: BytesShare,
  ) {}

  async write(run: LoadRun, firstNumber: number | null, turns: CheckedTurns): Promise<StoredRun> {
    const slabs: Slab[] = [];
    let first = 0;
    const parts = await this.ahead.write(run, turns, (part, place) => {
      const length = part.bytes + FRAME_HEAD_BYTES * part.length;
      this.share.take(length);
      this.length += length;
      const [firstKey, lastKey] = [Uint8Array.from(part.firstKey), Uint8Array.from(part.lastKey)];
      slabs.push({ first, count: part.length, position: this.positionOf(place), length, firstKey, lastKey });
      first += part.length;
    });
    return new StoredRun(run.prefix, slabs, run.deletions, this, firstNumber, parts);
  }

  private positionOf({ path, position }: PartPlace): number {
    let number = this.numbers.get(path);
    if (number === undefined) {
      number = this.files.push(this.disk.open(path, false)) - 1;
      this.numbers.set(path, number);
    }
    return number * FILE_POSITIONS + position;
  }

  read(into: Uint8Array, position: number): number {
    if (!this.isOpen) throw new Error("rows in the log are read after they were closed");
    const file = this.files[Math.floor(position / FILE_POSITIONS)]!;
    const bytes = Buffer.from(into.buffer, into.byteOffset, into.length);
    return this.disk.read(file, position % FILE_POSITIONS, into.length, bytes).length;
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    for (const file of this.files) this.disk.close(file);
    this.files = [];
    this.share.giveBack();
  }
}
