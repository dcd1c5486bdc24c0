/** The options of a session that works for a request. */
import { isLibraryAdmin } from "../ai/library/library-admin.js";
import { databaseOfBranch } from "../protocol/database-name.js";
import type { RequestHead } from "../protocol/frames.js";
import { administers, callerBounds } from "../protocol/identity.js";
import type { SessionOptions } from "./session.js";

/** As `sessionOptions`, for statements of the caller, which begin with the settings of the caller's role. */
export function clientOptions(...of: Parameters<typeof sessionOptions>): SessionOptions {
  return { ...sessionOptions(...of), begins: true };
}

/** `control`: who begins and ends transactions, the route or statements. */
export function sessionOptions(
  { readOnly, head }: { readonly readOnly: boolean; readonly head: RequestHead },
  control: SessionOptions["control"],
): SessionOptions {
  const { username: user, tenantId: tenantName } = head;
  const database = databaseOfBranch(head.branch, tenantName);
  const administrator = administers(head);
  const managesModels = isLibraryAdmin(head);
  return {
    ...{ isolation: null, readOnly, user, administrator, tenantName, database, control, managesModels },
    ...callerBounds(head),
  };
}
