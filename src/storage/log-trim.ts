/**
 * Drops segments of the commit log whose commits the engine has written to its files. It notes how many entries the
 * engine had taken after which commit, because the engine tells only how many of them are still in memory. Owned by
 * the shard.
 */
import type { CommitLog } from "./commit-log.js";
import type { Engine } from "./engine.js";

/** The log is looked through for segments to drop each time it has grown by this much. */
const TRIM_EVERY_BYTES = 4 * 1024 * 1024;
/** Entries between two points at which it is noted how far the engine was. */
const CHECKPOINT_ENTRIES = 1024;

export class LogTrim {
  /** Entries that the engine has taken since open, and where it stood after some of them, oldest first. */
  private entries = 0;
  private readonly checkpoints: { readonly sequence: number; readonly entries: number }[] = [];
  private trimAt = TRIM_EVERY_BYTES;
  /** Commits behind each of these stay. */
  private readonly held = new Set<{ readonly sequence: number }>();

  constructor(
    private readonly log: CommitLog,
    private readonly engine: Engine,
  ) {}

  /** The engine has taken so many entries more. Less than none: one entry stands for so many of those told of. */
  written(entries: number): void {
    this.entries += entries;
  }

  /** The engine has all commits up to `sequence`. */
  applied(sequence: number): void {
    if (this.entries - (this.checkpoints.at(-1)?.entries ?? 0) < CHECKPOINT_ENTRIES) return;
    this.checkpoints.push({ sequence, entries: this.entries });
  }

  /** Who is going to read the log from behind that commit keeps it until the returned function is called. */
  hold(sequence: number): () => void {
    const hold = { sequence };
    this.held.add(hold);
    return () => void this.held.delete(hold);
  }

  /** At the end of a flush; `synced` is the newest commit that the log has on disk. */
  flushed(synced: number): void {
    if (this.log.bytesAppended < this.trimAt) return;
    this.trimAt = this.log.bytesAppended + TRIM_EVERY_BYTES;
    const persisted = this.entries - this.engine.entriesInMemory();
    let sequence = 0;
    while (this.checkpoints.length > 0 && this.checkpoints[0]!.entries <= persisted) {
      sequence = this.checkpoints.shift()!.sequence;
    }
    // Unsynced segments cannot be dropped, even if the engine was quicker.
    if (sequence > 0) this.log.trim(Math.min(sequence, synced, ...[...this.held].map((hold) => hold.sequence)));
  }
}
