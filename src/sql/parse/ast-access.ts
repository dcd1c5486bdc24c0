/** Statements about roles, privileges and policies. */
import type { SignatureNode } from "./ast-functions.js";
import type { ExprNode, NameNode } from "./ast-query.js";

/** A role by its name, or the one that the session is. */
export interface RoleNode {
  readonly kind: "named" | "public" | "current" | "session";
  readonly name: string;
}

/** An attribute of CREATE and ALTER ROLE, by the grammar's name. */
export interface RoleOption {
  readonly name: string;
  readonly value: string | number | boolean | null;
  /** Of those that list roles. */
  readonly roles?: readonly RoleNode[];
}

export interface CreateRoleStatement {
  readonly kind: "create role";
  readonly form: "role" | "user" | "group";
  readonly name: string;
  readonly options: readonly RoleOption[];
  readonly position: number;
}

export interface AlterRoleStatement {
  readonly kind: "alter role";
  readonly role: RoleNode;
  readonly options: readonly RoleOption[];
  /** Of ALTER GROUP … DROP USER: members go. */
  readonly removes: boolean;
  readonly position: number;
}

/** ALTER ROLE … SET and RESET, and of ALTER DATABASE. */
export interface RoleSettingStatement {
  readonly kind: "role setting";
  /** null: of all. */
  readonly role: RoleNode | null;
  /** null: in all. */
  readonly database: string | null;
  /** null: RESET ALL. */
  readonly name: string | null;
  readonly value:
    | { readonly kind: "given"; readonly values: readonly (string | number | boolean)[] }
    | "current"
    | "reset";
  readonly position: number;
}

export interface DropRoleStatement {
  readonly kind: "drop role";
  readonly roles: readonly RoleNode[];
  readonly ifExists: boolean;
  readonly position: number;
}

export interface RenameRoleStatement {
  readonly kind: "rename role";
  readonly name: string;
  readonly newName: string;
  readonly position: number;
}

export interface GrantRoleStatement {
  readonly kind: "grant role";
  readonly isGrant: boolean;
  readonly roles: readonly string[];
  readonly grantees: readonly RoleNode[];
  /** Of REVOKE: the option that goes, while the membership stays. */
  readonly admin: boolean | null;
  readonly inherit: boolean | null;
  readonly position: number;
}

/** null: ALL. */
export type PrivilegeNodes = readonly { readonly name: string; readonly columns: readonly string[] }[] | null;

export interface GrantStatement {
  readonly kind: "grant";
  readonly isGrant: boolean;
  /** As the grammar calls it: table, sequence, function, schema … */
  readonly object: string;
  readonly on:
    | { readonly kind: "names"; readonly names: readonly NameNode[] }
    | { readonly kind: "functions"; readonly functions: readonly SignatureNode[] }
    | { readonly kind: "all in schema"; readonly schemas: readonly string[] }
    | { readonly kind: "defaults" };
  readonly privileges: PrivilegeNodes;
  readonly grantees: readonly RoleNode[];
  readonly option: boolean;
  readonly cascade: boolean;
  readonly position: number;
}

export interface DefaultPrivilegesStatement {
  readonly kind: "default privileges";
  /** Empty: the one that the session is. */
  readonly roles: readonly RoleNode[];
  /** Empty: in all. */
  readonly schemas: readonly string[];
  readonly action: GrantStatement;
  readonly position: number;
}

/** What ALTER TABLE and its kin say about who may do what with a relation. */
export type RelationAccessChange =
  | { readonly kind: "owner"; readonly role: RoleNode }
  | { readonly kind: "row security"; readonly enabled?: boolean; readonly forced?: boolean };

export interface AlterAccessStatement {
  readonly kind: "alter access";
  readonly what: "table" | "view" | "sequence" | "materialized view" | "index";
  readonly name: NameNode;
  readonly ifExists: boolean;
  readonly changes: readonly RelationAccessChange[];
  readonly position: number;
}

/** ALTER … OWNER TO of what is no relation. */
export interface AlterOwnerStatement {
  readonly kind: "alter owner";
  readonly object: string;
  readonly name: NameNode;
  readonly function: SignatureNode | null;
  readonly role: RoleNode;
  readonly position: number;
}

export interface OwnedStatement {
  readonly kind: "owned";
  readonly roles: readonly RoleNode[];
  /** REASSIGN OWNED; null: DROP OWNED. */
  readonly to: RoleNode | null;
  readonly cascade: boolean;
  readonly position: number;
}

export interface PolicyStatement {
  readonly kind: "create policy" | "alter policy";
  readonly name: string;
  readonly table: NameNode;
  readonly command: "all" | "select" | "insert" | "update" | "delete";
  readonly permissive: boolean;
  /** null: as before, or all. */
  readonly roles: readonly RoleNode[] | null;
  readonly using: ExprNode | null;
  readonly check: ExprNode | null;
  /** The whole statement. */
  readonly text: string;
  readonly position: number;
}

export interface DropPolicyStatement {
  readonly kind: "drop policy";
  readonly name: string;
  readonly table: NameNode;
  readonly ifExists: boolean;
  readonly position: number;
}

export interface RenamePolicyStatement {
  readonly kind: "rename policy";
  readonly name: string;
  readonly table: NameNode;
  readonly newName: string;
  readonly position: number;
}

export type AccessStatement =
  | CreateRoleStatement
  | AlterRoleStatement
  | RoleSettingStatement
  | DropRoleStatement
  | RenameRoleStatement
  | GrantRoleStatement
  | GrantStatement
  | DefaultPrivilegesStatement
  | AlterAccessStatement
  | AlterOwnerStatement
  | OwnedStatement
  | PolicyStatement
  | DropPolicyStatement
  | RenamePolicyStatement;
