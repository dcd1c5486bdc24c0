/** COMMENT ON tables and what belongs to them, views, sequences, types and schemas. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CommentCommand } from "./ddl-command.js";
import { at, type DdlOutcome, existingColumn, existingTable, NOTHING } from "./ddl-outcome.js";
import type { TableDef } from "./table.js";
import { constraintNames } from "./table-names.js";

export function commentOn(editor: CatalogEditor, command: CommentCommand): DdlOutcome {
  if (!commentOnOther(editor, command)) commentOnTable(editor, command);
  return { ...NOTHING, tag: "COMMENT" };
}

/** False: the object is a table, or belongs to one. Throws 42P01, 42703, 42704, 3F000. */
function commentOnOther(editor: CatalogEditor, { object, relation, part, comment }: CommentCommand): boolean {
  const { schema, name } = relation;
  const { view } = editor;
  switch (object) {
    case "view":
    case "view column": {
      const found = view.view(schema, name) ?? missing("42P01", "relation", name);
      if (object === "view") editor.putView(commented(found, comment));
      else {
        if (!found.columns.some((column) => column.name === part)) {
          throw sqlError("42703", `column "${part}" of relation "${name}" does not exist`);
        }
        const columns = found.columns.map((column) => (column.name === part ? commented(column, comment) : column));
        editor.putView(Object.freeze({ ...found, columns }));
      }
      return true;
    }
    case "sequence":
      editor.replaceSequence(commented(view.sequence(schema, name) ?? missing("42P01", "relation", name), comment));
      return true;
    case "type":
      editor.putType(commented(view.type(schema!, name) ?? missing("42704", "type", name), comment));
      return true;
    case "domain constraint": {
      const found = view.type(schema!, name) ?? missing("42704", "type", name);
      if (found.kind !== "domain") throw sqlError("42809", `"${name}" is not a domain`);
      if (!found.checks.some((check) => check.name === part)) {
        throw sqlError("42704", `constraint "${part}" for domain ${name} does not exist`);
      }
      const checks = found.checks.map((check) => (check.name === part ? commented(check, comment) : check));
      editor.putType(Object.freeze({ ...found, checks }));
      return true;
    }
    case "schema": {
      const found = view.schemas().find((other) => other.name === name) ?? missing("3F000", "schema", name);
      editor.putSchema(commented(found, comment));
      return true;
    }
    default:
      return false;
  }
}

function missing(state: string, what: string, name: string): never {
  throw sqlError(state, `${what} "${name}" does not exist`);
}

function commented<T extends { readonly comment?: string }>(definition: T, comment: string | null): T {
  const { comment: _, ...others } = definition;
  return Object.freeze(comment === null ? others : { ...others, comment }) as T;
}

function commentOnTable(editor: CatalogEditor, command: CommentCommand): void {
  const { table, key } = subject(editor, command);
  const { [key]: _, ...others } = table.comments ?? {};
  const comments = command.comment === null ? others : { ...others, [key]: command.comment };
  editor.replaceTable(Object.freeze({ ...table, comments }));
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
