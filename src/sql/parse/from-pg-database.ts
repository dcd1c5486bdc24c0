/** Converts statements about databases from the grammar's JSON to our syntax tree. Called by from-pg.ts. */
import type { DefElem, Node } from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type { DatabaseStatement } from "./ast-definitions.js";
import { only, pathOf, tagOf } from "./conversion.js";

/** Templates that PostgreSQL has from the start: nobody has put anything into them. */
const EMPTY_TEMPLATES: ReadonlySet<string> = new Set(["template0", "template1"]);
/** Options that change nothing here. */
const IGNORED: ReadonlySet<string> = new Set([
  ...["owner", "strategy", "oid", "collation_version", "locale_provider", "icu_locale", "icu_rules"],
]);
/** Options of CREATE and ALTER DATABASE, and the value that each has here for every database. */
const FIXED: Readonly<Record<string, string>> = {
  ...{ connection_limit: "-1", allow_connections: "true", is_template: "false" },
  tablespace: "pg_default",
};
const LOCALES: ReadonlySet<string> = new Set(["locale", "lc_collate", "lc_ctype", "builtin_locale"]);
/** Locales in which texts sort by code point. */
const BY_CODE_POINT = /^(?:C|POSIX|C\.UTF-?8|ucs_basic|default)$/i;

/** Null: a different statement. */
export function convertDatabase(node: Node, position: number): DatabaseStatement | null {
  const tag = tagOf(node);
  switch (tag) {
    case "CreatedbStmt": {
      const { dbname: name = "", options } = only(node, tag);
      return { kind: "database", action: "create", name, ...createOptions(options ?? [], position), position };
    }
    case "DropdbStmt": {
      const { dbname: name = "", missing_ok: ifExists = false, options } = only(node, tag);
      const force = (options ?? []).some((option) => only(option, "DefElem").defname === "force");
      return { kind: "database", action: "drop", name, ifExists, force, position };
    }
    case "RenameStmt": {
      const { renameType, subname: name = "", newname: newName = "" } = only(node, tag);
      return renameType === "OBJECT_DATABASE" ? { kind: "database", action: "rename", name, newName, position } : null;
    }
    case "AlterOwnerStmt": {
      const { objectType, object } = only(node, tag);
      return objectType === "OBJECT_DATABASE" ? altered(pathOf(object)[0]!, OWNER_STAYS, position) : null;
    }
    case "AlterDatabaseStmt": {
      const { dbname = "", options } = only(node, tag);
      for (const option of options ?? []) requireFixed(only(option, "DefElem"), position);
      return altered(dbname, [], position);
    }
    case "AlterDatabaseRefreshCollStmt":
      return altered(only(node, tag).dbname ?? "", ["version has not changed"], position);
    default:
      return null;
  }
}

const OWNER_STAYS = ["databases belong to the administrators of the tenant: the owner stays"];

function altered(name: string, notices: readonly string[], position: number): DatabaseStatement {
  return { kind: "database", action: "alter", name, notices, position };
}

/** Throws 42601 for an option that there is not, 0A000 for a value that no database has here. */
function requireFixed(element: DefElem, position: number): void {
  const { defname = "" } = element;
  const fixed = Object.hasOwn(FIXED, defname) ? FIXED[defname]! : null;
  if (fixed === null) throw sqlError("42601", `option "${defname}" not recognized`, { position });
  if ((textOf(element) ?? fixed) === fixed) return;
  const option = defname.toUpperCase().replace("CONNECTION_LIMIT", "CONNECTION LIMIT");
  throw sqlError("0A000", `${option} is ${fixed} for every database`, { position });
}

/** Throws 42601 for an option that there is not, 22023 for another encoding, 0A000 as `requireFixed`. */
function createOptions(options: readonly Node[], position: number) {
  let template: string | null = null;
  const notices: string[] = [];
  for (const option of options) {
    const element = only(option, "DefElem");
    const { defname = "" } = element;
    const text = textOf(element);
    if (defname === "template") template = text === null || EMPTY_TEMPLATES.has(text) ? null : text;
    else if (defname === "encoding") requireUtf8(text, position);
    else if (LOCALES.has(defname)) {
      if (text !== null && !BY_CODE_POINT.test(text))
        notices.push(`texts sort by code point here, not as in "${text}"`);
    } else if (Object.hasOwn(FIXED, defname)) {
      requireFixed(element, position);
    } else if (!IGNORED.has(defname)) {
      throw sqlError("42601", `unrecognized CREATE DATABASE option "${defname}"`, { position });
    }
  }
  return { template, notices: [...new Set(notices)] };
}

function requireUtf8(encoding: string | null, position: number): void {
  if (encoding === null || /^(?:utf-?8|unicode|6)$/i.test(encoding)) return;
  throw sqlError("22023", `encoding "${encoding}" is not supported`, {
    position,
    hint: "Every database here is in UTF8.",
  });
}

/** Null: DEFAULT. */
function textOf({ arg }: DefElem): string | null {
  if (arg === undefined) return null;
  if ("String" in arg) return arg.String.sval ?? "";
  if ("Integer" in arg) return String(arg.Integer.ival ?? 0);
  return "Boolean" in arg ? String(arg.Boolean.boolval ?? false) : null;
}
