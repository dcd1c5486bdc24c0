/**
 * A tenant's definitions by OID, in which functions of the catalog look objects up. Made once per version of the
 * definitions.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { FunctionDef } from "../../../catalog/function.js";
import type { TableDef } from "../../../catalog/table.js";
import { isRowType, type TypeDef } from "../../../catalog/type.js";
import type { ViewDef } from "../../../catalog/view.js";
import { oidOfId } from "../../../query/expr/types.js";
import { type ConstraintFacts, constraintsOf, hashedOid, type IndexFacts, indexesOf } from "./relation-facts.js";
import { shapeOfOid, systemShapes } from "./shapes.js";

/** Anything that pg_class lists. */
export interface NamedRelation {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  /** pg_class.relkind. */
  readonly kind: string;
}

export interface CatalogIndex {
  readonly relations: ReadonlyMap<number, NamedRelation>;
  readonly tables: ReadonlyMap<number, TableDef>;
  readonly views: ReadonlyMap<number, ViewDef>;
  readonly indexes: ReadonlyMap<number, IndexFacts>;
  readonly constraints: ReadonlyMap<number, ConstraintFacts>;
  /** Definitions of the checks of domains. */
  readonly domainChecks: ReadonlyMap<number, string>;
  readonly functions: ReadonlyMap<number, FunctionDef>;
  readonly types: ReadonlyMap<number, TypeDef>;
}

const made = new WeakMap<CatalogView, CatalogIndex>();

export function catalogIndex(catalog: CatalogView): CatalogIndex {
  let index = made.get(catalog);
  if (index === undefined) {
    index = makeIndex(catalog);
    made.set(catalog, index);
  }
  return index;
}

/** VALUE, which PostgreSQL writes so. */
export const inCapitals = (sql: string) =>
  sql.replace(/'(?:[^']|'')*'|"[^"]*"|\bvalue\b/g, (part) => (part === "value" ? "VALUE" : part));

export const domainCheckOid = (id: number, name: string) => hashedOid("domain constraint", id, name);

export const kindOfTable = (table: TableDef): string =>
  table.materialized ? "m" : table.partitionKey === undefined ? "r" : "p";

function makeIndex(catalog: CatalogView): CatalogIndex {
  const relations = new Map<number, NamedRelation>();
  const tables = new Map<number, TableDef>();
  const views = new Map<number, ViewDef>();
  const indexes = new Map<number, IndexFacts>();
  const constraints = new Map<number, ConstraintFacts>();
  const add = (oid: number, { schema, name }: { schema: string; name: string }, kind: string) =>
    relations.set(oid, { oid, schema, name, kind });
  for (const table of catalog.tables()) {
    const oid = oidOfId(table.id);
    tables.set(oid, table);
    add(oid, table, kindOfTable(table));
    for (const index of indexesOf(table)) {
      indexes.set(index.oid, index);
      const kind = table.partitionKey === undefined ? "i" : "I";
      add(index.oid, { schema: table.schema, name: index.name }, kind);
    }
    for (const constraint of constraintsOf(table, catalog)) constraints.set(constraint.oid, constraint);
  }
  for (const view of catalog.views()) {
    views.set(oidOfId(view.id), view);
    add(oidOfId(view.id), view, "v");
  }
  for (const sequence of catalog.sequences()) add(oidOfId(sequence.id), sequence, "S");
  for (const type of catalog.types()) {
    if (type.kind === "composite" && !isRowType(type)) add(oidOfId(type.id, 1), type, "c");
  }
  const domainChecks = new Map<number, string>();
  for (const type of catalog.types()) {
    if (type.kind !== "domain") continue;
    for (const { name, sql } of type.checks) {
      domainChecks.set(domainCheckOid(type.id, name), `CHECK (${inCapitals(sql)})`);
    }
  }
  return {
    relations,
    domainChecks,
    tables,
    views,
    indexes,
    constraints,
    functions: new Map(catalog.functions().map((fn) => [oidOfId(fn.id), fn])),
    types: new Map(catalog.types().map((type) => [oidOfId(type.id), type])),
  };
}

/** The relation of an OID, one of the system's included; null when there is none. */
export function relationOfOid(oid: number, { catalog }: { readonly catalog: CatalogView }): NamedRelation | null {
  const shape = shapeOfOid(oid);
  return shape ?? catalogIndex(catalog).relations.get(oid) ?? null;
}

/** The OID of a relation by its name in a schema; null when there is none. */
export function oidOfRelation(
  schema: string,
  name: string,
  { catalog }: { readonly catalog: CatalogView },
): number | null {
  const system = systemShapes().get(`${schema}.${name}`);
  if (system !== undefined) return system.oid;
  const found =
    catalog.table(schema, name) ??
    catalog.view(schema, name) ??
    catalog.sequence(schema, name) ??
    catalog.index(schema, name)?.index ??
    catalog.searchIndex(schema, name)?.index;
  if (found !== undefined && found !== null) return oidOfId(found.id);
  const table = catalog.tables().find((other) => other.schema === schema && other.primaryKeyName === name);
  if (table !== undefined) return oidOfId(table.id, 1);
  const type = catalog.type(schema, name);
  return type?.kind === "composite" && !isRowType(type) ? oidOfId(type.id, 1) : null;
}
