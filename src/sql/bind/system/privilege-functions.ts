/**
 * has_…_privilege and pg_has_role. A session's user owns whatever its tenant has defined, so the answer for what exists is
 * yes; users and objects that do not exist, and privileges that an object of that kind cannot have, are errors.
 */
import { sqlError } from "../../../protocol/errors.js";
import type { ScalarFunction } from "../../../query/expr/expr.js";
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
import { LANGUAGE_OIDS, OWNER_OID } from "./relation-facts.js";
import { columnsOfShape, shapeOfOid } from "./shapes.js";
import type { SystemView } from "./system-view.js";

interface ObjectKind {
  readonly name: string;
  readonly privileges: readonly string[];
  /** The object's OID; throws where there is none. */
  readonly named: (view: SystemView, text: string) => number;
  readonly exists: (view: SystemView, oid: number) => boolean;
}

const TABLE_PRIVILEGES = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"];

const missing = (state: string, what: string, text: string) => sqlError(state, `${what} "${text}" does not exist`);

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
    named: existingRelation,
    exists: (view, oid) => catalogIndex(view.catalog).relations.get(oid)?.kind === "S",
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
      if (text !== view.database) throw missing("3D000", "database", text);
      return 0;
    },
    exists: () => true,
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

/** `SELECT, UPDATE WITH GRANT OPTION`. Throws 22023. */
function checkPrivileges(text: string, known: readonly string[]): void {
  for (const part of text.split(",")) {
    const privilege = part
      .trim()
      .toUpperCase()
      .replace(/ WITH (?:GRANT|ADMIN) OPTION$/, "");
    if (!known.includes(privilege)) throw sqlError("22023", `unrecognized privilege type: "${part.trim()}"`);
  }
}

/** Throws 42704. */
function checkUser(view: SystemView, user: string | number | null): void {
  if (user === null || user === "public" || user === 0) return;
  if (typeof user === "number") {
    if (user !== OWNER_OID) throw sqlError("42704", `role with OID ${user} does not exist`);
  } else if (user !== view.user) throw missing("42704", "role", user);
}

const USERS: readonly (SqlType | null)[] = [null, NAME, OID];
const OBJECTS = [TEXT, OID];

function privilegeFunctions({ name, privileges, named, exists }: ObjectKind): ScalarFunction[] {
  return USERS.flatMap((user) =>
    OBJECTS.map((object) =>
      systemFunction(name, [...(user === null ? [] : [user]), object, TEXT], BOOL, (view, ...given: Value[]) => {
        const [privilege, of, who = null] = given.reverse() as [string, string | number, (string | number)?];
        checkUser(view, who);
        const oid = typeof of === "string" ? named(view, of) : of;
        if (typeof of === "number" && !exists(view, oid)) return null;
        checkPrivileges(privilege, privileges);
        return true;
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
          checkUser(view, who);
          const oid = typeof of === "string" ? existingRelation(view, of) : of;
          const names = columnNames(view, oid);
          if (names === null) return null;
          const isThere = typeof part === "number" ? names[part - 1] !== undefined : names.includes(part);
          if (!isThere && typeof part === "number") return null;
          if (!isThere) throw sqlError("42703", `column "${part}" of relation "${of}" does not exist`);
          checkPrivileges(privilege, ["SELECT", "INSERT", "UPDATE", "REFERENCES"]);
          return true;
        });
      }),
    ),
  );
}

function columnNames(view: SystemView, oid: number): readonly string[] | null {
  const { tables, views } = catalogIndex(view.catalog);
  const shape = shapeOfOid(oid);
  if (shape !== null) return columnsOfShape(shape);
  return (tables.get(oid) ?? views.get(oid))?.columns.map(({ name }) => name) ?? null;
}

const ROLE_PRIVILEGES = ["MEMBER", "USAGE", "SET"];

function roleFunctions(): ScalarFunction[] {
  const roles = [NAME, OID];
  return USERS.flatMap((user) =>
    roles.map((role) =>
      systemFunction("pg_has_role", [...(user === null ? [] : [user]), role, TEXT], BOOL, (view, ...given: Value[]) => {
        const [privilege, of, who = null] = given.reverse() as [string, string | number, (string | number)?];
        checkUser(view, who);
        if (typeof of === "string") existingOid("regrole", view, of);
        checkPrivileges(privilege, ROLE_PRIVILEGES);
        return typeof of === "string" || of === OWNER_OID;
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
  systemFunction("row_security_active", [REGCLASS], BOOL, () => false),
];
