/** Names of databases, which are graphs of the tenant: `graph`, or `tenant.graph`. */
import { DEFAULT_GRAPH } from "../../catalog/graph.js";
import { boltError } from "../../protocol/bolt/failure-message.js";

/** What tools ask for: the database that Neo4j has from the start, and the one where it keeps users and databases. */
const ALIASES: ReadonlySet<string> = new Set(["neo4j", "system", "tessera"]);

/** The graph that is meant. `isGraph`: whether there is one of that name. Throws DatabaseNotFound. */
export function graphNamed(database: string, tenant: string, isGraph: (name: string) => boolean): string {
  if (database === "" || database === DEFAULT_GRAPH || isGraph(database)) {
    return database === "" ? DEFAULT_GRAPH : database;
  }
  const own = `${tenant}.`;
  const rest = database.startsWith(own) ? database.slice(own.length) : null;
  if (rest === DEFAULT_GRAPH || (rest !== null && isGraph(rest))) return rest;
  if (database === tenant || ALIASES.has(database)) return DEFAULT_GRAPH;
  throw boltError(
    "not_found",
    "Neo.ClientError.Database.DatabaseNotFound",
    `The database "${database}" does not exist. SHOW DATABASES lists those that do; POST /v1/graph/graphs {name} makes one.`,
  );
}
