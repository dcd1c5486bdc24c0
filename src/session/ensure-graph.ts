/**
 * Creates the graph that every tenant has, when a statement first uses it. The session calls it before it binds
 * Cypher.
 */
import { DEFAULT_GRAPH, type GraphTables, graphOf } from "../catalog/graph.js";
import { createGraph } from "../catalog/graph-ddl.js";
import { DbError, sqlError } from "../protocol/errors.js";
import type { Transaction } from "../storage/store.js";
import { graphOfDatabase } from "./database-names.js";
import type { GraphOf } from "./statement-plan.js";
import type { Tenant } from "./tenant.js";
import { nowMicros } from "./transaction-block.js";

/**
 * The tables of a graph as `tx` sees them. The default graph is made if it is not there: within `tx` when that may
 * write, else in a transaction of its own, which `tx` is too old to see: then this throws 40001, and a new transaction
 * sees it. Throws not_found for another graph that does not exist.
 */
export function ensureGraph(tenant: Tenant, name: string, tx: Transaction): GraphTables {
  const found = graphOf(tenant.catalog.view(tx), name);
  if (found !== null) return found;
  if (name !== DEFAULT_GRAPH) throw noGraph(name);
  const make = (within: Transaction) =>
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
  throw sqlError("40001", "the default graph was made just now; run the transaction again");
}

/** The same as a function of the name, which may be left out. `tenantName`: null: no database is called after it. */
export function graphFinder(tenant: Tenant, tx: Transaction, tenantName: string | null): GraphOf {
  const isGraph = (name: string): boolean => graphOf(tenant.catalog.view(tx), name) !== null;
  return (name = DEFAULT_GRAPH, isDatabase = false) =>
    ensureGraph(tenant, (isDatabase ? graphOfDatabase(name, tenantName, isGraph) : null) ?? name, tx);
}

export function noGraph(name: string): DbError {
  return new DbError("not_found", `The graph "${name}" does not exist.`, {
    sqlstate: "42P01",
    hint: "GET /v1/graph/graphs lists the graphs. POST /v1/graph/graphs {name} creates one.",
  });
}
