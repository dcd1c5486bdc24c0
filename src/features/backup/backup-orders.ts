/**
 * Backups that the directory's actor orders from the actors of the tenants' partitions (backups.ts): it sends the
 * order and receives reports. In memory only: an order that a crash cut short leaves nothing.
 */
import { randomUUID } from "node:crypto";
import type { BackupOrder, BackupReport, MadeBackup } from "../../protocol/backup-orders.js";
import { DbError, type ErrorCode } from "../../protocol/errors.js";
import type { FromActor } from "../../protocol/messages.js";

type Create = Omit<Extract<BackupOrder, { readonly do: "create" }>, "do" | "ask">;

interface Open {
  readonly tenant: number;
  readonly heard: (report: BackupReport) => void;
  readonly resolve: (backup: MadeBackup) => void;
  readonly reject: (error: DbError) => void;
}

export class BackupOrders {
  private readonly open = new Map<string, Open>();

  constructor(private readonly say: (message: FromActor) => void) {}

  /** Rejects with what went wrong there. `signal` gives it up. */
  make(
    partition: number,
    order: Create,
    signal: AbortSignal,
    heard: (report: BackupReport) => void = () => undefined,
  ): Promise<MadeBackup> {
    if (signal.aborted) return Promise.reject(new DbError("cancelled"));
    const ask = randomUUID();
    const cancel = (): void => this.say({ kind: "backup", partition, order: { do: "cancel", ask } });
    signal.addEventListener("abort", cancel);
    return new Promise<MadeBackup>((resolve, reject) => {
      this.open.set(ask, { tenant: order.tenant, heard, resolve, reject });
      this.say({ kind: "backup", partition, order: { do: "create", ask, ...order } });
    }).finally(() => {
      signal.removeEventListener("abort", cancel);
      this.open.delete(ask);
    });
  }

  heard(report: BackupReport): void {
    const open = this.open.get(report.ask);
    if (open === undefined) return;
    open.heard(report);
    if (report.state === "completed") open.resolve(report.backup!);
    else if (report.state === "failed") open.reject(errorOf(report.error!));
  }

  /** An actor's thread ended; its tenants are those that `isOf` names. */
  actorEnded(isOf: (tenant: number) => boolean): void {
    for (const { tenant, reject } of this.open.values()) {
      if (isOf(tenant)) reject(new DbError("partition_unavailable", "The tenant's actor ended during the backup."));
    }
  }
}

/** An error that came as a message. */
export function errorOf({ code, message }: { readonly code: string; readonly message: string }): DbError {
  return new DbError(code as ErrorCode, message);
}
