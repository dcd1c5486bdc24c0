/**
 * Reads a node of a graph by its id, for expressions that make paths and ends of relationships. The session calls it.
 */

import { type GraphTables, NODE_COLUMN } from "../../catalog/graph.js";
import { encodeKey } from "../../storage/key-codec.js";
import type { Transaction } from "../../storage/store.js";
import { DELETED_MARK, DELETED_PROPERTIES, GraphNode, type VariantMap } from "../../values/variant.js";
import { nodeOf } from "../expr/cypher/entities.js";
import { layoutOf, rowOfRecord } from "./table-layout.js";

/** As the transaction sees it now; one that is not there counts as deleted. */
export function readGraphNode(tx: Transaction, tenantNumber: number, { nodes }: GraphTables, id: number): GraphNode {
  const layout = layoutOf(nodes);
  const record = tx.get(encodeKey(layout.rowPrefixOf(tenantNumber), layout.primaryKey!.columns, [id]));
  if (record === undefined) return new GraphNode(id, [DELETED_MARK], DELETED_PROPERTIES);
  const row = rowOfRecord(layout, record);
  return nodeOf(id, row[NODE_COLUMN.labels] as string, row[NODE_COLUMN.properties] as VariantMap);
}
