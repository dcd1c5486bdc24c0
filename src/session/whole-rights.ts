/**
 * Checks that a caller may see and change all of a tenant. Needed where rows cannot be left out: some routes, the past,
 * branches.
 */
import type { CatalogView } from "../catalog/catalog-view.js";
import type { Rights } from "../catalog/rights.js";
import { DbError } from "../protocol/errors.js";
import type { Tenant } from "./tenant.js";

/** What a way to tables does with others' memories: it refuses or leaves them out itself, or it cannot. */
export type OthersMemories = "refused" | "read";

/**
 * By the roles and policies of now; `isLed`: by an API key on a lead. Throws 403; `what` cannot leave out what is
 * hidden. True: there are memories that the caller may not read or change.
 */
export function requireWholeTenant(
  tenant: Tenant,
  asker: { rights(catalog: CatalogView): Rights; readonly isLed: boolean },
  what: string,
  memories: OthersMemories,
): boolean {
  // A tenant that makes no use of roles begins no transaction for this.
  if (!asker.isLed && !tenant.catalog.everHadAccess && tenant.catalog.newestVersion() !== null) return false;
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    const rights = asker.rights(tenant.catalog.view(tx));
    if (!rights.matter || rights.isSuperuser || rights.mayEverything) return false;
    if (memories === "refused" && rights.mayAllButMemories) return true;
  } finally {
    tenant.rollback(tx);
  }
  throw new DbError("forbidden", `permission denied for ${what}: it cannot leave out what you may not see.`, {
    sqlstate: "42501",
    hint: "Statements (POST /v1/query/execute) give you the rows and columns that your role may see.",
  });
}
