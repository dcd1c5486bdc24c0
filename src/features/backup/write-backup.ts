/**
 * Makes a backup of one tenant while it is served. A full backup holds the tenant's entries as of one commit: ranges
 * of keys as they are read and the changes of what was read before, in one stream. An incremental backup holds the
 * tenant's commits since the backup before, from the commit log; so a tenant can be restored as of any moment between
 * the two. A commit may be of any size: it is written in pieces, as the log gives it. Called by backups.ts, in the
 * tenant's turns.
 */

import type { Partition } from "../../actor/partition.js";
import { encodeCommit } from "../../backup/backup-commits.js";
import type { BackupFolder, Manifest } from "../../backup/backup-folder.js";
import { encodeEntries } from "../../backup/entries-buffer.js";
import { DbError } from "../../protocol/errors.js";
import { giveWay, type Turns } from "../../protocol/turns.js";
import { VERSION } from "../../protocol/version.js";
import { operationsInTenant } from "../../storage/backup-entries.js";
import { type BackupSeal, BackupWriter, BLOCK, BLOCK_BYTES } from "../../storage/backup-file.js";
import { type CommitLog, LogLacks } from "../../storage/commit-log.js";
import { FORMAT_VERSION } from "../../storage/format.js";
import { tenantOfKey } from "../../storage/keys.js";
import { partsOf } from "../../storage/large-commit.js";
import { LARGE_COMMIT_SIZES } from "../../storage/large-commit-sizes.js";
import { TenantCopy } from "../placement/tenant-copy.js";
import { openDigest, type TenantDigest } from "./tenant-digest.js";
import { BranchesWriter } from "./write-branches.js";

/** Rounds of catching up with a writer that is faster than the backup. */
const CATCH_UP_ROUNDS = 20;
/** Changes that are left to the last step. */
const LAST_CHANGES_BYTES = 256 * 1024;

export interface BackupJob {
  readonly id: string;
  readonly tenantId: string;
  readonly tenant: number;
  readonly partition: Partition;
  readonly folder: BackupFolder;
  readonly seal: BackupSeal;
  /** What it continues; null: a full one. */
  readonly base: Manifest | null;
  readonly note: string | null;
  readonly name: string | null;
  readonly schedule: string | null;
  /** Turns of the tenant's; they reject when the backup is to end. */
  readonly turns: Turns;
  readonly progress: (entries: number, bytes: number) => void;
}

/**
 * Resolves when it is complete and on disk. Throws the errors of `turns` and of the disk, and LogLacks where the log
 * has not all that came after the base.
 */
export async function writeBackup(job: BackupJob): Promise<Manifest> {
  const { id, tenantId, partition, folder, seal, base, note, name, schedule } = job;
  const startedAt = new Date().toISOString();
  await folder.create(tenantId, id);
  const writer = await BackupWriter.open(folder.dataOf({ tenant: tenantId, id }), seal);
  try {
    const blocks = new Blocks(writer, base === null ? BLOCK.entries : BLOCK.commit);
    const end = base === null ? await writeEntries(job, blocks) : await writeCommits(job, blocks, base);
    const { sequence, micros } = end;
    const { entries } = blocks;
    const sha256 = await orRelease(end, writer.end({ sequence, micros, entries }));
    // The log must keep what the backup holds.
    await orRelease(end, partition.durable());
    const digest = await end.digest();
    const manifest: Manifest = {
      ...{ id, tenant: tenantId, kind: base === null ? "full" : "incremental", base: base?.id ?? null, format: 1 },
      ...{ engine: VERSION, sequence, micros, entries, bytes: writer.bytes, sha256 },
      ...{ fromSequence: base === null ? null : base.sequence + 1, encrypted: seal.key !== null, digest },
      ...{ startedAt, finishedAt: new Date().toISOString(), note },
      ...(name === null ? {} : { name }),
      ...(schedule === null ? {} : { schedule }),
      ...(end.branches === null ? {} : { branches: end.branches }),
      storageFormat: FORMAT_VERSION,
    };
    folder.save(manifest);
    return manifest;
  } catch (error) {
    await writer.abandon();
    await folder.discard(tenantId, id);
    throw error;
  }
}

interface End {
  /** Numbers of the branches that the backup has; null: it holds none, whether there are any or not. */
  readonly branches: readonly number[] | null;
  readonly sequence: number;
  readonly micros: number;
  /** To be called once: reads everything as of that commit. */
  readonly digest: () => Promise<TenantDigest | null>;
  /** Instead of `digest`. */
  readonly release: () => void;
}

/** What that work answers; without it nobody needs the digest. */
async function orRelease<T>(end: Pick<End, "release">, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    end.release();
    throw error;
  }
}

async function writeEntries(job: BackupJob, blocks: Blocks): Promise<End> {
  const { partition, tenant, turns, progress } = job;
  const stream = new TenantCopy(partition.shard, tenant);
  const add = (operations: Parameters<typeof operationsInTenant>[0]): void => {
    const own = operationsInTenant(operations);
    if (own.length > 0) blocks.add(new Uint8Array(encodeEntries(own)), own.length);
  };
  partition.followers.add(stream);
  try {
    while (!stream.isCopied) {
      await turns.yieldTurn();
      add(stream.takeChanges());
      add(stream.next());
      if (blocks.isFull) await blocks.flush();
      progress(blocks.entries, blocks.bytesWritten);
    }
    for (let round = 0; round < CATCH_UP_ROUNDS && stream.changeBytes > LAST_CHANGES_BYTES; round++) {
      await turns.yieldTurn();
      add(stream.takeChanges());
      await blocks.flush();
    }
    await reachCommit(partition, turns);
    // From here to the end of the stream nothing may wait.
    add(stream.takeChanges());
    partition.followers.delete(stream);
    if (hasBranches(job)) return await writeBranches(job, blocks);
    const end = { ...endAt(job), branches: [] };
    await orRelease(end, blocks.flush());
    return end;
  } finally {
    partition.followers.delete(stream);
  }
}

function hasBranches({ partition: { shard }, tenant }: BackupJob): boolean {
  return (shard.layers?.branchesUnder(tenant).length ?? 0) > 0;
}

/** The branches, and all that was committed since the tenant's entries were written. The engine has every commit. */
async function writeBranches(job: BackupJob, blocks: Blocks): Promise<End> {
  const { partition, tenant, turns } = job;
  const { appliedSequence } = partition.shard;
  const branches = new BranchesWriter(partition.shard.layers!, tenant, [], blocks, turns);
  const release = partition.shard.trim.hold(appliedSequence);
  try {
    await branches.all(appliedSequence);
    return await writeCommitsFrom(appliedSequence, job, blocks, branches);
  } finally {
    release();
  }
}

/** Entries, commits and branches on their way into blocks, in order. */
class Blocks {
  entries = 0;
  private pieces: { readonly kind: number; readonly piece: Uint8Array }[] = [];
  private bytes = 0;

  constructor(
    private readonly writer: BackupWriter,
    private readonly kind: number,
  ) {}

  add(piece: Uint8Array, entries: number, kind = this.kind): void {
    this.entries += entries;
    this.bytes += piece.length;
    this.pieces.push({ kind, piece });
  }

  get isFull(): boolean {
    return this.bytes >= BLOCK_BYTES;
  }

  get bytesWritten(): number {
    return this.writer.bytes;
  }

  async flush(): Promise<void> {
    const pieces = this.pieces.splice(0);
    this.bytes = 0;
    for (let at = 0; at < pieces.length; ) {
      const { kind } = pieces[at]!;
      const from = at;
      while (at < pieces.length && pieces[at]!.kind === kind) at++;
      await this.writer.block(kind, Buffer.concat(pieces.slice(from, at).map(({ piece }) => piece)));
    }
  }
}

/** Resolves at a moment at which the engine has every commit that was ever made. */
async function reachCommit({ shard }: Partition, turns: Turns): Promise<void> {
  for (;;) {
    await turns.yieldTurn();
    shard.flush();
    if (shard.failed !== null) throw shard.failed;
    if (shard.appliedSequence === shard.committedSequence) return;
    if (shard.hasBacklog) await shard.largeCommitDone();
  }
}

/** The commit that the engine is at now. */
function endAt({ partition: { shard }, tenant, turns }: BackupJob): Omit<End, "branches"> {
  const sequence = shard.appliedSequence;
  const snapshot = shard.begin({ readOnly: true, isolation: "repeatable read" });
  const read = openDigest(snapshot, tenant);
  const digest = async (): Promise<TenantDigest | null> => {
    try {
      return await read(() => turns.yieldTurn());
    } catch (error) {
      // So much changed while it ran that the shard could not keep the old values.
      if (error instanceof DbError && error.code === "transaction_aborted") return null;
      throw error;
    } finally {
      snapshot.rollback();
    }
  };
  const micros = microsAt(shard.log, sequence) ?? 0;
  return { sequence, micros, digest, release: () => snapshot.rollback() };
}

/** The time of that commit; null: the log does not have it. */
function microsAt(log: Pick<CommitLog, "replay">, sequence: number): number | null {
  for (const entry of log.replay(sequence)) return entry.sequence === sequence && !entry.gap ? entry.micros : null;
  return null;
}

/** Whether the log still has all that came after the backup, of the same history. */
export function continues({ shard }: Partition, base: Manifest): boolean {
  if (base.imported === true) return false;
  return base.sequence >= shard.log.firstSequence && microsAt(shard.log, base.sequence) === base.micros;
}

/** Whether what continues that backup holds no branches: an earlier release made it, without those that are here. */
export function lacksBranches({ shard }: Partition, tenant: number, base: Manifest): boolean {
  return base.branches === undefined && (shard.layers?.branchesUnder(tenant).length ?? 0) > 0;
}

/** Commits after the base's. */
async function writeCommits(job: BackupJob, blocks: Blocks, base: Manifest): Promise<End> {
  const { partition, tenant, turns } = job;
  const { layers } = partition.shard;
  if (lacksBranches(partition, tenant, base)) {
    return { ...(await writeCommitsFrom(base.sequence, job, blocks, null)), branches: null };
  }
  const branches = layers === null ? null : new BranchesWriter(layers, tenant, base.branches ?? [], blocks, turns);
  return writeCommitsFrom(base.sequence, job, blocks, branches);
}

/** Those behind that one, to the newest. Of any size: several pieces of one commit follow each other. */
async function writeCommitsFrom(
  sequence: number,
  job: BackupJob,
  blocks: Blocks,
  branches: BranchesWriter | null,
): Promise<End> {
  await reachCommit(job.partition, job.turns);
  const end = endAt(job);
  const write = () => writeUpTo(end.sequence, job, blocks, sequence, branches);
  await orRelease(end, branches === null ? write() : branches.held(write));
  return { ...end, branches: [...(branches?.known ?? [])] };
}

async function writeUpTo(
  last: number,
  job: BackupJob,
  blocks: Blocks,
  before: number,
  branches: BranchesWriter | null,
): Promise<void> {
  const { partition, tenant, turns, progress } = job;
  for (const { sequence, micros, gap, operations } of partition.shard.log.replay(before + 1)) {
    if (sequence > last) break;
    if (gap) throw new LogLacks("conflict", "The commit log has a gap since the last backup. Make a full backup.");
    for (const some of partsOf(operations, LARGE_COMMIT_SIZES)) {
      const own = operationsInTenant(some.filter(({ key }) => tenantOfKey(key) === tenant));
      if (own.length > 0) blocks.add(encodeCommit({ sequence, micros, operations: own }), own.length, BLOCK.commit);
      await branches?.commit(some, sequence, micros);
      if (blocks.isFull) {
        await blocks.flush();
        progress(blocks.entries, blocks.bytesWritten);
      }
      await giveWay(turns);
    }
  }
  await blocks.flush();
}
