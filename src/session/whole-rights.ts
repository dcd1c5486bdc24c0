/** Whether somebody may see and change all of a tenant, for what cannot leave out rows: some routes, the past, branches. */
import { actingAs, rightsOf } from "../catalog/rights.js";
import { DbError } from "../protocol/errors.js";
import type { Identity } from "./execution-scope.js";
import type { Tenant } from "./tenant.js";

/** By the roles and policies of now. Throws 403; `what` cannot leave out what is hidden. */
export function requireWholeTenant(
  tenant: Tenant,
  { user, administrator = false }: Pick<Identity, "user" | "administrator">,
  what: string,
): void {
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    const catalog = tenant.catalog.view(tx);
    if (!catalog.hasAccess) return;
    const rights = rightsOf(catalog, actingAs(catalog, { user, administrator }));
    if (rights.isSuperuser || rights.mayEverything) return;
  } finally {
    tenant.rollback(tx);
  }
  throw new DbError("forbidden", `permission denied for ${what}: it cannot leave out what you may not see.`, {
    sqlstate: "42501",
    hint: "Statements (POST /v1/query/execute) give you the rows and columns that your role may see.",
  });
}
