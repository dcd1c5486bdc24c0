/** Names of databases, as Neo4j's tools and USE write them: a graph of the tenant, or `tenant.graph`. */
import { DEFAULT_GRAPH } from "../catalog/graph.js";

/** What tools ask for: the database that Neo4j has from the start, and the one where it keeps users and databases. */
const ALIASES: ReadonlySet<string> = new Set(["neo4j", "system", "tessera"]);

/**
 * The graph that is meant; null: there is no such database.
 *
 * @param tenant its name; null: it is not known, and no database is called after it
 * @param isGraph whether there is one of that name
 */
export function graphOfDatabase(
  database: string,
  tenant: string | null,
  isGraph: (name: string) => boolean,
): string | null {
  if (database === "" || database === DEFAULT_GRAPH) return DEFAULT_GRAPH;
  if (isGraph(database)) return database;
  const own = `${tenant}.`;
  const rest = tenant !== null && database.startsWith(own) ? database.slice(own.length) : null;
  if (rest === DEFAULT_GRAPH || (rest !== null && isGraph(rest))) return rest;
  return database === tenant || ALIASES.has(database) ? DEFAULT_GRAPH : null;
}
