/** Statements about roles, grants and policies after binding: the definitions as they are to be. */
import type { AccessDef, Grant, RoleDef, RoleSettingsDef } from "./role.js";

/** What DROP OWNED BY does to the roles' objects and privileges. */
export interface OwnedDrop {
  readonly roles: readonly number[];
  readonly cascade: boolean;
  /** Which privileges on an object of others go, and whether policies do. */
  readonly mayRevoke: (access: AccessDef) => { readonly grants: (grant: Grant) => boolean; readonly policies: boolean };
}

export interface AccessCommand {
  readonly kind: "access";
  readonly tag: string;
  readonly notices: readonly string[];
  /** Roles that are new. */
  readonly made?: readonly Omit<RoleDef, "id">[];
  /** Roles as they are from now on. */
  readonly roles?: readonly RoleDef[];
  readonly dropped?: readonly RoleDef[];
  readonly owned?: OwnedDrop;
  readonly accesses?: readonly AccessDef[];
  /** Names of trained models that there have to be, as of which nothing has been said before. */
  readonly models?: readonly string[];
  /** What sessions begin with; without any settings it is removed. */
  readonly settings?: readonly RoleSettingsDef[];
}
