/** Checks a foreign key over the existing rows. Called by the files of ddl. */
import { sqlError } from "../protocol/errors.js";
import { columnName, ownRows, quotedColumns, type Verification } from "./ddl-outcome.js";
import type { ForeignKeyDef, TableDef } from "./table.js";

/** Looks for rows that refer to nothing; the columns of the key first. */
export function verification(table: TableDef, target: TableDef, key: ForeignKeyDef): Verification {
  const own = quotedColumns(table, key.columns).map((name) => `f.${name}`);
  const others = quotedColumns(target, key.references).map((name) => `p.${name}`);
  const equal = own.map((name, i) => `${name} = ${others[i]}`).join(" AND ");
  const all = own.map((name) => `${name} IS NOT NULL`).join(" AND ");
  const none = own.map((name) => `${name} IS NULL`).join(" AND ");
  const mixed = key.match === "full" ? ` OR (NOT (${all}) AND NOT (${none}))` : "";
  const missing = `(${all} AND NOT EXISTS (SELECT 1 FROM ${ownRows(target)} p WHERE ${equal}))`;
  return {
    sql: `SELECT ${own.join(", ")} FROM ${ownRows(table)} f WHERE ${missing}${mixed} LIMIT 1`,
    error: (values) => {
      const names = key.columns.map((id) => columnName(table, id)).join(", ");
      const detail = values.includes(null)
        ? "MATCH FULL does not allow mixing of null and nonnull key values."
        : `Key (${names})=(${values.join(", ")}) is not present in table "${target.name}".`;
      const message = `insert or update on table "${table.name}" violates foreign key constraint "${key.name}"`;
      return sqlError("23503", message, { detail, schema: table.schema, table: table.name, constraint: key.name });
    },
  };
}
