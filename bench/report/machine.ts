/** What the figures were measured on. */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { removeDirectory, temporaryDirectory } from "../servers.js";
import { median } from "../statistics.js";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  readonly node: string;
  readonly loadGenerator: string;
  /**
   * Medians of writing 4 KiB and waiting for the disk, where the servers have their data: at the end of a file, and in
   * it.
   */
  readonly appendMs: number;
  readonly overwriteMs: number;
  /** Of the last minute, when the run began. */
  readonly loadAverage: number;
}

const SYNCS = 50;
const SYNC_BYTES = 4096;

export function describeMachine(loadGenerator: string): Machine {
  return {
    processor: cpus()[0]!.model.trim(),
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    loadGenerator,
    ...syncTimes(),
    loadAverage: loadavg()[0]!,
  };
}

/** A file that grows costs more: the file system's own records must reach the disk as well. */
function syncTimes(): { appendMs: number; overwriteMs: number } {
  const directory = temporaryDirectory("sync");
  const file = openSync(join(directory, "file"), "w");
  const bytes = Buffer.alloc(SYNC_BYTES, 1);
  const pass = (): number => {
    const times = Array.from({ length: SYNCS }, (_, i) => {
      const started = performance.now();
      writeSync(file, bytes, 0, SYNC_BYTES, i * SYNC_BYTES);
      fdatasyncSync(file);
      return performance.now() - started;
    });
    return median(times);
  };
  const result = { appendMs: pass(), overwriteMs: pass() };
  closeSync(file);
  removeDirectory(directory);
  return result;
}
