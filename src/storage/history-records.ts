/** How long a tenant's past is kept: its record, which the engine follows (storage/layered-engine.ts). */
import { historyRecordKey, horizonKey, stampValue } from "./history-keys.js";
import type { CommitStamp } from "./operation.js";
import type { Transaction } from "./store.js";

export interface HistoryRecord {
  /** How far back the past can be read. Null: without end. */
  readonly windowSeconds: number | null;
}

export function historyOf(tx: Pick<Transaction, "get">, tenant: number): HistoryRecord | null {
  const value = tx.get(historyRecordKey(tenant));
  return value === undefined ? null : (JSON.parse(Buffer.from(value).toString()) as HistoryRecord);
}

export function putHistory(tx: Pick<Transaction, "put">, tenant: number, record: HistoryRecord): void {
  tx.put(historyRecordKey(tenant), Buffer.from(JSON.stringify(record)));
}

/**
 * What a tenant was before that commit is not read any more, in no copy of its partition: a fork of an earlier moment
 * is refused wherever the next owner is. The entries are forgotten afterwards (`LayeredEngine.forget`).
 */
export function putHorizon(tx: Pick<Transaction, "put">, tenant: number, stamp: CommitStamp): void {
  tx.put(horizonKey(tenant), stampValue(stamp));
}

export function deleteHistory(tx: Pick<Transaction, "delete">, tenant: number): void {
  tx.delete(historyRecordKey(tenant));
}
