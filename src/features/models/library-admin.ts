/** Who may change the installation's models: they are shared by all tenants. Called by handlers and by functions of SQL. */
import { DbError } from "../../protocol/errors.js";
import type { RequestHead } from "../../protocol/frames.js";
import { SYSTEM_TENANT } from "../../protocol/identity.js";

export function isLibraryAdmin({ roles, tenantId }: RequestHead): boolean {
  return tenantId === SYSTEM_TENANT && roles.includes("super_admin");
}

/** Throws `forbidden` unless the one who asks is an administrator of the library, by a credential that may write. */
export function requireLibraryAdmin(isAdmin: boolean): void {
  if (isAdmin) return;
  throw new DbError(
    "forbidden",
    "Models belong to the installation: you do not have permission to pull, delete or inspect them. This needs the super_admin role in the system tenant and, with an API key, FullAccess; tools cannot do it.",
    { sqlstate: "42501" },
  );
}
