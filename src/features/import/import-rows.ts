/**
 * The import of a file: reads the body piece by piece, gives its rows to the table within one transaction, and commits
 * it at the end, so that all rows are stored or none. Plain tables take rows directly (bulk-insert.ts), others by
 * INSERT (statement-import.ts). Gives way between rows, so other requests of the actor go on. Called by data-routes.ts.
 */

import { parseJsonBody } from "../../bodies/parse-body.js";
import type { CatalogView } from "../../catalog/catalog-view.js";
import { meant } from "../../catalog/did-you-mean.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { TableUse } from "../../catalog/table-use.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { IMPORT_ROW_BYTES_MAX, LARGE_BODY_BYTES } from "../../protocol/limits.js";
import {
  BulkInsert,
  fieldCountError,
  jsonField,
  type RowProgram,
  requiresStatements,
} from "../../query/exec/bulk-insert.js";
import type { FindTable } from "../../query/exec/bulk-writer.js";
import { quoteIdentifier } from "../../query/expr/print.js";
import { Session, type SessionOptions } from "../../session/session.js";
import { plainRows } from "../../session/sql-result.js";
import type { Client } from "../../session/statement-run.js";
import type { Tenant } from "../../session/tenant.js";
import type { Transaction } from "../../storage/store.js";
import type { ShardTransaction } from "../../storage/transaction.js";
import type { CsvStyle } from "../../values/csv-format.js";
import { FIELD_PLAIN, type RecordReader } from "../../values/csv-reader.js";
import { LineReader } from "../../values/line-reader.js";
import { JSON_TYPE, JSONB } from "../../values/values.js";
import { checkText, sampled } from "./body-pieces.js";
import { type CopyRules, checkHeader, csvReader, forcingOf } from "./copy-rules.js";
import { columnsOfCsv, columnsOfJson } from "./infer-columns.js";
import { type JsonRow, jsonLine, jsonRow, refuseArrayOfRows, saidOfJsonFile } from "./json-line.js";
import { type ConflictRule, parametersOf, StatementImport } from "./statement-import.js";

/** A column with its type of SQL. */
export interface NamedType {
  readonly name: string;
  readonly type: string;
}

export interface ImportOptions {
  readonly schema: string | null;
  readonly table: string;
  /** Names; null: those of the header or of the first row's keys, else all. */
  readonly columns: readonly string[] | null;
  readonly conflict: ConflictRule;
  /** Null: a JSON value per line. */
  readonly csv: CsvStyle | null;
  /** Finds the rows of COPY's other formats, in which an empty line is a row. Absent: those of `csv` are read. */
  readonly records?: RecordReader;
  /** Absent: all rows are stored as they are. */
  readonly copy?: CopyRules;
  /** The session in whose open transaction the rows are stored, and whose caller commits it. Absent: one of its own. */
  readonly within?: Session;
  readonly session: SessionOptions;
  /** A table that is not there is made, with columns that the file suggests. */
  readonly create: boolean;
  /** What the file itself says of its columns; absent: a table that is made gets what the first rows suggest. */
  readonly shape?: readonly NamedType[];
}

/** On whose behalf rows are stored. */
export interface ImportClient extends Client {
  readonly tenant: Tenant;
  signal(): AbortSignal;
}

export interface ImportCounts {
  readonly rows: number;
  readonly skipped: number;
  /** Columns of the table that the import made. */
  readonly made?: readonly NamedType[];
}

/** Bytes of a file that say what columns its table is to have. */
const SAMPLE_BYTES = 256 * 1024;
const BEGINNING_BYTES = 64;
/** Rows between two looks at the clock. */
const ROWS_PER_LOOK = 64;

/** What takes the rows. */
interface Target {
  csv(reader: RecordReader): void;
  json(fields: unknown[], line: number): void;
  /** Work that is due; undefined: none. */
  due(): void | Promise<void>;
  finish(): Promise<void>;
  readonly counts: ImportCounts;
}

/** Stores the file's rows and calls `commit`, at once when they are complete, with the transaction. */
export async function importRows(
  request: ImportClient,
  pieces: AsyncIterable<Uint8Array>,
  options: ImportOptions,
  progressed: (counts: ImportCounts) => void | Promise<void>,
  commit: (tx: ShardTransaction, counts: ImportCounts) => void,
): Promise<ImportCounts> {
  const run = new ImportRun(request, options, progressed);
  try {
    await run.read(options.create ? await run.withTable(pieces) : pieces);
    return await run.finish(commit);
  } catch (error) {
    const said = run.made === null ? error : saidOfInferred(error, run.made);
    throw options.csv === null || options.shape !== undefined ? said : saidOfJsonFile(said, run.beginning);
  } finally {
    run.close();
  }
}

class ImportRun {
  private readonly session: Session;
  /** As found at the start; found again when there is something to write. Unset until an import that makes it has. */
  private table!: TableDef;
  /** The definitions that the rows rest on; null: all. */
  private use: TableUse | null = null;
  /** Of the commit whose definitions were seen. */
  private sequence = 0;
  private target: Target | null = null;
  /** Of objects: the keys, in the order of the columns. */
  private names: readonly string[] = [];
  private ended = false;
  /** Of the file, to see what it is. */
  beginning = "";
  /** The columns of the table that this import made; null: it was there. */
  made: readonly NamedType[] | null = null;

  constructor(
    private readonly request: ImportClient,
    private readonly options: ImportOptions,
    private readonly progressed: (counts: ImportCounts) => void | Promise<void>,
  ) {
    this.session = options.within ?? new Session(request.tenant, options.session);
    const definitions = options.within === undefined ? this.definitions() : options.within.catalog;
    if (!options.create) this.table = tableOf(definitions, options, this.session);
  }

  /**
   * Makes the table if it does not exist, in the import's own transaction. Returns the pieces, the first of which it
   * has read.
   */
  async withTable(pieces: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
    const { request, options, session } = this;
    const { schema, table, csv, columns } = options;
    const found = this.definitions().table(schema as string, table);
    if (found !== null) {
      this.table = tableOf(this.definitions(), options, session);
      return pieces;
    }
    const { head, isWhole, all } = await sampled(pieces, options.shape === undefined ? SAMPLE_BYTES : 0);
    await request.yieldTurn();
    const inferred = () =>
      csv === null ? columnsOfJson(head, isWhole, columns) : columnsOfCsv(head, isWhole, csv, columns);
    this.made = options.shape ?? inferred();
    session.begin({ isolation: options.session.isolation ?? "repeatable read" });
    const name = schema === null ? quoteIdentifier(table) : `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
    const definitions = this.made.map((column) => `${quoteIdentifier(column.name)} ${column.type}`);
    const sql = `CREATE TABLE ${name} (${definitions.join(", ")})`;
    await session.execute({ sql, params: [], maxRows: 1, collector: plainRows, request }, (tx) => tx.rollback());
    return all;
  }

  /** As they are committed now. */
  private definitions(): CatalogView {
    const { tenant } = this.request;
    const tx = tenant.partition.shard.begin({ isolation: "snapshot", readOnly: true });
    try {
      return tenant.catalog.view(tx);
    } finally {
      tenant.rollback(tx);
    }
  }

  async read(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const { csv } = this.options;
    const records = csv === null ? null : (this.options.records ?? csvReader(csv));
    const reader = records ?? new LineReader(IMPORT_ROW_BYTES_MAX);
    const row = records === null ? this.jsonRows(reader as LineReader) : this.csvRows(records);
    // What is read goes on in a turn of the tenant's, since the body was waited for.
    await this.request.yieldTurn();
    // A session's COPY names its columns: what is wrong with it is told before rows come.
    if (this.options.within !== undefined) this.target = this.targetOf(this.options.columns);
    for await (const piece of pieces) {
      if (this.beginning === "") this.beginning = Buffer.from(piece.subarray(0, BEGINNING_BYTES)).toString("latin1");
      reader.push(piece);
      await this.request.yieldTurn();
      checkText(reader, false);
      await this.rows(reader, row, false);
      await this.progressed(this.counts);
    }
    checkText(reader, true);
    await this.rows(reader, row, true);
    // A file without rows still names its columns.
    this.target ??= this.targetOf(this.options.columns);
  }

  private async rows(
    reader: RecordReader | LineReader,
    row: () => Promise<void> | undefined,
    isEnd: boolean,
  ): Promise<void> {
    const { request } = this;
    for (let count = 1; reader.next(isEnd); count++) {
      const pending = row();
      if (pending !== undefined) await pending;
      const due = this.target?.due();
      if (due !== undefined) await due;
      if (count % ROWS_PER_LOOK !== 0) continue;
      request.checkpoint();
      if (request.shouldYield()) await request.yieldTurn();
    }
  }

  /** Commits through `commit`. */
  async finish(commit: (tx: ShardTransaction, counts: ImportCounts) => void): Promise<ImportCounts> {
    const { request, session, target } = this;
    const { catalog, statistics } = request.tenant;
    await target!.finish();
    if (this.options.within !== undefined) {
      this.ended = true;
      if (target instanceof Direct) statistics.changed(this.table, this.counts.rows);
      return this.counts;
    }
    await session.prepareCommit(request);
    const isAsBefore = !catalog.changedSince(this.sequence) || (this.use?.holdsIn(this.definitions()) ?? false);
    if (!isAsBefore) throw changedMeanwhile(this.table);
    this.ended = true;
    session.commit((tx) => commit(tx, this.made === null ? this.counts : { ...this.counts, made: this.made }));
    if (target instanceof Direct) statistics.changed(this.table, this.counts.rows);
    return this.counts;
  }

  /** Takes everything back unless it was committed. */
  close(): void {
    if (this.ended || this.options.within !== undefined) return;
    if (this.session.inTransaction) this.session.rollback();
  }

  private get counts(): ImportCounts {
    return this.target?.counts ?? { rows: 0, skipped: 0 };
  }

  private csvRows(reader: RecordReader): () => undefined {
    const { records, within, csv, copy } = this.options;
    const { header, nullText } = csv!;
    let force: ReturnType<typeof forcingOf>;
    let [isHeader, hasEnded, hasBegun] = [header, false, false];
    const begin = (names: readonly string[] | null): void => {
      hasBegun = true;
      this.target ??= this.targetOf(names);
      force = copy && forcingOf(copy, this.names, nullText);
    };
    return () => {
      // psql also sends the line that ends the rows in a script.
      const isPlain = reader.count === 1 && reader.kinds[0] === FIELD_PLAIN;
      hasEnded ||= records === undefined && within !== undefined && isPlain && reader.text(0) === "\\.";
      if (hasEnded) return;
      if (isHeader) {
        isHeader = false;
        const names = this.options.columns ?? Array.from({ length: reader.count }, (_, i) => reader.text(i).trim());
        begin(names);
        if (copy?.matchesHeader === true) checkHeader(reader, this.names);
        return;
      }
      if (!hasBegun) begin(this.options.columns);
      // A line break at the end, or between rows of several columns, is no row.
      if (isPlain && reader.starts[0] === reader.ends[0] && this.names.length > 1 && records === undefined) return;
      force?.(reader);
      this.target!.csv(reader);
    };
  }

  /** Answers a promise for a long line, which is read with turns in between. */
  private jsonRows(reader: LineReader): () => Promise<void> | undefined {
    return () => {
      const { line, bytes } = reader;
      if (bytes.length >= LARGE_BODY_BYTES) {
        const value = parseJsonBody(bytes, { what: `Line ${line}`, keepsIntegers: true }, this.request);
        return Promise.resolve(value).then((json) => this.jsonRow(jsonRow(json, line), line));
      }
      this.jsonRow(jsonLine(reader.text, line), line);
      return undefined;
    };
  }

  private jsonRow(value: JsonRow, line: number): void {
    if (this.target === null) {
      const own = Array.isArray(value) ? null : Object.keys(value);
      const keys = this.made === null ? own : this.made.map(({ name }) => name);
      this.target = this.targetOf(this.options.columns ?? keys);
      const takesObjects = this.table.columns.every(({ type }) => type === JSONB || type === JSON_TYPE);
      if (!takesObjects) refuseArrayOfRows(value, line);
    }
    this.target.json(
      Array.isArray(value) ? value : this.fieldsOf(value as Readonly<Record<string, unknown>>, line),
      line,
    );
  }

  private fieldsOf(value: Readonly<Record<string, unknown>>, line: number): unknown[] {
    const { names } = this;
    const fields = new Array<unknown>(names.length);
    let found = 0;
    for (let i = 0; i < names.length; i++) {
      const field = value[names[i]!];
      fields[i] = field ?? null;
      if (field !== undefined) found++;
    }
    let keys = 0;
    for (const _key in value) keys++;
    if (keys === found) return fields;
    const unknown = Object.keys(value).find((name) => !names.includes(name))!;
    throw sqlError("42703", `line ${line} has the column "${unknown}", which is not among those of the import`, {
      line,
      column: unknown,
      hint: 'Name the columns with the parameter "columns", or give all of them in the first row.',
    });
  }

  private columnsOf(names: readonly string[] | null): readonly ColumnDef[] {
    const { table } = this;
    if (names === null) return table.columns.filter((column) => !column.generatedSql);
    const columns = names.map((name) => {
      const column = table.columns.find((each) => each.name === name);
      if (column !== undefined) return column;
      throw sqlError("42703", `column "${name}" of relation "${table.name}" does not exist`, {
        column: name,
        ...meant(
          name,
          table.columns.map((each) => each.name),
        ),
      });
    });
    if (new Set(columns).size < columns.length) {
      throw sqlError("42701", "a column is named more than once", { columns: names });
    }
    if (columns.length === 0) throw sqlError("22P04", "the file names no columns", { line: 1 });
    return columns;
  }

  /** Null: the rows must be inserted by statements. */
  private directTarget(columns: readonly ColumnDef[], nullText: string): Direct | null {
    const { request, options, table, session } = this;
    if (options.conflict.action !== "error" || options.copy?.where != null) return null;
    const context = session.contextFor(request);
    const catalog = request.tenant.catalog.view(context.tx);
    const findTable: FindTable = (id) => catalog.tableById(id);
    if (requiresStatements(table, columns, findTable) !== null) return null;
    const program = rowProgramOf(table, columns, session, catalog, context.tx);
    const load = program === null ? null : context.tx.beginLoad();
    if (load === null) return null;
    if (table.audit?.includes("write")) context.services.noteAccess({ read: [], write: [table] }, context);
    const nullBytes = Buffer.from(nullText);
    return new Direct(new BulkInsert(table, columns, nullBytes, program!, context, load, findTable));
  }

  /** Begins the transaction, with the definitions of now. */
  private begin(): void {
    const { request, options, session } = this;
    const { catalog } = request.tenant;
    if (this.made !== null || options.within !== undefined) {
      const { tx } = session.contextFor(request);
      this.table = tableOf(catalog.view(tx), options, session);
      this.sequence = tx.snapshot;
      return;
    }
    const view = this.definitions();
    this.table = tableOf(view, options, session);
    this.use = TableUse.of(this.table.id, view);
    // What it writes is validated, what it reads beside that need not be.
    session.begin({ isolation: options.session.isolation ?? "repeatable read" });
    const { tx } = session.contextFor(request);
    this.sequence = tx.snapshot;
    if (this.use !== null) catalog.leaveUnguarded(tx);
  }

  /** `names`: of the columns; null: all that a file can have. */
  private targetOf(names: readonly string[] | null): Target {
    this.begin();
    const { request, options, table, session } = this;
    const columns = this.columnsOf(names);
    this.names = columns.map(({ name }) => name);
    session.protocol.requireInsert(table, columns, request.tenant.catalog.view(session.contextFor(request).tx));
    const nullText = options.csv?.nullText ?? "";
    const direct = this.directTarget(columns, nullText);
    if (direct !== null) return direct;
    const primaryKey = (table.primaryKey ?? []).map((id) => table.columns.find((column) => column.id === id)!.name);
    const { action } = options.conflict;
    const keys = options.conflict.columns.length > 0 || action !== "update" ? options.conflict.columns : primaryKey;
    if (action === "update" && keys.length === 0) {
      throw new DbError("invalid_request", "Send conflict_columns: the table has no primary key.", {
        field: "conflict_columns",
      });
    }
    const rule = { action, columns: keys, where: options.copy?.where ?? null, overrides: options.copy !== undefined };
    return new Statements(new StatementImport(table, columns, rule, session, request), columns, nullText);
  }
}

function changedMeanwhile({ name }: TableDef): DbError {
  return sqlError("40001", `could not serialize access: definitions that the import uses were changed meanwhile`, {
    table: name,
    hint: "Nothing was stored. Send the file again.",
  });
}

/** The row that the file's columns and others' defaults make; null: functions that statements made compute it. */
function rowProgramOf(
  table: TableDef,
  columns: readonly ColumnDef[],
  session: Session,
  catalog: CatalogView,
  tx: Transaction,
): RowProgram | null {
  const names = columns.map(({ name }) => quoteIdentifier(name)).join(",");
  const target = `${quoteIdentifier(table.schema)}.${quoteIdentifier(table.name)}`;
  const sql = `INSERT INTO ${target} (${names}) VALUES (${columns.map((_column, i) => `$${i + 1}`).join(",")})`;
  const { bound } = session.planFor({ sql, language: "sql", params: columns.map(() => null) }, catalog, tx);
  if (bound.kind !== "query" || bound.callsRoutines || bound.plan.kind !== "insert") return null;
  const { plan } = bound;
  return plan.input.kind === "values" ? { exprs: plan.input.rows[0]!, plan } : null;
}

class Direct implements Target {
  constructor(private readonly rows: BulkInsert) {}

  finish(): Promise<void> {
    return this.rows.finish();
  }

  csv(reader: RecordReader): void {
    this.rows.csvRow(reader);
  }

  json(fields: unknown[], line: number): void {
    this.rows.jsonRow(fields, line);
  }

  readonly due = (): void | Promise<void> => this.rows.storeIfFull();

  get counts(): ImportCounts {
    return { rows: this.rows.rows, skipped: 0 };
  }
}

class Statements implements Target {
  constructor(
    private readonly rows: StatementImport,
    private readonly columns: readonly ColumnDef[],
    private readonly nullText: string,
  ) {}

  finish(): Promise<void> {
    return this.rows.flush();
  }

  csv(reader: RecordReader): void {
    const { count, line } = reader;
    if (count !== this.columns.length) throw fieldCountError(count, this.columns, line);
    this.rows.add(parametersOf(reader, this.nullText), line);
  }

  json(fields: unknown[], line: number): void {
    const { columns } = this;
    if (fields.length !== columns.length) throw fieldCountError(fields.length, columns, line);
    for (let i = 0; i < fields.length; i++) fields[i] = jsonField(columns[i]!.type, fields[i]);
    this.rows.add(fields, line);
  }

  due(): Promise<void> | undefined {
    return this.rows.isFull ? this.rows.flush() : undefined;
  }

  get counts(): ImportCounts {
    return { rows: this.rows.stored, skipped: this.rows.skipped };
  }
}

/** Throws not_found, and 42501 unless values of a column may be added to it. */
function tableOf(catalog: CatalogView, { schema, table: name }: ImportOptions, { protocol }: Session): TableDef {
  const table = catalog.table(schema as string, name);
  if (table !== null) return protocol.requireInsert(table, null, catalog);
  const full = schema === null ? name : `${schema}.${name}`;
  throw new DbError("not_found", `The table "${full}" does not exist.`, {
    sqlstate: "42P01",
    hint: "With create=true the import creates it, with columns and types inferred from the file.",
  });
}

/** What is wrong with a value is said with what its type comes from. */
function saidOfInferred(error: unknown, made: readonly NamedType[]): unknown {
  if (!(error instanceof DbError) || !String(error.details?.sqlstate ?? "").startsWith("22")) return error;
  const types = made.map(({ name, type }) => `${name} ${type}`).join(", ");
  const hint = `Nothing was stored. The types inferred from the beginning of the file do not fit: ${types}. Create the table with wider types first (text takes everything), then import without create.`;
  return new DbError(error.code, error.message, { ...error.details, hint });
}
