/**
 * Backups of the tenants of an actor: which are being made, which failed lately, and which are there (backup-folder.ts). One at
 * a time and tenant. A backup that is cut short by a crash leaves nothing that would be taken for one. Owned by the actor.
 */
import { randomBytes } from "node:crypto";
import { DbError } from "../../protocol/errors.js";
import { BLOCK, backupKey, readBackup } from "../../storage/backup-file.js";
import type { Partition } from "../partition.js";
import { decodeEntries } from "../placement/entries-buffer.js";
import type { Scheduler } from "../scheduler.js";
import { decodeCommits } from "./backup-commits.js";
import { type BackupFolder, bytesOfId, type Manifest } from "./backup-folder.js";
import { continues, writeBackup } from "./write-backup.js";

export interface BackupsHost {
  readonly scheduler: Pick<Scheduler, "yieldTurn">;
  readonly folder: BackupFolder;
  log(level: "error" | "warn" | "info", message: string, fields: object): void;
}

/** A backup as clients see it. */
export interface BackupView {
  readonly id: string;
  readonly status: "running" | "completed" | "failed";
  readonly kind: "full" | "incremental";
  readonly base: string | null;
  readonly encrypted: boolean;
  readonly entries: number;
  readonly bytes: number;
  readonly started_at: string;
  readonly finished_at: string | null;
  /** The newest moment that it can restore. */
  readonly holds_until: string | null;
  readonly digest: string | null;
  readonly note: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface BackupOptions {
  readonly incremental: boolean;
  readonly passphrase: string | null;
}

type Running = { -readonly [K in keyof BackupView]: BackupView[K] };

export class Backups {
  /** By tenant's id: what runs, or failed last. */
  readonly #latest = new Map<string, Running>();
  readonly #runs = new Set<Promise<void>>();
  #closing = false;

  constructor(private readonly host: BackupsHost) {}

  /** Throws conflict while one of the tenant's is being made. */
  async start(partition: Partition, tenantId: string, tenant: number, options: BackupOptions): Promise<BackupView> {
    if (this.#closing) throw new DbError("shutting_down");
    if (this.#latest.get(tenantId)?.status === "running") {
      throw new DbError("conflict", "A backup of the tenant is being made already.");
    }
    const { base, note } = options.incremental
      ? this.#baseOf(partition, tenantId, options)
      : { base: null, note: null };
    const id = `bak_${randomBytes(16).toString("hex")}`;
    const view: Running = {
      ...{ id, status: "running", kind: base === null ? "full" : "incremental", base: base?.id ?? null },
      ...{ encrypted: options.passphrase !== null, entries: 0, bytes: 0, started_at: new Date().toISOString() },
      ...{ finished_at: null, holds_until: null, digest: null, note, error: null },
    };
    this.#latest.set(tenantId, view);
    const backup = bytesOfId(id);
    const key = options.passphrase === null ? null : await backupKey(options.passphrase, backup);
    const work = { usedMs: 0, account: partition.account };
    const turn = async (): Promise<void> => {
      await this.host.scheduler.yieldTurn(tenant, work);
      if (this.#closing) throw new DbError("shutting_down");
      if (partition.places.get(tenant) !== undefined)
        throw new DbError("conflict", "The tenant was moved; make the backup again.");
    };
    const progress = (entries: number, bytes: number): void => void Object.assign(view, { entries, bytes });
    const { folder } = this.host;
    const run = writeBackup({
      id,
      tenantId,
      tenant,
      partition,
      folder,
      seal: { backup, key },
      base,
      note,
      turn,
      progress,
    })
      .then(
        () => void this.#latest.delete(tenantId),
        (error: unknown) => this.#failed(view, tenantId, error),
      )
      .finally(() => this.#runs.delete(run));
    this.#runs.add(run);
    return { ...view };
  }

  #failed(view: Running, tenantId: string, error: unknown): void {
    const { code, message } = error instanceof DbError ? error : new DbError("internal_error", String(error));
    Object.assign(view, { status: "failed", finished_at: new Date().toISOString(), error: { code, message } });
    this.host.log("warn", "a backup failed", { tenant: tenantId, backup: view.id, error: message });
  }

  /** The newest backup that the log still continues; a full one is made where there is none, and says why. */
  #baseOf(
    partition: Partition,
    tenantId: string,
    { passphrase }: BackupOptions,
  ): { base: Manifest | null; note: string | null } {
    const [newest] = this.host.folder.list(tenantId);
    if (newest === undefined) return { base: null, note: "A full backup: there was none to continue." };
    if (!continues(partition, newest)) {
      return { base: null, note: "A full backup: the commit log does not reach back to the last one." };
    }
    if (newest.encrypted !== (passphrase !== null)) {
      return { base: null, note: "A full backup: the last one is encrypted differently." };
    }
    return { base: newest, note: null };
  }

  /** Newest first. */
  list(tenantId: string): BackupView[] {
    const latest = this.#latest.get(tenantId);
    const whole = this.host.folder.list(tenantId).map(viewOf);
    return latest === undefined ? whole : [{ ...latest }, ...whole];
  }

  /** Throws not_found. */
  get(tenantId: string, id: string): BackupView {
    const latest = this.#latest.get(tenantId);
    return latest?.id === id ? { ...latest } : viewOf(this.host.folder.get(tenantId, id));
  }

  async remove(tenantId: string, id: string): Promise<void> {
    const latest = this.#latest.get(tenantId);
    if (latest?.id === id && latest.status === "running") throw new DbError("conflict", "The backup is being made.");
    if (latest?.id === id) this.#latest.delete(tenantId);
    else await this.host.folder.remove(tenantId, id);
  }

  /**
   * Reads the whole backup and those that it continues, with all checksums. Answers how much there is. Throws
   * backup_damaged, and invalid_request for a wrong passphrase.
   */
  async verify(
    tenantId: string,
    id: string,
    passphrase: string | null,
    turn: () => Promise<void>,
  ): Promise<{ files: number; entries: number; bytes: number }> {
    const chain = this.host.folder.chainOf(this.host.folder.get(tenantId, id));
    let entries = 0;
    let bytes = 0;
    for (const manifest of chain) {
      const backup = bytesOfId(manifest.id);
      const key = manifest.encrypted && passphrase !== null ? await backupKey(passphrase, backup) : null;
      let found = 0;
      for await (const { kind, body } of readBackup(this.host.folder.dataOf(manifest), { backup, key })) {
        if (kind === BLOCK.entries) found += decodeEntries(new Uint8Array(body).buffer).length;
        else for (const { operations } of decodeCommits(body)) found += operations.length;
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

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#runs);
  }
}

function viewOf(manifest: Manifest): BackupView {
  const { id, kind, base, encrypted, entries, bytes, startedAt, finishedAt, micros, digest, note } = manifest;
  return {
    ...{
      id,
      status: "completed",
      kind,
      base,
      encrypted,
      entries,
      bytes,
      started_at: startedAt,
      finished_at: finishedAt,
    },
    ...{ holds_until: new Date(micros / 1000).toISOString(), digest: digest?.sha256 ?? null, note, error: null },
  };
}
