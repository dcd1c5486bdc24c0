/** GRANT and REVOKE on lists of grants, by PostgreSQL's rules (src/backend/utils/adt/acl.c). */
import { sqlError } from "../protocol/errors.js";
import {
  type AccessDef,
  ADMIN_ROLE,
  type Grant,
  type ObjectKind,
  type Privilege,
  PUBLIC_ID,
  usualGrants,
} from "./role.js";

export interface GrantChange {
  readonly isGrant: boolean;
  readonly privileges: readonly { readonly privilege: Privilege; readonly columnId?: number }[];
  readonly grantees: readonly number[];
  readonly grantor: number;
  /** WITH GRANT OPTION, or of REVOKE: GRANT OPTION FOR. */
  readonly option: boolean;
  readonly cascade: boolean;
}

/**
 * What is said first about who may do what with an object turns common property into an object of the administrators'
 * with which everybody may do everything. Views and functions in it do not get their rights by that.
 */
export function accessOf(found: AccessDef | null, objectId: number, kind: ObjectKind): AccessDef {
  if (found !== null) return found;
  return { objectId, kind, owner: ADMIN_ROLE.id, grants: usualGrants(kind, ADMIN_ROLE.id), invoker: true };
}

/** Throws 0LP01 and 2BP01. */
export function changedGrants(grants: readonly Grant[], change: GrantChange): readonly Grant[] {
  let result = grants;
  for (const grantee of change.grantees) {
    if (change.isGrant && change.option && grantee === PUBLIC_ID) {
      throw sqlError("0LP01", "grant options can only be granted to roles");
    }
    for (const { privilege, columnId } of change.privileges) {
      const of = { grantee, grantor: change.grantor, privilege, ...(columnId !== undefined && { columnId }) };
      result = change.isGrant ? withGrant(result, of, change.option) : withoutGrant(result, of, change);
    }
  }
  return result;
}

type GrantKey = Omit<Grant, "grantable">;

const isSame = (a: GrantKey, b: GrantKey) =>
  a.grantee === b.grantee && a.grantor === b.grantor && a.privilege === b.privilege && a.columnId === b.columnId;

function withGrant(grants: readonly Grant[], of: GrantKey, option: boolean): readonly Grant[] {
  const found = grants.find((grant) => isSame(grant, of));
  if (found === undefined) return [...grants, { ...of, grantable: option }];
  if (found.grantable || !option) return grants;
  return grants.map((grant) => (grant === found ? { ...found, grantable: true } : grant));
}

/** A privilege on the whole takes those on columns along. */
function withoutGrant(grants: readonly Grant[], of: GrantKey, change: GrantChange): readonly Grant[] {
  const isMeant = (grant: Grant) =>
    isSame(grant, of) ||
    (of.columnId === undefined && grant.columnId !== undefined && isSame({ ...grant, columnId: of.columnId! }, of));
  const left = change.option
    ? grants.map((grant) => (isMeant(grant) ? { ...grant, grantable: false } : grant))
    : grants.filter((grant) => !isMeant(grant));
  return withoutDependents(left, of, change.cascade);
}

/** Grants by a role that may not grant that any more. */
function withoutDependents(grants: readonly Grant[], of: GrantKey, cascade: boolean): readonly Grant[] {
  const { grantee, privilege } = of;
  // The owner's own grants rest on nothing.
  if (grantee === of.grantor) return grants;
  const mayStill = grants.some(
    (grant) => grant.grantee === grantee && grant.privilege === privilege && grant.grantable,
  );
  const dependent = grants.filter((grant) => grant.grantor === grantee && grant.privilege === privilege);
  if (mayStill || dependent.length === 0) return grants;
  if (!cascade) {
    throw sqlError("2BP01", "dependent privileges exist", { hint: "Use CASCADE to revoke them too." });
  }
  let result = grants;
  for (const grant of dependent) {
    result = withoutDependents(
      result.filter((other) => other !== grant),
      grant,
      cascade,
    );
  }
  return result;
}

/** Without the role's privileges and, in policies, the role, as far as they may go. A policy about it alone goes. */
export function withoutRole(
  access: AccessDef,
  roleId: number,
  may: { readonly grants: (grant: Grant) => boolean; readonly policies: boolean },
): AccessDef {
  const grants = access.grants.filter(
    (grant) => (grant.grantee !== roleId && grant.grantor !== roleId) || !may.grants(grant),
  );
  if (!may.policies) return { ...access, grants };
  const policies = access.policies?.flatMap((policy) => {
    const roles = policy.roles.filter((id) => id !== roleId);
    return roles.length === 0 ? [] : [{ ...policy, roles }];
  });
  return { ...access, grants, ...(policies && { policies }) };
}

export function withOwner(access: AccessDef, owner: number): AccessDef {
  const moved = (id: number) => (id === access.owner ? owner : id);
  const grants: Grant[] = [];
  for (const grant of access.grants) {
    const next = { ...grant, grantee: moved(grant.grantee), grantor: moved(grant.grantor) };
    if (!grants.some((other) => isSame(other, next))) grants.push(next);
  }
  const { invoker: _, ...rest } = access;
  return { ...rest, owner, grants };
}
