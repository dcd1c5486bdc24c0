/**
 * has_…_privilege and pg_has_role. What is common property everybody may use; users and objects that do not exist, and
 * privileges that an object of that kind cannot have, are errors.
 */
import { membershipsOf, type Rights } from "../../../catalog/rights.js";
import {
  DATABASE_ID,
  LANGUAGE_IDS,
  PRIVILEGE_LETTERS,
  type Privilege,
  PUBLIC_SCHEMA_ID,
} from "../../../catalog/role.js";
import { sqlError } from "../../../protocol/errors.js";
import type { ScalarFunction } from "../../../query/expr/expr.js";
import { idOfOid } from "../../../query/expr/types.js";
import { namedOidType } from "../../../values/catalog-types.js";
import { BOOL, INT2, NAME, OID, type SqlType, TEXT, type Value } from "../../../values/values.js";
import { functionFacts } from "./builtin-facts.js";
import { catalogIndex, relationOfOid } from "./catalog-index.js";
import { systemFunction } from "./define-function.js";
import {
  existingOid,
  existingRelation,
  functionWithTypes,
  schemaName,
  schemaNamed,
  typeOidNamed,
  typeText,
} from "./object-names.js";
import { attnum, LANGUAGE_OIDS, PUBLIC_OID } from "./relation-facts.js";
import { nameOfRole, rightsOfUser } from "./role-facts.js";
import { columnsOfShape, shapeOfOid } from "./shapes.js";
import { databaseOid, type SystemView } from "./system-view.js";

interface ObjectKind {
  readonly name: string;
  readonly privileges: readonly string[];
  /** The object's OID; throws where there is none. */
  readonly named: (view: SystemView, text: string) => number;
  readonly exists: (view: SystemView, oid: number) => boolean;
  /** Null: everybody may use it. Absent: as of what has an id. */
  readonly idOf?: (view: SystemView, oid: number) => number | null;
}

const TABLE_PRIVILEGES = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"];

const missing = (state: string, what: string, text: string) => sqlError(state, `${what} "${text}" does not exist`);

const isSequence = (view: SystemView, oid: number) => catalogIndex(view.catalog).relations.get(oid)?.kind === "S";

const KINDS: readonly ObjectKind[] = [
  {
    name: "has_table_privilege",
    privileges: TABLE_PRIVILEGES,
    named: existingRelation,
    exists: (view, oid) => relationOfOid(oid, view) !== null,
  },
  {
    name: "has_any_column_privilege",
    privileges: ["SELECT", "INSERT", "UPDATE", "REFERENCES"],
    named: existingRelation,
    exists: (view, oid) => relationOfOid(oid, view) !== null,
  },
  {
    name: "has_sequence_privilege",
    privileges: ["USAGE", "SELECT", "UPDATE"],
    named: (view, text) => {
      const oid = existingRelation(view, text);
      if (isSequence(view, oid)) return oid;
      throw sqlError("42809", `"${text}" is not a sequence`);
    },
    exists: isSequence,
  },
  {
    name: "has_schema_privilege",
    privileges: ["CREATE", "USAGE"],
    named: schemaNamed,
    exists: (view, oid) => schemaName(view, oid) !== null,
  },
  {
    name: "has_database_privilege",
    privileges: ["CREATE", "CONNECT", "TEMPORARY", "TEMP"],
    named: (view, text) => {
      const found = view.databases.find(({ name }) => name === text);
      if (found === undefined) throw missing("3D000", "database", text);
      return found.oid;
    },
    exists: (view, oid) => view.databases.some((database) => database.oid === oid),
    idOf: (view, oid) => (oid === databaseOid(view) ? DATABASE_ID : null),
  },
  {
    name: "has_function_privilege",
    privileges: ["EXECUTE"],
    named: (view, text) => {
      const oid = functionWithTypes(view, text);
      if (oid === null) throw missing("42883", "function", text);
      return oid;
    },
    exists: (view, oid) => catalogIndex(view.catalog).functions.has(oid) || functionFacts().has(oid),
  },
  {
    name: "has_language_privilege",
    privileges: ["USAGE"],
    named: (_view, text) => {
      if (Object.hasOwn(LANGUAGE_OIDS, text)) return LANGUAGE_OIDS[text as keyof typeof LANGUAGE_OIDS];
      throw missing("42704", "language", text);
    },
    exists: (_view, oid) => Object.values<number>(LANGUAGE_OIDS).includes(oid),
    idOf: (_view, oid) => (oid === LANGUAGE_OIDS.sql ? LANGUAGE_IDS.sql : LANGUAGE_IDS.plpgsql),
  },
  {
    name: "has_type_privilege",
    privileges: ["USAGE"],
    named: (view, text) => {
      const oid = typeOidNamed(view, text);
      if (oid === null) throw missing("42704", "type", text);
      return oid;
    },
    exists: (view, oid) => typeText(view, oid, null) !== "???",
  },
  {
    name: "has_tablespace_privilege",
    privileges: ["CREATE"],
    named: (_view, text) => {
      if (text !== "pg_default") throw missing("42704", "tablespace", text);
      return 0;
    },
    exists: () => true,
  },
  {
    name: "has_foreign_data_wrapper_privilege",
    privileges: ["USAGE"],
    named: (_view, text) => {
      throw missing("42704", "foreign-data wrapper", text);
    },
    exists: () => false,
  },
  {
    name: "has_server_privilege",
    privileges: ["USAGE"],
    named: (_view, text) => {
      throw missing("42704", "server", text);
    },
    exists: () => false,
  },
];

interface Asked {
  readonly letter: Privilege;
  readonly grants: boolean;
}

/** `SELECT, UPDATE WITH GRANT OPTION`. Throws 22023. */
function askedPrivileges(text: string, known: readonly string[]): Asked[] {
  return text.split(",").map((part) => {
    const whole = part.trim().toUpperCase();
    const privilege = whole.replace(/ WITH (?:GRANT|ADMIN) OPTION$/, "");
    if (!known.includes(privilege)) throw sqlError("22023", `unrecognized privilege type: "${part.trim()}"`);
    return { letter: PRIVILEGE_LETTERS[privilege.toLowerCase()] ?? "U", grants: whole !== privilege };
  });
}

/** The system's relations are read by everybody, and changed by nobody. */
const isRead = ({ letter, grants }: Asked) => letter === PRIVILEGE_LETTERS.select && !grants;

/** Whether the role has one of the privileges on an object of the tenant's; null `id`: everybody may use it. */
function hasOne(rights: Rights, id: number | null, asked: readonly Asked[], columnId?: number): boolean {
  if (id === null) return true;
  return asked.some(({ letter, grants }) => {
    if (grants) return rights.mayGrant(id, letter, columnId);
    if (columnId === undefined) return rights.may(id, letter);
    const columns = rights.columns(id, letter);
    return columns === "all" || columns.has(columnId);
  });
}

/** Of an OID of the tenant's own; the schema public has no id. */
function objectId(oid: number): number | null {
  if (oid === PUBLIC_OID) return PUBLIC_SCHEMA_ID;
  return idOfOid(oid)?.id ?? null;
}

const USERS: readonly (SqlType | null)[] = [null, NAME, OID];
const OBJECTS = [TEXT, OID];

function privilegeFunctions(kind: ObjectKind): ScalarFunction[] {
  const { name, privileges, named, exists, idOf = (_view, oid) => objectId(oid) } = kind;
  return USERS.flatMap((user) =>
    OBJECTS.map((object) =>
      systemFunction(name, [...(user === null ? [] : [user]), object, TEXT], BOOL, (view, ...given: Value[]) => {
        const [privilege, of, who = null] = given.reverse() as [string, string | number, (string | number)?];
        const rights = rightsOfUser(view, who);
        const oid = typeof of === "string" ? named(view, of) : of;
        if (typeof of === "number" && !exists(view, oid)) return null;
        const asked = askedPrivileges(privilege, privileges);
        const id = idOf(view, oid);
        if (kind.named === existingRelation && shapeOfOid(oid) !== null) return asked.some(isRead);
        if (name !== "has_any_column_privilege" || id === null) return hasOne(rights, id, asked);
        return asked.some(({ letter }) => {
          const columns = rights.columns(id, letter);
          return columns === "all" || columns.size > 0;
        });
      }),
    ),
  );
}

function columnPrivilegeFunctions(): ScalarFunction[] {
  const columns = [TEXT, INT2];
  return USERS.flatMap((user) =>
    OBJECTS.flatMap((object) =>
      columns.map((column) => {
        const args = [...(user === null ? [] : [user]), object, column, TEXT];
        return systemFunction("has_column_privilege", args, BOOL, (view, ...given: Value[]) => {
          const [privilege, part, of, who = null] = given.reverse() as [
            string,
            string | number,
            string | number,
            string?,
          ];
          const rights = rightsOfUser(view, who);
          const oid = typeof of === "string" ? existingRelation(view, of) : of;
          const columns = privilegedColumns(view, oid);
          if (columns === null) return null;
          const column = columns.find(({ number, name }) => part === (typeof part === "number" ? number : name));
          if (column === undefined && typeof part === "number") return null;
          if (column === undefined) throw sqlError("42703", `column "${part}" of relation "${of}" does not exist`);
          const asked = askedPrivileges(privilege, ["SELECT", "INSERT", "UPDATE", "REFERENCES"]);
          return shapeOfOid(oid) === null ? hasOne(rights, objectId(oid), asked, column.id) : asked.some(isRead);
        });
      }),
    ),
  );
}

interface PrivilegedColumn {
  readonly name: string;
  readonly number: number;
  /** By which grants know it. */
  readonly id: number;
}

/** Null: there is no such relation. */
function privilegedColumns(view: SystemView, oid: number): readonly PrivilegedColumn[] | null {
  const { tables, views } = catalogIndex(view.catalog);
  const table = tables.get(oid);
  if (table !== undefined) return table.columns.map(({ id, name }) => ({ name, id, number: attnum(table, id) }));
  const shape = shapeOfOid(oid);
  const names = shape === null ? views.get(oid)?.columns.map(({ name }) => name) : columnsOfShape(shape);
  return names?.map((name, id) => ({ name, id, number: id + 1 })) ?? null;
}

const ROLE_PRIVILEGES = ["MEMBER", "USAGE", "SET"];

function roleFunctions(): ScalarFunction[] {
  const roles = [NAME, OID];
  return USERS.flatMap((user) =>
    roles.map((role) =>
      systemFunction("pg_has_role", [...(user === null ? [] : [user]), role, TEXT], BOOL, (view, ...given: Value[]) => {
        const [privilege, of, who = null] = given.reverse() as [string, string | number, (string | number)?];
        const rights = rightsOfUser(view, who);
        const { acting, isSuperuser } = rights;
        if (typeof of === "string") existingOid("regrole", view, of);
        askedPrivileges(privilege, ROLE_PRIVILEGES);
        const name = typeof of === "string" ? of : nameOfRole(view, of);
        if (name === null) return false;
        if (isSuperuser || name === acting.name) return true;
        const role = view.catalog.role(name);
        if (role === null) return false;
        if (/USAGE/i.test(privilege)) return rights.hasRole(role.id);
        return membershipsOf(acting.role, view.catalog).has(role.id);
      }),
    ),
  );
}

const REGCLASS = namedOidType("regclass")!;

export const PRIVILEGE_FUNCTIONS: readonly ScalarFunction[] = [
  ...KINDS.flatMap(privilegeFunctions),
  ...columnPrivilegeFunctions(),
  ...roleFunctions(),
  systemFunction("has_parameter_privilege", [TEXT, TEXT], BOOL, () => true),
  systemFunction("has_parameter_privilege", [NAME, TEXT, TEXT], BOOL, () => true),
  ...[REGCLASS, OID].map((type) =>
    systemFunction("row_security_active", [type], BOOL, ({ rights }, oid: number) => {
      const id = objectId(oid);
      return id !== null && rights.isRestricted(id);
    }),
  ),
];
