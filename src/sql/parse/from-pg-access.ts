/**
 * Converts statements about roles, privileges and policies from the grammar's JSON to our syntax tree. Called by
 * from-pg.ts.
 */
import type { AlterTableStmt, DefElem, GrantStmt, Node, RoleSpec, VariableSetStmt } from "@pgsql/types";
import type {
  AccessStatement,
  AlterAccessStatement,
  GrantStatement,
  PolicyStatement,
  RelationAccessChange,
  RoleNode,
  RoleOption,
  RoleSettingStatement,
} from "./ast-access.js";
import { type Conversion, notSupported, only, pathOf, strings, tagOf } from "./conversion.js";
import { signature } from "./from-pg-functions.js";
import { relationName } from "./from-pg-query.js";
import { setVariable } from "./from-pg-settings.js";

/** null: another statement. */
export function convertAccess(node: Node, c: Conversion, position: number): AccessStatement | null {
  const tag = tagOf(node);
  switch (tag) {
    case "CreateRoleStmt": {
      const { stmt_type: type = "ROLESTMT_ROLE", role: name = "", options } = only(node, tag);
      const form = type.replace("ROLESTMT_", "").toLowerCase() as "role" | "user" | "group";
      return { kind: "create role", form, name, options: roleOptions(options), position };
    }
    case "AlterRoleStmt": {
      const { role, options, action } = only(node, tag);
      return {
        kind: "alter role",
        role: roleNode(role),
        options: roleOptions(options),
        removes: action === -1,
        position,
      };
    }
    case "DropRoleStmt": {
      const { roles, missing_ok: ifExists = false } = only(node, tag);
      return { kind: "drop role", roles: roleNodes(roles), ifExists, position };
    }
    case "GrantRoleStmt": {
      const grant = only(node, tag);
      const option = (name: string) => {
        const found = elements(grant.opt).find(({ defname }) => defname === name);
        return found === undefined ? null : only(found.arg, "Boolean").boolval === true;
      };
      const roles = (grant.granted_roles ?? []).map((item) => only(item, "AccessPriv").priv_name ?? "");
      const isGrant = grant.is_grant ?? false;
      const grantees = roleNodes(grant.grantee_roles);
      return {
        kind: "grant role",
        isGrant,
        roles,
        grantees,
        admin: option("admin"),
        inherit: option("inherit"),
        position,
      };
    }
    case "GrantStmt":
      return grantStatement(only(node, tag), c, position);
    case "AlterDefaultPrivilegesStmt": {
      const { options, action } = only(node, tag);
      const listed = (name: string) => {
        const found = elements(options).find(({ defname }) => defname === name);
        return found === undefined ? [] : (only(found.arg, "List").items ?? []);
      };
      const roles = roleNodes(listed("roles"));
      const schemas = strings(listed("schemas"));
      return { kind: "default privileges", roles, schemas, action: grantStatement(action!, c, position), position };
    }
    case "ReassignOwnedStmt": {
      const { roles, newrole } = only(node, tag);
      return { kind: "owned", roles: roleNodes(roles), to: roleNode(newrole), cascade: false, position };
    }
    case "DropOwnedStmt": {
      const { roles, behavior } = only(node, tag);
      return { kind: "owned", roles: roleNodes(roles), to: null, cascade: behavior === "DROP_CASCADE", position };
    }
    default:
      return convertSetting(node, position) ?? convertPolicy(node, c, position) ?? convertOwner(node, c, position);
  }
}

function convertSetting(node: Node, position: number): AccessStatement | null {
  const tag = tagOf(node);
  switch (tag) {
    case "AlterRoleSetStmt": {
      const { role, database = null, setstmt } = only(node, tag);
      return {
        kind: "role setting",
        role: role ? roleNode(role) : null,
        database,
        ...settingOf(setstmt!, position),
        position,
      };
    }
    case "AlterDatabaseSetStmt": {
      const { dbname: database = "", setstmt } = only(node, tag);
      return { kind: "role setting", role: null, database, ...settingOf(setstmt!, position), position };
    }
    default:
      return null;
  }
}

function settingOf(node: VariableSetStmt, position: number): Pick<RoleSettingStatement, "name" | "value"> {
  if (node.kind === "VAR_SET_CURRENT") return { name: node.name!.toLowerCase(), value: "current" };
  const { name, values, transaction } = setVariable(node, position);
  if (transaction !== null) throw notSupported(`SET ${node.name}`, position);
  if (values === null) return { name: node.kind === "VAR_RESET_ALL" ? null : name.toLowerCase(), value: "reset" };
  return { name: name.toLowerCase(), value: { kind: "given", values } };
}

function convertPolicy(node: Node, c: Conversion, position: number): AccessStatement | null {
  const tag = tagOf(node);
  switch (tag) {
    case "CreatePolicyStmt": {
      const policy = only(node, tag);
      const command = (policy.cmd_name ?? "all") as PolicyStatement["command"];
      const permissive = policy.permissive ?? false;
      return { kind: "create policy", command, permissive, ...policyParts(policy, c), position };
    }
    case "AlterPolicyStmt": {
      const parts = policyParts(only(node, tag), c);
      return { kind: "alter policy", command: "all", permissive: true, ...parts, position };
    }
    case "DropStmt": {
      const drop = only(node, tag);
      if (drop.removeType !== "OBJECT_POLICY") return null;
      const path = pathOf(drop.objects![0]);
      const table = { path: path.slice(0, -1), position: 0 };
      return { kind: "drop policy", name: path.at(-1)!, table, ifExists: drop.missing_ok ?? false, position };
    }
    case "RenameStmt": {
      const { renameType, relation, subname: name = "", newname: newName = "" } = only(node, tag);
      if (renameType === "OBJECT_ROLE") return { kind: "rename role", name, newName, position };
      if (renameType !== "OBJECT_POLICY") return null;
      return { kind: "rename policy", name, table: relationName(relation!, c), newName, position };
    }
    default:
      return null;
  }
}

function policyParts(
  policy: Pick<import("@pgsql/types").AlterPolicyStmt, "policy_name" | "table" | "roles" | "qual" | "with_check">,
  c: Conversion,
): Pick<PolicyStatement, "name" | "table" | "roles" | "using" | "check" | "text"> {
  return {
    name: policy.policy_name ?? "",
    table: relationName(policy.table!, c),
    roles: policy.roles === undefined ? null : roleNodes(policy.roles),
    using: c.optional(policy.qual),
    check: c.optional(policy.with_check),
    text: "",
  };
}

function convertOwner(node: Node, c: Conversion, position: number): AccessStatement | null {
  const tag = tagOf(node);
  if (tag === "AlterTableStmt") return relationAccess(only(node, tag), c, position);
  if (tag !== "AlterOwnerStmt") return null;
  const { objectType = "", relation, object, newowner } = only(node, tag);
  const isFunction = object !== undefined && tagOf(object) === "ObjectWithArgs";
  const fn = isFunction ? signature(only(object, "ObjectWithArgs"), c) : null;
  const name =
    relation === undefined ? { path: fn?.name.path ?? pathOf(object), position: 0 } : relationName(relation, c);
  const what = objectType.replace("OBJECT_", "").toLowerCase();
  return { kind: "alter owner", object: what, name, function: fn, role: roleNode(newowner), position };
}

const ROW_SECURITY: Readonly<Record<string, { readonly enabled?: boolean; readonly forced?: boolean }>> = {
  AT_EnableRowSecurity: { enabled: true },
  AT_DisableRowSecurity: { enabled: false },
  AT_ForceRowSecurity: { forced: true },
  AT_NoForceRowSecurity: { forced: false },
};

/** null: the statement is about other things. */
function relationAccess(node: AlterTableStmt, c: Conversion, position: number): AlterAccessStatement | null {
  const found = (node.cmds ?? []).map((item): RelationAccessChange | null => {
    const { subtype = "", newowner } = only(item, "AlterTableCmd");
    if (subtype === "AT_ChangeOwner") return { kind: "owner", role: roleNode(newowner) };
    return ROW_SECURITY[subtype] === undefined ? null : { kind: "row security", ...ROW_SECURITY[subtype] };
  });
  const changes = found.filter((change) => change !== null);
  if (changes.length === 0) return null;
  if (changes.length < found.length) {
    throw notSupported("ALTER TABLE that changes owner or row security together with other things", position);
  }
  const what = (node.objtype ?? "OBJECT_TABLE").replace("OBJECT_", "").toLowerCase();
  return {
    kind: "alter access",
    what: (what === "matview" ? "materialized view" : what) as AlterAccessStatement["what"],
    name: relationName(node.relation!, c),
    ifExists: node.missing_ok ?? false,
    changes,
    position,
  };
}

/** An option without a value is on. */
export function isOn({ arg }: DefElem): boolean {
  if (arg === undefined) return true;
  const tag = tagOf(arg);
  if (tag === "Boolean") return only(arg, "Boolean").boolval === true;
  if (tag === "Integer") return only(arg, "Integer").ival === 1;
  return /^(true|on|yes|1)$/i.test(only(arg, "String").sval ?? "");
}

function elements(nodes: readonly Node[] | undefined): DefElem[] {
  return (nodes ?? []).map((node) => only(node, "DefElem"));
}

function roleNodes(nodes: readonly Node[] | undefined): RoleNode[] {
  return (nodes ?? []).map((node) => roleNode(only(node, "RoleSpec")));
}

export function roleNode(role: RoleSpec | undefined): RoleNode {
  switch (role?.roletype) {
    case "ROLESPEC_PUBLIC":
      return { kind: "public", name: "public" };
    case "ROLESPEC_CURRENT_ROLE":
    case "ROLESPEC_CURRENT_USER":
      return { kind: "current", name: "" };
    case "ROLESPEC_SESSION_USER":
      return { kind: "session", name: "" };
    default:
      return { kind: "named", name: role?.rolename ?? "" };
  }
}

function roleOptions(nodes: readonly Node[] | undefined): RoleOption[] {
  return elements(nodes).map(({ defname: name = "", arg }): RoleOption => {
    if (arg === undefined) return { name, value: null };
    const tag = tagOf(arg);
    if (tag === "List") return { name, value: null, roles: roleNodes(only(arg, tag).items) };
    if (tag === "Boolean") return { name, value: only(arg, tag).boolval === true };
    if (tag === "Integer") return { name, value: only(arg, tag).ival ?? 0 };
    return { name, value: only(arg, "String").sval ?? "" };
  });
}

function grantStatement(node: GrantStmt, c: Conversion, position: number): GrantStatement {
  const object = (node.objtype ?? "").replace("OBJECT_", "").toLowerCase();
  return {
    kind: "grant",
    isGrant: node.is_grant ?? false,
    object,
    on: grantTarget(node, c),
    privileges:
      node.privileges === undefined
        ? null
        : node.privileges.map((item) => {
            const { priv_name: name, cols } = only(item, "AccessPriv");
            return { name: name ?? "all", columns: strings(cols) };
          }),
    grantees: roleNodes(node.grantees),
    option: node.grant_option ?? false,
    cascade: node.behavior === "DROP_CASCADE",
    position,
  };
}

function grantTarget({ targtype, objtype, objects = [] }: GrantStmt, c: Conversion): GrantStatement["on"] {
  // Large objects have numbers for names.
  if (objtype === "OBJECT_LARGEOBJECT") return { kind: "names", names: [] };
  if (targtype === "ACL_TARGET_DEFAULTS") return { kind: "defaults" };
  if (targtype === "ACL_TARGET_ALL_IN_SCHEMA") return { kind: "all in schema", schemas: strings(objects) };
  const [first] = objects;
  if (first !== undefined && tagOf(first) === "ObjectWithArgs") {
    return { kind: "functions", functions: objects.map((item) => signature(only(item, "ObjectWithArgs"), c)) };
  }
  const names = objects.map((item) =>
    tagOf(item) === "RangeVar" ? relationName(only(item, "RangeVar"), c) : { path: pathOf(item), position: 0 },
  );
  return { kind: "names", names };
}
