/**
 * This node's copy of a partition that another node owns: its commit log follows the replicated one, so that the node can take over
 * at once and etcd may be trimmed. The engine is brought up to it now and then, so that the log stays short.
 */
import { join } from "node:path";
import type { CommitLog } from "../storage/commit-log.js";
import { FileCommitLog, type FileCommitLogOptions } from "../storage/file-commit-log.js";
import { LogFollower } from "./log-follower.js";
import type { LogService } from "./log-service.js";

export interface PartitionCopyOptions {
  readonly service: Pick<LogService, "tail">;
  readonly partition: number;
  /** Of the partition. */
  readonly directory: string;
  readonly log: Omit<FileCommitLogOptions, "directory">;
  /** Has the engine take what the log has. The log is closed meanwhile. */
  readonly apply: () => Promise<void>;
}

/** What the log may have grown by before the engine is brought up to it. */
const APPLY_BYTES = 32 * 1024 * 1024;

export class PartitionCopy {
  /** On this node's disk; -1: it was not opened yet. */
  durable = -1;
  private local: CommitLog | null = null;
  private follower: LogFollower | null = null;
  private working: Promise<void> = Promise.resolve();

  constructor(private readonly options: PartitionCopyOptions) {}

  /** Takes what the owner has written. Throws as LogFollower.catchUp does. */
  catchUp(): Promise<void> {
    return this.next(async () => {
      const { service, partition, apply } = this.options;
      const { local, follower } = await this.ensureOpen();
      await follower.catchUp(service, partition, () => undefined);
      await local.sync();
      this.durable = local.lastSequence;
      if (local.bytesAppended < APPLY_BYTES) return;
      await this.closeNow();
      await apply();
    });
  }

  close(): Promise<void> {
    return this.next(() => this.closeNow());
  }

  private next(work: () => Promise<void>): Promise<void> {
    const done = this.working.then(work);
    this.working = done.catch(() => undefined);
    return done;
  }

  private async ensureOpen(): Promise<{ local: CommitLog; follower: LogFollower }> {
    const { directory, log } = this.options;
    if (this.local === null) {
      this.local = await FileCommitLog.open({ ...log, directory: join(directory, "log") });
      await this.local.sync();
      this.durable = this.local.lastSequence;
      this.follower = new LogFollower(this.local);
    }
    return { local: this.local, follower: this.follower! };
  }

  private async closeNow(): Promise<void> {
    const { local } = this;
    this.local = null;
    this.follower = null;
    await local?.close();
  }
}
