/** A commit log that dies with the process, for tests and for shards that are configured to live in memory. */
import { type Commit, type CommitLog, type LogEntry, lastMicrosOf } from "./commit-log.js";
import type { CommitParts, Operation } from "./operation.js";
import type { LoadPart } from "./sorted-run.js";

export class MemoryCommitLog implements CommitLog {
  readonly takesAnySize = true;
  readonly partsDisk = null;
  private entries: LogEntry[] = [];
  private trimmed = 0;
  private nextParts = 1;
  private readonly parts = new Map<number, Operation[]>();
  bytesAppended = 0;
  lastMicros = 0;
  keeps: CommitLog["keeps"] = null;

  get firstSequence(): number {
    return this.entries[0]?.sequence ?? this.lastSequence + 1;
  }

  get lastSequence(): number {
    return this.entries.at(-1)?.sequence ?? this.trimmed;
  }

  append(commits: readonly Commit[]): void {
    for (const { sequence, micros, operations, parts, before } of commits) {
      const early = parts === undefined ? [] : this.parts.get(parts.id)!;
      if (parts !== undefined) this.parts.delete(parts.id);
      const old = before === undefined ? {} : { before };
      this.entries.push({ sequence, micros, operations: early.concat(operations), gap: false, ...old });
      this.lastMicros = Math.max(this.lastMicros, lastMicrosOf(this.entries.at(-1)!));
      this.count(operations);
    }
  }

  beginParts(): CommitParts {
    const id = this.nextParts++;
    this.parts.set(id, []);
    return { id, operations: 0 };
  }

  appendPart(parts: CommitParts, operations: readonly Operation[] | LoadPart): null {
    this.parts.get(parts.id)!.push(...operations);
    parts.operations += operations.length;
    this.count(operations);
    return null;
  }

  filesOf(): null {
    return null;
  }

  dropParts(parts: CommitParts): void {
    this.parts.delete(parts.id);
  }

  private count(operations: Iterable<Operation>): void {
    for (const { key, value } of operations) this.bytesAppended += key.length + (value?.length ?? 0);
  }

  appendGap(sequence: number, micros: number): void {
    this.entries.push({ sequence, micros, operations: [], gap: true });
  }

  async sync(): Promise<void> {}

  *replay(fromSequence: number): Iterable<LogEntry> {
    for (const entry of [...this.entries]) if (entry.sequence >= fromSequence) yield entry;
  }

  sequenceBefore(): number {
    return this.firstSequence;
  }

  trim(sequence: number): void {
    this.trimmed = this.lastSequence;
    const after = this.keeps?.afterMicros ?? Number.POSITIVE_INFINITY;
    this.entries = this.entries.filter((entry) => entry.sequence > sequence || entry.micros > after);
  }

  async close(): Promise<void> {}
}
