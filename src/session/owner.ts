/**
 * The owner of what only its maker may use by id: open transactions, prepared statements, kept answers. A user who
 * signed in and each of that user's API keys are different owners, because their rights may differ.
 */

import type { RequestHead } from "../protocol/frames.js";
import { administers } from "../protocol/identity.js";

export interface Owner {
  readonly userId: string;
  /** "": the user had signed in. */
  readonly keyId: string;
}

/** What is known about the caller. */
export interface Asker {
  readonly head: Pick<RequestHead, "userId" | "keyId" | "roles">;
  readonly readOnly: boolean;
}

/** A name that no other owner has. */
export function ownerName({ userId, keyId }: Owner): string {
  return keyId === "" ? userId : `${userId}\u0001${keyId}`;
}

/** The owner, or an administrator. */
export function mayUse(asker: Asker, { userId, keyId }: Owner): boolean {
  return (asker.head.userId === userId && asker.head.keyId === keyId) || isAdministrator(asker);
}

/** Of the tenant, with a credential that may write. */
export function isAdministrator({ head, readOnly }: Asker): boolean {
  return !readOnly && administers(head);
}
