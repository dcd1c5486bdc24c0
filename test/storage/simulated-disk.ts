/**
 * A disk in memory that knows what has been synced, and fails on demand: full, broken, slow to sync, or losing power
 * with any part of what was not synced. For the tests of the commit log and the shard.
 */
import { basename, dirname } from "node:path";
import type { Disk } from "../../src/storage/disk.js";

export interface File {
  bytes: Buffer;
  /** Content at the last sync. */
  synced: Buffer;
  /**
   * Pages that a failed sync gave up: they are still read as they were written, but no later sync writes them, unless
   * they are written again. This is what Linux does.
   */
  readonly given: Set<number>;
}

const PAGE_BYTES = 256;

export class SimulatedDisk implements Disk {
  readonly files = new Map<string, File>();
  private readonly descriptors = new Map<number, File>();
  /** Names that a directory sync has made durable. */
  private names = new Set<string>();
  private nextDescriptor = 3;
  /** Bytes that files may still grow by. */
  spaceBytes = Number.POSITIVE_INFINITY;
  /** Error code of every write, after half of it was done. */
  writeError: string | null = null;
  syncError: string | null = null;
  syncs = 0;
  bytesRead = 0;
  /** While set, syncs wait for `release` instead of finishing. */
  isSlow = false;
  private waiting: (() => void)[] = [];

  makeDirectory(): void {}

  list(path: string): string[] {
    return [...this.files.keys()].filter((name) => dirname(name) === path).map((name) => basename(name));
  }

  open(path: string, create: boolean): number {
    if (create) {
      if (this.spaceBytes === 0) throw failure("ENOSPC");
      this.files.set(path, { bytes: Buffer.alloc(0), synced: Buffer.alloc(0), given: new Set() });
    }
    const file = this.files.get(path);
    if (file === undefined) throw failure("ENOENT");
    this.descriptors.set(this.nextDescriptor, file);
    return this.nextDescriptor++;
  }

  close(descriptor: number): void {
    if (!this.descriptors.delete(descriptor)) throw failure("EBADF");
  }

  get openFiles(): number {
    return this.descriptors.size;
  }

  size(descriptor: number): number {
    return this.file(descriptor).bytes.length;
  }

  read(descriptor: number, position: number, length: number, into?: Buffer): Buffer {
    const bytes = this.file(descriptor).bytes.subarray(position, position + length);
    this.bytesRead += bytes.length;
    if (into === undefined || into.length < length) return Buffer.from(bytes);
    bytes.copy(into);
    return into.subarray(0, bytes.length);
  }

  write(descriptor: number, bytes: Uint8Array, offset: number, position: number): number {
    const file = this.file(descriptor);
    let chunk = bytes.subarray(offset);
    if (this.writeError !== null) {
      chunk = chunk.subarray(0, chunk.length >> 1);
      this.store(file, position, chunk);
      throw failure(this.writeError);
    }
    const growth = Math.max(position + chunk.length - file.bytes.length, 0);
    if (growth > this.spaceBytes) {
      chunk = chunk.subarray(0, chunk.length - (growth - this.spaceBytes));
      if (chunk.length === 0) throw failure("ENOSPC");
    }
    this.store(file, position, chunk);
    return chunk.length;
  }

  truncate(descriptor: number, length: number): void {
    const file = this.file(descriptor);
    this.spaceBytes += file.bytes.length - length;
    file.bytes = file.bytes.subarray(0, length);
  }

  async sync(descriptor: number): Promise<void> {
    const file = this.file(descriptor);
    this.syncs++;
    const content = Buffer.from(file.bytes);
    const device = this.device();
    if (device !== null) await device;
    const { syncError } = this;
    if (syncError !== null) {
      for (const page of unsyncedPages(content, file.synced)) file.given.add(page);
      throw failure(syncError);
    }
    for (const page of file.given) {
      const start = page * PAGE_BYTES;
      content.fill(0, start, start + PAGE_BYTES);
      if (start < file.synced.length) file.synced.copy(content, start, start, start + PAGE_BYTES);
    }
    file.synced = content;
  }

  /** What a sync waits for; null: nothing. */
  protected device(): Promise<void> | null {
    return this.isSlow ? new Promise<void>((resolve) => this.waiting.push(resolve)) : null;
  }

  async syncDirectory(): Promise<void> {
    this.names = new Set(this.files.keys());
  }

  remove(path: string): void {
    this.files.delete(path);
  }

  async removeLater(path: string): Promise<void> {
    await this.device();
    this.remove(path);
  }

  get waitingSyncs(): number {
    return this.waiting.length;
  }

  /** Lets the waiting syncs finish; later ones wait again as long as the disk is slow. */
  release(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** The disk after a power cut: of what was not synced, the pages for which `survives` says so. */
  afterPowerCut(survives: () => boolean, disk = new SimulatedDisk()): SimulatedDisk {
    for (const [path, { bytes, synced, given }] of this.files) {
      if (!this.names.has(path) && !survives()) continue;
      const content = Buffer.alloc(Math.max(bytes.length, synced.length));
      synced.copy(content);
      let length = synced.length;
      for (let page = 0; page < bytes.length; page += PAGE_BYTES) {
        const end = Math.min(page + PAGE_BYTES, bytes.length);
        if (given.has(page / PAGE_BYTES) || !survives()) continue;
        bytes.copy(content, page, page, end);
        length = Math.max(length, end);
      }
      disk.put(path, content.subarray(0, length));
    }
    return disk;
  }

  /** A durable file with this content. */
  put(path: string, content: Uint8Array): void {
    this.files.set(path, { bytes: Buffer.from(content), synced: Buffer.from(content), given: new Set() });
    this.names.add(path);
  }

  private file(descriptor: number): File {
    const file = this.descriptors.get(descriptor);
    if (file === undefined) throw failure("EBADF");
    return file;
  }

  private store(file: File, position: number, chunk: Uint8Array): void {
    const length = Math.max(file.bytes.length, position + chunk.length);
    this.spaceBytes -= length - file.bytes.length;
    const bytes = Buffer.alloc(length);
    file.bytes.copy(bytes);
    bytes.set(chunk, position);
    file.bytes = bytes;
    const last = Math.floor((position + chunk.length - 1) / PAGE_BYTES);
    for (let page = Math.floor(position / PAGE_BYTES); page <= last; page++) file.given.delete(page);
  }
}

function unsyncedPages(bytes: Buffer, synced: Buffer): number[] {
  const pages: number[] = [];
  for (let start = 0; start < bytes.length; start += PAGE_BYTES) {
    const end = Math.min(start + PAGE_BYTES, bytes.length);
    if (!bytes.subarray(start, end).equals(synced.subarray(start, end))) pages.push(start / PAGE_BYTES);
  }
  return pages;
}

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: simulated`), { code });
}
