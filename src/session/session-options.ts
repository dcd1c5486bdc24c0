/** The options of a session that works for a request. */
import { isLibraryAdmin } from "../ai/library/library-admin.js";
import { databaseOfBranch } from "../protocol/database-name.js";
import type { RequestHead } from "../protocol/frames.js";
import { administers } from "../protocol/identity.js";
import type { SessionOptions } from "./session.js";

type Asker = { readonly readOnly: boolean; readonly head: RequestHead };

/** As `sessionOptions`, for statements of the caller, which begin with the settings of the caller's role. */
export function clientOptions(asker: Asker, control: SessionOptions["control"]): SessionOptions {
  return optionsOf(asker, control, true);
}

/** `control`: who begins and ends transactions, the route or statements. */
export function sessionOptions(asker: Asker, control: SessionOptions["control"]): SessionOptions {
  return optionsOf(asker, control);
}

/**
 * One literal, made for each request: V8 gives what is put together by spreads a shape of its own each time, and looks
 * everything up in it slowly.
 */
function optionsOf({ readOnly, head }: Asker, control: SessionOptions["control"], begins?: true): SessionOptions {
  const { username: user, tenantId: tenantName, memberOf, claims, lead } = head;
  return {
    isolation: null,
    readOnly,
    user,
    administrator: administers(head),
    tenantName,
    database: databaseOfBranch(head.branch, tenantName),
    control,
    managesModels: isLibraryAdmin(head),
    memberOf,
    claims,
    lead,
    begins,
  };
}
