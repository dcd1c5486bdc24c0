/**
 * The tables, views and sequences that the lead of an API key lets its statements name, by one version of the
 * definitions.
 */
import { type CatalogView, DEFAULT_SCHEMA } from "./catalog-view.js";
import { isTemporarySchema } from "./schema.js";

export interface LedTables {
  /** True also of what is none of those: schemas, functions, types. */
  includes(objectId: number): boolean;
}

interface Relation {
  readonly id: number;
  readonly name: string;
  readonly schema: string;
}

/**
 * `names`: those of the schema public may leave it out. What the session itself made for a while is always among them.
 */
export function ledTables(names: readonly string[], catalog: CatalogView): LedTables {
  const listed = new Set(names.map((name) => (name.includes(".") ? name : `${DEFAULT_SCHEMA}.${name}`)));
  const isListed = ({ name, schema }: Relation) => isTemporarySchema(schema) || listed.has(`${schema}.${name}`);
  const outside = new Set<number>();
  for (const relation of [...catalog.tables(), ...catalog.views()]) if (!isListed(relation)) outside.add(relation.id);
  for (const { id, ownedBy, schema } of catalog.sequences()) {
    const isInside = isTemporarySchema(schema) || (ownedBy !== null && !outside.has(ownedBy.tableId));
    if (!isInside) outside.add(id);
  }
  return { includes: (objectId) => !outside.has(objectId) };
}
