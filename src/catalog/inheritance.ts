/**
 * The links between a table and those that inherit from it: both ends are kept in step. Called by the files of ddl;
 * what columns and constraints take over along the links is there, too.
 */
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import type { TableDef } from "./table.js";

/** The tables that inherit from this one itself. */
export function childrenOf(table: TableDef, catalog: CatalogView): readonly TableDef[] {
  return (table.children ?? []).map((id) => catalog.tableById(id)!);
}

/** Notes with the parent that the child inherits from it; the child's own definition names the parent already. */
export function addChild(editor: CatalogEditor, parentId: number, childId: number): void {
  const parent = editor.view.tableById(parentId)!;
  editor.replaceTable(Object.freeze({ ...parent, children: [...(parent.children ?? []), childId] }));
}

/** What DROP TABLE takes with it: a table that inherits from one that goes. */
export interface DroppedHeir {
  readonly table: TableDef;
  /** The parent through which it goes. */
  readonly parent: TableDef;
}

/** The descendants of tables that are dropped, apart from those among them, parents first. */
export function droppedWith(tables: readonly TableDef[], catalog: CatalogView): DroppedHeir[] {
  const seen = new Set(tables.map(({ id }) => id));
  const heirs: DroppedHeir[] = [];
  const queue = [...tables];
  for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
    for (const table of childrenOf(parent, catalog)) {
      if (seen.has(table.id)) continue;
      seen.add(table.id);
      heirs.push({ table, parent });
      queue.push(table);
    }
  }
  return heirs;
}
