/**
 * Checks free disk space and memory ten times a second, and tells the actors to refuse work that needs more before
 * there is none left; reads and deletions go on. Releases the disk's reserve when something else has taken the space,
 * and makes it again later. Made by gateway.ts; owns the latest findings.
 */
import { statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import type { Logger } from "pino";
import type { Config } from "../protocol/config.js";
import type { WriteRefusal } from "../protocol/messages.js";

/** A disk takes some hundred megabytes in a second. */
const LOOK_MS = 100;
/**
 * Free space must grow by this factor before writes are accepted again; otherwise the answer would change with every
 * file.
 */
const CALM = 1.1;
/** Of the memory that the machine or container has, where the configuration names no bound. */
const MEMORY_SHARE = 0.9;

export interface Room {
  readonly diskFreeBytes: number;
  readonly memoryBytes: number;
}

/** Files that are given up when the disk is full (storage/disk-reserve.ts). */
export interface Reserve {
  /** Bytes. */
  readonly size: number;
  readonly isHeld: boolean;
  /** Below this many free bytes it is released. */
  isNeeded(freeBytes: number): boolean;
  /** True: there was something to give up. */
  giveUp(when: "running"): boolean;
  /** False: there was no room. */
  hold(): Promise<boolean>;
}

export interface WatermarksOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Told of each change. */
  readonly tell: (refusal: WriteRefusal | null) => void;
  /** Of the running system when absent. */
  readonly look?: () => Promise<Room>;
  /** Absent: there is none. */
  readonly reserve?: Reserve | undefined;
}

export class Watermarks {
  room: Room | null = null;
  refusal: WriteRefusal | null = null;
  readonly memoryBytesMax: number;
  private readonly timer: NodeJS.Timeout;
  private readonly look: () => Promise<Room>;
  private looking = false;

  constructor(private readonly options: WatermarksOptions) {
    const { config } = options;
    this.memoryBytesMax = config.limits.memoryBytesMax || Math.floor(MEMORY_SHARE * memoryOfMachine());
    this.look = options.look ?? (() => lookAt(config.data.dir));
    this.timer = setInterval(() => void this.check(), LOOK_MS).unref();
  }

  async check(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      this.room = await this.look();
      this.decide(this.room);
      await this.careForReserve(this.room.diskFreeBytes);
    } catch (error) {
      this.options.logger.warn({ err: error }, "the room that is left cannot be told");
    } finally {
      this.looking = false;
    }
  }

  close(): void {
    clearInterval(this.timer);
  }

  private decide({ diskFreeBytes, memoryBytes }: Room): void {
    const { refusal } = this;
    const { freeBytesMin } = this.options.config.storage;
    const diskMin = refusal?.code === "disk_full" ? freeBytesMin * CALM : freeBytesMin;
    const memoryMax = refusal?.code === "overloaded" ? this.memoryBytesMax / CALM : this.memoryBytesMax;
    if (diskFreeBytes < diskMin) {
      this.become({
        code: "disk_full",
        message: `The disk has ${mebibytes(diskFreeBytes)} MiB left and keeps ${mebibytes(freeBytesMin)} (storage.free_bytes_min): writes that need space are rejected. Reading and deleting still work. DELETE or DROP something, or free space on the disk.`,
      });
    } else if (memoryBytes > memoryMax) {
      this.become({
        code: "overloaded",
        message: `The server uses ${mebibytes(memoryBytes)} MiB of memory, more than ${mebibytes(this.memoryBytesMax)} (limits.memory_bytes_max): writes are rejected for now. Reading and deleting still work; retry shortly.`,
      });
    } else this.become(null);
  }

  private async careForReserve(freeBytes: number): Promise<void> {
    const { reserve, logger, config } = this.options;
    if (reserve === undefined) return;
    if (reserve.isNeeded(freeBytes)) {
      if (reserve.giveUp("running")) {
        logger.error({ freeBytes }, "the disk is full: half of the reserve (storage.reserve_bytes) was given up");
      }
    } else if (this.refusal === null && freeBytes > config.storage.freeBytesMin * CALM + 2 * reserve.size) {
      if (!reserve.isHeld && !(await reserve.hold())) logger.warn("there was no room for the reserve");
    }
  }

  private become(refusal: WriteRefusal | null): void {
    if (refusal?.code === this.refusal?.code) return;
    this.refusal = refusal;
    const { logger, tell } = this.options;
    if (refusal === null) logger.warn("there is room again: writes are taken");
    else logger.error({ code: refusal.code }, refusal.message);
    tell(refusal);
  }
}

async function lookAt(directory: string): Promise<Room> {
  const { bavail, bsize } = await statfs(directory);
  return { diskFreeBytes: bavail * bsize, memoryBytes: process.memoryUsage.rss() };
}

function memoryOfMachine(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
