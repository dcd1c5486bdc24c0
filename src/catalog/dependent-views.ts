/** Finds the views that need a relation, and drops them with it. Called by the files of ddl. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import type { DdlOutcome } from "./ddl-outcome.js";
import type { FunctionDef } from "./function.js";
import { dropCalled } from "./function-ddl.js";
import type { DroppedHeir } from "./inheritance.js";
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

/** What DROP of several relations took with it. */
export interface CascadeOutcome {
  readonly notices: readonly string[];
  /** Tables of materialized views, whose rows must go. */
  readonly cleared: readonly TableDef[];
  /** Indexes that called a function that went. */
  readonly clearedIndexes: DdlOutcome["clearedIndexes"];
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
  if (all.length === 0) return { notices: [], cleared: [], clearedIndexes: [] };
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
  const outcome = dropAll(
    editor,
    [...found.values()].map(({ dependent }) => dependent),
  );
  return { ...outcome, notices: [...names.map((name) => `drop cascades to ${name}`), ...outcome.notices] };
}

/** Drops queries that need something that goes, with what else depends on them. */
export function dropQueries(editor: CatalogEditor, queries: readonly Dependent[]): CascadeOutcome {
  const names = new Map(queries.map(({ kind, definition }) => [definition.id, `${kind} ${definition.name}`]));
  const others = dropDependents(editor, names, true);
  const own = dropAll(editor, queries);
  return { ...own, notices: others.notices, cleared: [...others.cleared, ...own.cleared] };
}

/** Drops these, and what calls the functions among them. */
function dropAll(editor: CatalogEditor, dependents: readonly Dependent[]): CascadeOutcome {
  const notices: string[] = [];
  const cleared: TableDef[] = [];
  const clearedIndexes: DdlOutcome["clearedIndexes"][number][] = [];
  for (const { kind, definition } of dependents) {
    switch (kind) {
      case "view":
      case "property graph":
        editor.dropView(definition);
        break;
      case "materialized view":
        editor.dropTable(definition);
        cleared.push(definition);
        break;
      default: {
        const dropped = dropCalled(editor, definition);
        notices.push(...dropped.notices);
        cleared.push(...dropped.cleared);
        clearedIndexes.push(...dropped.clearedIndexes);
      }
    }
  }
  return { notices, cleared, clearedIndexes };
}
