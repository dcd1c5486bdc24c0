/** A commit log that dies with the process, for tests and for shards that are configured to live in memory. */
import type { Commit, CommitLog, LogEntry } from "./commit-log.js";

export class MemoryCommitLog implements CommitLog {
  #entries: LogEntry[] = [];
  #trimmed = 0;
  bytesAppended = 0;

  get firstSequence(): number {
    return this.#entries[0]?.sequence ?? this.lastSequence + 1;
  }

  get lastSequence(): number {
    return this.#entries.at(-1)?.sequence ?? this.#trimmed;
  }

  append(commits: readonly Commit[]): void {
    for (const { sequence, micros, operations } of commits) {
      this.#entries.push({ sequence, micros, operations, gap: false });
      for (const { key, value } of operations) this.bytesAppended += key.length + (value?.length ?? 0);
    }
  }

  appendGap(sequence: number, micros: number): void {
    this.#entries.push({ sequence, micros, operations: [], gap: true });
  }

  async sync(): Promise<void> {}

  *replay(fromSequence: number): Iterable<LogEntry> {
    for (const entry of [...this.#entries]) if (entry.sequence >= fromSequence) yield entry;
  }

  trim(sequence: number): void {
    this.#trimmed = this.lastSequence;
    this.#entries = this.#entries.filter((entry) => entry.sequence > sequence);
  }

  async close(): Promise<void> {}
}
