/**
 * Roles, owners and lists of privileges as the system's relations and functions show them. Where no statement has made
 * use of roles, the session's user is the only one and owns everything.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import { actingAs, actingAsRole, type Rights, rightsOf } from "../../../catalog/rights.js";
import {
  type AccessDef,
  ADMIN_ROLE,
  BUILT_IN_ROLES,
  type Grant,
  MEMBER_ROLE,
  MONITOR_ROLE,
  PRIVILEGE_LETTERS,
  PUBLIC_ID,
  READ_ALL_ROLE,
  READ_SETTINGS_ROLE,
  READ_STATISTICS_ROLE,
  type RoleDef,
  SCAN_STATISTICS_ROLE,
  SIGNAL_ROLE,
  WRITE_ALL_ROLE,
} from "../../../catalog/role.js";
import { sqlError } from "../../../protocol/errors.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { oidOfId } from "../../../query/expr/types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import type { Value } from "../../../values/values.js";
import { tokenize } from "../../parse/tokens.js";
import { OWNER_OID } from "./relation-facts.js";
import type { DefinedView, SystemView } from "./system-view.js";

const MEMBER_OID = 16_000;
/** Of a user of whom no statement made a role. */
const USER_OID = 16_001;

export function usesRoles(catalog: CatalogView): boolean {
  return catalog.hasAccess || catalog.roles().length > 0;
}

/** PostgreSQL's, where it has the role. */
const OIDS: ReadonlyMap<number, number> = new Map([
  [PUBLIC_ID, 0],
  [ADMIN_ROLE.id, OWNER_OID],
  [MEMBER_ROLE.id, MEMBER_OID],
  [READ_ALL_ROLE.id, 6181],
  [WRITE_ALL_ROLE.id, 6182],
  [READ_SETTINGS_ROLE.id, 3374],
  [SIGNAL_ROLE.id, 4200],
  [READ_STATISTICS_ROLE.id, 3375],
  [SCAN_STATISTICS_ROLE.id, 3377],
  [MONITOR_ROLE.id, 3373],
]);

export function roleOid(id: number): number {
  return OIDS.get(id) ?? oidOfId(id);
}

export interface ListedRole {
  readonly oid: number;
  /** Of a user of whom no statement made a role, its id is MEMBER_ROLE's. */
  readonly role: RoleDef;
}

/** All roles, where statements make use of them. */
export function listedRoles({ catalog, user }: DefinedView): ListedRole[] {
  const made = catalog.roles().filter(({ id }) => id > 0);
  // Administrators sign in, whatever their names are.
  const builtIn = BUILT_IN_ROLES.map(({ id }) => ({ ...catalog.roleById(id)!, login: id === ADMIN_ROLE.id }));
  const listed = [...builtIn, ...made].map((role) => ({ oid: roleOid(role.id), role }));
  if (listed.some(({ role }) => role.name === user)) return listed;
  return [...listed, { oid: USER_OID, role: { ...MEMBER_ROLE, name: user, login: true } }];
}

/** null: there is none. */
export function oidOfRole(view: DefinedView, name: string): number | null {
  if (!usesRoles(view.catalog)) return name === view.user ? OWNER_OID : null;
  return listedRoles(view).find(({ role }) => role.name === name)?.oid ?? null;
}

/** null: there is none. */
export function nameOfRole(view: DefinedView, oid: number): string | null {
  if (!usesRoles(view.catalog)) return oid === OWNER_OID ? view.user : null;
  return listedRoles(view).find((listed) => listed.oid === oid)?.role.name ?? null;
}

/** Columns of pg_class, pg_proc and pg_namespace about an object, under these names. */
export function ownership({ catalog }: DefinedView, objectId: number): { readonly owner: number; readonly acl: Value } {
  const access = catalog.accessTo(objectId);
  if (access === null) return { owner: OWNER_OID, acl: null };
  return { owner: roleOid(access.owner), acl: listOf(access.grants, undefined, catalog) };
}

/** `grantee=privileges/grantor` of the whole, or of one column; NULL where there are none. */
export function listOf(grants: readonly Grant[], columnId: number | undefined, catalog: CatalogView): Value {
  const items = new Map<string, string>();
  const named = (id: number) => (id === PUBLIC_ID ? "" : quoteIdentifier(catalog.roleById(id)?.name ?? "?"));
  for (const grant of grants) {
    if (grant.columnId !== columnId) continue;
    const key = `${named(grant.grantee)}=/${named(grant.grantor)}`;
    items.set(key, `${items.get(key) ?? ""}${grant.privilege}${grant.grantable ? "*" : ""}`);
  }
  if (items.size === 0) return null;
  return sqlArray([...items].map(([key, privileges]) => key.replace("=/", () => `=${privileges}/`)));
}

/** Who has what from whom, of the whole or with what counts for one column; null: it is common property. */
export function grantsOn({ catalog }: DefinedView, objectId: number, columnId?: number) {
  const access = catalog.accessTo(objectId);
  if (access === null) return null;
  const named = (id: number) => (id === PUBLIC_ID ? "PUBLIC" : (catalog.roleById(id)?.name ?? ""));
  return access.grants
    .filter((grant) => grant.columnId === undefined || grant.columnId === columnId)
    .map(({ grantee, grantor, privilege, grantable }) => ({
      grantor: named(grantor),
      grantee: named(grantee),
      privilege_type: NAMES_OF_LETTERS.get(privilege)!,
      is_grantable: grantable ? "YES" : "NO",
    }));
}

const NAMES_OF_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries(PRIVILEGE_LETTERS).map(([name, letter]) => [letter, name.toUpperCase()]),
);

/** Of a user or role, by name or OID; null: the session's. Throws 42704. */
export function rightsOfUser(view: SystemView, user: string | number | null): Rights {
  const { catalog } = view;
  if (user === null) return view.rights;
  if (user === "public" || user === 0) return rightsOf(catalog, actingAs(catalog, { user: "", administrator: false }));
  const name = typeof user === "number" ? nameOfRole(view, user) : user;
  if (name === null) throw sqlError("42704", `role with OID ${user} does not exist`);
  if (name === view.user) return view.rights;
  const role = oidOfRole(view, name) === null ? null : catalog.role(name);
  if (role === null) throw sqlError("42704", `role "${name}" does not exist`);
  return rightsOf(catalog, actingAsRole(role));
}

/** The condition as it was written. */
export function conditionText(sql: string, part: "using" | "check"): string | null {
  const tokens = tokenize(sql);
  const at = tokens.findIndex(({ text, depth, kind }) => kind === "word" && text === part && depth === 0);
  const open = tokens[at + 1];
  if (at < 0 || open?.text !== "(") return null;
  const close = tokens.slice(at + 2).find(({ text, depth }) => text === ")" && depth === open.depth);
  return close === undefined ? null : sql.slice(open.end, close.start).trim();
}

/** Tables whose policies somebody has said something about. */
export function policedTables(catalog: CatalogView): readonly AccessDef[] {
  return catalog.accesses().filter(({ policies }) => policies !== undefined && policies.length > 0);
}
