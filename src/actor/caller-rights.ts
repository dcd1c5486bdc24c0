/**
 * What the caller of a request may do, by the roles and policies of one version of the definitions, and for which
 * tenants administrators' routes may act.
 */
import type { Input } from "../bodies/validate.js";
import type { CatalogView } from "../catalog/catalog-view.js";
import { actingAs, type Login, type Rights, rightsOf } from "../catalog/rights.js";
import { DATABASE_ID } from "../catalog/role.js";
import { databaseOfBranch } from "../protocol/database-name.js";
import { DbError, sqlError } from "../protocol/errors.js";
import type { RequestHead } from "../protocol/frames.js";
import { administers, callerBounds, SYSTEM_TENANT } from "../protocol/identity.js";
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
  if (head.memberOf !== undefined) tenant.withDefinitions((catalog) => actingAs(catalog, loginOf(head)));
}

/** Throws 42501 where the caller may not connect to the database: the tenant, or the branch that the request names. */
export function requireConnect({ tenant, head }: { readonly tenant: Tenant; readonly head: RequestHead }): void {
  if (tenant.catalog.newestVersion() !== null && !tenant.catalog.everHadAccess) return;
  const mayConnect = tenant.withDefinitions(
    (catalog) => catalog.accessTo(DATABASE_ID) === null || rightsOfCaller(head)(catalog).may(DATABASE_ID, "c"),
  );
  if (mayConnect) return;
  throw sqlError("42501", `permission denied for database "${databaseOfBranch(head.branch, head.tenantId)}"`, {
    detail: "User does not have CONNECT privilege.",
  });
}

export function rightsOfCaller(head: CallersHead): (catalog: CatalogView) => Rights {
  const login = loginOf(head);
  return (catalog) => rightsOf(catalog, actingAs(catalog, login));
}

/**
 * The tenant in the URL must be the caller's own, unless the caller belongs to the tenant that owns the installation.
 */
export function tenantOf(request: { readonly head: RequestHead }, { params }: Input): string {
  const { tenantId } = request.head;
  if (tenantId !== SYSTEM_TENANT && tenantId !== params.tenant) {
    throw new DbError("forbidden", `You do not have permission for the tenant "${params.tenant}".`);
  }
  return params.tenant!;
}

export function requireSystem(request: { readonly head: RequestHead }): void {
  if (request.head.tenantId !== SYSTEM_TENANT) {
    throw new DbError("forbidden", "Only administrators of the system tenant have permission to do this.");
  }
}
