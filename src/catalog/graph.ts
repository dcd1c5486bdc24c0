/**
 * A property graph is two tables in a schema of its own, "graph:NAME", found by `collection`. Cypher and the graph
 * routes write them; SQL may read them.
 *
 *   nodes  id int8 (primary key), labels text (LABEL_MARK), properties variant (a map)
 *          index (labels)
 *   edges  id int8 (primary key), type text, src int8, dst int8, properties variant
 *          indexes (src, type, dst), (dst, type, src)
 *
 * Column ids are positions in this order, from 1. Ids of nodes and of edges are given out from 1 upwards, so arrays
 * can be indexed by them. An id is never used again: a sequence of each table counts them, and a crash skips those it
 * had reserved.
 */
import { type DbError, sqlError } from "../protocol/errors.js";
import { type CatalogView, isInternal } from "./catalog-view.js";
import type { GraphDef, TableDef } from "./table.js";

export interface GraphTables {
  readonly name: string;
  readonly nodes: TableDef;
  readonly edges: TableDef;
}

/** The graph that requests mean that name none; every tenant has it. */
export const DEFAULT_GRAPH = "default";

export const NODE_COLUMN = { id: 1, labels: 2, properties: 3 } as const;
export const EDGE_COLUMN = { id: 1, type: 2, src: 3, dst: 4, properties: 5 } as const;

/** Names of the indexes that every graph has, which find entities by their labels or by their types. */
export const LOOKUP_INDEX = { nodes: "nodes_labels", edges: "edges_src" } as const;

const SCHEMA_PREFIX = "graph:";

/** The schema that the graph's tables are in. */
export function graphSchema(name: string): string {
  return SCHEMA_PREFIX + name;
}

/** Whether tables of a graph are in the schema: statements of SQL may read what is there, and change nothing. */
export function isGraphSchema(schema: string): boolean {
  return schema.startsWith(SCHEMA_PREFIX);
}

/** Whether lists of the tenant's relations name it unless they are asked for all: what routes keep is left out. */
export function isListed(relation: Pick<TableDef, "schema" | "name">): boolean {
  return !isInternal(relation) && !isGraphSchema(relation.schema);
}

const known = new WeakMap<TableDef, GraphTables>();

/** Null: there is no graph of that name. */
export function graphOf(view: CatalogView, name: string): GraphTables | null {
  const schema = graphSchema(name);
  const nodes = view.table(schema, "nodes");
  const edges = view.table(schema, "edges");
  if (nodes === null || edges === null) return null;
  let graph = known.get(nodes);
  if (graph?.edges !== edges) {
    graph = Object.freeze({ name, nodes, edges });
    known.set(nodes, graph);
  }
  return graph;
}

/** All graphs, by name. */
export function graphsOf(view: CatalogView): readonly GraphTables[] {
  return view.tables().flatMap(({ collection }) => {
    const graph = collection?.kind === "graph" && collection.of === "nodes" ? graphOf(view, collection.graph) : null;
    return graph ?? [];
  });
}

/** Names of all graphs. The default one is made when it is first used, which may be now. */
export function graphNamesOf(view: CatalogView): readonly string[] {
  const known = graphsOf(view).map(({ name }) => name);
  return known.includes(DEFAULT_GRAPH) ? known : [DEFAULT_GRAPH, ...known];
}

/** The graph that the table is part of, by its definition; null: none. */
export function graphDefOf({ collection }: TableDef): GraphDef | null {
  return collection?.kind === "graph" ? collection : null;
}

/** Of statements of SQL that would change the rows or the definition of a graph's table. */
export function changedByCypher(schema: string, position: number): DbError {
  const message = `"${schema}" is a graph: SQL can read its tables, and only Cypher can change them`;
  return sqlError("42809", message, position > 0 ? { position } : undefined);
}
