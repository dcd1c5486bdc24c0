/**
 * Roles and access as the catalog stores them (JSON records in the tenant's shard). Roles, owners, grants and policies
 * are PostgreSQL's. An object without an `AccessDef` is common property: everybody may do everything with it. So a
 * tenant that has never heard of roles works as if there were none.
 */
import type { ViewQuery } from "./kept-query.js";

/** A role that a role is a member of. */
export interface MembershipDef {
  readonly roleId: number;
  /** It may grant and revoke the role. */
  readonly admin: boolean;
  /** Absent: as the member's own `inherit` says. */
  readonly inherit?: boolean;
}

export interface RoleDef {
  /** Unique within the tenant, among all objects; of built-in roles below 0. */
  readonly id: number;
  readonly name: string;
  readonly superuser: boolean;
  /** It has the privileges of the roles that it is a member of without SET ROLE. */
  readonly inherit: boolean;
  readonly createRole: boolean;
  readonly createDb: boolean;
  readonly login: boolean;
  readonly replication: boolean;
  readonly bypassRls: boolean;
  readonly connectionLimit: number;
  readonly validUntil: string | null;
  readonly memberOf: readonly MembershipDef[];
  /** ALTER DEFAULT PRIVILEGES: what objects are born with that the role makes. */
  readonly defaults?: readonly DefaultAccess[];
  readonly comment?: string;
}

/** What sessions begin with (ALTER ROLE … SET, ALTER DATABASE … SET), in the order in which it was said first. */
export interface RoleSettingsDef {
  /** A role's id, or EVERY_ROLE_ID. */
  readonly roleId: number;
  readonly settings: readonly RoleSetting[];
}

export interface RoleSetting {
  /** Only in the database of that name; null: in each. */
  readonly database: string | null;
  /** In lower case. */
  readonly name: string;
  /** As SET has it. */
  readonly value: string;
}

/** ALTER ROLE ALL. */
export const EVERY_ROLE_ID = 0;

/** Privileges by PostgreSQL's letters. */
export type Privilege = "r" | "a" | "w" | "d" | "D" | "x" | "t" | "U" | "C" | "X" | "T" | "c";

export type ObjectKind = "table" | "sequence" | "function" | "schema" | "database" | "type" | "language" | "model";

/** Of which default privileges say something. */
export type DefaultKind = "table" | "sequence" | "function" | "schema" | "type";

/** One privilege that one role has from another. */
export interface Grant {
  /** A role's id, or PUBLIC_ID. */
  readonly grantee: number;
  readonly grantor: number;
  readonly privilege: Privilege;
  /** WITH GRANT OPTION. */
  readonly grantable: boolean;
  /** Of one column of a table or view (its number there); absent: of the whole object. */
  readonly columnId?: number;
}

export interface DefaultAccess {
  readonly kind: DefaultKind;
  /** null: of all schemas. Then `grants` are all, otherwise they are added. */
  readonly schema: string | null;
  readonly grants: readonly Grant[];
}

export interface PolicyDef {
  readonly name: string;
  readonly permissive: boolean;
  readonly command: "all" | "select" | "insert" | "update" | "delete";
  /** Ids of roles; PUBLIC_ID: all. */
  readonly roles: readonly number[];
  /** null: none. */
  readonly using: PolicyCondition | null;
  readonly check: PolicyCondition | null;
}

/** In the statement `sql`, CREATE or ALTER POLICY; its names go on meaning what they meant then. */
export type PolicyCondition = ViewQuery;

/** Who owns an object, and who else may do what with it. */
export interface AccessDef {
  readonly objectId: number;
  readonly kind: ObjectKind;
  /** Of a trained model, which has no other definition: its name. */
  readonly name?: string;
  readonly owner: number;
  readonly grants: readonly Grant[];
  /** Of a view or function: it runs with the rights of who uses it, whatever its definition says. */
  readonly invoker?: true;
  /** Of a table; absent: its policies are not in force. */
  readonly rowSecurity?: { readonly enabled: boolean; readonly forced: boolean };
  /** In the order of their names; absent: none. */
  readonly policies?: readonly PolicyDef[];
}

/** The schema `public` that every tenant has at first. It has a record only once it was dropped. */
export const PUBLIC_SCHEMA_ID = -10;

/** The database itself: the tenant, or a branch. */
export const DATABASE_ID = -20;

/** Languages that everybody may write functions in, unless statements say otherwise. */
export const LANGUAGE_IDS: Readonly<Record<"sql" | "plpgsql", number>> = { sql: -31, plpgsql: -32 };

/** The grantee PUBLIC. */
export const PUBLIC_ID = 0;

const plain = {
  superuser: false,
  inherit: true,
  createRole: false,
  createDb: false,
  login: false,
  replication: false,
  bypassRls: false,
  connectionLimit: -1,
  validUntil: null,
  memberOf: [],
} as const;

/** A role as CREATE ROLE makes it that says nothing else. */
export const PLAIN_ROLE: Omit<RoleDef, "id" | "name"> = plain;

/** The tenant's administrators. */
export const ADMIN_ROLE: RoleDef = Object.freeze({ ...plain, id: -1, name: "admin", superuser: true });

/** Everybody has it, as everybody has PUBLIC. */
export const MEMBER_ROLE: RoleDef = Object.freeze({ ...plain, id: -2, name: "member" });

/** PostgreSQL's: whoever has them reads, or changes, rows of all relations. Policies decide which. */
export const READ_ALL_ROLE: RoleDef = Object.freeze({ ...plain, id: -3, name: "pg_read_all_data" });
export const WRITE_ALL_ROLE: RoleDef = Object.freeze({ ...plain, id: -4, name: "pg_write_all_data" });

/**
 * PostgreSQL's: whoever has pg_read_all_stats sees what other sessions run. Programs that watch a server ask for
 * pg_monitor. All users read all settings, and no function of statistics scans tables, so these two add nothing.
 */
export const READ_STATISTICS_ROLE: RoleDef = Object.freeze({ ...plain, id: -5, name: "pg_read_all_stats" });
export const READ_SETTINGS_ROLE: RoleDef = Object.freeze({ ...plain, id: -7, name: "pg_read_all_settings" });
export const SCAN_STATISTICS_ROLE: RoleDef = Object.freeze({ ...plain, id: -8, name: "pg_stat_scan_tables" });
export const MONITOR_ROLE: RoleDef = Object.freeze({
  ...plain,
  id: -6,
  name: "pg_monitor",
  memberOf: [READ_SETTINGS_ROLE, READ_STATISTICS_ROLE, SCAN_STATISTICS_ROLE].map(({ id }) => ({
    roleId: id,
    admin: false,
    inherit: true,
  })),
});

/** PostgreSQL's: whoever has it may cancel and end sessions of others who are no superusers. */
export const SIGNAL_ROLE: RoleDef = Object.freeze({ ...plain, id: -9, name: "pg_signal_backend" });

export const BUILT_IN_ROLES: readonly RoleDef[] = [
  ADMIN_ROLE,
  MEMBER_ROLE,
  READ_ALL_ROLE,
  WRITE_ALL_ROLE,
  READ_STATISTICS_ROLE,
  READ_SETTINGS_ROLE,
  SCAN_STATISTICS_ROLE,
  MONITOR_ROLE,
  SIGNAL_ROLE,
];

/** All privileges that objects of the kind have. */
export const ALL_PRIVILEGES: Readonly<Record<ObjectKind, readonly Privilege[]>> = {
  table: ["a", "r", "w", "d", "D", "x", "t"],
  sequence: ["r", "w", "U"],
  function: ["X"],
  schema: ["U", "C"],
  database: ["C", "T", "c"],
  type: ["U"],
  language: ["U"],
  model: ["U"],
};

/** Privileges by their names in GRANT. */
export const PRIVILEGE_LETTERS: Readonly<Record<string, Privilege>> = {
  select: "r",
  insert: "a",
  update: "w",
  delete: "d",
  truncate: "D",
  references: "x",
  trigger: "t",
  usage: "U",
  create: "C",
  execute: "X",
  connect: "c",
  temp: "T",
  temporary: "T",
};

/** What an object is born with that the role makes, unless default privileges say otherwise. */
export function usualGrants(kind: ObjectKind, owner: number): Grant[] {
  const all = (grantee: number) =>
    ALL_PRIVILEGES[kind].map((privilege): Grant => ({ grantee, grantor: owner, privilege, grantable: false }));
  // What administrators make is for everybody, until they change the default.
  if (owner === ADMIN_ROLE.id) return [...all(owner), ...all(MEMBER_ROLE.id)];
  return kind === "function" || kind === "type" ? [...all(owner), ...all(PUBLIC_ID)] : all(owner);
}
