/** DROP TABLE, with what inherits from the tables and what else depends on them. Called by the files of ddl. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { dropRowColumns } from "./columns-of-type.js";
import type { DropTableCommand } from "./ddl-command.js";
import { at, type DdlOutcome, missingTable, NOTHING } from "./ddl-outcome.js";
import { dropDependents } from "./drop-dependents.js";
import { dropReferences, dropTableReferences } from "./foreign-key-ddl.js";
import { droppedWith } from "./inheritance.js";
import type { TableDef } from "./table.js";

export function dropTables(editor: CatalogEditor, command: DropTableCommand): DdlOutcome {
  const notices: string[] = [];
  const tables: TableDef[] = [];
  for (const { schema, name, position } of command.tables) {
    const table = editor.view.table(schema, name);
    if (table?.materialized) {
      const hint = "Use DROP MATERIALIZED VIEW to remove a materialized view.";
      throw sqlError("42809", `"${name}" is not a table`, { ...at(position), hint });
    }
    if (table !== null) {
      if (!tables.includes(table)) tables.push(table);
    } else if (editor.view.hasRelation(schema, name)) {
      throw sqlError("42809", `"${name}" is not a table`, at(position));
    } else if (command.ifExists) {
      notices.push(`table "${name}" does not exist, skipping`);
    } else {
      throw missingTable(editor, `table "${name}"`, { schema, name, position });
    }
  }
  const heirs = droppedWith(tables, editor.view);
  const cleared = [...tables, ...heirs.map((heir) => heir.table)];
  const dropped = new Set(cleared.map(({ id }) => id));
  for (const table of cleared) {
    const others = (table.referencedBy ?? []).filter(({ tableId }) => !dropped.has(tableId));
    notices.push(...dropReferences(editor, `table ${table.name}`, table, others, command.cascade));
    dropTableReferences(editor, table);
  }
  const held = cleared.filter((table) => {
    const rows = dropRowColumns(editor, table, dropped, command.cascade);
    notices.push(...rows.map((object) => `drop cascades to ${object}`));
    return rows.length > 0;
  });
  const names = new Map(tables.map(({ id, name }) => [id, `table ${name}`]));
  const views = dropDependents(editor, names, command.cascade, null, heirs);
  for (const table of cleared) {
    if (held.includes(table)) editor.condemned.push({ kind: "emptied table", tableId: table.id });
    else editor.dropTable(editor.view.tableById(table.id)!);
  }
  return {
    ...NOTHING,
    tag: "DROP TABLE",
    notices: [...notices, ...views.notices],
    cleared: [...cleared, ...views.cleared],
    clearedIndexes: views.clearedIndexes,
  };
}
