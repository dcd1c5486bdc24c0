/** What the caller of a request may do, by the roles and policies of one version of the definitions. */
import type { CatalogView } from "../catalog/catalog-view.js";
import { actingAs, type Login, type Rights, rightsOf } from "../catalog/rights.js";
import type { RequestHead } from "../protocol/frames.js";
import { administers, callerBounds } from "../protocol/identity.js";
import type { Tenant } from "../session/tenant.js";

type CallersHead = Pick<RequestHead, "username" | "roles" | "memberOf" | "lead">;

export function loginOf(head: CallersHead): Login {
  return { user: head.username, administrator: administers(head), ...callerBounds(head) };
}

/**
 * Throws forbidden where the caller's issuer or API key names a role that the tenant does not have: nobody falls back
 * to what everybody may.
 */
export function requireOwnRoles({ tenant, head }: { readonly tenant: Tenant; readonly head: RequestHead }): void {
  if (head.memberOf === undefined) return;
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    actingAs(tenant.catalog.view(tx), loginOf(head));
  } finally {
    tenant.rollback(tx);
  }
}

export function rightsOfCaller(head: CallersHead): (catalog: CatalogView) => Rights {
  const login = loginOf(head);
  return (catalog) => rightsOf(catalog, actingAs(catalog, login));
}
