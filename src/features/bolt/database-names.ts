/**
 * Names of databases: a graph of the tenant or of one of its branches. `graph`, `tenant.graph`, `branch`,
 * `tenant:branch`, and either with `.graph` for another graph of the branch than the usual one.
 */
import type { Request } from "../../actor/request.js";
import { requireEntry } from "../../actor/table-doors.js";
import { graphOf } from "../../catalog/graph.js";
import { boltError } from "../../protocol/bolt/failure-message.js";
import { graphOfDatabase } from "../../session/database-names.js";
import { isEnding } from "../../storage/ending-branches.js";

/** Where a transaction works: in the tenant (branch ""), or in a branch of it. */
export interface NamedDatabase {
  readonly branch: string;
  readonly graph: string;
}

/** The session that asks is of another branch, or of the tenant: the gateway opens one there. */
export class ElsewhereError extends Error {
  constructor(readonly branch: string) {
    super();
  }
}

/**
 * What a client that has signed in to the tenant means, wherever its session is. Throws DatabaseNotFound, and forbidden
 * where the branch is not for the caller.
 */
export function databaseNamed(request: Request, database: string): NamedDatabase {
  const { partition, tenant, head } = request;
  const { tenantId } = head;
  const own = partition.shard.layers?.branchOf(tenant.number) ?? null;
  const root = own?.root ?? tenant.number;
  const graph = graphOfDatabase(database, tenantId, isGraphIn(request, root));
  if (graph !== null) return { branch: "", graph };
  const [branch, named = ""] = withoutTenant(database, tenantId).split(".", 2) as [string, string?];
  const number = partition.shard.layers?.branches.named(root, branch) ?? null;
  const found = number === null ? null : partition.shard.layers!.branchOf(number);
  if (found === null || isEnding(found)) throw notFound(database);
  requireEntry(found, head);
  const ofBranch = graphOfDatabase(named, null, isGraphIn(request, number!));
  if (ofBranch === null) throw notFound(database);
  return { branch, graph: ofBranch };
}

/** The graph, in the session's own tenant or branch. Throws as `databaseNamed`, and ElsewhereError. */
export function graphHere(request: Request, database: string): string {
  const { branch, graph } = databaseNamed(request, database);
  const here = request.partition.shard.layers?.branchOf(request.tenant.number)?.name ?? "";
  if (branch !== here) throw new ElsewhereError(branch);
  return graph;
}

function isGraphIn({ partition }: Request, number: number): (name: string) => boolean {
  return (name) => partition.definitions(number, (view) => graphOf(view, name) !== null);
}

function withoutTenant(database: string, tenant: string): string {
  return database.startsWith(`${tenant}:`) ? database.slice(tenant.length + 1) : database;
}

function notFound(database: string): Error {
  const advice =
    "SHOW DATABASES lists graphs, GET /v1/branches lists branches. POST /v1/graph/graphs {name} makes a graph.";
  return boltError(
    "not_found",
    "Neo.ClientError.Database.DatabaseNotFound",
    `The database "${database}" does not exist. ${advice}`,
  );
}
