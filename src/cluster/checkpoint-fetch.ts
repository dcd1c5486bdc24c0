/** Fetches a partition's files from another node (checkpoint-server.ts) into a folder. */
import { type FileHandle, mkdir, open, rm, statfs } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../protocol/errors.js";
import { fileDisk } from "../storage/disk.js";
import type { CheckpointAnswer, CheckpointFile, CheckpointRequest } from "./checkpoint-messages.js";
import { connectPeer, type PeerConnection } from "./peer-link.js";

export interface CheckpointFetch {
  readonly partition: number;
  /** Of the node that has the partition: host:port of its peer link. */
  readonly address: string;
  /** The name of this node. */
  readonly node: string;
  /** Of the peer link. */
  readonly key: Uint8Array;
  /** Is made anew. */
  readonly into: string;
  readonly signal: AbortSignal;
}

/** Reads under way at a time. */
const READS = 4;
const READ_BYTES = 512 * 1024;
/** New connections, after which it gives up. */
const CONNECTIONS_MAX = 6;
const PAUSE_MS = 500;
/** That must be left on the disk. */
const SPARE_BYTES = 256 * 1024 * 1024;
/** For one answer. */
const ANSWER_MS_MAX = 60_000;

/**
 * Gives the bytes that were fetched, which are on the device then. Throws `partition_unavailable` when the other node
 * cannot be reached or refuses, and the signal's reason. What was fetched until then is left.
 */
export async function fetchCheckpoint(fetch: CheckpointFetch): Promise<number> {
  const { into, signal } = fetch;
  await rm(into, { recursive: true, force: true });
  await mkdir(into, { recursive: true });
  const progress: Progress = { id: null, done: new Set(), bytes: 0 };
  for (let connections = 1; ; connections++) {
    signal.throwIfAborted();
    try {
      await fetchSome(fetch, progress);
      await fileDisk.syncDirectory(into);
      return progress.bytes;
    } catch (error) {
      if (!(error instanceof LinkLost) || connections >= CONNECTIONS_MAX) throw asDbError(error);
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

interface Progress {
  id: number | null;
  /** Names of files that are there. */
  readonly done: Set<string>;
  bytes: number;
}

/** The next connection may do better. */
class LinkLost extends Error {}

function asDbError(error: unknown): unknown {
  if (!(error instanceof LinkLost)) return error;
  return new DbError("partition_unavailable", `The other node does not give its files (${error.message}).`);
}

/** Over one connection, until all is there. */
async function fetchSome(fetch: CheckpointFetch, progress: Progress): Promise<void> {
  const link = await CheckpointLink.connect(fetch);
  const abort = (): void => link.close();
  fetch.signal.addEventListener("abort", abort, { once: true });
  try {
    // It may have been aborted meanwhile.
    fetch.signal.throwIfAborted();
    const resume = progress.id === null ? {} : { resume: progress.id };
    const { id, files } = await link.ask({ kind: "checkpoint-open", ...resume }, "checkpoint");
    if (progress.id === null) await checkRoom(fetch.into, files);
    progress.id = id;
    for (const file of files) {
      if (progress.done.has(file.name)) continue;
      await fetchFile(link, id, file, fetch.into);
      progress.done.add(file.name);
      progress.bytes += file.bytes;
    }
    link.say({ kind: "checkpoint-close", id });
    await link.end();
  } finally {
    fetch.signal.removeEventListener("abort", abort);
    link.close();
    fetch.signal.throwIfAborted();
  }
}

/** Beside what the partition has there already. Throws disk_full. */
export async function checkRoom(into: string, files: readonly CheckpointFile[]): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const { bavail, bsize } = await statfs(into);
  if (bavail * bsize >= bytes + SPARE_BYTES) return;
  const wanted = Math.ceil((bytes + SPARE_BYTES) / 2 ** 20);
  throw new DbError("disk_full", `The partition's copy needs ${wanted} MiB of free disk at ${into}.`);
}

async function fetchFile(
  link: CheckpointLink,
  id: number,
  { name, bytes }: CheckpointFile,
  into: string,
): Promise<void> {
  if (basename(name) !== name) throw new DbError("internal_error", `A file of a checkpoint is called ${name}.`);
  const handle = await open(join(into, name), "w");
  let next = 0;
  const readOn = async (): Promise<void> => {
    while (next < bytes) {
      const at = next;
      next = Math.min(bytes, at + READ_BYTES);
      await fetchPiece(link, handle, { kind: "checkpoint-read", id, file: name, at, bytes: next - at });
    }
  };
  try {
    await Promise.all(Array.from({ length: READS }, readOn));
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function fetchPiece(
  link: CheckpointLink,
  handle: FileHandle,
  read: Extract<CheckpointRequest, { kind: "checkpoint-read" }>,
): Promise<void> {
  const { bytes } = await link.ask(read, "checkpoint-bytes");
  if (bytes.length !== read.bytes) throw new LinkLost(`${read.file} came with ${bytes.length} bytes at ${read.at}`);
  for (let written = 0; written < bytes.length; ) {
    written += (await handle.write(bytes, written, bytes.length - written, read.at + written)).bytesWritten;
  }
}

interface Waiting {
  resolve(answer: CheckpointAnswer): void;
  reject(error: Error): void;
}

type AnswerOf<Kind extends CheckpointAnswer["kind"]> = Extract<CheckpointAnswer, { kind: Kind }>;

/** A connection for this alone: requests and their answers. */
class CheckpointLink {
  private connection!: PeerConnection;
  /** By what their answers are known by. */
  private readonly waiting = new Map<string, Waiting>();
  private failure: Error | null = null;

  private constructor(private readonly partition: number) {}

  static async connect({ address, node, key, partition }: CheckpointFetch): Promise<CheckpointLink> {
    const link = new CheckpointLink(partition);
    try {
      link.connection = await connectPeer(address, node, Buffer.from(key), {
        frames: () => undefined,
        control: (_partition, message) => link.heard(message as CheckpointAnswer),
        closed: () => link.fail(new LinkLost("the connection is gone")),
      });
    } catch (error) {
      throw new LinkLost(error instanceof Error ? error.message : String(error));
    }
    return link;
  }

  say(request: CheckpointRequest): void {
    this.connection.control(this.partition, request);
  }

  async ask<Kind extends "checkpoint" | "checkpoint-bytes">(
    request: CheckpointRequest,
    _kind: Kind,
  ): Promise<AnswerOf<Kind>> {
    if (this.failure !== null) throw this.failure;
    const name = request.kind === "checkpoint-read" ? placeOf(request) : request.kind;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<AnswerOf<Kind>>((resolve, reject) => {
        timer = setTimeout(() => reject(new LinkLost("the other node does not answer")), ANSWER_MS_MAX);
        this.waiting.set(name, { resolve: resolve as Waiting["resolve"], reject });
        this.say(request);
      });
    } finally {
      clearTimeout(timer);
      this.waiting.delete(name);
    }
  }

  end(): Promise<void> {
    return this.connection.end();
  }

  close(): void {
    this.connection.close();
  }

  private heard(answer: CheckpointAnswer): void {
    if (answer.kind === "checkpoint-refused") this.fail(new DbError("partition_unavailable", refusalText(answer.why)));
    else if (answer.kind === "checkpoint") this.waiting.get("checkpoint-open")?.resolve(answer);
    else if (answer.kind === "checkpoint-bytes") this.waiting.get(placeOf(answer))?.resolve(answer);
  }

  private fail(error: Error): void {
    this.failure ??= error;
    for (const { reject } of [...this.waiting.values()]) reject(error);
  }
}

const placeOf = ({ file, at }: { readonly file: string; readonly at: number }): string => `${file}@${at}`;

const refusalText = (why: string): string => `The other node gives no copy of the partition: ${why}.`;
