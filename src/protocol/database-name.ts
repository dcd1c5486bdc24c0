/**
 * Names of databases, as clients of PostgreSQL's protocol give them: a tenant, or one of its branches, `try` or
 * `shop:try`. Stateless.
 */
import { BRANCH_NAME } from "./endpoints/branches.js";

/** They mean the tenant itself, because clients ask for them when nobody says another. */
export const TENANT_ALIASES: ReadonlySet<string> = new Set(["postgres", "template1", "tessera"]);

/**
 * The branch of the user's tenant that a client wants; "": the tenant itself. Null: it wants what is not the tenant's.
 *
 * @param user the user's name, to which the tenant may be added: `ann@shop` or `ann@shop:try`
 */
export function branchWanted(user: string, database: string, tenantId: string): string | null {
  const place = placeIn(user);
  const [tenant, branch = ""] = place === null ? [tenantId] : place.split(":", 2);
  const isNone = ["", user, nameIn(user), tenantId].includes(database) || TENANT_ALIASES.has(database);
  const own = `${tenantId}:`;
  const named = database.startsWith(own) ? database.slice(own.length) : database;
  const wanted = isNone ? branch : named;
  return tenant === tenantId && (wanted === "" || BRANCH_NAME.test(wanted)) ? wanted : null;
}

/** `name@tenant` is the user `name`; a name that has the form of an address is one. */
export function nameIn(user: string): string {
  return placeIn(user) === null ? user : user.slice(0, user.lastIndexOf("@"));
}

function placeIn(user: string): string | null {
  const at = user.lastIndexOf("@");
  return at <= 0 || user.slice(at + 1).includes(".") ? null : user.slice(at + 1);
}

/** How a client names a branch; "": the tenant. */
export function databaseOfBranch(branch: string, tenantId: string): string {
  if (branch === "") return tenantId;
  return branch === tenantId || TENANT_ALIASES.has(branch) ? `${tenantId}:${branch}` : branch;
}
