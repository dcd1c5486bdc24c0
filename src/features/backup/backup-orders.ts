/**
 * Backups that the directory's actor orders from the actors of the tenants' partitions (backups.ts), which other nodes
 * may own: it sends the order, and receives and answers reports. In memory only: an order that a crash cut short leaves
 * nothing.
 */
import { randomUUID } from "node:crypto";
import type { BackupOrder, BackupReport, MadeBackup, ReportSent } from "../../protocol/backup-orders.js";
import { DbError, type ErrorCode } from "../../protocol/errors.js";
import type { FromActor } from "../../protocol/messages.js";

type Create = Omit<Extract<BackupOrder, { readonly do: "create" }>, "do" | "ask" | "mark">;

interface Open {
  readonly partition: number;
  readonly heard: (report: BackupReport) => void;
  readonly resolve: (backup: MadeBackup | null) => void;
  readonly reject: (error: DbError) => void;
  heardMs: number;
}

export interface OrdersHost {
  /** Leaves if this actor still has the directory. */
  say(message: FromActor): void;
  /** What the backup folder's mark says; nothing where one process uses it. */
  mark(): { readonly mark?: string };
  readonly now: () => number;
  /** An order without a report for so long has failed; null: no message is lost. */
  readonly silenceMs: number | null;
}

/** For a node to look at its folder. */
const LOOK_MS_MAX = 3000;

export class BackupOrders {
  private readonly open = new Map<string, Open>();

  constructor(private readonly host: OrdersHost) {}

  /** Orders cross between nodes. */
  get isBetweenNodes(): boolean {
    return this.host.silenceMs !== null;
  }

  /** Rejects with what went wrong there. `signal` gives it up. */
  async make(
    partition: number,
    order: Create,
    signal: AbortSignal,
    heard: (report: BackupReport) => void = () => undefined,
  ): Promise<MadeBackup> {
    if (signal.aborted) throw new DbError("cancelled");
    const ask = randomUUID();
    const cancel = (): void => this.cancel(partition, ask);
    signal.addEventListener("abort", cancel);
    try {
      const made = this.give(partition, { do: "create", ask, ...this.host.mark(), ...order }, heard);
      return (await made)!;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  /**
   * Throws folder_not_shared when the owner of one of the partitions sees another folder. Who does not answer soon is
   * left out.
   */
  async requireShared(partitions: Iterable<number>): Promise<void> {
    const { mark } = this.host.mark();
    if (mark === undefined) return;
    await Promise.all([...partitions].map((partition) => this.look(partition, mark)));
  }

  private async look(partition: number, mark: string): Promise<void> {
    const ask = randomUUID();
    const late = setTimeout(() => this.open.get(ask)?.reject(new DbError("partition_unavailable")), LOOK_MS_MAX);
    try {
      await this.give(partition, { do: "look", ask, mark });
    } catch (error) {
      if (!(error instanceof DbError && error.code === "partition_unavailable")) throw error;
    } finally {
      clearTimeout(late);
    }
  }

  private give(
    partition: number,
    order: BackupOrder,
    heard: Open["heard"] = () => undefined,
  ): Promise<MadeBackup | null> {
    return new Promise<MadeBackup | null>((resolve, reject) => {
      this.open.set(order.ask, { partition, heard, resolve, reject, heardMs: this.host.now() });
      this.host.say({ kind: "backup", partition, order });
    }).finally(() => this.open.delete(order.ask));
  }

  private cancel(partition: number, ask: string): void {
    this.host.say({ kind: "backup", partition, order: { do: "cancel", ask } });
  }

  /** `sent` null: nobody waits for an answer. */
  heard(report: BackupReport, sent: ReportSent | null): void {
    const open = this.open.get(report.ask);
    if (sent !== null) {
      const heard = { order: report.ask, at: sent.at, isWanted: open !== undefined };
      this.host.say({ kind: "order-heard", partition: sent.partition, heard });
    }
    if (open === undefined) return;
    open.heardMs = this.host.now();
    open.heard(report);
    if (report.state === "completed") open.resolve(report.backup);
    else if (report.state === "failed") open.reject(errorOf(report.error!));
  }

  sweep(): void {
    const { silenceMs, now } = this.host;
    if (silenceMs === null) return;
    for (const [ask, { partition, heardMs, reject }] of this.open) {
      if (now() - heardMs <= silenceMs) continue;
      this.cancel(partition, ask);
      reject(new DbError("partition_unavailable", "Nobody has reported of the backup."));
    }
  }

  /** What ran in these partitions has ended with their actors, or with their owners. */
  ended(isOf: (partition: number) => boolean): void {
    for (const { partition, reject } of this.open.values()) {
      if (isOf(partition)) reject(new DbError("partition_unavailable", "The tenant's actor ended during the backup."));
    }
  }
}

/** An error that came as a message. */
export function errorOf({ code, message }: { readonly code: string; readonly message: string }): DbError {
  return new DbError(code as ErrorCode, message);
}
