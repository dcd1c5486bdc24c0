/** Finds what needs a relation: views, materialized views, property graphs, functions. Called by the files of ddl. */
import type { CatalogView } from "./catalog-view.js";
import type { FunctionDef } from "./function.js";
import type { TableDef } from "./table.js";
import type { ViewDef, ViewQuery } from "./view.js";

export type Dependent =
  | { readonly kind: "view" | "property graph"; readonly definition: ViewDef }
  | { readonly kind: "materialized view"; readonly definition: TableDef }
  | { readonly kind: FunctionDef["kind"]; readonly definition: FunctionDef };

/**
 * Views, materialized views, property graphs and functions whose text names the relation; with a column id, only those
 * that use the column.
 */
export function dependentsOf(catalog: CatalogView, id: number, columnId: number | null = null): readonly Dependent[] {
  const names = ({ relations }: Pick<ViewQuery, "relations">) =>
    relations.some(
      (relation) =>
        relation.id === id &&
        (columnId === null || relation.columns.some((column) => column.used && column.id === columnId)),
    );
  const functions = catalog.functions().filter(({ relations }) => relations !== undefined && names({ relations }));
  return [
    ...queriesThat(catalog, names),
    ...functions.map((definition): Dependent => ({ kind: definition.kind, definition })),
  ];
}

/** Views, materialized views and property graphs with such a query. */
export function queriesThat(catalog: CatalogView, needs: (query: ViewQuery) => boolean): readonly Dependent[] {
  const views = catalog.views().filter((view) => needs(view.query));
  const graphs = catalog.propertyGraphs().filter((graph) => needs(graph.query));
  const materialized = catalog.tables().filter((table) => table.materialized && needs(table.materialized.query));
  return [
    ...views.map((definition): Dependent => ({ kind: "view", definition })),
    ...graphs.map((definition): Dependent => ({ kind: "property graph", definition })),
    ...materialized.map((definition): Dependent => ({ kind: "materialized view", definition })),
  ];
}
