/**
 * COPY … FROM STDIN: the import of rows that come as messages. It runs beside the messages that bring them, each of
 * which waits until the import has read what it brought. One per COPY; owned by the session.
 */
import { missingColumn } from "../../catalog/did-you-mean.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { BACK } from "../../protocol/postgres/message-types.js";
import { refusedToReader } from "../../session/reader.js";
import { sessionOptions } from "../../session/session-options.js";
import type { CopyStatement } from "../../sql/parse/copy.js";
import { copyTextReader, forcingOf } from "../import/copy-rules.js";
import { type ImportClient, importRows } from "../import/import-rows.js";
import { BINARY_NULL_TEXT, CopyBinaryReader } from "./copy-binary.js";
import { requireCopied } from "./copy-statement.js";
import type { WireHost } from "./wire-host.js";

export class CopyIn {
  private pieces: Uint8Array[] = [];
  private ended = false;
  private failure: Error | null = null;
  /** The import waits for bytes. */
  private wake: (() => void) | null = null;
  /** A message waits until the import has read everything. */
  private drained: (() => void) | null = null;
  private readonly running: Promise<number>;

  constructor(
    readonly isSimple: boolean,
    start: (pieces: AsyncIterable<Uint8Array>) => Promise<number>,
  ) {
    this.running = start(this.all());
    this.running.catch((error: Error) => {
      this.failure = error;
      this.drained?.();
    });
  }

  /** Resolves when the import waits for bytes: from then on it rests between messages. */
  begun(): Promise<void> {
    return this.settled();
  }

  /** Takes bytes; resolves when the import wants more. Throws the import's error. */
  async data(bytes: Buffer): Promise<void> {
    if (this.failure !== null) throw this.failure;
    // The bytes belong to the message.
    this.pieces.push(Uint8Array.from(bytes));
    await this.settled();
  }

  /** The rows are complete; answers how many there were. */
  async done(): Promise<number> {
    this.ended = true;
    this.wake?.();
    return this.running;
  }

  /** Ends the import: nothing of it stays, since its transaction is rolled back. */
  abandon(): void {
    this.failure ??= sqlError("57014", "COPY from stdin failed");
    this.wake?.();
  }

  private async settled(): Promise<void> {
    this.wake?.();
    await new Promise<void>((resolve) => {
      this.drained = resolve;
      if (this.failure !== null) resolve();
    });
    this.drained = null;
    if (this.failure !== null) throw this.failure;
  }

  private async *all(): AsyncIterable<Uint8Array> {
    for (;;) {
      const piece = this.pieces.shift();
      if (piece !== undefined) {
        yield piece;
        continue;
      }
      if (this.failure !== null) throw this.failure;
      if (this.ended) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        this.drained?.();
      });
      this.wake = null;
    }
  }
}

/** Begins a COPY: looks up what it names and tells the client to send. */
export async function copyInFor(wire: WireHost, copy: CopyStatement, isSimple: boolean): Promise<CopyIn> {
  const { session, client } = wire;
  if (client.request.readOnly) throw refusedToReader("COPY FROM");
  if (session.readOnly) {
    throw sqlError("25006", "cannot execute COPY FROM in a read-only transaction");
  }
  wire.beginImplicit();
  client.begin(0);
  const { schema, name } = copy.table!;
  const table = session.protocol.filledTable(schema, name);
  // A header's names do not matter, unless it must match.
  const all = columnsOf(table, null).map((column) => column.name);
  const columns = copy.columns ?? (all.length === 0 ? null : all);
  const copied = columnsOf(table, columns);
  const count = columns?.length ?? 0;
  forcingOf(copy, columns ?? [], copy.nullText);
  const isBinary = copy.format === "binary";
  const records = isBinary ? new CopyBinaryReader(copied) : copy.format === "text" ? copyTextReader(copy) : null;
  const options = {
    schema: table.schema,
    table: table.name,
    columns,
    conflict: { action: "error", columns: [] } as const,
    copy,
    csv: isBinary ? { ...copy, nullText: BINARY_NULL_TEXT } : copy,
    ...(records !== null && { records }),
    within: session,
    session: sessionOptions(client.request, "statements"),
    create: false,
  };
  const copying = new CopyIn(isSimple, async (pieces) => {
    const nothing = (): undefined => undefined;
    const counts = await importRows(importClient(wire), pieces, options, nothing, nothing).catch((error: unknown) => {
      throw withContext(error, table.name);
    });
    return counts.rows;
  });
  // Before the client is told to send: what it would send next is no row.
  await copying.begun();
  writeResponse(wire, isBinary ? 1 : 0, count);
  return copying;
}

/** The error with the place of the data that it is about, in PostgreSQL's words: "COPY t, line 2, column id: …". */
function withContext(error: unknown, table: string): unknown {
  if (!(error instanceof DbError) || error.details?.line === undefined) return error;
  const { line, column, value } = error.details;
  const field = column === undefined ? "" : `, column ${column}`;
  const shown = typeof value === "string" ? `: "${value}"` : value === null ? ": null input" : "";
  return new DbError(error.code, error.message, {
    ...error.details,
    where: `COPY ${table}, line ${line}${field}${shown}`,
  });
}

function columnsOf(table: TableDef, names: readonly string[] | null): readonly ColumnDef[] {
  const all = table.columns;
  if (names === null) return all.filter((column) => !column.generatedSql);
  return names.map((name) => {
    const column = all.find((each) => each.name === name);
    if (column === undefined) throw missingColumn(name, table, null);
    requireCopied(column);
    return column;
  });
}

/** The session's client, with its tenant. */
function importClient({ client }: WireHost): ImportClient {
  return client;
}

function writeResponse({ writer }: WireHost, format: 0 | 1, columns: number): void {
  writer.begin(BACK.copyInResponse);
  writer.byte(format);
  writer.int16(columns);
  for (let c = 0; c < columns; c++) writer.int16(format);
  writer.end();
}
