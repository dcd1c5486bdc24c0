/** What functions do with the session that calls them, and what sessions of one tenant share. */
import type { AdvisoryLocks, LockOwner } from "./advisory-locks.js";
import type { Notification, Notifications } from "./notifications.js";
import type { SessionActions } from "./session-functions.js";

export interface SharedBySessions {
  readonly notifications: Notifications;
  readonly advisory: AdvisoryLocks;
  cancel(session: number): boolean;
  terminate(session: number): boolean;
}

export function sessionActions(
  owner: LockOwner & { readonly number: number },
  { advisory, cancel, terminate }: SharedBySessions,
  notify: (notification: Notification) => void,
): SessionActions {
  const note = (key: string, shared: boolean, inTransaction: boolean): void => {
    if (inTransaction) owner.transactionLocks.push({ key, shared });
  };
  return {
    number: owner.number,
    notify: (channel, payload) => notify({ channel, payload }),
    cancel,
    terminate,
    tryLock: (key, shared, inTransaction) => {
      const isTaken = advisory.take(owner, key, shared);
      if (isTaken) note(key, shared, inTransaction);
      return isTaken;
    },
    lock: async (key, shared, inTransaction, signal) => {
      await advisory.wait(owner, key, shared, signal);
      note(key, shared, inTransaction);
    },
    unlock: (key, shared) => advisory.give(owner, key, shared),
    unlockAll: () => advisory.giveAll(owner),
  };
}
