/** Begins the restore of a tenant, in the directory's actor: for the route, and for RESTORE in SQL. */

import type { BackupFolder } from "../../backup/backup-folder.js";
import type { Directory } from "../../directory/directory.js";
import type { BackupOrder } from "../../protocol/backup-orders.js";
import { DbError } from "../../protocol/errors.js";
import type { BackupOrders } from "./backup-orders.js";
import { backupForMoment } from "./moment.js";
import type { RestoreOrders, RestoreView } from "./restore-orders.js";

export interface RestoreContext {
  readonly directory: Pick<Directory, "placeOf">;
  readonly restores: RestoreOrders;
  readonly backups: BackupOrders;
  readonly folder: BackupFolder;
}

export interface WantedRestore {
  readonly tenantId: string;
  /** Whose backup it is. */
  readonly from: string;
  /** Null: the newest that leads to that moment. */
  readonly backup: string | null;
  readonly passphrase: string | null;
  /** An RFC 3339 time; later commits are left out. Null: none is. */
  readonly until: string | null;
  /** Allows a tenant with content, which is removed. */
  readonly replaces: boolean;
}

/** Throws invalid_request for an invalid moment, not_found, conflict. */
export function startRestore(context: RestoreContext, wanted: WantedRestore): RestoreView {
  const { directory, restores, backups, folder } = context;
  const { tenantId, from, backup, passphrase, until, replaces } = wanted;
  const untilMicros = until === null ? null : Date.parse(until) * 1000;
  if (Number.isNaN(untilMicros)) {
    throw new DbError("invalid_request", "until: must be a time such as 2026-01-31T12:00:00Z", { field: "until" });
  }
  const place = { tenantId, ...directory.placeOf(tenantId) };
  const order = { from, store: "tenant", passphrase, untilMicros, replaces, isChecked: false } as const;
  const find = (): Promise<string> =>
    backupForMoment(folder, { tenantId: from, backup, untilMicros }, ({ id }) => {
      const { number, partition } = directory.placeOf(from);
      const tail: Omit<Extract<BackupOrder, { do: "create" }>, "do" | "ask"> = {
        ...{ tenant: number, tenantId: from, store: "tenant", passphrase, base: { continues: id } },
        ...{ schedule: null, verifies: false },
      };
      return backups.make(partition, tail, new AbortController().signal);
    });
  return restores.startFound(place, order, backup, find);
}
