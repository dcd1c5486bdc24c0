/**
 * Definitions of graphs (graph.ts), their indexes and constraints. Called by ddl.ts, and by the session for the graph
 * that every tenant has. An index of Cypher is an ordinary index whose key is an expression over the properties, on
 * the rows with a label; a constraint of uniqueness is a unique index. Facts that only Cypher needs are in the table's
 * GraphDef.
 */
import { sqlError } from "../protocol/errors.js";
import { INT8, TEXT, typeOf, VARIANT } from "../values/values.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { DdlCommand, NewSearchIndex } from "./ddl-command.js";
import { type DdlOutcome, NOTHING, quotedTable, selectRows, type Verification } from "./ddl-outcome.js";
import { dropTables } from "./drop-tables.js";
import { changedByCypher, type GraphTables, graphOf, graphSchema, isGraphSchema, LOOKUP_INDEX } from "./graph.js";
import type {
  CreateGraphConstraintCommand,
  CreateGraphIndexCommand,
  CreateGraphLookupCommand,
  DropGraphIndexCommand,
  GraphCommand,
} from "./graph-command.js";
import { madeUpName, quotedIdentifier } from "./relation-names.js";
import { searchIndexDef, withoutSearchIndex } from "./search-index-ddl.js";
import { PLAIN_SEQUENCE } from "./sequence.js";
import { sequenceDef } from "./sequence-ddl.js";
import {
  type ColumnDef,
  EXPRESSION_COLUMN,
  type GraphConstraintDef,
  type GraphDef,
  type GraphIndexDef,
  type IndexDef,
  type TableDef,
  type TextIndexDef,
  type VectorIndexDef,
} from "./table.js";

/** Ids that are reserved at once: a crash skips the rest of them. */
const IDS_RESERVED = 1000;

export function applyGraphCommand(editor: CatalogEditor, command: GraphCommand, nowMicros: number): DdlOutcome {
  const { graph: name } = command;
  const graph = graphOf(editor.view, name);
  if (command.kind === "create graph") {
    if (graph === null) {
      createGraph(editor, name, nowMicros);
      return { ...NOTHING, tag: "CREATE GRAPH" };
    }
    const message = `graph "${name}" already exists`;
    if (!command.ifNotExists) throw sqlError("42P07", message);
    return { ...NOTHING, tag: "CREATE GRAPH", notices: [`${message}, skipping`] };
  }
  if (graph === null) {
    const message = `graph "${name}" does not exist`;
    if (command.kind !== "drop graph" || !command.ifExists) throw sqlError("42P01", message);
    return { ...NOTHING, tag: "DROP GRAPH", notices: [`${message}, skipping`] };
  }
  switch (command.kind) {
    case "drop graph":
      return dropGraph(editor, graph);
    case "create graph lookup":
      return lookupThere(command);
    case "create graph index":
      return createIndex(editor, graph, command);
    case "create graph constraint":
      return createConstraint(editor, graph, command);
    case "drop graph index":
      return dropIndex(editor, graph, command);
  }
}

/** The graph's two empty tables. Throws 42602 for a name that no schema can have. */
export function createGraph(editor: CatalogEditor, name: string, nowMicros: number): GraphTables {
  if (name === "" || name.includes("\0")) throw sqlError("42602", `invalid graph name "${name}"`);
  const schema = graphSchema(name);
  editor.putSchema(Object.freeze({ id: editor.nextId(), name: schema, createdAt: nowMicros }));
  const columns = {
    nodes: [columnDef(1, "id", INT8), columnDef(2, "labels", TEXT), columnDef(3, "properties", VARIANT)],
    edges: [
      columnDef(1, "id", INT8),
      columnDef(2, "type", TEXT),
      columnDef(3, "src", INT8),
      columnDef(4, "dst", INT8),
      columnDef(5, "properties", VARIANT),
    ],
  };
  const keys = { nodes: { labels: [2] }, edges: { src: [3, 2, 4], dst: [4, 2, 3] } };
  for (const part of ["nodes", "edges"] as const) {
    const table: TableDef = Object.freeze({
      id: editor.nextId(),
      schema,
      name: part,
      columns: columns[part],
      primaryKey: [1],
      primaryKeyName: `${part}_pkey`,
      indexes: Object.entries(keys[part]).map(([key, ids]) => plainIndex(editor.nextId(), `${part}_${key}`, ids)),
      checks: [],
      collection: Object.freeze({ kind: "graph", graph: name, of: part }),
      nextColumnId: columns[part].length + 1,
      createdAt: nowMicros,
    });
    editor.createTable(table);
    const options = { ...PLAIN_SEQUENCE, cache: IDS_RESERVED };
    const owner = { tableId: table.id, columnId: 1 };
    editor.createSequence(sequenceDef(editor.nextId(), schema, `${part}_id`, INT8, options, owner, nowMicros));
  }
  return graphOf(editor.view, name)!;
}

function columnDef(id: number, name: string, type: ColumnDef["type"]): ColumnDef {
  return Object.freeze({ id, name, type, notNull: true, defaultSql: null, missingSql: null, identity: null });
}

function plainIndex(id: number, name: string, columnIds: readonly number[]): IndexDef {
  const columns = columnIds.map((columnId) => ({ columnId, descending: false, nullsFirst: false }));
  return Object.freeze({ id, name, kind: "btree", columns, unique: false, constraint: null });
}

function dropGraph(editor: CatalogEditor, { name, nodes, edges }: GraphTables): DdlOutcome {
  const tables = [nodes, edges].map((table) => ({ schema: table.schema, name: table.name, position: 0 }));
  const dropped = dropTables(editor, { kind: "drop table", tables, ifExists: false, cascade: true });
  editor.dropSchema(editor.view.schema(graphSchema(name))!);
  return { ...dropped, tag: "DROP GRAPH" };
}

/** Every graph finds nodes by labels, and the relationships of a node by their types. */
function lookupThere({ of, ifNotExists }: CreateGraphLookupCommand): DdlOutcome {
  const message = `every graph has the lookup index "${LOOKUP_INDEX[of]}"`;
  if (!ifNotExists) throw sqlError("42P07", message);
  return { ...NOTHING, tag: "CREATE INDEX", notices: [`${message}, skipping`] };
}

type Subject = CreateGraphIndexCommand | CreateGraphConstraintCommand;

type Described = Pick<Subject, "label" | "labels" | "properties">;

const describedAs = ({ label, labels = [label], properties }: Described) => JSON.stringify([labels, properties]);

const isOf = (subject: Subject) => (other: Described) => describedAs(other) === describedAs(subject);

function createIndex(editor: CatalogEditor, graph: GraphTables, command: CreateGraphIndexCommand): DdlOutcome {
  const table = graph[command.of];
  const def = graphDef(table);
  const tag = "CREATE INDEX";
  const same = (def.indexes ?? []).find((other) => other.method === command.method && isOf(command)(other));
  const skipped = takenBy(editor, graph, command, same?.name ?? null, "index");
  if (skipped !== null) return { ...NOTHING, tag, notices: [skipped] };
  if (isSearch(command)) return createSearch(editor, table, command);
  const index = propertyIndex(editor, table, command, false);
  const { method, label, properties } = command;
  const added: GraphIndexDef = { name: index.name, method, label, properties, indexId: index.id };
  const after = withIndex(table, index, { ...def, indexes: [...(def.indexes ?? []), added] });
  editor.replaceTable(after);
  return { ...NOTHING, tag, backfills: [{ table: after, index }] };
}

const isSearch = ({ method }: Pick<GraphIndexDef, "method">) => method === "vector" || method === "fulltext";

const DEFAULT_TEXT: TextIndexDef = { language: "simple" };

function graphParameters({ metric, m, efConstruction, storage }: VectorIndexDef): VectorIndexDef {
  return { metric, m, efConstruction, storage };
}

/** An index for search is on a generated column, which has the vector or the texts of the entities with the label. */
function createSearch(editor: CatalogEditor, table: TableDef, command: CreateGraphIndexCommand): DdlOutcome {
  const { method, label, labels, properties, vector, text } = command;
  const def = graphDef(table);
  const name = nameOf(editor, table, command);
  const taken = (other: string) => table.columns.some((column) => column.name === other);
  const names = properties.map(literal).join(", ");
  const isMeant = (labels ?? [label]).map((each) => hasLabel(command.of, each)).join(" OR ");
  const rows = `(${isMeant}), properties`;
  const type = vector === undefined ? TEXT : typeOf("vector", vector.dimensions);
  const column: ColumnDef = Object.freeze({
    ...columnDef(table.nextColumnId, madeUpName(label, properties, method, taken), type),
    notNull: false,
    generatedSql:
      vector === undefined
        ? `graph_text(${rows}, ${names})`
        : `graph_vector(${rows}, ${names}, ${vector.dimensions})::vector(${vector.dimensions})`,
  });
  const id = editor.nextId();
  const columns = [column.name];
  const kind: NewSearchIndex =
    vector === undefined
      ? { method: "text", columns, text: text ?? DEFAULT_TEXT }
      : { method: "hnsw", columns, vector: graphParameters(vector) };
  const index = searchIndexDef(id, name, kind, () => column.id);
  const after: TableDef = Object.freeze({
    ...table,
    columns: [...table.columns, column],
    nextColumnId: table.nextColumnId + 1,
    searchIndexes: [...(table.searchIndexes ?? []), index],
    collection: Object.freeze({
      ...def,
      indexes: [...(def.indexes ?? []), { name, method, label, ...(labels && { labels }), properties, indexId: id }],
    }),
  });
  editor.replaceTable(after);
  // The rows are rewritten with the column; the writer computes it.
  const select = selectRows(after, new Map([[column.id, `NULL AS ${quotedIdentifier(column.name)}`]]));
  return { ...NOTHING, tag: "CREATE INDEX", rewrites: [{ before: table, after, select }] };
}

function createConstraint(
  editor: CatalogEditor,
  graph: GraphTables,
  command: CreateGraphConstraintCommand,
): DdlOutcome {
  const table = graph[command.of];
  const def = graphDef(table);
  const tag = "CREATE CONSTRAINT";
  const { requires, label, properties, valueType } = command;
  const same = (def.constraints ?? []).find((other) => other.requires === requires && isOf(command)(other));
  if (same !== undefined && same.valueType !== valueType) throw otherType(same);
  const skipped = takenBy(editor, graph, command, same?.name ?? null, "constraint");
  if (skipped !== null) return { ...NOTHING, tag, notices: [skipped] };
  const isIndexed = requires === "unique" || requires === "key";
  const index = isIndexed ? propertyIndex(editor, table, command, true) : null;
  const name = index?.name ?? nameOf(editor, table, command);
  const added: GraphConstraintDef = {
    ...{ name, label, properties, requires, indexId: index?.id ?? null },
    ...(valueType !== undefined && { valueType }),
  };
  const after = withIndex(table, index, { ...def, constraints: [...(def.constraints ?? []), added] });
  editor.replaceTable(after);
  return {
    ...NOTHING,
    tag,
    backfills: index === null ? [] : [{ table: after, index }],
    verify: requires === "unique" ? [] : properties.map((property) => hasProperty(after, added, property)),
  };
}

function otherType({ name, properties, valueType }: GraphConstraintDef): Error {
  return sqlError(
    "42710",
    `constraint "${name}" requires that "${properties[0]}" is of type ${valueType}: drop it to require another type`,
    { constraint: name },
  );
}

/** A notice when there is nothing to make. Throws 42P07 unless the statement says IF NOT EXISTS. */
function takenBy(
  editor: CatalogEditor,
  graph: GraphTables,
  command: Subject,
  same: string | null,
  what: "index" | "constraint",
): string | null {
  const { name, ifNotExists } = command;
  const isTaken = name !== null && isNameTaken(editor, graph.nodes, name);
  if (!isTaken && same === null) return null;
  const [message, detail] = alreadyThere(name, same, what);
  if (!ifNotExists) throw sqlError("42P07", message, { detail });
  return `${message}, skipping`;
}

/** As Neo4j's message begins, and what its code ends with: clients look for both. */
function alreadyThere(name: string | null, same: string | null, what: "index" | "constraint"): [string, string] {
  if (same !== null && (name === null || name === same)) {
    return [`An equivalent ${what} already exists: "${same}"`, "EquivalentSchemaRuleAlreadyExists"];
  }
  const [one, kind] = what === "index" ? ["an index", "Index"] : ["a constraint", "Constraint"];
  if (same !== null) return [`There already exists ${one} of the same: "${same}"`, `${kind}AlreadyExists`];
  return [`There already exists an index or a constraint called "${name}"`, `${kind}WithNameAlreadyExists`];
}

/** Constraints without an index share the names of indexes. */
function isNameTaken(editor: CatalogEditor, { schema }: TableDef, name: string): boolean {
  if (editor.view.hasRelation(schema, name)) return true;
  return editor.view
    .tables()
    .some((table) => table.schema === schema && graphDef(table).constraints?.some((other) => other.name === name));
}

function nameOf(editor: CatalogEditor, table: TableDef, { name, label, properties, kind }: Subject): string {
  if (name !== null) return name;
  const suffix = kind === "create graph index" ? "idx" : "key";
  return madeUpName(label, properties, suffix, (other) => isNameTaken(editor, table, other));
}

function propertyIndex(editor: CatalogEditor, table: TableDef, subject: Subject, unique: boolean): IndexDef {
  return Object.freeze({
    id: editor.nextId(),
    name: nameOf(editor, table, subject),
    kind: "btree",
    columns: subject.properties.map((property) => ({
      columnId: EXPRESSION_COLUMN,
      descending: false,
      nullsFirst: false,
      expression: { sql: `property(properties, ${literal(property)})`, type: VARIANT },
    })),
    unique,
    constraint: null,
    where: hasLabel(subject.of, subject.label),
  });
}

function hasLabel(of: GraphDef["of"], label: string): string {
  return of === "nodes" ? `has_label(labels, ${literal(label)})` : `type = ${literal(label)}`;
}

function literal(text: string): string {
  return text.includes("\\")
    ? `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`
    : `'${text.replaceAll("'", "''")}'`;
}

/** Rows that are there must have what the constraint requires. */
function hasProperty(table: TableDef, constraint: GraphConstraintDef, property: string): Verification {
  const { of } = graphDef(table);
  const value = `property(properties, ${literal(property)})`;
  const { valueType } = constraint;
  const isWrong = valueType === undefined ? `${value} IS NULL` : `NOT graph_typed(${value}, ${literal(valueType)})`;
  const has =
    valueType === undefined ? `no property "${property}"` : `a property "${property}" that is not of type ${valueType}`;
  return {
    sql: `SELECT id FROM ${quotedTable(table)} WHERE ${hasLabel(of, constraint.label)} AND ${isWrong} LIMIT 1`,
    error: ([id]) =>
      sqlError(
        valueType === undefined ? "23502" : "23514",
        `${of === "nodes" ? "node" : "relationship"} ${id} has ${has}, which constraint "${constraint.name}" requires`,
        { constraint: constraint.name },
      ),
  };
}

function withIndex(table: TableDef, index: IndexDef | null, collection: GraphDef): TableDef {
  const indexes = index === null ? table.indexes : [...table.indexes, index];
  return Object.freeze({ ...table, indexes, collection: Object.freeze(collection) });
}

function dropIndex(editor: CatalogEditor, graph: GraphTables, command: DropGraphIndexCommand): DdlOutcome {
  const { what, name, label, properties } = command;
  const tag = `DROP ${what.toUpperCase()}`;
  const isMeant = (other: GraphIndexDef | GraphConstraintDef) =>
    name !== null
      ? other.name === name
      : other.label === label &&
        JSON.stringify(other.properties) === JSON.stringify(properties) &&
        (command.requires === undefined || ("requires" in other && other.requires === command.requires));
  for (const table of [graph.nodes, graph.edges]) {
    const def = graphDef(table);
    const found = (what === "index" ? def.indexes : def.constraints)?.find(isMeant);
    if (found === undefined) continue;
    if ("method" in found && isSearch(found)) {
      editor.replaceTable(withoutSearch(table, def, found));
      return { ...NOTHING, tag };
    }
    const index = table.indexes.find(({ id }) => id === found.indexId);
    const collection: GraphDef = {
      ...def,
      ...(what === "index" && { indexes: def.indexes!.filter((other) => other !== found) }),
      ...(what === "constraint" && { constraints: def.constraints!.filter((other) => other !== found) }),
    };
    const indexes = table.indexes.filter((other) => other !== index);
    editor.replaceTable(Object.freeze({ ...table, indexes, collection: Object.freeze(collection) }));
    return { ...NOTHING, tag, clearedIndexes: index === undefined ? [] : [{ table, index }] };
  }
  if (what === "index" && (name === LOOKUP_INDEX.nodes || name === LOOKUP_INDEX.edges)) {
    throw sqlError("0A000", `index "${name}" cannot be dropped: every graph has it`);
  }
  const described = name ?? `:${label}(${properties.join(", ")})`;
  const message = `${what} "${described}" does not exist`;
  if (!command.ifExists) throw sqlError("42704", message);
  return { ...NOTHING, tag, notices: [`${message}, skipping`] };
}

/** Without the index and its column; its values in records are skipped. */
function withoutSearch(table: TableDef, def: GraphDef, found: GraphIndexDef): TableDef {
  const index = table.searchIndexes!.find(({ id }) => id === found.indexId)!;
  const columns = table.columns.filter(({ id }) => !index.columnIds.includes(id));
  const indexes = def.indexes!.filter((other) => other !== found);
  return Object.freeze({
    ...withoutSearchIndex(table, index),
    columns,
    collection: Object.freeze({ ...def, indexes }),
  });
}

function graphDef({ collection }: TableDef): GraphDef {
  if (collection?.kind !== "graph") throw new Error("not a table of a graph");
  return collection;
}

/** What a command names. */
interface Named {
  readonly schema?: unknown;
  readonly position?: unknown;
}

/** Throws 42809 for a definition statement of SQL about a graph's tables or their schema: Cypher changes those. */
export function refuseGraphTables(editor: CatalogEditor, command: DdlCommand): void {
  if (command.kind === "create view" || command.kind === "drop views") return;
  if (command.kind === "alter table" && command.action.kind === "set audit") return;
  const named: Named[] = [command as Named];
  for (const value of Object.values(command) as unknown[]) {
    if (Array.isArray(value)) named.push(...value.filter((item) => typeof item === "object" && item !== null));
    else if (typeof value === "object" && value !== null) named.push(value);
  }
  if (command.kind === "drop schema") named.push(...command.names.map((schema) => ({ schema })));
  if (command.kind === "move") named.push({ schema: command.toSchema });
  if (command.kind === "create schema" || command.kind === "rename schema") named.push({ schema: command.name });
  if (command.kind === "create table") {
    for (const id of command.parents ?? []) named.push(editor.view.tableById(id) ?? {});
  }
  for (const { schema, position } of named) {
    if (typeof schema !== "string" || !isGraphSchema(schema)) continue;
    throw changedByCypher(schema, typeof position === "number" ? position : 0);
  }
}
