/** Finds what needs a relation: views, property graphs, functions, rules. Called by the files of ddl. */
import type { CatalogView } from "./catalog-view.js";
import type { FunctionDef, RoutineType } from "./function.js";
import type { ViewQuery } from "./kept-query.js";
import type { PolicyDef } from "./role.js";
import type { TableDef } from "./table.js";
import { keptRule } from "./trigger.js";
import type { ViewDef } from "./view.js";

export type Dependent =
  | { readonly kind: "view" | "property graph"; readonly definition: ViewDef }
  | { readonly kind: "materialized view"; readonly definition: TableDef }
  | { readonly kind: FunctionDef["kind"]; readonly definition: FunctionDef }
  | { readonly kind: "rule"; readonly definition: RuleOf }
  | { readonly kind: "policy"; readonly definition: PolicyOf };

/** A rule, named with what it belongs to: `r on table t`. */
export interface RuleOf {
  readonly id: number;
  readonly name: string;
  readonly ownerId: number;
}

/** A policy, named with its table: `p on table t`. */
export interface PolicyOf extends RuleOf {
  readonly policy: PolicyDef;
}

/**
 * Views, materialized views, property graphs and functions whose text names the relation, and functions that take or
 * give its rows; with a column id, only those that use the column.
 */
export function dependentsOf(catalog: CatalogView, id: number, columnId: number | null = null): readonly Dependent[] {
  const names = ({ relations }: { readonly relations: ViewQuery["relations"] }) =>
    relations.some(
      (relation) =>
        relation.id === id &&
        (columnId === null || relation.columns.some((column) => column.used && column.id === columnId)),
    );
  const isRow = ({ relationId }: RoutineType) => columnId === null && relationId === id;
  const functions = catalog
    .functions()
    .filter(
      ({ relations, returns, parameters }) =>
        isRow(returns) ||
        parameters.some(({ type }) => isRow(type)) ||
        (relations !== undefined && names({ relations })),
    );
  return [
    ...queriesThat(catalog, names),
    ...functions.map((definition): Dependent => ({ kind: definition.kind, definition })),
  ];
}

function rulesThat(catalog: CatalogView, needs: (query: ViewQuery) => boolean): Dependent[] {
  return [...catalog.tables(), ...catalog.views()].flatMap((owner) =>
    (owner.rules ?? []).flatMap(({ id, name, calls }): Dependent[] => {
      const kept = typeof calls === "object" ? keptRule(calls) : null;
      if (kept === null || !needs(kept)) return [];
      const of = "indexes" in owner ? "table" : "view";
      return [{ kind: "rule", definition: { id, name: `${name} on ${of} ${owner.name}`, ownerId: owner.id } }];
    }),
  );
}

function policiesThat(catalog: CatalogView, needs: (query: ViewQuery) => boolean): Dependent[] {
  return catalog.accesses().flatMap(({ objectId, policies = [] }) =>
    policies.flatMap((policy, i): Dependent[] => {
      const { using, check, name } = policy;
      const table = catalog.tableById(objectId);
      if (table === null || ![using, check].some((condition) => condition !== null && needs(condition))) return [];
      // They have no ids: nothing else has one below 0 that is so far.
      const id = -(objectId * POLICIES_OF_TABLE + i + POLICIES_OF_TABLE);
      const definition = { id, name: `${name} on table ${table.name}`, ownerId: objectId, policy };
      return [{ kind: "policy", definition }];
    }),
  );
}

const POLICIES_OF_TABLE = 2 ** 20;

/** Views, materialized views, property graphs, rules and policies with such a text. */
export function queriesThat(catalog: CatalogView, needs: (query: ViewQuery) => boolean): readonly Dependent[] {
  const views = catalog.views().filter((view) => needs(view.query));
  const graphs = catalog.propertyGraphs().filter((graph) => needs(graph.query));
  const materialized = catalog.tables().filter((table) => table.materialized && needs(table.materialized.query));
  return [
    ...views.map((definition): Dependent => ({ kind: "view", definition })),
    ...graphs.map((definition): Dependent => ({ kind: "property graph", definition })),
    ...materialized.map((definition): Dependent => ({ kind: "materialized view", definition })),
    ...rulesThat(catalog, needs),
    ...policiesThat(catalog, needs),
  ];
}
