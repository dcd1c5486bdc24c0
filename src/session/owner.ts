/**
 * Who made what only they may use by its id: open transactions, prepared statements, kept answers. A user who signed in and each of
 * its API keys are different ones, since they may do different things.
 */
import type { RequestHead } from "../protocol/frames.js";

export interface Owner {
  readonly userId: string;
  /** "": the user had signed in. */
  readonly keyId: string;
}

/** What is known of who asks. */
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
  return !readOnly && (head.roles.includes("admin") || head.roles.includes("super_admin"));
}
