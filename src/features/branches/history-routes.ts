/** /v1/history: how long the tenant's past is kept, which statements with AS OF read. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { deleteHistory, type HistoryRecord, historyOf, putHistory } from "../../storage/history-records.js";
import type { CommitStamp } from "../../storage/operation.js";

export const historyHandlers = {
  "history.get": (request) => {
    // The answer waits until the newest commit is on disk: after a crash, another could have its number.
    request.tenant.sawEverything();
    const tx = request.partition.shard.begin({ readOnly: true });
    try {
      return { plain: shown(request, historyOf(tx, request.tenant.number)) };
    } finally {
      tx.rollback();
    }
  },
  "history.set": async (request, { body }) => {
    const record = { windowSeconds: body.window_seconds };
    await change(request, record);
    return { plain: shown(request, record) };
  },
  "history.delete": async (request) => {
    await change(request, null);
    return { plain: null };
  },
} satisfies Handlers;

async function change(request: Request, record: HistoryRecord | null): Promise<void> {
  const { tenant } = request;
  const tx = request.partition.shard.begin({ isolation: "read committed" });
  try {
    if (record === null) deleteHistory(tx, tenant.number);
    else putHistory(tx, tenant.number, record);
    tenant.commit(tx);
  } catch (error) {
    tx.rollback();
    throw error;
  }
  // The past is kept from the moment at which the engine has the record.
  await request.durable();
  await engineHasAll(request.partition.shard, request.yieldTurn);
}

function shown({ partition: { shard }, tenant }: Request, record: HistoryRecord | null) {
  const oldest = shard.layers?.oldestOf(tenant.number) ?? null;
  return {
    kept: oldest !== null,
    window_seconds: record?.windowSeconds ?? null,
    oldest: oldest === null ? null : shownStamp(oldest),
    newest: shownStamp({ sequence: shard.committedSequence, micros: shard.lastMicros }),
  };
}

export function shownStamp({ sequence, micros }: CommitStamp): { readonly sequence: number; readonly at: string } {
  return { sequence, at: new Date(Math.floor(micros / 1000)).toISOString() };
}
