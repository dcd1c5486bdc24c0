/**
 * Rows of a file by INSERT, some hundred a statement, in one transaction: for tables whose rows need more than their
 * key and record (defaults, checks, indexes …), and for ON CONFLICT. Used by import-rows.ts, one per import.
 */

import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { DbError } from "../../protocol/errors.js";
import { IMPORT_STATEMENT_BYTES_MAX } from "../../protocol/limits.js";
import { atField } from "../../query/exec/bulk-insert.js";
import { quoteIdentifier } from "../../query/expr/print.js";
import { baseType, displayName } from "../../query/expr/types.js";
import type { Session } from "../../session/session.js";
import { plainRows } from "../../session/sql-result.js";
import type { Client, StatementRun } from "../../session/statement-run.js";
import type { Tenant } from "../../session/tenant.js";
import { FIELD_PLAIN, FIELD_VALUE, type RecordReader } from "../../values/csv-reader.js";
import type { SqlType } from "../../values/values.js";

export interface ConflictRule {
  readonly action: "error" | "ignore" | "update";
  /** Names; empty: any unique key. */
  readonly columns: readonly string[];
}

/** Which rows are stored, and what becomes of the others. */
export interface StoreRule extends ConflictRule {
  /** A condition over the columns of the file; null: all are. */
  readonly where: string | null;
  /** Values for identity columns are taken, also where such a column is always numbered. */
  readonly overrides: boolean;
}

const PARAMETERS_PER_STATEMENT = 4096;
const ROWS_PER_STATEMENT_MAX = 256;
/**
 * Memory of a transaction's write beside its bytes, roughly: in the transaction, its commit and the recent versions.
 */
const ENTRY_BYTES = 400;
const SAVEPOINT = "import";

export class StatementImport {
  private rows: unknown[][] = [];
  private lines: number[] = [];
  private readonly rowsPerStatement: number;
  private bytes = 0;
  stored = 0;
  skipped = 0;

  /** `session` has begun its transaction. */
  constructor(
    private readonly table: TableDef,
    private readonly columns: readonly ColumnDef[],
    private readonly rule: StoreRule,
    private readonly session: Session,
    private readonly request: Client & { readonly tenant: Tenant },
  ) {
    const fitting = Math.floor(PARAMETERS_PER_STATEMENT / columns.length);
    this.rowsPerStatement = Math.max(1, Math.min(ROWS_PER_STATEMENT_MAX, fitting));
    if (rule.where !== null) this.check();
  }

  /** Throws what is wrong with the condition, whether rows come or not. */
  private check(): void {
    const { tx } = this.session.contextFor(this.request);
    const params = this.columns.map(() => null);
    try {
      const catalog = this.request.tenant.catalog.view(tx);
      this.session.planFor({ sql: this.statement(1), language: "sql", params }, catalog, tx);
    } catch (error) {
      throw withoutPosition(error);
    }
  }

  /** True when `flush` should be called. */
  get isFull(): boolean {
    return this.rows.length >= this.rowsPerStatement;
  }

  /** Text or JSON values, one for each of the columns. */
  add(fields: unknown[], line: number): void {
    this.rows.push(fields);
    this.lines.push(line);
    for (const field of fields) {
      if (typeof field === "string") this.bytes += field.length;
      else if (field instanceof Float32Array) this.bytes += field.byteLength;
    }
    this.bytes += ENTRY_BYTES * (1 + this.table.indexes.length);
    if (this.bytes > IMPORT_STATEMENT_BYTES_MAX) {
      throw new DbError(
        "payload_too_large",
        `The import needs more than ${IMPORT_STATEMENT_BYTES_MAX} bytes of memory.`,
        {
          sqlstate: "54000",
          line,
          hint: "Split the file.",
        },
      );
    }
  }

  /** Runs what was added. Throws the first row's error that has one, with its line. */
  async flush(): Promise<void> {
    const { rows, lines, session } = this;
    if (rows.length === 0) return;
    this.rows = [];
    this.lines = [];
    session.savepoint(SAVEPOINT);
    try {
      await this.insert(rows);
    } catch (error) {
      if (!(error instanceof DbError) || error.code === "cancelled" || error.code === "request_timeout") throw error;
      session.rollbackTo(SAVEPOINT);
      await this.insertSingly(rows, lines);
    }
    session.release(SAVEPOINT);
  }

  /**
   * Finds the row that fails; of rows that only fail together (two with the key of one stored row) the last one counts.
   */
  private async insertSingly(rows: readonly unknown[][], lines: readonly number[]): Promise<void> {
    for (let i = 0; i < rows.length; i++) {
      try {
        await this.insert([rows[i]!]);
      } catch (error) {
        throw atField(error, lines[i]!, null, null);
      }
    }
  }

  private async insert(rows: readonly unknown[][]): Promise<void> {
    const { request } = this;
    const run = {
      sql: this.statement(rows.length),
      params: rows.flat(),
      maxRows: 1,
      collector: plainRows,
      request,
    };
    const outcome = await this.executed(run);
    const stored = outcome.rowsAffected ?? 0;
    this.stored += stored;
    this.skipped += rows.length - stored;
    if (request.shouldYield()) await request.yieldTurn();
  }

  private async executed(run: StatementRun) {
    try {
      return await this.session.execute(run, () => {});
    } catch (error) {
      throw this.rule.where === null ? error : withoutPosition(error);
    }
  }

  private statement(rows: number): string {
    const { table, columns } = this;
    const names = columns.map(({ name }) => quoteIdentifier(name));
    let parameter = 0;
    const tuples = Array.from({ length: rows }, () => `(${names.map(() => `$${++parameter}`).join(",")})`);
    const target = `${quoteIdentifier(table.schema)}.${quoteIdentifier(table.name)}`;
    const source =
      this.rule.where === null ? `VALUES ${tuples.join(",")}` : this.passing(tuples, names, this.rule.where);
    const overriding = this.rule.overrides ? " OVERRIDING SYSTEM VALUE" : "";
    return `INSERT INTO ${target} (${names.join(",")})${overriding} ${source}${this.onConflict()}`;
  }

  private passing(tuples: readonly string[], names: readonly string[], where: string): string {
    const { columns, table } = this;
    const alias = quoteIdentifier(table.name);
    const typed = columns.map(
      ({ type }, i) => `CAST(${alias}.${names[i]} AS ${ofAnyLength(baseType(type))}) AS ${names[i]}`,
    );
    const values = `(VALUES ${tuples.join(",")}) AS ${alias}(${names.join(",")})`;
    return `SELECT ${names.join(",")} FROM (SELECT ${typed.join(",")} FROM ${values}) AS ${alias} WHERE (${where}\n)`;
  }

  private onConflict(): string {
    const { action, columns } = this.rule;
    if (action === "error") return "";
    const target = columns.length === 0 ? "" : ` (${columns.map(quoteIdentifier).join(",")})`;
    const others = this.columns.filter(({ name }) => !columns.includes(name)).map(({ name }) => quoteIdentifier(name));
    if (action === "ignore" || others.length === 0) return ` ON CONFLICT${target} DO NOTHING`;
    return ` ON CONFLICT${target} DO UPDATE SET ${others.map((name) => `${name} = EXCLUDED.${name}`).join(",")}`;
  }
}

/** The fields of the row that the reader has found. */
export function parametersOf(reader: RecordReader, nullText: string): unknown[] {
  return Array.from({ length: reader.count }, (_, i) => {
    const value = reader.kinds[i] === FIELD_VALUE ? reader.value!(i) : null;
    // As parameters, other values are texts.
    if (value instanceof Float32Array) return value;
    const text = reader.text(i);
    return text === nullText && reader.kinds[i] === FIELD_PLAIN ? null : text;
  });
}

/** A type's name in a cast that neither cuts nor refuses values: `character` and `bit` alone mean a length of one. */
function ofAnyLength(type: SqlType): string {
  if (type.user !== undefined || type.typeName !== undefined) return displayName(type);
  if (type.element !== null) return `${ofAnyLength(type.element)}[]`;
  if (type.name === "bpchar") return "bpchar";
  return type.name === "bit" ? "varbit" : displayName(type);
}

/** The statement is ours, and the client knows of no places in it. */
function withoutPosition(error: unknown): unknown {
  if (!(error instanceof DbError) || error.details?.position === undefined) return error;
  const { position: _, ...details } = error.details;
  return new DbError(error.code, error.message, details);
}
