/** Names of databases, which are graphs of the tenant: `graph`, or `tenant.graph`. */
import { boltError } from "../../protocol/bolt/failure-message.js";
import { graphOfDatabase } from "../../session/database-names.js";

/** The graph that is meant. `isGraph`: whether there is one of that name. Throws DatabaseNotFound. */
export function graphNamed(database: string, tenant: string, isGraph: (name: string) => boolean): string {
  const graph = graphOfDatabase(database, tenant, isGraph);
  if (graph !== null) return graph;
  throw boltError(
    "not_found",
    "Neo.ClientError.Database.DatabaseNotFound",
    `The database "${database}" does not exist. SHOW DATABASES lists those that do; POST /v1/graph/graphs {name} makes one.`,
  );
}
