/** The graph that every tenant has, made when a statement first means it. The session calls it before it binds Cypher. */
import { DEFAULT_GRAPH, type GraphTables, graphOf } from "../catalog/graph.js";
import { createGraph } from "../catalog/graph-ddl.js";
import { sqlError } from "../protocol/errors.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Tenant } from "./tenant.js";
import { nowMicros } from "./transaction-block.js";

/**
 * The tables of a graph as `tx` sees them. The default graph is made if it is not there: within `tx` when that may write,
 * else in a transaction of its own, which `tx` is too old to see; then this answers null, and a new transaction sees it.
 * Throws 42P01 for another graph that does not exist.
 */
export function ensureGraph(tenant: Tenant, name: string, tx: ShardTransaction): GraphTables | null {
  const found = graphOf(tenant.catalog.view(tx), name);
  if (found !== null) return found;
  if (name !== DEFAULT_GRAPH) throw sqlError("42P01", `graph "${name}" does not exist`);
  const make = (within: ShardTransaction) =>
    tenant.catalog.change(within, (editor) => createGraph(editor, name, nowMicros()));
  if (!tx.readOnly) return make(tx);
  const own = tenant.partition.shard.begin({ readOnly: false });
  try {
    if (graphOf(tenant.catalog.view(own), name) === null) make(own);
    tenant.commit(own);
  } catch (error) {
    tenant.rollback(own);
    throw error;
  }
  return null;
}
