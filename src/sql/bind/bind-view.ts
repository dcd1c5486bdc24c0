/**
 * A view where a statement reads it: its text is parsed and bound as if it stood there, with the names that it had
 * when it was made (catalog/view.ts).
 */
import type { CatalogView } from "../../catalog/catalog-view.js";
import type { ViewQuery, ViewRelation } from "../../catalog/kept-query.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import type { ViewDef } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import { oidOfId } from "../../query/expr/types.js";
import type { CreateTableAsStatement, CreateViewStatement } from "../parse/ast-definitions.js";
import type { NameNode, QueryNode } from "../parse/ast-query.js";
import { switched } from "../parse/from-pg-columns.js";
import { parseSql } from "../parse/parse.js";
import { type Binding, PLAIN_QUERY, type Source } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { ownersRights, requireView } from "./relation-rights.js";
import { relationOf } from "./scope.js";
import { barrier } from "./source.js";

/** The view that a name means, unless a table comes first on the search path. */
export function findView(name: NameNode, binding: Binding): ViewDef | null {
  const relation = relationOf(name);
  const { catalog, searchPath } = binding.env;
  for (const schema of relation.schema === null ? searchPath : [relation.schema]) {
    if (catalog.table(schema, relation.name) !== null) return null;
    const view = catalog.view(schema, relation.name);
    if (view !== null) return view;
  }
  return null;
}

/** The view's rows under its column names. */
export function bindView(view: ViewDef, binding: Binding): Source {
  requireView(view, binding);
  const source = bindViewQuery(view, view.query, binding);
  const plan = isBarrier(view) ? barrier(source.plan) : source.plan;
  const columns = view.columns.map(({ name }, i) => ({ ...source.columns[i]!, name }));
  for (const [i, { id }] of columns.entries()) binding.setOrigin(id, { table: oidOfId(view.id), column: i + 1 });
  return { plan, columns };
}

/** Definitions are immutable, so their trees are kept with them. */
const parsed = new WeakMap<ViewQuery, CreateViewStatement | CreateTableAsStatement>();

/** The query of a view or materialized view, in the scope of its own names. */
export function bindViewQuery(of: Viewed, query: ViewQuery, binding: Binding): Source {
  const env = viewEnvironment(query, queryRights(of, query, binding.env));
  return binding.within(env, () => binding.query(parsedQuery(query), null, PLAIN_QUERY));
}

/** A view, or the table of a materialized view. */
type Viewed = Pick<ViewDef, "id" | "invoker">;

/**
 * The rights that the query runs with: its owner's, unless the view is security_invoker. Those are of who asked, also
 * where a view of somebody else's names it.
 */
export function queryRights(of: Viewed, query: ViewQuery, env: BindEnvironment): BindEnvironment {
  if (!isInvoker(of, query)) return ownersRights(of.id, env);
  return env.asked === undefined ? env : { ...env, rights: env.asked };
}

export function isInvoker({ invoker }: Viewed, query: ViewQuery): boolean {
  return invoker ?? isOn("security_invoker", query);
}

export function isBarrier({ barrier, query }: ViewDef): boolean {
  return barrier ?? isOn("security_barrier", query);
}

/** What the CREATE statement says. */
function isOn(name: string, query: ViewQuery): boolean {
  const statement = parsedStatement(query);
  const option = statement.kind === "create view" ? statement.options.find((other) => other.name === name) : undefined;
  return option !== undefined && switched(option);
}

/** What names mean inside the query. */
export function viewEnvironment(query: ViewQuery, env: BindEnvironment): BindEnvironment {
  const { stored: _stored, kept: _kept, ...rest } = env;
  const names = { catalog: catalogOf(query, env.catalog), searchPath: query.searchPath };
  return query.exact ? { ...rest, ...names, stored: true } : { ...rest, ...names };
}

/** The query's tree. */
export function parsedQuery(query: ViewQuery): QueryNode {
  return parsedStatement(query).query;
}

function parsedStatement(query: ViewQuery): CreateViewStatement | CreateTableAsStatement {
  let node = parsed.get(query);
  if (node === undefined) {
    const statement = parseSql(query.sql)[0]!.node;
    if (statement.kind !== "create view" && statement.kind !== "create table as") {
      throw new Error("the definition of a view is not a CREATE statement");
    }
    node = statement;
    parsed.set(query, node);
  }
  return node;
}

/** The catalogs of now, by those that give a view's names. */
const now = new WeakMap<CatalogView, CatalogView>();

/** The definitions by the names in the view's text; everything else is as it is now. */
function catalogOf(query: ViewQuery, outer: CatalogView): CatalogView {
  const catalog = now.get(outer) ?? outer;
  const { exact, functions = [] } = query;
  const find = (kind: ViewRelation["kind"], schema: string | null, name: string) =>
    query.relations.find((other) => other.kind === kind && other.name === name && other.schema === schema);
  const own: Pick<CatalogView, "table" | "view" | "propertyGraph" | "functionsNamed" | "type"> = {
    // Somebody may have made another function or type since then, which would fit better or come earlier.
    functionsNamed: (schema, name) => catalog.functionsNamed(schema, name).filter(({ id }) => functions.includes(id)),
    type: (schema, name) => (exact ? null : catalog.type(schema, name)),
    propertyGraph: (schema, name) => {
      const relation = find("graph", schema, name);
      if (relation === undefined) return null;
      return catalog.propertyGraphs().find(({ id }) => id === relation.id) ?? gone(relation);
    },
    table: (schema, name) => {
      const relation = find("table", schema, name);
      if (relation === undefined) return null;
      const table = catalog.tableById(relation.id);
      return table === null ? gone(relation) : asNamed(table, relation);
    },
    view: (schema, name) => {
      const relation = find("view", schema, name);
      if (relation === undefined) return null;
      const view = catalog.views().find(({ id }) => id === relation.id) ?? gone(relation);
      return viewAsNamed(view, relation);
    },
  };
  // All else, whatever a catalog offers, comes from the one behind.
  const named = Object.assign(Object.create(catalog) as CatalogView, own);
  now.set(named, catalog);
  return named;
}

function gone(relation: ViewRelation): never {
  throw sqlError("42P01", `relation "${relation.name}" does not exist`);
}

/** The view with the columns that it had, under the names that they had. */
function viewAsNamed(view: ViewDef, relation: ViewRelation): ViewDef {
  const { columns } = relation;
  const same =
    view.columns.length === columns.length && columns.every(({ id, name }) => view.columns[id]!.name === name);
  if (same && view.name === relation.name) return view;
  return { ...view, name: relation.name, columns: columns.map(({ id, name }) => ({ ...view.columns[id]!, name })) };
}

/** Definitions under older names, by the definition of now. */
const renamed = new WeakMap<TableDef, WeakMap<ViewRelation, TableDef>>();

/** The table with the columns that it had, under the names that they had. */
function asNamed(table: TableDef, relation: ViewRelation): TableDef {
  const names = new Map(relation.columns.map(({ id, name }) => [id, name]));
  const same =
    table.columns.length === relation.columns.length && table.columns.every(({ id, name }) => names.get(id) === name);
  if (same && table.name === relation.name && table.schema === relation.schema) return table;
  let known = renamed.get(table);
  if (known === undefined) {
    known = new WeakMap();
    renamed.set(table, known);
  }
  let result = known.get(relation);
  if (result === undefined) {
    const columns = table.columns.flatMap((column): ColumnDef[] => {
      const name = names.get(column.id);
      return name === undefined ? [] : [Object.freeze({ ...column, name })];
    });
    result = Object.freeze({ ...table, schema: relation.schema, name: relation.name, columns });
    known.set(relation, result);
  }
  return result;
}
