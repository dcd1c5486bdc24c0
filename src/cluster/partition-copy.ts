/**
 * This node's copy of a partition that another node owns: its commit log follows the replicated one, so that the node
 * can take over at once and etcd may be trimmed. The engine is brought up to it now and then, so that the log stays
 * short.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { FileCommitLog, type FileCommitLogOptions } from "../storage/file-commit-log.js";
import { type CopyLog, LargeCommitAhead } from "../storage/followed-log.js";
import { finishReplacement, prepareReplacement, removeCopy } from "./copy-replacement.js";
import { LogFollower } from "./log-follower.js";
import type { LogService } from "./log-service.js";

export interface PartitionCopyOptions {
  readonly service: Pick<LogService, "tail">;
  readonly partition: number;
  /** Of the partition. */
  readonly directory: string;
  readonly log: Omit<FileCommitLogOptions, "directory">;
  /** Has the engine of a partition's directory take what its log has. The log is closed meanwhile. */
  readonly apply: (directory: string) => Promise<void>;
  /** Makes good what was cut short in the directory; absent: as copy-replacement.ts does. */
  readonly prepare?: (directory: string) => Promise<void>;
}

/** A shard that follows the log of the copy, and is read. */
export interface ServedCopy {
  readonly log: CopyLog;
  readonly tenants: number;
  readonly failed: DbError | null;
}

/** What the log may have grown by before the engine is brought up to it. */
const APPLY_BYTES = 32 * 1024 * 1024;

export class PartitionCopy {
  /** On this node's disk; -1: it was not opened yet. */
  durable = -1;
  private local: CopyLog | null = null;
  /** `local` is its log; null: the copy is not read. */
  private served: ServedCopy | null = null;
  private isEnded = false;
  private follower: LogFollower | null = null;
  private working: Promise<void> = Promise.resolve();

  constructor(private readonly options: PartitionCopyOptions) {}

  /** Takes what the owner has written. Throws as LogFollower.catchUp does. */
  catchUp(): Promise<void> {
    return this.next(async () => {
      const { service, partition, directory, apply } = this.options;
      if (this.served?.failed != null) await this.closeNow();
      const follow = async (): Promise<CopyLog> => {
        const { local, follower } = await this.ensureOpen();
        await follower.catchUp(service, partition, () => undefined);
        await local.sync();
        return local;
      };
      const local = await follow().catch(async (error: unknown) => {
        if (!(error instanceof LargeCommitAhead)) throw error;
        await this.closeNow();
        return follow();
      });
      this.durable = local.lastSequence;
      if (local.bytesAppended < APPLY_BYTES) return;
      await this.closeNow();
      await apply(directory);
    });
  }

  get isServed(): boolean {
    return this.served !== null;
  }

  /** Tenants of it in memory. */
  get servedTenants(): number {
    return this.served?.tenants ?? 0;
  }

  /** From now on the copy is read, by what `open` opens in its directory, until it is closed. */
  serve(open: () => Promise<ServedCopy>): Promise<void> {
    return this.next(async () => {
      if (this.served !== null) return;
      if (this.isEnded) throw new DbError("partition_unavailable", "The copy is closed.");
      await this.ensureOpen();
      await this.closeNow();
      this.served = await open();
      this.local = this.served.log;
      this.follower = new LogFollower(this.local);
    });
  }

  /** It is not read any more. */
  rest(): Promise<void> {
    return this.next(async () => {
      if (this.served !== null) await this.closeNow();
    });
  }

  /**
   * Puts another node's state in the place of this one, which cannot follow the log any more. `fetch` fills the folder
   * with the files of RocksDB. Throws partition_unavailable when that state has less than this copy, which then stays,
   * and backup_damaged when it is to end at another commit than it does.
   */
  replace(fetch: (folder: string) => Promise<void>, sequence: number | null = null): Promise<void> {
    return this.next(async () => {
      const { directory, log, apply } = this.options;
      await this.ensureOpen();
      const aside = await prepareReplacement(directory);
      try {
        await fetch(aside.engine);
        await apply(aside.directory);
        const newer = await FileCommitLog.open({ ...log, directory: aside.log });
        const { lastSequence } = newer;
        await newer.close();
        if (sequence !== null && lastSequence !== sequence)
          throw new DbError("backup_damaged", `The state ends at commit ${lastSequence}, not at ${sequence}.`);
        if (lastSequence < this.durable) {
          const why = `it ends at commit ${lastSequence}, and this node has ${this.durable}`;
          throw new DbError("partition_unavailable", `The state of the other node is older than this one: ${why}.`);
        }
      } catch (error) {
        await aside.remove();
        throw error;
      }
      await aside.complete();
      await this.closeNow();
      await finishReplacement(directory);
      await this.ensureOpen();
    });
  }

  /**
   * Deletes what this node has, where `mayGo` says that this is right for a copy that ends at that commit. False: it
   * was not. The copy is closed afterwards, also where `mayGo` throws.
   */
  drop(mayGo: (durable: number) => Promise<boolean>): Promise<boolean> {
    const { directory } = this.options;
    this.isEnded = true;
    return this.next(async () => {
      if (!["log", "rocksdb"].some((name) => existsSync(join(directory, name)))) return true;
      await this.ensureOpen();
      const isRight = await mayGo(this.durable).finally(() => this.closeNow());
      if (isRight) await removeCopy(directory);
      this.durable = -1;
      return isRight;
    });
  }

  /** For good: it is not read any more, even by who waits for it. */
  close(): Promise<void> {
    this.isEnded = true;
    return this.next(() => this.closeNow());
  }

  private next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.working.then(work);
    this.working = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  private async ensureOpen(): Promise<{ local: CopyLog; follower: LogFollower }> {
    const { directory, log, prepare = finishReplacement } = this.options;
    if (this.local === null) {
      await prepare(directory);
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
    this.served = null;
    await local?.close();
  }
}
