/** For which tenants a request may act. Called by handlers of administrators' routes. */

import type { Input } from "../bodies/validate.js";
import { DbError } from "../protocol/errors.js";
import { SYSTEM_TENANT } from "../protocol/identity.js";
import type { Request } from "../actor/request.js";

/**
 * The tenant in the URL must be the caller's own, unless the caller belongs to the tenant that owns the installation.
 */
export function tenantOf(request: Request, { params }: Input): string {
  const { tenantId } = request.head;
  if (tenantId !== SYSTEM_TENANT && tenantId !== params.tenant) {
    throw new DbError("forbidden", `You do not have permission for the tenant "${params.tenant}".`);
  }
  return params.tenant!;
}

export function requireSystem(request: Request): void {
  if (request.head.tenantId !== SYSTEM_TENANT) {
    throw new DbError("forbidden", "Only administrators of the system tenant have permission to do this.");
  }
}
