/**
 * Makes a backup of one tenant while it is served. A full backup holds the tenant's entries as of one commit: ranges
 * of keys as they are read and the changes of what was read before, in one stream. An incremental backup holds the
 * tenant's commits since the backup before, from the commit log; so a tenant can be restored as of any moment between
 * the two. Called by backups.ts, in the tenant's turns.
 */

import type { Partition } from "../../actor/partition.js";
import { encodeCommit } from "../../backup/backup-commits.js";
import type { BackupFolder, Manifest } from "../../backup/backup-folder.js";
import { encodeEntries } from "../../backup/entries-buffer.js";
import { DbError } from "../../protocol/errors.js";
import { LOAD_BYTES_MAX } from "../../protocol/limits.js";
import { VERSION } from "../../protocol/version.js";
import { operationsInTenant } from "../../storage/backup-entries.js";
import { type BackupSeal, BackupWriter, BLOCK, BLOCK_BYTES } from "../../storage/backup-file.js";
import type { CommitLog } from "../../storage/commit-log.js";
import { FORMAT_VERSION } from "../../storage/format.js";
import { tenantOfKey } from "../../storage/keys.js";
import { type Operation, sizeOf } from "../../storage/operation.js";
import { TenantCopy } from "../placement/tenant-copy.js";
import { type TenantDigest, tenantDigest } from "./tenant-digest.js";

const COMMITS_AT_ONCE = 32;
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
  /** The tenant's next turn. Throws when the backup is to end. */
  readonly turn: () => Promise<void>;
  readonly progress: (entries: number, bytes: number) => void;
}

/** Resolves when it is complete and on disk. Throws the errors of `turn` and of the disk. */
export async function writeBackup(job: BackupJob): Promise<Manifest> {
  const { id, tenantId, partition, folder, seal, base, note, name, schedule } = job;
  const startedAt = new Date().toISOString();
  await folder.create(tenantId, id);
  const writer = await BackupWriter.open(folder.dataOf({ tenant: tenantId, id }), seal);
  try {
    const end = base === null ? await writeEntries(job, writer) : await writeCommits(job, writer, base);
    const { sequence, micros, entries } = end;
    const sha256 = await writer.end({ sequence, micros, entries });
    // The log must keep what the backup holds.
    await partition.durable();
    const digest = await end.digest();
    const manifest: Manifest = {
      ...{ id, tenant: tenantId, kind: base === null ? "full" : "incremental", base: base?.id ?? null, format: 1 },
      ...{ engine: VERSION, sequence, micros, entries, bytes: writer.bytes, sha256 },
      ...{ fromSequence: base === null ? null : base.sequence + 1, encrypted: seal.key !== null, digest },
      ...{ startedAt, finishedAt: new Date().toISOString(), note },
      ...(name === null ? {} : { name }),
      ...(schedule === null ? {} : { schedule }),
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
  readonly sequence: number;
  readonly micros: number;
  readonly entries: number;
  /** To be called once: reads everything as of that commit. */
  readonly digest: () => Promise<TenantDigest | null>;
}

async function writeEntries(job: BackupJob, writer: BackupWriter): Promise<End> {
  const { partition, tenant, turn, progress } = job;
  const stream = new TenantCopy(partition.shard, tenant);
  const block = new EntriesBlock(writer);
  partition.followers.add(stream);
  try {
    while (!stream.isCopied) {
      await turn();
      block.add(stream.takeChanges());
      block.add(stream.next());
      if (block.isFull) await block.flush();
      progress(block.entries, writer.bytes);
    }
    for (let round = 0; round < CATCH_UP_ROUNDS && stream.changeBytes > LAST_CHANGES_BYTES; round++) {
      await turn();
      block.add(stream.takeChanges());
      await block.flush();
    }
    await reachCommit(partition, turn);
    // From here to the end of the stream nothing may wait.
    block.add(stream.takeChanges());
    partition.followers.delete(stream);
    const end = endAt(job);
    await block.flush();
    return { ...end, entries: block.entries };
  } finally {
    partition.followers.delete(stream);
  }
}

/** Entries on their way into blocks. */
class EntriesBlock {
  entries = 0;
  private pieces: Uint8Array[] = [];
  private bytes = 0;

  constructor(private readonly writer: BackupWriter) {}

  add(operations: Parameters<typeof operationsInTenant>[0]): void {
    const own = operationsInTenant(operations);
    if (own.length === 0) return;
    const piece = new Uint8Array(encodeEntries(own));
    this.entries += own.length;
    this.bytes += piece.length;
    this.pieces.push(piece);
  }

  get isFull(): boolean {
    return this.bytes >= BLOCK_BYTES;
  }

  async flush(): Promise<void> {
    if (this.bytes === 0) return;
    const body = Buffer.concat(this.pieces.splice(0));
    this.bytes = 0;
    await this.writer.block(BLOCK.entries, body);
  }
}

/** Resolves at a moment at which the engine has every commit that was ever made. */
async function reachCommit({ shard }: Partition, turn: () => Promise<void>): Promise<void> {
  for (;;) {
    await turn();
    shard.flush();
    if (shard.failed !== null) throw shard.failed;
    if (shard.appliedSequence === shard.committedSequence) return;
    if (shard.hasBacklog) await shard.largeCommitDone();
  }
}

/** The commit that the engine is at now. */
function endAt({ partition: { shard }, tenant, turn }: BackupJob): Omit<End, "entries"> {
  const sequence = shard.appliedSequence;
  const snapshot = shard.begin({ readOnly: true, isolation: "repeatable read" });
  const digest = async (): Promise<TenantDigest | null> => {
    try {
      return await tenantDigest(snapshot, tenant, turn);
    } catch (error) {
      // So much changed while it ran that the shard could not keep the old values.
      if (error instanceof DbError && error.code === "transaction_aborted") return null;
      throw error;
    } finally {
      snapshot.rollback();
    }
  };
  return { sequence, micros: microsAt(shard.log, sequence) ?? 0, digest };
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

/** Those of the tenant. Throws when they are more than memory is to hold. */
function operationsOf(operations: Iterable<Operation>, tenant: number): readonly Operation[] {
  const own: Operation[] = [];
  let bytes = 0;
  for (const operation of operations) {
    if (tenantOfKey(operation.key) !== tenant) continue;
    own.push(operation);
    bytes += sizeOf(operation);
    if (bytes <= LOAD_BYTES_MAX) continue;
    throw new DbError(
      "conflict",
      "A commit since the last backup is too large for an incremental one. Make a full one.",
    );
  }
  return own;
}

async function writeCommits(job: BackupJob, writer: BackupWriter, base: Manifest): Promise<End> {
  const { partition, tenant, turn, progress } = job;
  await reachCommit(partition, turn);
  const end = endAt(job);
  let entries = 0;
  let bytes = 0;
  let commits = 0;
  let pieces: Uint8Array[] = [];
  for (const { sequence, micros, gap, operations } of partition.shard.log.replay(base.sequence + 1)) {
    if (sequence > end.sequence) break;
    if (gap) throw new DbError("conflict", "The commit log has a gap since the last backup. Make a full backup.");
    const own = operationsInTenant(operationsOf(operations, tenant));
    if (own.length > 0) {
      const piece = encodeCommit({ sequence, micros, operations: own });
      entries += own.length;
      bytes += piece.length;
      pieces.push(piece);
    }
    if (bytes >= BLOCK_BYTES) {
      const body = Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
      await writer.block(BLOCK.commit, body);
      progress(entries, writer.bytes);
    }
    if (++commits % COMMITS_AT_ONCE === 0) await turn();
  }
  if (bytes > 0) await writer.block(BLOCK.commit, Buffer.concat(pieces));
  return { ...end, entries };
}
