/** COMMENT ON tables and what belongs to them. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CommentCommand } from "./ddl-command.js";
import { at, type DdlOutcome, existingColumn, existingTable, NOTHING } from "./ddl-outcome.js";
import type { TableDef } from "./table.js";
import { constraintNames } from "./table-names.js";

export function commentOn(editor: CatalogEditor, command: CommentCommand): DdlOutcome {
  const { table, key } = subject(editor, command);
  const { [key]: _, ...others } = table.comments ?? {};
  const comments = command.comment === null ? others : { ...others, [key]: command.comment };
  editor.replaceTable(Object.freeze({ ...table, comments }));
  return { ...NOTHING, tag: "COMMENT" };
}

/** The table that keeps the comment, and under what. */
function subject(editor: CatalogEditor, command: CommentCommand): { table: TableDef; key: string } {
  const { object, relation, part } = command;
  if (object === "index") {
    const { schema, name } = relation;
    const found = editor.view.index(schema, name) ?? editor.view.searchIndex(schema, name);
    if (found !== null) return { table: found.table, key: `index ${found.index.id}` };
    const owner = editor.view.tables().find((table) => table.primaryKeyName === relation.name);
    if (owner === undefined)
      throw sqlError("42P01", `relation "${relation.name}" does not exist`, at(relation.position));
    return { table: owner, key: "index primary key" };
  }
  const table = existingTable(editor, relation);
  if (object === "table") return { table, key: "table" };
  if (object === "column") return { table, key: `column ${existingColumn(table, part!).id}` };
  if (!constraintNames(table).includes(part!)) {
    throw sqlError("42704", `constraint "${part}" for table "${table.name}" does not exist`);
  }
  return { table, key: `constraint ${part}` };
}
