/** A foreign key as SQL, as PostgreSQL's pg_get_constraintdef prints it. For schema routes and system catalogs. */
import { quotedColumns } from "./ddl-outcome.js";
import { quotedIdentifier } from "./relation-names.js";
import type { ForeignKeyDef, TableDef } from "./table.js";

export function foreignKeyText(key: ForeignKeyDef, table: TableDef, target: TableDef): string {
  const columns = quotedColumns(table, key.columns).join(", ");
  const references = quotedColumns(target, key.references).join(", ");
  const some = key.onDeleteColumns.length > 0 ? ` (${quotedColumns(table, key.onDeleteColumns).join(", ")})` : "";
  return [
    `FOREIGN KEY (${columns}) REFERENCES ${quotedIdentifier(target.name)}(${references})`,
    key.match === "full" ? " MATCH FULL" : "",
    key.onUpdate === "no action" ? "" : ` ON UPDATE ${key.onUpdate.toUpperCase()}`,
    key.onDelete === "no action" ? "" : ` ON DELETE ${key.onDelete.toUpperCase()}${some}`,
    key.deferrable ? " DEFERRABLE" : "",
    key.initiallyDeferred ? " INITIALLY DEFERRED" : "",
    key.notValid ? " NOT VALID" : "",
  ].join("");
}
