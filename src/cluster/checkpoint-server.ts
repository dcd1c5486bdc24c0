/**
 * Gives other nodes a partition's files as they are at one moment (a checkpoint), while the partition is served. A
 * checkpoint is a copy of RocksDB's directory by hard links, so it takes no room of its own at first. It goes when the
 * other node has it, or asks no more.
 */
import { randomInt } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { copyEngine } from "../storage/engine-copy.js";
import { partitionDirectory } from "../storage/partition-directory.js";
import type { CheckpointAnswer, CheckpointFile, CheckpointRequest } from "./checkpoint-messages.js";

export interface CheckpointServerOptions {
  readonly dataDirectory: string;
  readonly log: (level: "warn" | "info", message: string, fields: object) => void;
  /** Checkpoints at a time; more are refused. */
  readonly openMax?: number;
  /** A checkpoint of which nobody has read for so long is removed. */
  readonly idleMs?: number;
}

interface Checkpoint {
  readonly partition: number;
  readonly folder: string;
  readonly files: readonly CheckpointFile[];
  readonly timer: NodeJS.Timeout;
}

type Answer = (answer: CheckpointAnswer) => void;

const OPEN_MAX = 4;
const IDLE_MS = 60_000;
/** Of one read. */
const READ_BYTES_MAX = 1024 * 1024;

export class CheckpointServer {
  private readonly checkpoints = new Map<number, Checkpoint>();
  private readonly folder: string;
  /** Ids of an earlier process mean nothing. */
  private lastId = randomInt(2 ** 40);
  /** Checkpoints that are being made. */
  private making = 0;

  /** Removes what an earlier process has left. */
  constructor(private readonly options: CheckpointServerOptions) {
    this.folder = join(options.dataDirectory, "checkpoints");
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Answers once, except that a close has no answer. */
  heard(partition: number, message: CheckpointRequest, answer: Answer): void {
    const work =
      message.kind === "checkpoint-open"
        ? this.open(partition, message.resume, answer)
        : message.kind === "checkpoint-read"
          ? this.read(partition, message, answer)
          : this.end(message.id);
    work.catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      this.options.log("warn", "a checkpoint could not be given", { partition, error: why });
      answer({ kind: "checkpoint-refused", why });
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.checkpoints.keys()].map((id) => this.end(id)));
  }

  private async open(partition: number, resume: number | undefined, answer: Answer): Promise<void> {
    const known = resume === undefined ? undefined : this.checkpoints.get(resume);
    if (known?.partition === partition) {
      known.timer.refresh();
      answer({ kind: "checkpoint", id: resume!, files: known.files });
      return;
    }
    if (resume !== undefined) throw new Error(`there is no checkpoint ${resume} any more`);
    const { openMax = OPEN_MAX } = this.options;
    if (this.checkpoints.size + this.making >= openMax)
      throw new Error("the node gives others as many checkpoints as it may");
    this.making++;
    try {
      const id = ++this.lastId;
      const files = await this.make(id, partition);
      this.options.log("info", "another node is given a copy of the partition", { partition, bytes: bytesOf(files) });
      answer({ kind: "checkpoint", id, files });
    } finally {
      this.making--;
    }
  }

  private async make(id: number, partition: number): Promise<readonly CheckpointFile[]> {
    const { dataDirectory, idleMs = IDLE_MS } = this.options;
    const folder = join(this.folder, String(id));
    try {
      await mkdir(this.folder, { recursive: true });
      await copyEngine(join(partitionDirectory(dataDirectory, partition), "rocksdb"), folder);
      const files = await filesIn(folder);
      const timer = setTimeout(() => void this.end(id), idleMs);
      timer.unref();
      this.checkpoints.set(id, { partition, folder, files, timer });
      return files;
    } catch (error) {
      await removeFolder(folder, this.options.log);
      throw error;
    }
  }

  private async read(
    partition: number,
    { id, file, at, bytes }: Extract<CheckpointRequest, { kind: "checkpoint-read" }>,
    answer: Answer,
  ): Promise<void> {
    const checkpoint = this.checkpoints.get(id);
    const known = checkpoint?.files.find(({ name }) => name === file);
    if (checkpoint?.partition !== partition || known === undefined)
      throw new Error(`there is no checkpoint ${id} with ${file}`);
    checkpoint.timer.refresh();
    const buffer = Buffer.alloc(Math.min(bytes, READ_BYTES_MAX, known.bytes - at));
    const handle = await open(join(checkpoint.folder, file));
    try {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead < buffer.length) throw new Error(`${file} ends at ${at + bytesRead}`);
    } finally {
      await handle.close();
    }
    answer({ kind: "checkpoint-bytes", file, at, bytes: buffer });
  }

  private async end(id: number): Promise<void> {
    const checkpoint = this.checkpoints.get(id);
    if (checkpoint === undefined) return;
    clearTimeout(checkpoint.timer);
    this.checkpoints.delete(id);
    await removeFolder(checkpoint.folder, this.options.log);
  }
}

/** What is left of it goes at the next start. */
async function removeFolder(folder: string, log: CheckpointServerOptions["log"]): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    log("warn", "a checkpoint could not be removed", { folder, error: (error as Error).message });
  }
}

async function filesIn(folder: string): Promise<CheckpointFile[]> {
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })));
}

function bytesOf(files: readonly CheckpointFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
