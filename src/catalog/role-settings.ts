/** What sessions begin with: ALTER ROLE … SET and ALTER DATABASE … SET. */
import type { CatalogView } from "./catalog-view.js";
import type { Acting } from "./rights.js";
import { ADMIN_ROLE, EVERY_ROLE_ID, MEMBER_ROLE, type RoleSetting, type RoleSettingsDef } from "./role.js";

/**
 * The settings of a session in the database, for who signed in. What is said of a role in a database counts more than
 * what is said of the role, that more than what is said of the database, and least what is said of all.
 */
export function startingSettings(
  catalog: CatalogView,
  { role, superuser }: Acting,
  database: string | undefined,
): readonly Pick<RoleSetting, "name" | "value">[] {
  const own = role?.id ?? (superuser ? ADMIN_ROLE.id : MEMBER_ROLE.id);
  const found = new Map<string, string>();
  for (const roleId of [EVERY_ROLE_ID, own]) {
    const { settings = [] } = catalog.settingsOfRole(roleId) ?? {};
    for (const ofDatabase of [false, true]) {
      for (const { name, value, database: where } of settings) {
        if (ofDatabase ? where === database : where === null) found.set(name, value);
      }
    }
  }
  return [...found].map(([name, value]) => ({ name, value }));
}

/** `value` null: RESET. */
export function withSetting(
  before: RoleSettingsDef,
  { database, name }: Omit<RoleSetting, "value">,
  value: string | null,
) {
  const isIt = (each: RoleSetting) => each.database === database && each.name === name;
  const { settings } = before;
  if (value === null) return { ...before, settings: settings.filter((each) => !isIt(each)) };
  const next: RoleSetting = { database, name, value };
  const isThere = settings.some(isIt);
  return { ...before, settings: isThere ? settings.map((each) => (isIt(each) ? next : each)) : [...settings, next] };
}
