/**
 * Resources that a client may read by address: `tessera://schema`, `tessera://tables/{name}`,
 * `tessera://collections/{name}`, `tessera://graph`.
 */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import { graphsOf, isListed } from "../../catalog/graph.js";
import { mayReadGraph } from "../../catalog/graph-rights.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import { collectionOf } from "../../document/collection.js";
import { DbError } from "../../protocol/errors.js";
import { listsRelation } from "../../sql/bind/system/visible-rows.js";
import { collectionFacts } from "../documents/collection-facts.js";
import { listTables, tableFacts } from "../statements/table-facts.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { runStatement } from "../tools/run-statement.js";
import type { ToolContext } from "../tools/tool.js";

const JSON_MEDIA = "application/json";
/** More are left out of the list; each can still be read. */
const LISTED_MAX = 1_000;

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: "tessera://tables/{name}",
    name: "table",
    title: "A table",
    description: "Columns, indexes and constraints of a table.",
    mimeType: JSON_MEDIA,
  },
  {
    uriTemplate: "tessera://collections/{name}",
    name: "collection",
    title: "A collection",
    description: "Fields and indexes of a document collection.",
    mimeType: JSON_MEDIA,
  },
] as const;

const FIXED: readonly Resource[] = [
  {
    uri: "tessera://tables",
    name: "tables",
    title: "All tables",
    description: "Tables, views and collections with their row counts.",
    mimeType: JSON_MEDIA,
  },
  {
    uri: "tessera://graph",
    name: "graph",
    title: "The graph's schema",
    description: "Labels, relationship types and property keys of the default graph.",
    mimeType: JSON_MEDIA,
  },
];

/** Names of the tables that the caller may use, and of the collections among them. */
function namesOf(request: Request): { tables: string[]; collections: string[] } {
  return withDefinitions(request, (catalog) => {
    const rights = rightsOfCaller(request.head)(catalog);
    const tables: string[] = [];
    const collections: string[] = [];
    for (const table of catalog.tables()) {
      if (isTemporarySchema(table.schema) || !isListed(table) || !listsRelation(rights, table.id)) continue;
      (collectionOf(table) === null ? tables : collections).push(table.name);
    }
    return { tables, collections };
  });
}

export function listResources(request: Request): Resource[] {
  const { tables, collections } = namesOf(request);
  const described = (kind: "tables" | "collections", names: readonly string[]): Resource[] =>
    names.map((name) => ({
      uri: `tessera://${kind}/${encodeURIComponent(name)}`,
      name,
      title: name,
      description: kind === "tables" ? `The table ${name}.` : `The collection ${name}.`,
      mimeType: JSON_MEDIA,
    }));
  return [...FIXED, ...described("tables", tables), ...described("collections", collections)].slice(0, LISTED_MAX);
}

/** Names that begin so, for completion. */
export function completeName(request: Request, kind: "tables" | "collections", prefix: string): string[] {
  return namesOf(request)[kind].filter((name) => name.startsWith(prefix));
}

/** The resource as JSON; null: there is none. */
export async function readResource(context: ToolContext, uri: string): Promise<string | null> {
  const { request } = context;
  const path = /^tessera:\/\/([a-z]+)(?:\/([^/?#]+))?$/.exec(uri);
  if (path === null) return null;
  const [, kind, encoded] = path;
  const name = encoded === undefined ? null : decoded(encoded);
  if (kind === "graph" && name === null) return graphSchema(context);
  if (kind === "tables" && name === null) return JSON.stringify(await listTables(request));
  if (name === null) return null;
  try {
    if (kind === "tables") return JSON.stringify(tableFacts(request, name));
    if (kind === "collections") return JSON.stringify(await collectionFacts(request, name));
  } catch (error) {
    if (!(error instanceof DbError) || error.status !== 404) throw error;
  }
  return null;
}

function decoded(name: string): string | null {
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}

async function graphSchema(context: ToolContext): Promise<string> {
  const graphs = withDefinitions(context.request, (catalog) => {
    const rights = rightsOfCaller(context.request.head)(catalog);
    return graphsOf(catalog).flatMap((graph) => (mayReadGraph(rights, graph) ? graph.name : []));
  });
  const column = async (call: string): Promise<unknown[]> => {
    if (!graphs.includes("default")) return [];
    const run = { sql: call, params: [], language: "cypher", maxRows: LISTED_MAX } as const;
    const { rows } = JSON.parse(await runStatement({ ...context, readOnly: true }, run)) as { rows: unknown[][] };
    return rows.map(([value]) => value);
  };
  return JSON.stringify({
    graphs,
    labels: await column("CALL db.labels()"),
    relationship_types: await column("CALL db.relationshipTypes()"),
    property_keys: await column("CALL db.propertyKeys()"),
  });
}
