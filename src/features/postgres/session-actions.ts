/** What functions do with the session that calls them, and what sessions of one tenant share. */
import { refusedToReader } from "../../session/reader.js";
import { type AdvisoryLocks, type LockOwner, noteLock } from "./advisory-locks.js";
import type { Notification, Notifications } from "./notifications.js";
import { checkNotification, type SessionActions } from "./session-functions.js";

/** As one of the sessions has it. */
export interface SharedBySessions {
  readonly notifications: Notifications;
  readonly advisory: AdvisoryLocks;
  /** The session's credential has ReadOnly permission. */
  readonly readOnly: boolean;
  /** False: there is no such session. Throws 42501 where it is another owner's. */
  cancel(session: number): boolean;
  terminate(session: number): boolean;
}

export function sessionActions(
  owner: LockOwner & Pick<SessionActions, "number" | "channels">,
  { advisory, cancel, terminate, readOnly }: SharedBySessions,
  /** Gives what takes it back. */
  notify: (notification: Notification) => () => void,
  /** Told how to take back what was done, should the transaction be rolled back to a savepoint. */
  undoes: (undo: () => void) => void,
): SessionActions {
  const note = (key: string, shared: boolean, inTransaction: boolean): void => {
    if (inTransaction) undoes(noteLock(owner, advisory, key, shared));
  };
  return {
    number: owner.number,
    channels: owner.channels,
    notify(channel, payload) {
      checkNotification(channel, payload);
      // Others act on it.
      if (readOnly) throw refusedToReader("NOTIFY");
      undoes(notify({ channel, payload }));
    },
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
    unlock: (key, shared) => advisory.giveOfSession(owner, key, shared),
    unlockAll: () => advisory.giveAllOfSession(owner),
  };
}
