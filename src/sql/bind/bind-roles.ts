/** CREATE, ALTER, DROP and GRANT of roles. Who may do it is PostgreSQL's rule (src/backend/commands/user.c). */
import type { AccessCommand } from "../../catalog/access-command.js";
import type { DdlCommand } from "../../catalog/ddl-command.js";
import { withOwner } from "../../catalog/grants.js";
import { membershipsOf, type Rights } from "../../catalog/rights.js";
import {
  type AccessDef,
  ADMIN_ROLE,
  BUILT_IN_ROLES,
  type Grant,
  MEMBER_ROLE,
  type MembershipDef,
  PLAIN_ROLE,
  PUBLIC_ID,
  type RoleDef,
} from "../../catalog/role.js";
import { sqlError } from "../../protocol/errors.js";
import type {
  AlterRoleStatement,
  CreateRoleStatement,
  DropRoleStatement,
  GrantRoleStatement,
  OwnedStatement,
  RenameRoleStatement,
  RoleNode,
  RoleOption,
} from "../parse/ast-access.js";
import type { BindEnvironment, BoundStatement, DdlStep } from "./bound-statement.js";

/** What the statement's role may do. The engine itself, which has none, manages no roles. */
export function rightsIn(env: BindEnvironment): Rights {
  if (env.rights === undefined) throw new Error("a statement about access outside of a session");
  return env.rights;
}

export const denied = (message: string) => sqlError("42501", message);

/** Throws 42704. */
export function roleNamed(node: RoleNode, env: BindEnvironment): RoleDef {
  const { acting } = rightsIn(env);
  const who = node.kind === "current" ? acting : node.kind === "session" ? (env.session ?? acting) : null;
  if (who !== null) {
    const role = who.role ?? (who.superuser ? ADMIN_ROLE : null);
    if (role !== null) return env.catalog.roleById(role.id)!;
    throw noRole(who.name);
  }
  const found = env.catalog.role(node.name);
  if (found === null || node.kind === "public") throw noRole(node.name);
  return found;
}

/** The id of a role, or of PUBLIC. */
export function granteeNamed(node: RoleNode, env: BindEnvironment): number {
  return node.kind === "public" ? PUBLIC_ID : roleNamed(node, env).id;
}

const noRole = (name: string) => sqlError("42704", `role "${name}" does not exist`);

const command = (
  parts: Omit<AccessCommand, "kind" | "notices"> & { readonly notices?: readonly string[] },
): DdlCommand => ({
  kind: "access",
  notices: [],
  ...parts,
});

const FLAGS: Readonly<Record<string, keyof RoleDef>> = {
  superuser: "superuser",
  inherit: "inherit",
  createrole: "createRole",
  createdb: "createDb",
  canlogin: "login",
  isreplication: "replication",
  bypassrls: "bypassRls",
};

/** Attributes that only superusers give. */
const GUARDED: ReadonlySet<string> = new Set(["superuser", "isreplication", "bypassrls"]);

/** Throws 42501, 0A000. */
function attributesOf(options: readonly RoleOption[], rights: Rights, isNew = false): Partial<RoleDef> {
  const attributes: Record<string, unknown> = {};
  for (const { name, value } of options) {
    if (GUARDED.has(name) && value === true && !rights.isSuperuser) {
      throw denied(`must be superuser to change ${name.replace(/^is/, "")} attribute`);
    }
    const flag = FLAGS[name];
    if (flag !== undefined) attributes[flag] = value;
    else if (name === "connectionlimit") attributes.connectionLimit = value;
    else if (name === "validUntil") attributes.validUntil = value;
    else if (name === "password" && value !== null && !isNew) {
      throw sqlError("0A000", "roles have no passwords here", {
        hint: "A user of the tenant signs in, and is the role of its name.",
      });
    }
  }
  return attributes;
}

/** The role cannot sign in by it, so scripts that make roles may have it. To change one must not seem to succeed. */
const PASSWORD_IGNORED =
  "PASSWORD has no effect here and was ignored: a user of the tenant signs in, and is the role of its name";

export function bindCreateRole(node: CreateRoleStatement, env: BindEnvironment): BoundStatement {
  const rights = rightsIn(env);
  const { name } = node;
  if (!rights.isSuperuser && rights.acting.role?.createRole !== true) throw denied("permission denied to create role");
  checkName(name);
  if (env.catalog.role(name) !== null) throw sqlError("42710", `role "${name}" already exists`);
  const attributes = attributesOf(node.options, rights, true);
  const hasPassword = node.options.some((option) => option.name === "password" && option.value !== null);
  const notices = hasPassword ? [PASSWORD_IGNORED] : [];
  const listed = (option: string) => node.options.find((each) => each.name === option)?.roles ?? [];
  const memberOf = listed("addroleto").map((each) => ({ roleId: grantable(each, env).id, admin: false }));
  const made = { ...PLAIN_ROLE, name, login: node.form === "user", memberOf, ...attributes };
  const create = command({ tag: "CREATE ROLE", made: [made] });
  // The new role's members: it has its id by then.
  const join = (option: string, admin: boolean): DdlStep[] => {
    const members = listed(option);
    if (members.length === 0) return [];
    return [(now) => ({ kind: "ddl", command: joined([name], members, { admin, inherit: null }, "CREATE ROLE", now) })];
  };
  const steps: DdlStep[] = [
    () => ({ kind: "ddl", command: create }),
    ...join("rolemembers", false),
    ...join("adminmembers", true),
  ];
  return { kind: "ddl steps", tag: "CREATE ROLE", steps, notices };
}

function checkName(name: string): void {
  if (/^pg_/.test(name)) {
    throw sqlError("42939", `role name "${name}" is reserved`, {
      detail: 'Role names starting with "pg_" are reserved.',
    });
  }
  if (name === "public" || name === "none") throw sqlError("42939", `role name "${name}" is reserved`);
}

const isBuiltIn = ({ id }: RoleDef): boolean => BUILT_IN_ROLES.some((role) => role.id === id);

/** A role that the session may make others members of. Throws 42501. */
function grantable(node: RoleNode, env: BindEnvironment): RoleDef {
  const rights = rightsIn(env);
  const role = roleNamed(node, env);
  if (rights.isSuperuser) return role;
  if (role.superuser) throw denied("must be superuser to alter superusers");
  const { acting } = rights;
  // A role that makes others does not give them, or itself, all rows.
  if (acting.role?.createRole === true && !isBuiltIn(role)) return role;
  const holders = [...membershipsOf(acting.role, env.catalog)].map((id) => env.catalog.roleById(id));
  if (holders.some((holder) => holder?.memberOf.some(({ roleId, admin }) => admin && roleId === role.id))) return role;
  throw denied(`must have admin option on role "${role.name}"`);
}

interface MembershipOptions {
  readonly admin: boolean | null;
  readonly inherit: boolean | null;
}

/** Throws 0LP01 for a circle. */
function joined(
  roles: readonly string[],
  members: readonly RoleNode[],
  options: MembershipOptions,
  tag: string,
  env: BindEnvironment,
): DdlCommand {
  const changed = new Map<number, RoleDef>();
  for (const name of roles) {
    const role = env.catalog.role(name);
    if (role === null) throw noRole(name);
    if (role.id === MEMBER_ROLE.id) throw sqlError("0LP01", `role "${role.name}" is everybody's already`);
    for (const node of members) {
      const found = roleNamed(node, env);
      if (isBuiltIn(found)) throw denied(`role "${found.name}" is built in and stays as it is`);
      const member = changed.get(found.id) ?? found;
      if (member.id === role.id || membershipsOf(role, env.catalog).has(member.id)) {
        throw sqlError("0LP01", `role "${role.name}" is a member of role "${member.name}"`);
      }
      const before = member.memberOf.find(({ roleId }) => roleId === role.id);
      const inherit = options.inherit ?? before?.inherit;
      const next: MembershipDef = {
        roleId: role.id,
        admin: options.admin ?? before?.admin ?? false,
        ...(inherit !== undefined && { inherit }),
      };
      const others = member.memberOf.filter(({ roleId }) => roleId !== role.id);
      changed.set(member.id, { ...member, memberOf: [...others, next] });
    }
  }
  return command({ tag, roles: [...changed.values()] });
}

export function bindGrantRole(node: GrantRoleStatement, env: BindEnvironment): DdlCommand {
  for (const name of node.roles) grantable({ kind: "named", name }, env);
  if (node.isGrant) return joined(node.roles, node.grantees, node, "GRANT ROLE", env);
  const ids = node.roles.map((name) => env.catalog.role(name)!.id);
  const changed = node.grantees.map((each): RoleDef => {
    const member = roleNamed(each, env);
    const memberOf = member.memberOf.flatMap((membership): MembershipDef[] => {
      if (!ids.includes(membership.roleId)) return [membership];
      if (node.admin !== null) return [{ ...membership, admin: false }];
      return node.inherit === null ? [] : [{ ...membership, inherit: false }];
    });
    return { ...member, memberOf };
  });
  return command({ tag: "REVOKE ROLE", roles: changed });
}

/** A role that the session may change. Throws 42501. */
function changeable(node: RoleNode, env: BindEnvironment): RoleDef {
  const rights = rightsIn(env);
  const role = roleNamed(node, env);
  if (isBuiltIn(role)) throw denied(`role "${role.name}" is built in and stays as it is`);
  if (rights.isSuperuser) return role;
  if (role.superuser) throw denied("must be superuser to alter superusers");
  if (rights.acting.role?.createRole !== true) throw denied("permission denied");
  return role;
}

export function bindAlterRole(node: AlterRoleStatement, env: BindEnvironment): DdlCommand {
  const members = node.options.find(({ name }) => name === "rolemembers")?.roles;
  if (members !== undefined) {
    const name = roleNamed(node.role, env).name;
    const { position } = node;
    const options = { isGrant: !node.removes, admin: null, inherit: null, position } as const;
    const done = bindGrantRole({ kind: "grant role", roles: [name], grantees: members, ...options }, env);
    return { ...done, tag: "ALTER ROLE" } as DdlCommand;
  }
  const role = changeable(node.role, env);
  const attributes = attributesOf(node.options, rightsIn(env));
  return command({ tag: "ALTER ROLE", roles: [{ ...role, ...attributes }] });
}

export function bindRenameRole({ name, newName }: RenameRoleStatement, env: BindEnvironment): DdlCommand {
  const role = changeable({ kind: "named", name }, env);
  checkName(newName);
  if (role.id === rightsIn(env).acting.role?.id) throw sqlError("0A000", "current user cannot be renamed");
  if (env.catalog.role(newName) !== null) throw sqlError("42710", `role "${newName}" already exists`);
  return command({ tag: "ALTER ROLE", roles: [{ ...role, name: newName }] });
}

/** Throws 2BP01 for a role that owns something, or may do something with it. */
export function bindDropRole(node: DropRoleStatement, env: BindEnvironment): DdlCommand {
  const notices: string[] = [];
  const dropped: RoleDef[] = [];
  for (const each of node.roles) {
    if (node.ifExists && each.kind === "named" && env.catalog.role(each.name) === null) {
      notices.push(`role "${each.name}" does not exist, skipping`);
      continue;
    }
    const role = changeable(each, env);
    if (role.id === rightsIn(env).acting.role?.id) throw sqlError("55006", "current user cannot be dropped");
    const depends = env.catalog.accesses().find((access) => {
      const { owner, grants, policies = [] } = access;
      const granted = grants.some(({ grantee, grantor }) => grantee === role.id || grantor === role.id);
      return owner === role.id || granted || policies.some(({ roles }) => roles.includes(role.id));
    });
    const isNamed = env.catalog
      .roles()
      .some(({ id, defaults = [] }) =>
        defaults.some(({ grants }) => grants.some(({ grantee }) => grantee === role.id || id === role.id)),
      );
    if (depends !== undefined || isNamed) {
      throw sqlError("2BP01", `role "${role.name}" cannot be dropped because some objects depend on it`, {
        hint: "REASSIGN OWNED and DROP OWNED BY take away what it has.",
      });
    }
    dropped.push(role);
  }
  return command({ tag: "DROP ROLE", dropped, notices });
}

/** Throws 42501 unless it may act for the roles. */
function ownedRoles(nodes: readonly RoleNode[], also: readonly RoleDef[], env: BindEnvironment, what: string) {
  const rights = rightsIn(env);
  const roles = nodes.map((node) => roleNamed(node, env));
  const isMine = ({ id }: RoleDef) => rights.isSuperuser || (id > 0 && rights.hasRole(id));
  if (![...roles, ...also].every(isMine)) throw denied(`permission denied to ${what} objects`);
  return roles;
}

export function bindOwned(node: OwnedStatement, env: BindEnvironment): DdlCommand {
  return node.to === null ? bindDropOwned(node, env) : bindReassignOwned(node, node.to, env);
}

function bindReassignOwned({ roles: nodes }: OwnedStatement, to: RoleNode, env: BindEnvironment): DdlCommand {
  const owner = roleNamed(to, env);
  const roles = ownedRoles(nodes, [owner], env, "reassign").map(({ id }) => id);
  const accesses = env.catalog
    .accesses()
    .map((access) => (roles.includes(access.owner) ? withOwner(access, owner.id) : access));
  return command({ tag: "REASSIGN OWNED", accesses });
}

function bindDropOwned({ roles: nodes, cascade }: OwnedStatement, env: BindEnvironment): DdlCommand {
  const rights = rightsIn(env);
  const dropped = ownedRoles(nodes, [], env, "drop");
  const roles = dropped.map(({ id }) => id);
  const model = env.catalog.accesses().find(({ kind, owner }) => kind === "model" && roles.includes(owner));
  if (model !== undefined) {
    throw sqlError("0A000", `DROP OWNED does not drop trained models, and one of these roles owns "${model.name}"`, {
      hint: "Drop the model with DROP MODEL, or give it away with ALTER MODEL … OWNER TO.",
    });
  }
  const defined = env.catalog.roles().flatMap((role) => {
    if (role.defaults === undefined) return [];
    const defaults = (roles.includes(role.id) ? [] : role.defaults).map((one) => {
      return { ...one, grants: one.grants.filter(({ grantee }) => !roles.includes(grantee)) };
    });
    return [{ ...role, defaults }];
  });
  const mayRevoke = ({ objectId }: AccessDef) => {
    const owns = rights.owns(objectId);
    // A restrictive policy keeps something from the role: only the table's owner takes it away.
    return { grants: ({ grantor }: Grant) => owns || rights.hasRole(grantor), policies: owns };
  };
  return command({ tag: "DROP OWNED", roles: defined, owned: { roles, cascade, mayRevoke } });
}
