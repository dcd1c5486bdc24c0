/** ALTER ROLE … SET and ALTER DATABASE … SET. Who may do it is PostgreSQL's rule (src/backend/commands/user.c). */
import type { DdlCommand } from "../../catalog/ddl-command.js";
import type { Rights } from "../../catalog/rights.js";
import { ADMIN_ROLE, EVERY_ROLE_ID, type RoleSettingsDef } from "../../catalog/role.js";
import { withSetting } from "../../catalog/role-settings.js";
import { sqlError } from "../../protocol/errors.js";
import type { RoleNode, RoleSettingStatement } from "../parse/ast-access.js";
import { denied, rightsIn, roleNamed } from "./bind-roles.js";
import type { BindEnvironment, SettingsOfRoles } from "./bound-statement.js";

export function bindRoleSetting(node: RoleSettingStatement, env: BindEnvironment): DdlCommand {
  const rights = rightsIn(env);
  const { settings: session } = env;
  if (session === undefined) throw new Error("settings of roles outside of a session");
  const { role, database, name } = node;
  if (database !== null && database !== session.database()) {
    throw sqlError("0A000", `settings of the database "${database}" cannot be changed in another one`, {
      hint: "Each database has roles and settings of its own: connect to it to change them.",
    });
  }
  const roleId = role === null ? mayChangeAll(rights, database) : mayChange(role, rights, env);
  const before = env.catalog.settingsOfRole(roleId) ?? { roleId, settings: [] };
  const settings = [name === null ? withoutAll(before, database, rights, session) : changed(node, before, rights, env)];
  return {
    kind: "access",
    tag: role === null && database !== null ? "ALTER DATABASE" : "ALTER ROLE",
    notices: [],
    settings,
  };
}

/** Throws 42501. */
function mayChangeAll(rights: Rights, database: string | null): number {
  if (rights.isSuperuser) return EVERY_ROLE_ID;
  if (database !== null) throw denied(`must be owner of database ${database}`);
  throw denied("must be superuser to alter settings globally");
}

/** Throws 42501, 42704. Everybody may change what its own sessions begin with. */
function mayChange(node: RoleNode, rights: Rights, env: BindEnvironment): number {
  const role = roleNamed(node, env);
  if (rights.isSuperuser) return role.id;
  const { acting } = rights;
  if (role.superuser || role.id === ADMIN_ROLE.id) throw denied("must be superuser to alter superusers");
  if (role.id !== acting.role?.id && (acting.role?.createRole !== true || role.id < 0))
    throw denied("permission denied");
  return role.id;
}

function changed(
  { database, name, value }: RoleSettingStatement,
  before: RoleSettingsDef,
  rights: Rights,
  env: BindEnvironment,
): RoleSettingsDef {
  const session = env.settings!;
  const key = name!;
  if (session.isForSuperusers(key) && !rights.isSuperuser) throw denied(`permission denied to set parameter "${key}"`);
  if (value === "reset") return withSetting(before, { database, name: key }, null);
  const text = value === "current" ? session.current(key) : session.text(key, value.values);
  session.check(key, text, env.catalog);
  return withSetting(before, { database, name: key }, text);
}

/** RESET ALL. What only superusers set stays, unless one resets it. */
function withoutAll(
  before: RoleSettingsDef,
  database: string | null,
  rights: Rights,
  session: SettingsOfRoles,
): RoleSettingsDef {
  const settings = before.settings.filter(
    (each) => each.database !== database || (!rights.isSuperuser && session.isForSuperusers(each.name)),
  );
  return { ...before, settings };
}
