/**
 * The import of a graph from files in Neo4j's bulk format: one transaction, in which all is stored or nothing. Files of
 * nodes come first. Rows go into a load each (query/exec/bulk-writer.ts), which puts them into a file where they are
 * many; only the ids that files give to nodes stay in memory. Called by graph-routes.ts.
 */
import { type GraphTables, graphOf } from "../../../catalog/graph.js";
import { TableUse } from "../../../catalog/table-use.js";
import { DbError, sqlError } from "../../../protocol/errors.js";
import { IMPORT_ROW_BYTES_MAX } from "../../../protocol/limits.js";
import { BulkWriter } from "../../../query/exec/bulk-writer.js";
import type { ExecContext } from "../../../query/exec/context.js";
import { EntityTable, NOT_AN_ENDPOINT, newEntity } from "../../../query/exec/entity-table.js";
import { type GraphChecks, inCypher } from "../../../query/exec/graph-writer.js";
import { ensureGraph } from "../../../session/ensure-graph.js";
import { Session, type SessionOptions } from "../../../session/session.js";
import type { Tenant } from "../../../session/tenant.js";
import { storedKey } from "../../../storage/map-bytes.js";
import type { ShardTransaction } from "../../../storage/transaction.js";
import { CsvReader, FIELD_ESCAPED, FIELD_PLAIN } from "../../../values/csv-reader.js";
import { encodeLabels, storableName } from "../../../values/labels.js";
import type { Variant, VariantMap } from "../../../values/variant.js";
import { checkText } from "../body-pieces.js";
import type { ImportClient } from "../import-rows.js";
import { type BulkField, bulkHeader, type GraphFileKind } from "./bulk-header.js";
import { readBulkValue } from "./bulk-values.js";
import { EntityRecords } from "./entity-records.js";
import { NO_NODE, NodeIds } from "./node-ids.js";

export interface GraphFile {
  /** As errors name it. */
  readonly name: string;
  readonly kind: GraphFileKind;
  /** Labels of all its nodes; of relationships their type, or none. */
  readonly kinds: readonly string[];
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface GraphImportOptions {
  readonly graph: string;
  readonly delimiter: string;
  readonly arrayDelimiter: string;
  readonly quote: string;
  /** Of ids that are properties, unless a header says it. */
  readonly idType: string;
  /** Nodes whose id another has, and relationships without a node at an end, are left out. */
  readonly skipsDuplicates: boolean;
  readonly skipsUnconnected: boolean;
  readonly session: SessionOptions;
}

export interface GraphCounts {
  nodes: number;
  relationships: number;
  properties: number;
  nodes_skipped: number;
  relationships_skipped: number;
}

/** Rows between two looks at the clock. */
const ROWS_PER_LOOK = 64;
/** Texts of label fields whose labels are remembered. */
const LABELS_MAX = 1000;
/** Longer ones are read each time. */
const LABELS_CHARACTERS_MAX = 256;

/** Stores the files and calls `commit`, at once when they are complete, with the transaction. */
export async function importGraph(
  client: ImportClient,
  files: AsyncIterable<GraphFile>,
  options: GraphImportOptions,
  progressed: (counts: GraphCounts) => void | Promise<void>,
  commit: (tx: ShardTransaction, counts: GraphCounts) => void,
): Promise<void> {
  const run = new GraphImport(client, options);
  try {
    await run.begin();
    for await (const file of files) await run.read(file, progressed);
    await run.finish(commit);
  } finally {
    run.close();
  }
}

class GraphImport {
  readonly counts: GraphCounts = {
    nodes: 0,
    relationships: 0,
    properties: 0,
    nodes_skipped: 0,
    relationships_skipped: 0,
  };
  private readonly session: Session;
  private readonly context: ExecContext;
  private readonly graph: GraphTables;
  private readonly isPoliced: boolean;
  /** What policies ask; null: none decides. */
  private checks: GraphChecks | null = null;
  private readonly uses: readonly (TableUse | null)[];
  private readonly sequence: number;
  private readonly spaces = new Map<string, NodeIds>();
  private readonly labels = new Map<string, string>();
  /** Of the kind that is read now; null: no file has come. */
  private table: EntityTable | null = null;
  private bulk: BulkWriter | null = null;
  /** Null: rows are made of values. */
  private records: EntityRecords | null = null;
  private kind: GraphFileKind = "nodes";
  private file!: GraphFile;
  private fields: readonly BulkField[] | null = null;
  /** Of the fields that are properties, as they are stored. */
  private keys: readonly Uint8Array[] = [];
  /** The field with the node's id; −1: there is none. */
  private idPlace = -1;
  /** A relationship's type that was found to be one. */
  private type = "";
  private ended = false;

  constructor(
    private readonly client: ImportClient,
    private readonly options: GraphImportOptions,
  ) {
    const { tenant } = client;
    makeUsualGraph(tenant, options.graph);
    this.session = new Session(tenant, options.session);
    this.isPoliced = tenant.withDefinitions((catalog) =>
      this.session.protocol.requireGraphInsert(graphOf(catalog, options.graph)!, catalog),
    );
    // What it writes is validated, what it reads beside that need not be.
    this.session.begin({ isolation: options.session.isolation ?? "repeatable read" });
    this.context = this.session.contextFor(client);
    const { tx } = this.context;
    this.sequence = tx.snapshot;
    const view = tenant.catalog.view(tx);
    const graph = graphOf(view, options.graph);
    if (graph === null) throw new Error(`the graph ${options.graph} was there, and is not`);
    this.graph = graph;
    this.uses = [graph.nodes, graph.edges].map(({ id }) => TableUse.of(id, view));
    if (!this.uses.includes(null)) tenant.catalog.leaveUnguarded(tx);
  }

  /** Before the first file. */
  async begin(): Promise<void> {
    if (!this.isPoliced) return;
    this.checks = await this.session.protocol.graphChecks(this.options.graph, this.context);
  }

  async read(file: GraphFile, progressed: (counts: GraphCounts) => void | Promise<void>): Promise<void> {
    const { client, options } = this;
    this.file = file;
    this.fields = null;
    this.labels.clear();
    try {
      await this.turnTo(file.kind);
      const reader = new CsvReader(options.delimiter, options.quote, IMPORT_ROW_BYTES_MAX);
      await client.yieldTurn();
      for await (const piece of file.pieces) {
        reader.push(piece);
        await client.yieldTurn();
        checkText(reader, false);
        await this.rows(reader, false);
        await progressed(this.counts);
      }
      checkText(reader, true);
      await this.rows(reader, true);
      if (this.fields === null) throw sqlError("22P04", "the file has no header", { line: 1 });
    } catch (error) {
      throw inFile(error, file.name);
    }
  }

  /** Nodes are written before relationships are read, so that there is one load at a time. */
  private async turnTo(kind: GraphFileKind): Promise<void> {
    const { context, graph, table } = this;
    if (table !== null && kind === this.kind) return;
    if (kind === "nodes" && table !== null) {
      throw new DbError("invalid_request", "A file of nodes comes after one of relationships. Send all nodes first.", {
        field: "nodes",
      });
    }
    await this.finishTable();
    this.kind = kind;
    const def = kind === "nodes" ? graph.nodes : graph.edges;
    if (def.audit?.includes("write")) context.services.noteAccess({ read: [], write: [def] }, context);
    const checks = this.checks?.[kind === "nodes" ? "nodes" : "edges"] ?? null;
    this.table = new EntityTable(def, context, checks);
    this.bulk = new BulkWriter(def, context, context.tx.beginLoad()!, () => null);
    this.records = checks === null ? EntityRecords.of(def, this.bulk) : null;
  }

  private async finishTable(): Promise<void> {
    if (this.bulk === null) return;
    try {
      await this.bulk.finish();
    } catch (error) {
      const { failing } = this.bulk;
      throw inRow(inCypher(error), this.kind, failing);
    }
    this.bulk = null;
  }

  private async rows(reader: CsvReader, isEnd: boolean): Promise<void> {
    const { client } = this;
    for (let count = 1; reader.next(isEnd); count++) {
      this.row(reader);
      const due = this.bulk!.storeIfFull();
      if (due !== undefined) await due;
      if (count % ROWS_PER_LOOK !== 0) continue;
      client.checkpoint();
      if (client.shouldYield()) await client.yieldTurn();
    }
  }

  private row(reader: CsvReader): void {
    const { fields, file, kind, options } = this;
    if (fields === null) {
      const texts = Array.from({ length: reader.count }, (_, i) => reader.text(i));
      this.fields = bulkHeader(texts, kind, options.idType, file.kinds.length > 0);
      this.idPlace = this.fields.findIndex(({ role }) => role === "id");
      this.keys = this.fields.map(({ property }) => storedKey(property ?? ""));
      return;
    }
    if (reader.count !== fields.length) {
      // A line break at the end is no row.
      if (reader.count === 1 && reader.kinds[0] === FIELD_PLAIN && reader.starts[0] === reader.ends[0]) return;
      const message = `the row has ${reader.count} fields, and the header has ${fields.length}, at line ${reader.line}`;
      throw sqlError("22P04", message, { line: reader.line });
    }
    if (kind === "nodes") this.node(reader, fields);
    else this.relationship(reader, fields);
  }

  private node(reader: CsvReader, fields: readonly BulkField[]): void {
    const { context, graph, counts, options } = this;
    let labels = "";
    for (let i = 0; i < fields.length; i++) {
      if (fields[i]!.role === "labels" && isGiven(reader, i)) labels += reader.text(i) + options.arrayDelimiter;
    }
    const id = context.services.nextRowId(graph.nodes);
    if (!this.take(reader, fields, id)) {
      counts.nodes_skipped++;
      return;
    }
    this.store(id, this.labelsOf(labels, reader.line), NOT_AN_ENDPOINT, NOT_AN_ENDPOINT, reader, fields);
    counts.nodes++;
  }

  /** Remembers the node's id. False: another node has it, and this one is to be left out. */
  private take(reader: CsvReader, fields: readonly BulkField[], node: number): boolean {
    const place = this.idPlace;
    if (place === -1) return true;
    const field = fields[place]!;
    if (!isGiven(reader, place)) throw atBulkField(sqlError("22P04", "the node has no id"), reader, field, null);
    const ids = this.space(field.space);
    if (reader.kinds[place] !== FIELD_ESCAPED) {
      if (ids.add(reader.bytes, reader.starts[place]!, reader.ends[place]!, node)) return true;
    } else {
      const bytes = reader.field(place);
      if (ids.add(bytes, 0, bytes.length, node)) return true;
    }
    if (this.options.skipsDuplicates) return false;
    const error = sqlError("23505", `another node has the id "${shown(reader.text(place))}"`, {
      hint: "With duplicate_nodes=skip the import leaves such nodes out.",
    });
    throw atBulkField(error, reader, field, null);
  }

  private space(name: string): NodeIds {
    let ids = this.spaces.get(name);
    if (ids === undefined) {
      const { statement } = this.context;
      ids = new NodeIds((bytes) => statement.reserve(bytes));
      this.spaces.set(name, ids);
    }
    return ids;
  }

  private labelsOf(text: string, line: number): string {
    let labels = this.labels.get(text);
    if (labels === undefined) {
      const own = text.split(this.options.arrayDelimiter).map((label) => label.trim());
      labels = onLine(line, () => encodeLabels([...this.file.kinds, ...own].filter((label) => label !== "")));
      if (this.labels.size >= LABELS_MAX) this.labels.clear();
      if (text.length <= LABELS_CHARACTERS_MAX) this.labels.set(text, labels);
    }
    return labels;
  }

  private relationship(reader: CsvReader, fields: readonly BulkField[]): void {
    const { context, graph, counts, file } = this;
    let src = NO_NODE;
    let dst = NO_NODE;
    let type = file.kinds[0] ?? "";
    for (let i = 0; i < fields.length; i++) {
      const { role } = fields[i]!;
      if (role === "start") src = this.end(reader, i, fields[i]!);
      else if (role === "end") dst = this.end(reader, i, fields[i]!);
      else if (role === "type" && isGiven(reader, i)) type = reader.text(i);
    }
    if (src === NO_NODE || dst === NO_NODE) {
      counts.relationships_skipped++;
      return;
    }
    if (type === "")
      throw sqlError("22P04", `the relationship has no type at line ${reader.line}`, { line: reader.line });
    if (type !== this.type) {
      onLine(reader.line, () => storableName(type));
      this.type = type;
    }
    const id = context.services.nextRowId(graph.edges);
    this.store(id, type, src, dst, reader, fields);
    counts.relationships++;
  }

  /** NO_NODE: no node has the id, and the relationship is to be left out. */
  private end(reader: CsvReader, place: number, field: BulkField): number {
    const ids = this.spaces.get(field.space);
    const node = ids === undefined || !isGiven(reader, place) ? NO_NODE : nodeWith(ids, reader, place);
    if (node !== NO_NODE || this.options.skipsUnconnected) return node;
    const among = field.space === "" ? "" : ` of (${field.space})`;
    const error = sqlError("23503", `no node${among} in the files has the id "${shown(reader.text(place))}"`, {
      hint: "With unconnected_relationships=skip the import leaves such relationships out.",
    });
    throw atBulkField(error, reader, field, null);
  }

  private properties(reader: CsvReader, fields: readonly BulkField[]): VariantMap {
    const properties = new Map<string, Variant>();
    for (let i = 0; i < fields.length; i++) {
      const { property } = fields[i]!;
      if (property === null || !isGiven(reader, i)) continue;
      const value = this.value(reader, i, fields[i]!);
      if (value !== null) properties.set(property, value);
    }
    return properties;
  }

  private value(reader: CsvReader, place: number, field: BulkField): Variant {
    const text = reader.text(place);
    try {
      return readBulkValue(field.type, text, this.options.arrayDelimiter, this.context);
    } catch (error) {
      throw atBulkField(error, reader, field, text);
    }
  }

  /** The same as they are stored. */
  private readProperties(reader: CsvReader, fields: readonly BulkField[], records: EntityRecords): void {
    const { properties } = records;
    properties.begin();
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      if (field.property === null || !isGiven(reader, i)) continue;
      const key = this.keys[i]!;
      if (records.readField(reader, i, key, field.type)) continue;
      const value = this.value(reader, i, field);
      if (value !== null) properties.value(key, value);
    }
  }

  private store(
    id: number,
    kind: string,
    src: number,
    dst: number,
    reader: CsvReader,
    fields: readonly BulkField[],
  ): void {
    const { records, counts } = this;
    if (records === null) {
      const properties = this.properties(reader, fields);
      counts.properties += properties.size;
      onLine(reader.line, () => this.table!.load(this.bulk!, newEntity({ id, kind, src, dst, properties })));
      return;
    }
    this.readProperties(reader, fields, records);
    counts.properties += records.properties.count;
    try {
      records.store(id, kind, src, dst);
    } catch (error) {
      throw atLine(error, reader.line);
    }
  }

  async finish(commit: (tx: ShardTransaction, counts: GraphCounts) => void): Promise<void> {
    const { client, session, counts, graph, uses } = this;
    const { catalog, statistics } = client.tenant;
    if (this.table === null) {
      throw new DbError("invalid_request", "Send at least one file, as the part nodes or relationships.", {
        field: "nodes",
      });
    }
    await this.finishTable();
    await session.prepareCommit(client);
    const isAsBefore = !catalog.changedSince(this.sequence) || (!this.isPoliced && this.holds(uses));
    if (!isAsBefore) {
      throw sqlError("40001", "could not serialize access: definitions of the graph were changed meanwhile", {
        hint: "Nothing was stored. Send the files again.",
      });
    }
    this.ended = true;
    session.commit((tx) => commit(tx, counts));
    statistics.changed(graph.nodes, counts.nodes);
    statistics.changed(graph.edges, counts.relationships);
  }

  private holds(uses: readonly (TableUse | null)[]): boolean {
    const { tenant } = this.client;
    const tx = tenant.partition.shard.begin({ isolation: "snapshot", readOnly: true });
    try {
      const view = tenant.catalog.view(tx);
      const holds = uses.every((use) => use?.holdsIn(view) ?? false);
      return holds && !this.session.protocol.requireGraphInsert(this.graph, view);
    } finally {
      tenant.rollback(tx);
    }
  }

  /** Takes everything back unless it was committed. */
  close(): void {
    if (!this.ended && this.session.inTransaction) this.session.rollback();
  }
}

/** The usual graph is there from the first use on, and others have to be. Throws not_found. */
function makeUsualGraph(tenant: Tenant, name: string): void {
  const tx = tenant.partition.shard.begin({ readOnly: false });
  try {
    ensureGraph(tenant, name, tx);
    tenant.commit(tx);
  } catch (error) {
    tenant.rollback(tx);
    throw error;
  }
}

/** An empty field without quotes is none. */
function isGiven(reader: CsvReader, place: number): boolean {
  return reader.ends[place]! > reader.starts[place]! || reader.kinds[place] !== FIELD_PLAIN;
}

function nodeWith(ids: NodeIds, reader: CsvReader, place: number): number {
  if (reader.kinds[place] !== FIELD_ESCAPED) return ids.find(reader.bytes, reader.starts[place]!, reader.ends[place]!);
  const bytes = reader.field(place);
  return ids.find(bytes, 0, bytes.length);
}

const SHOWN_CHARACTERS = 100;
const shown = (text: string): string => (text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);

function saidOf(error: unknown, where: string, details: Readonly<Record<string, unknown>>): unknown {
  if (!(error instanceof DbError)) return error;
  return new DbError(error.code, `${error.message}${where}`, { ...error.details, ...details });
}

function atBulkField(error: unknown, { line }: CsvReader, { text: column }: BulkField, value: string | null): unknown {
  const details = { line, column, ...(value !== null && { value: shown(value) }) };
  return saidOf(error, ` at line ${line}, column "${column}"`, details);
}

/** What it throws names the line. */
function onLine<T>(line: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw atLine(error, line);
  }
}

function atLine(error: unknown, line: number): unknown {
  return saidOf(error, ` at line ${line}`, { line });
}

/** Rows of all files of the kind are counted together: which line each was on is not kept. */
function inRow(error: unknown, kind: GraphFileKind, failing: number | null): unknown {
  if (failing === null) return error;
  return saidOf(error, ` (the ${kind.slice(0, -1)} number ${failing + 1} of the files)`, { row: failing + 1 });
}

function inFile(error: unknown, file: string): unknown {
  return saidOf(error, ` of ${file}`, { file });
}
