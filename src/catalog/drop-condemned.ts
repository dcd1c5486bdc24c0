/**
 * What DROP … CASCADE takes as a whole: columns, tables and types. Whatever drops the thing that they need notes them
 * in the editor; they go when that is done. Called by ddl.ts.
 */
import { alterComposite } from "./alter-composite.js";
import { alterTable } from "./alter-family.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { Condemned } from "./condemned.js";
import { type ActionOutcome, combined, selectRows } from "./ddl-outcome.js";
import { dropType, type Gone } from "./ddl-types.js";
import { dropTables } from "./drop-tables.js";
import type { TableDef } from "./table.js";
import type { TypeDef } from "./type.js";

/** Names of the columns that a stored expression reads. */
export type ColumnsIn = (sql: string) => readonly string[];

/** Drops what the editor notes as condemned, and what that condemns in turn. */
export function dropCondemned(editor: CatalogEditor, columnsIn: ColumnsIn, nowMicros: number): ActionOutcome {
  const outcomes: ActionOutcome[] = [];
  const drop = (): void => {
    for (const each of editor.condemned.splice(0)) {
      outcomes.push(dropOne(editor, each, columnsIn, nowMicros));
      drop();
    }
  };
  drop();
  const all = combined(outcomes);
  return { ...all, rewrites: rewritesOf(editor, all.rewrites ?? []) };
}

function dropOne(editor: CatalogEditor, each: Condemned, columnsIn: ColumnsIn, nowMicros: number): ActionOutcome {
  const { view } = editor;
  if ("typeId" in each) {
    const type = view.typeById(each.typeId);
    if (type === null) return {};
    if (each.kind === "attribute") return dropAttribute(editor, type, each.name, columnsIn, nowMicros);
    if (each.kind === "unused type") {
      editor.dropType(type);
      return {};
    }
    const gone: Gone = { notices: [], indexes: [], tables: [] };
    dropType(editor, type, { cascade: true }, gone);
    return { notices: gone.notices, cleared: gone.tables, clearedIndexes: gone.indexes };
  }
  const table = view.tableById(each.tableId);
  if (table === null) return {};
  switch (each.kind) {
    case "emptied table":
      editor.dropTable(table);
      return {};
    case "table":
      return dropTable(editor, table);
    case "column": {
      const name = table.columns.find(({ id }) => id === each.columnId)?.name;
      return name === undefined ? {} : combined(dropColumn(editor, table, name, columnsIn, nowMicros));
    }
  }
}

function dropAttribute(
  editor: CatalogEditor,
  { schema, name: of }: TypeDef,
  name: string,
  columnsIn: ColumnsIn,
  nowMicros: number,
): ActionOutcome {
  const reads = (sql: string) => columnsIn(sql).includes(name);
  const changes = [{ kind: "drop", name, ifExists: true, reads }] as const;
  return alterComposite(
    editor,
    { kind: "alter composite", schema, name: of, changes, cascade: true, position: 0 },
    nowMicros,
  );
}

function dropTable(editor: CatalogEditor, { schema, name }: TableDef): ActionOutcome {
  const tables = [{ schema, name, position: 0 }];
  return dropTables(editor, { kind: "drop table", tables, ifExists: false, cascade: true });
}

/**
 * Drops the column, first of the tables that the table has it from. A table that is partitioned by the column goes as a
 * whole.
 */
function dropColumn(
  editor: CatalogEditor,
  { id, parents = [] }: TableDef,
  name: string,
  columnsIn: ColumnsIn,
  nowMicros: number,
): ActionOutcome[] {
  const outcomes = parents.flatMap((parentId) => {
    const parent = editor.view.tableById(parentId);
    const hasIt = parent?.columns.some((column) => column.name === name);
    return hasIt ? dropColumn(editor, parent!, name, columnsIn, nowMicros) : [];
  });
  const table = editor.view.tableById(id);
  const column = table?.columns.find((each) => each.name === name);
  if (table == null || column === undefined) return outcomes;
  const reads = (sql: string) => columnsIn(sql).includes(name);
  const isKey = table.partitionKey?.keys.some(
    ({ columnId, expression }) => columnId === column.id || (expression !== undefined && reads(expression.sql)),
  );
  if (isKey) return [...outcomes, dropTable(editor, table)];
  // The type of a typed table does not forbid it here.
  const { ofType, ...untyped } = table;
  if (ofType !== undefined) editor.replaceTable(Object.freeze(untyped));
  const { schema, name: of } = table;
  const action = { kind: "drop column", name, ifExists: false, cascade: true, reads } as const;
  return [
    ...outcomes,
    alterTable(editor, { kind: "alter table", table: { schema, name: of, position: 0 }, action }, nowMicros),
  ];
}

/** One for each table, to what it is when all is done. */
function rewritesOf(editor: CatalogEditor, rewrites: NonNullable<ActionOutcome["rewrites"]>) {
  const firsts = rewrites.filter(({ after }, i) => rewrites.findIndex((other) => other.after.id === after.id) === i);
  return firsts.flatMap(({ before }) => {
    const after = editor.view.tableById(before.id);
    return after === null ? [] : [{ before, after, select: selectRows(after) }];
  });
}
