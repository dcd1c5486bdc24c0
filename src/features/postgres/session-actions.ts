/** What functions do with the session that calls them, and what sessions of one tenant share. */
import { SIGNAL_ROLE } from "../../catalog/role.js";
import type { AskingStatement } from "../../session/capabilities.js";
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
  /** False: there is no such session. Throws 42501 where it is another owner's whose sessions are not to be ended. */
  cancel(session: number, ends: EndsSessionsOf): boolean;
  terminate(session: number, ends: EndsSessionsOf): boolean;
}

/** A session that a statement wants to cancel or end. */
export interface SignalledSession {
  readonly user: string;
  readonly isAdministrators: boolean;
  /** It is the statement's login's, or that is an administrator's. */
  readonly isOwn: boolean;
}

/** Whether a statement's role may cancel and end a session. */
export type EndsSessionsOf = (session: SignalledSession) => boolean;

/** Others' by PostgreSQL's role for it. A role that is no superuser ends no administrator's, not even its login's. */
export function endsSessionsOf(statement: AskingStatement): EndsSessionsOf {
  return ({ user, isAdministrators, isOwn }) => {
    const rights = statement.currentRights();
    const { role, superuser } = rights.acting;
    if (isOwn) return !isAdministrators || role === null || superuser;
    if (isAdministrators || !rights.hasRole(SIGNAL_ROLE.id)) return false;
    return statement.catalogView().role(user)?.superuser !== true;
  };
}

/** The statement whose functions act. */
export interface StatementOfActions {
  /** Told how to take back what was done, should the transaction be rolled back to a savepoint. */
  undoes(undo: () => void): void;
  /** Whether its role may end the session. */
  readonly ends: EndsSessionsOf;
}

export function sessionActions(
  owner: LockOwner & Pick<SessionActions, "number" | "channels">,
  { advisory, cancel, terminate, readOnly }: SharedBySessions,
  /** Gives what takes it back. */
  notify: (notification: Notification) => () => void,
  statement: StatementOfActions,
): SessionActions {
  const note = (key: string, shared: boolean, inTransaction: boolean): void => {
    if (inTransaction) statement.undoes(noteLock(owner, advisory, key, shared));
  };
  return {
    number: owner.number,
    channels: owner.channels,
    notify(channel, payload) {
      checkNotification(channel, payload);
      // Others act on it.
      if (readOnly) throw refusedToReader("NOTIFY");
      statement.undoes(notify({ channel, payload }));
    },
    cancel: (session) => cancel(session, (signalled) => statement.ends(signalled)),
    terminate: (session) => terminate(session, (signalled) => statement.ends(signalled)),
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
