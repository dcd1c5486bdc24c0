/** All that is committed now, for reading within the same turn; what is read through it is validated nowhere. */
import { FrozenTransaction } from "./frozen-transaction.js";
import { keyText } from "./ordered-map.js";
import { correctionsOf, openCursor } from "./snapshot-view.js";
import type { Transaction } from "./store.js";
import type { TransactionHost } from "./transaction-host.js";

export function committedView<T>(host: TransactionHost<T>): Transaction {
  const { engine, versions, committedSequence: snapshot } = host;
  const view = { writes: null, loads: [], snapshot };
  return new FrozenTransaction(snapshot, {
    get: (key) => {
      const recent = versions.size === 0 ? undefined : versions.valueOf(keyText(key), snapshot);
      return recent === undefined ? engine.get(key) : (recent ?? undefined);
    },
    scan: (range) => openCursor(host, view, range, null, () => undefined),
    corrections: (range, newer) => correctionsOf(versions, view, range, newer),
    noteRead: () => false,
    seesEngine: () => snapshot === host.appliedSequence,
    requireOpen: () => undefined,
  });
}
