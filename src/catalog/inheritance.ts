/**
 * The links between a table and the tables that inherit from it; both ends are kept in step. Also says which columns
 * and constraints are passed on along the links. Called by the files of ddl.
 */
import type { SqlType } from "../values/values.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import type { TableDef } from "./table.js";
import { auditedAs } from "./table-audit.js";

/** The tables that inherit from this one itself. */
export function childrenOf(table: TableDef, catalog: CatalogView): readonly TableDef[] {
  return (table.children ?? []).map((id) => catalog.tableById(id)!);
}

/** Notes with the parent that the child inherits from it; the child's own definition names the parent already. */
export function addChild(editor: CatalogEditor, parentId: number, childId: number): void {
  const parent = editor.view.tableById(parentId)!;
  editor.replaceTable(Object.freeze({ ...parent, children: [...(parent.children ?? []), childId] }));
  const child = editor.view.tableById(childId)!;
  const audited = auditedAs(child, parent);
  if (audited !== child) editor.replaceTable(audited);
}

/** All tables below one, breadth first, each once. */
export function descendantsOf(table: TableDef, catalog: CatalogView): TableDef[] {
  return droppedWith([table], catalog).map((heir) => heir.table);
}

/** How many parents of the table are in the family. */
export function parentsAmong(table: TableDef, family: readonly TableDef[]): number {
  return (table.parents ?? []).filter((id) => family.some((member) => member.id === id)).length;
}

/** A column or constraint that has lost a parent's definition: with the last one it becomes the table's own. */
export function withoutParent<T extends { readonly inherited?: number; readonly local?: boolean }>(of: T): T {
  const inherited = (of.inherited ?? 0) - 1;
  return Object.freeze({ ...of, inherited, ...(inherited <= 0 && { local: true }) });
}

/** One that a further parent has, too. */
export function withParent<T extends { readonly inherited?: number }>(of: T): T {
  return Object.freeze({ ...of, inherited: (of.inherited ?? 0) + 1 });
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

/** The very same type, its modifier included. */
export function sameType(a: SqlType, b: SqlType): boolean {
  if (a === b) return true;
  const sameElement =
    a.element === null || b.element === null ? a.element === b.element : sameType(a.element, b.element);
  return a.name === b.name && a.modifier === b.modifier && a.user?.id === b.user?.id && sameElement;
}
