/** Reads backups to their ends, with all checksums, whoever made them. Called by whatever verifies or restores. */
import { DbError } from "../protocol/errors.js";
import { type BackupSeal, BLOCK, backupKey, readBackup } from "../storage/backup-file.js";
import type { Operation } from "../storage/operation.js";
import { type BranchStep, decodeSteps } from "./backup-branches.js";
import { decodeCommits } from "./backup-commits.js";
import { bytesOfId, type Manifest } from "./backup-folder.js";
import { decodeEntries } from "./entries-buffer.js";

/** What a backup is read with. */
export interface BackupSource {
  /** The path of a backup's data. */
  readonly dataOf: (manifest: Manifest) => string;
  readonly passphrase: string | null;
}

/** Some changes of a backup. */
export interface BackedUp {
  readonly operations: readonly Operation[];
  /** Of a branch; null: of the tenant itself. */
  readonly step: BranchStep | null;
}

/**
 * Who gives a passphrase relies on it: nobody without it can have made the backup. So what is not encrypted is refused.
 */
export async function sealForReading(
  { id, encrypted }: Pick<Manifest, "id" | "encrypted">,
  passphrase: string | null,
): Promise<BackupSeal> {
  const backup = bytesOfId(id);
  if (passphrase === null) return { backup, key: null };
  if (encrypted) return { backup, key: await backupKey(passphrase, backup), isRequired: true };
  const remedy =
    "If it was made without one, leave the passphrase out. If not, somebody has replaced it: do not use it";
  const message = `passphrase: backup "${id}" is not encrypted. ${remedy}.`;
  throw new DbError("invalid_request", message, { field: "passphrase" });
}

/**
 * The backups' changes in order, up to that moment (microseconds since the epoch; null: all). Throws backup_damaged,
 * and invalid_request for a wrong passphrase.
 */
export async function* operationsOf(
  chain: readonly Manifest[],
  { dataOf, passphrase }: BackupSource,
  untilMicros: number | null,
): AsyncGenerator<BackedUp> {
  for (const manifest of chain) {
    const seal = await sealForReading(manifest, passphrase);
    for await (const { kind, body } of readBackup(dataOf(manifest), seal)) {
      for (const { micros, ...changes } of decoded(kind, body, manifest)) {
        if (micros === null || untilMicros === null || micros <= untilMicros) yield changes;
      }
    }
  }
}

/** Entries have no time of their own. */
function* decoded(
  kind: number,
  body: Buffer,
  { id }: Manifest,
): Generator<BackedUp & { readonly micros: number | null }> {
  try {
    if (kind === BLOCK.entries) {
      yield { micros: null, step: null, operations: decodeEntries(new Uint8Array(body).buffer) };
    } else if (kind === BLOCK.commit) {
      for (const { micros, operations } of decodeCommits(body)) yield { micros, step: null, operations };
    } else if (kind === BLOCK.branches) {
      for (const { step, operations } of decodeSteps(body)) yield { micros: step.micros, step, operations };
    } else throw new RangeError("an unknown kind of block");
  } catch (error) {
    // Its checksum is right: somebody made it so.
    if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error;
    throw new DbError("backup_damaged", `Backup "${id}" is not a backup of a tenant: ${error.message}.`);
  }
}

export interface Verified {
  readonly files: number;
  readonly entries: number;
  readonly bytes: number;
}

/** Errors as above; `turn` gives way between blocks. */
export async function verifyBackups(
  chain: readonly Manifest[],
  source: BackupSource,
  turn: () => Promise<void>,
): Promise<Verified> {
  let entries = 0;
  let bytes = 0;
  for (const manifest of chain) {
    let found = 0;
    for await (const { operations } of operationsOf([manifest], source, null)) {
      found += operations.length;
      await turn();
    }
    if (found !== manifest.entries) {
      throw new DbError(
        "backup_damaged",
        `Backup "${manifest.id}" has ${found} entries, its manifest says ${manifest.entries}.`,
      );
    }
    entries += found;
    bytes += manifest.bytes;
  }
  return { files: chain.length, entries, bytes };
}

/** Whether this is the passphrase of the backup (null: none). The first block tells. */
export async function opensBackup(manifest: Manifest, source: BackupSource): Promise<boolean> {
  if (manifest.encrypted !== (source.passphrase !== null)) return false;
  const operations = operationsOf([manifest], source, null);
  try {
    await operations.next();
    return true;
  } catch (error) {
    if (error instanceof DbError) return false;
    throw error;
  } finally {
    await operations.return(undefined);
  }
}
