/**
 * The things that can be followed, and how their rows look to followers: documents of a collection, vectors, nodes and
 * relationships of a graph, rows of a table. Called by subscriptions.
 */
import type { CatalogView } from "../../catalog/catalog-view.js";
import { meant } from "../../catalog/did-you-mean.js";
import { DEFAULT_GRAPH, EDGE_COLUMN, graphDefOf, graphOf, isListed, NODE_COLUMN } from "../../catalog/graph.js";
import { parseRelationName } from "../../catalog/relation-names.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { TableDef } from "../../catalog/table.js";
import { type Collection, collectionOf, type Field } from "../../document/collection.js";
import { documentOfRow } from "../../document/document-rows.js";
import { filterCondition, NOTHING_DECLARED } from "../../document/filter.js";
import type { FilterTarget } from "../../document/filter-place.js";
import type { JsonObject } from "../../document/merge-patch.js";
import { identifier, Parameters } from "../../document/sql-text.js";
import { DbError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import { noGraph } from "../../session/ensure-graph.js";
import type { Tenant } from "../../session/tenant.js";
import type { ShardTransaction } from "../../storage/transaction.js";
import { jsonWriter, plainWriter } from "../../values/json-format.js";
import { decodeLabels, includesLabel } from "../../values/labels.js";
import { JSONB, Json, type SqlType, VARIANT, type Value } from "../../values/values.js";
import { vectorCollectionOf } from "../vectors/vector-collection.js";
import { type RowColumn, RowProgram } from "./row-program.js";

/** One of the fields of a request that say what is followed. */
export interface FollowRequest {
  readonly collection?: string;
  readonly table?: string;
  readonly label?: string;
  readonly relationship?: string;
  readonly graph?: string;
  readonly filter?: unknown;
}

export interface FollowTarget {
  readonly table: TableDef;
  /** Of a node or relationship. */
  readonly label: string | null;
}

/** Reads one row of the followed table, whose values are in its columns' order. */
export interface RowView {
  /** As `collection` of messages has it. */
  readonly name: string;
  /** Further fields of every message, as JSON with a comma in front; "" for none. */
  readonly fields: string;
  holds(row: readonly Value[], context: ExecContext): boolean;
  /** JSON. */
  document(row: readonly Value[]): string;
}

/** Throws invalid_request, not_found. */
export function findTarget(catalog: CatalogView, request: FollowRequest): FollowTarget {
  const named = (["collection", "table", "label", "relationship"] as const).filter(
    (field) => request[field] !== undefined,
  );
  if (named.length !== 1) {
    throw new DbError("invalid_request", 'Send one of "collection", "table", "label", "relationship" and "sql".', {
      field: named[1] ?? "collection",
    });
  }
  const { collection, table, label, relationship, graph } = request;
  if (collection !== undefined || table !== undefined) {
    if (graph !== undefined) {
      throw new DbError("invalid_request", '"graph" can only be combined with "label" and "relationship".', {
        field: "graph",
      });
    }
    return { table: findTable(catalog, collection, table), label: null };
  }
  const tables = graphOf(catalog, graph ?? DEFAULT_GRAPH);
  if (tables === null) throw noGraph(graph ?? DEFAULT_GRAPH);
  return { table: label === undefined ? tables.edges : tables.nodes, label: label ?? relationship! };
}

function findTable(catalog: CatalogView, collection: string | undefined, table: string | undefined): TableDef {
  const { schema, name } = table === undefined ? { schema: null, name: collection! } : parseRelationName(table);
  const found = catalog.table(schema, name);
  if (found !== null && !isTemporarySchema(found.schema) && graphDefOf(found) === null) return found;
  const shown = collection ?? table!;
  if (catalog.view(schema, name) !== null) {
    throw new DbError("invalid_request", `"${shown}" is a view: subscribe to a query with "sql".`, {
      field: collection === undefined ? "table" : "collection",
    });
  }
  const kind = collection === undefined ? "table" : "collection";
  const names = catalog.tables().flatMap((each) => (isListed(each) ? [each.name] : []));
  throw new DbError("not_found", `The ${kind} "${shown}" does not exist.`, {
    sqlstate: "42P01",
    ...meant(name, names),
  });
}

/** Throws invalid_request, which names the place in the filter. */
export function viewOf(tenant: Tenant, tx: ShardTransaction, { table, label }: FollowTarget, filter: unknown): RowView {
  if (label !== null) return graphView(tenant, tx, table, label, filter);
  const collection = collectionOf(table);
  const condition = conditionOf(tenant, tx, table.columns, filter, () => targetOf(table, collection));
  const { name } = table;
  if (collection !== null) return { name, fields: "", ...condition, document: documentReader(collection) };
  const isVector = vectorCollectionOf(table) !== null;
  const shown = isVector ? ["id", "vector", "metadata"] : table.columns.map((column) => column.name);
  const writers = table.columns.flatMap((column, i) => {
    if (!shown.includes(column.name)) return [];
    return [{ i, head: `${JSON.stringify(column.name)}:`, write: jsonWriter(column.type) }];
  });
  return {
    name: table.schema === "public" ? name : `${table.schema}.${name}`,
    fields: "",
    ...condition,
    document: (row) => {
      const members = writers.map(({ i, head, write }) => head + (row[i] === null ? "null" : write(row[i]!)));
      return `{${members.join(",")}}`;
    },
  };
}

function conditionOf(
  tenant: Tenant,
  tx: ShardTransaction,
  columns: readonly RowColumn[],
  filter: unknown,
  target: () => FilterTarget,
): Pick<RowView, "holds"> {
  if (filter === undefined) return { holds: () => true };
  const params = new Parameters();
  const condition = filterCondition(target(), filter, params, "filter");
  if (condition === "true") return { holds: () => true };
  try {
    const program = RowProgram.compile(tenant, tx, { columns, condition, params: params.values });
    return { holds: (row, context) => program.holds(row, context) };
  } catch (error) {
    if (!(error instanceof DbError && error.details?.sqlstate === "42703")) throw error;
    const known = columns.map(({ name }) => name).join(", ");
    throw new DbError("invalid_request", `The filter names a field that is not a column. Columns: ${known}.`, {
      field: "filter",
    });
  }
}

/** Without its indexes, which only help to find rows. */
function targetOf(table: TableDef, collection: Collection | null): FilterTarget {
  if (collection !== null) {
    const { columns, inner, sqlName } = collection;
    return { columns, inner, rest: "doc", hasId: true, indexed: new Set(), table: sqlName };
  }
  if (vectorCollectionOf(table) !== null) return { ...NOTHING_DECLARED, rest: "metadata", hasId: true };
  const columns = new Map(table.columns.map(({ name, type }) => [name, fieldOf(name, type)]));
  return { ...NOTHING_DECLARED, columns, rest: UNKNOWN_COLUMN };
}

/** Where fields are looked up that are not columns of the table: nothing has that name, so the error says so. */
const UNKNOWN_COLUMN = '"no such column"';

function fieldOf(name: string, type: SqlType): Field {
  const quoted = identifier(name);
  const place = {
    path: [name],
    name,
    required: false,
    unique: false,
    dimensions: null,
    items: null,
    embedding: null,
    model: null,
  };
  switch (type.name) {
    case "int2":
    case "int4":
    case "int8":
    case "oid":
      return { ...place, type: "integer", column: quoted };
    case "float4":
    case "float8":
    case "numeric":
      return { ...place, type: "number", column: quoted };
    case "bool":
      return { ...place, type: "boolean", column: quoted };
    case "date":
    case "timestamp":
    case "timestamptz":
      return { ...place, type: "date", column: quoted };
    case "vector":
      return { ...place, type: "vector", column: quoted };
    case "json":
    case "jsonb":
      return { ...place, type: "object", column: `(${quoted}::jsonb)` };
    case "array":
    case "record":
      return { ...place, type: "array", column: `to_jsonb(${quoted})` };
    default:
      return { ...place, type: "string", column: `(${quoted}::text)` };
  }
}

function documentReader(collection: Collection): RowView["document"] {
  const { table } = collection;
  const at = (column: string): number => table.columns.findIndex(({ name }) => identifier(name) === column);
  const places = [at('"id"'), ...[...collection.columns.values()].map(({ column }) => at(column!)), at('"doc"')];
  const writers = places.map((place) => plainWriter(table.columns[place]!.type));
  return (row) => {
    const values = places.map((place, i) => (row[place] === null ? null : writers[i]!(row[place]!)));
    return JSON.stringify(documentOfRow(collection, values));
  };
}

/** Properties as a filter sees them. */
const PROPERTIES: readonly RowColumn[] = [{ name: "properties", type: JSONB }];
const plainProperties = plainWriter(VARIANT);
const writeProperties = jsonWriter(VARIANT);

function graphView(tenant: Tenant, tx: ShardTransaction, table: TableDef, label: string, filter: unknown): RowView {
  const def = graphDefOf(table)!;
  const isNode = def.of === "nodes";
  const at = (id: number): number => table.columns.findIndex((column) => column.id === id);
  const properties = at(isNode ? NODE_COLUMN.properties : EDGE_COLUMN.properties);
  const target = (): FilterTarget => ({ ...NOTHING_DECLARED, rest: "properties" });
  const condition = conditionOf(tenant, tx, PROPERTIES, filter, target);
  const kind = at(isNode ? NODE_COLUMN.labels : EDGE_COLUMN.type);
  const id = at(1);
  const src = at(EDGE_COLUMN.src);
  const dst = at(EDGE_COLUMN.dst);
  return {
    name: label,
    fields: `,"graph":${JSON.stringify(def.graph)},"kind":"${isNode ? "node" : "relationship"}"`,
    holds: (row, context) => {
      const text = row[kind] as string;
      if (isNode ? !includesLabel(text, label) : text !== label) return false;
      const json = new Json(plainProperties(row[properties]!) as JsonObject);
      return condition.holds([json], context);
    },
    document: (row) => {
      const values = `"properties":${writeProperties(row[properties]!)}`;
      if (isNode) return `{"id":${row[id]},"labels":${JSON.stringify(decodeLabels(row[kind] as string))},${values}}`;
      return `{"id":${row[id]},"src":${row[src]},"dst":${row[dst]},"type":${JSON.stringify(row[kind])},${values}}`;
    },
  };
}
