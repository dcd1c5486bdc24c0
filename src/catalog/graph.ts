/**
 * A property graph is two tables in a schema of its own, "graph:NAME", found by `collection`. Cypher and the graph routes
 * write them; SQL may read them.
 *
 *   nodes  id int8 (primary key), labels text (LABEL_MARK), properties variant (a map)
 *          index (labels)
 *   edges  id int8 (primary key), type text, src int8, dst int8, properties variant
 *          indexes (src, type), (dst, type)
 *
 * Column ids are positions in this order, from 1. Ids of nodes and of edges are given out from 1 upwards, so arrays can be
 * indexed by them; an id is not used again.
 */
import type { TableDef } from "./table.js";

export interface GraphTables {
  readonly name: string;
  readonly nodes: TableDef;
  readonly edges: TableDef;
}

/** The graph that requests mean that name none; every tenant has it. */
export const DEFAULT_GRAPH = "default";

export const NODE_COLUMN = { id: 1, labels: 2, properties: 3 } as const;
export const EDGE_COLUMN = { id: 1, type: 2, src: 3, dst: 4, properties: 5 } as const;
