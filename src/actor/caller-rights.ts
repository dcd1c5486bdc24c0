/** What the caller of a request may do, by the roles and policies of one version of the definitions. */
import type { CatalogView } from "../catalog/catalog-view.js";
import { actingAs, type Rights, rightsOf } from "../catalog/rights.js";
import type { RequestHead } from "../protocol/frames.js";

/** Who asks: administrators of a tenant are superusers of it. */
export function isAdministrator({ roles }: Pick<RequestHead, "roles">): boolean {
  return roles.includes("admin") || roles.includes("super_admin");
}

export function rightsOfCaller(head: Pick<RequestHead, "username" | "roles">): (catalog: CatalogView) => Rights {
  const login = { user: head.username, administrator: isAdministrator(head) };
  return (catalog) => rightsOf(catalog, actingAs(catalog, login));
}
