/** ALTER VIEW on definitions. Called by ddl.ts. The view's text stays as it is; new names are stored beside it. */
import { sqlError } from "../protocol/errors.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import type { AlterViewCommand } from "./ddl-command.js";
import type { ViewColumn, ViewDef } from "./view.js";

/** Throws 42P01, 42703, 42701, 42P07. */
export function alterView(editor: CatalogEditor, { schema, name, change }: AlterViewCommand): void {
  const view = editor.view.view(schema, name);
  if (view === null) throw sqlError("42P01", `relation "${name}" does not exist`);
  editor.putView(Object.freeze(changed(editor, view, change)));
  const access = editor.view.accessTo(view.id);
  if (change.kind !== "options" || change.options.invoker !== false || !access?.invoker) return;
  const { invoker: _, ...lending } = access;
  editor.putAccess(lending);
}

function changed(editor: CatalogEditor, view: ViewDef, change: AlterViewCommand["change"]): ViewDef {
  switch (change.kind) {
    case "move":
      if (editor.view.hasRelation(change.toSchema, change.toName)) throw relationExists(change.toName);
      return { ...view, schema: change.toSchema, name: change.toName };
    case "rename column":
      if (view.columns.some((column) => column.name === change.newName)) {
        throw sqlError("42701", `column "${change.newName}" of relation "${view.name}" already exists`);
      }
      return withColumn(view, change.column, (column) => ({ ...column, name: change.newName }));
    case "default":
      return withColumn(view, change.column, ({ name, type }) =>
        change.sql === null ? { name, type } : { name, type, defaultSql: change.sql },
      );
    case "options":
      return { ...view, ...change.options };
  }
}

function withColumn(view: ViewDef, name: string, change: (column: ViewColumn) => ViewColumn): ViewDef {
  if (!view.columns.some((column) => column.name === name)) {
    throw sqlError("42703", `column "${name}" of relation "${view.name}" does not exist`);
  }
  return { ...view, columns: view.columns.map((column) => (column.name === name ? change(column) : column)) };
}
