/** Finds the views that need a relation, and drops them with it. Called by the files of ddl. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import type { DroppedHeir } from "./inheritance.js";
import type { TableDef } from "./table.js";
import type { ViewDef } from "./view.js";

export type Dependent =
  | { readonly kind: "view" | "property graph"; readonly definition: ViewDef }
  | { readonly kind: "materialized view"; readonly definition: TableDef };

/**
 * Views, materialized views and property graphs whose query names the relation; with a column id, only those that use
 * the column.
 */
export function dependentsOf(catalog: CatalogView, id: number, columnId: number | null = null): readonly Dependent[] {
  const needs = (query: ViewDef["query"]) =>
    query.relations.some(
      (relation) =>
        relation.id === id &&
        (columnId === null || relation.columns.some((column) => column.used && column.id === columnId)),
    );
  const views = catalog.views().filter((view) => needs(view.query));
  const graphs = catalog.propertyGraphs().filter((graph) => needs(graph.query));
  const materialized = catalog.tables().filter((table) => table.materialized && needs(table.materialized.query));
  return [
    ...views.map((definition): Dependent => ({ kind: "view", definition })),
    ...graphs.map((definition): Dependent => ({ kind: "property graph", definition })),
    ...materialized.map((definition): Dependent => ({ kind: "materialized view", definition })),
  ];
}

/** What DROP of several relations took with it. */
export interface CascadeOutcome {
  readonly notices: readonly string[];
  /** Tables of materialized views, whose rows must go. */
  readonly cleared: readonly TableDef[];
}

/**
 * Drops what depends on relations that are about to be dropped (`what` names them: `table t`, by id), or throws 2BP01
 * when there is anything and the statement does not say CASCADE. With a column id only that column of the relations is
 * dropped. `heirs` inherit from them and go in the same way; the caller drops those.
 */
export function dropDependents(
  editor: CatalogEditor,
  dropped: ReadonlyMap<number, string>,
  cascade: boolean,
  columnId: number | null = null,
  heirs: readonly DroppedHeir[] = [],
): CascadeOutcome {
  const found = new Map<number, { readonly dependent: Dependent; readonly on: string }>();
  const visit = (id: number, on: string, column: number | null): void => {
    for (const dependent of dependentsOf(editor.view, id, column)) {
      const { definition, kind } = dependent;
      if (found.has(definition.id) || dropped.has(definition.id)) continue;
      found.set(definition.id, { dependent, on });
      visit(definition.id, `${kind} ${definition.name}`, null);
    }
  };
  for (const [id, on] of dropped) visit(id, on, columnId);
  for (const { table } of heirs) visit(table.id, `table ${table.name}`, null);
  // Partitions are part of their table.
  const inheriting = heirs.filter(({ table }) => table.partitionBound === undefined);
  const others = [...found.values()].map(({ dependent, on }) => {
    return { name: `${dependent.kind} ${dependent.definition.name}`, on };
  });
  const all = [
    ...inheriting.map(({ table, parent }) => ({ name: `table ${table.name}`, on: `table ${parent.name}` })),
    ...others,
  ];
  if (all.length === 0) return { notices: [], cleared: [] };
  const names = all.map(({ name }) => name);
  if (!cascade) {
    const what = dropped.size === 1 ? [...dropped.values()][0]! : "desired object(s)";
    throw sqlError(
      "2BP01",
      `cannot drop ${what} because other objects depend on ${dropped.size === 1 ? "it" : "them"}`,
      {
        detail: all.map(({ name, on }) => `${name} depends on ${on}`).join("\n"),
        hint: "Use DROP ... CASCADE to drop the dependent objects too.",
      },
    );
  }
  const cleared: TableDef[] = [];
  for (const { dependent } of found.values()) {
    if (dependent.kind !== "materialized view") editor.dropView(dependent.definition);
    else {
      editor.dropTable(dependent.definition);
      cleared.push(dependent.definition);
    }
  }
  return { notices: names.map((name) => `drop cascades to ${name}`), cleared };
}
