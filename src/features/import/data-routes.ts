/** /v1/data/…: files of rows into tables and out of them. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { parametersOfQuery } from "../../bodies/query-json.js";
import type { Input } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { quoteIdentifier } from "../../query/expr/print.js";
import { type Answer, STREAMED, type TextAnswer } from "../../session/answer.js";
import { Session } from "../../session/session.js";
import { clientOptions, sessionOptions } from "../../session/session-options.js";
import { elapsedSince } from "../../session/sql-result.js";
import type { CsvStyle } from "../../values/csv-format.js";
import { ARROW_STREAM, ColumnStream, PARQUET_FILE } from "../statements/column-stream.js";
import { csvRows, ndjsonRows, RowStream } from "../statements/row-stream.js";
import { NO_PARAMETERS, textOptionsOf } from "../statements/run-body.js";
import { filePieces } from "./body-pieces.js";
import { ColumnarFile } from "./columnar-file.js";
import { importAnswer } from "./import-progress.js";
import { type ImportCounts, type ImportOptions, importRows, type NamedType } from "./import-rows.js";
import { runScript } from "./run-script.js";

export const dataHandlers = {
  "data.importCsv": (request, { query }) => importFile(request, query, csvStyleOf(query)),
  "data.importNdjson": (request, { query }) => importFile(request, query, null),
  "data.importParquet": (request, { query }) => importColumnar(request, query, "parquet"),
  "data.importArrow": (request, { query }) => importColumnar(request, query, "arrow"),
  "data.export": exportRows,
  "query.script": async (request, { query }) => {
    const started = performance.now();
    const [, , contentEncoding = ""] = request.head.media;
    const transactional = query.transactional === "true";
    const result = await runScript(request, filePieces(request.body!, contentEncoding, "utf-8"), {
      transactional,
      stopOnError: query.stop_on_error !== "false",
      maxRows: Number(query.max_rows ?? SHOWN_ROWS),
      session: clientOptions(request, transactional ? "routes" : "statements"),
    });
    return { plain: { ...result, execution_time_ms: elapsedSince(started) } };
  },
} satisfies Handlers;

/** Of one statement of a script. */
const SHOWN_ROWS = 100;

/** CSV's settings out of a query string. */
function csvStyleOf(query: Input["query"]): CsvStyle {
  const { delimiter = ",", quote = '"' } = query;
  for (const [name, value] of [["delimiter", delimiter] as const, ["quote", quote] as const]) {
    if (value.charCodeAt(0) <= 127 && value !== "\n" && value !== "\r") continue;
    throw new DbError("invalid_request", `The ${name} must be one ASCII character.`, { field: name });
  }
  if (delimiter === quote) {
    throw new DbError("invalid_request", "The delimiter and the quote must differ.", { field: "quote" });
  }
  return { delimiter, quote, nullText: query.null ?? "", header: query.header !== "false" };
}

/** The names of a list with commas between. */
function namesOf(list: string): string[] {
  return list.split(",").map((name) => name.trim());
}

type Imported = ResponseOf<"data.importCsv">;

function importFile(request: Request, query: Input["query"], csv: ImportOptions["csv"]): Promise<Answer<Imported>> {
  const [, , contentEncoding = ""] = request.head.media;
  const pieces = filePieces(request.body!, contentEncoding, query.encoding ?? "utf-8");
  return importPieces(request, pieces, importOptions(request, query, csv));
}

/** A file that names its columns and their types itself. */
async function importColumnar(
  request: Request,
  query: Input["query"],
  format: "parquet" | "arrow",
): Promise<Answer<Imported>> {
  const [, , contentEncoding = ""] = request.head.media;
  const file = await ColumnarFile.received(request, filePieces(request.body!, contentEncoding, "utf-8"), format);
  try {
    const options = importOptions(request, query, null);
    const shape = renamed(file.shape.columns, options.columns);
    return await importPieces(request, file.lines(), { ...options, columns: shape.map(({ name }) => name), shape });
  } finally {
    file.close();
  }
}

/** The columns of a file under the names that the request gives them. */
function renamed(columns: readonly NamedType[], names: readonly string[] | null): readonly NamedType[] {
  if (names === null) return columns;
  if (names.length === columns.length) return columns.map(({ type }, i) => ({ name: names[i]!, type }));
  const message = `The file has ${columns.length} columns, and "columns" names ${names.length}.`;
  throw new DbError("invalid_request", message, { field: "columns" });
}

async function importPieces(
  request: Request,
  pieces: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<Answer<Imported>> {
  const started = performance.now();
  const body = request.body!;
  const answerOf = ({ rows, skipped, made }: ImportCounts): Answer<Imported> => ({
    plain: {
      ...(made !== undefined && { created: made }),
      rows,
      rows_skipped: skipped,
      bytes: body.bytes,
      execution_time_ms: elapsedSince(started),
    },
  });
  return importAnswer<Imported>(request, (progress, commit) =>
    importRows(
      request,
      pieces,
      options,
      (counts) => progress?.tell({ rows: counts.rows, bytes: body.bytes }),
      (tx, counts) => commit(tx, answerOf(counts)),
    ),
  );
}

function importOptions(request: Request, query: Input["query"], csv: ImportOptions["csv"]): ImportOptions {
  const { schema, table } = relationOf(query);
  return {
    schema,
    table,
    columns: query.columns === undefined ? null : namesOf(query.columns),
    conflict: {
      action: (query.on_conflict ?? "error") as ImportOptions["conflict"]["action"],
      columns: query.conflict_columns === undefined ? [] : namesOf(query.conflict_columns),
    },
    csv,
    session: sessionOptions(request, "routes"),
    create: query.create === "true",
  };
}

/** The table that a query string names, alone, with its schema before a dot, or beside it. */
function relationOf({ schema, table = "" }: Input["query"]): { schema: string | null; table: string } {
  if (schema !== undefined) return { schema, table };
  const dot = table.indexOf(".");
  return dot === -1 ? { schema: null, table } : { schema: table.slice(0, dot), table: table.slice(dot + 1) };
}

async function exportRows(request: Request, { query }: Input): Promise<TextAnswer> {
  const kind = query.format ?? acceptedKind(request);
  const name = query.filename ?? `${(query.table ?? "query").replace(/[^A-Za-z0-9._-]/g, "_")}.${kind}`;
  const stream = exportStream(request, query, kind, [`Content-Disposition: attachment; filename="${name}"`]);
  const session = new Session(request.tenant, { ...clientOptions(request, "routes"), readOnly: true });
  try {
    const run = {
      sql: exportedSql(query),
      ...textOptionsOf(query),
      params: query.parameters === undefined ? NO_PARAMETERS : parametersOfQuery(query.parameters),
      maxRows: query.max_rows === undefined ? Number.POSITIVE_INFINITY : Number(query.max_rows),
      collector: stream.collector,
      request,
    };
    await session.execute(run, (tx) => request.tenant.rollback(tx));
    await stream.finish({});
    return STREAMED;
  } finally {
    stream.close();
  }
}

function acceptedKind({ head }: Request): string {
  const [accept = ""] = head.media;
  if (accept.includes(ARROW_STREAM)) return "arrow";
  if (accept.includes(PARQUET_FILE)) return "parquet";
  return accept.includes("x-ndjson") && !accept.includes("text/csv") ? "ndjson" : "csv";
}

function exportStream(
  request: Request,
  query: Input["query"],
  kind: string,
  headers: readonly string[],
): RowStream | ColumnStream {
  const gzip = query.gzip === "true";
  if (kind !== "arrow" && kind !== "parquet") {
    return new RowStream(request, kind === "csv" ? csvRows(csvStyleOf(query)) : ndjsonRows, headers, gzip);
  }
  if (gzip) {
    const message = kind === "arrow" ? "Arrow is sent as it is." : "A Parquet file is compressed by itself.";
    throw new DbError("invalid_request", `${message} Leave gzip out.`, { field: "gzip" });
  }
  return new ColumnStream(request, kind, headers);
}

function exportedSql({ table, schema, columns, sql, ...others }: Input["query"]): string {
  if ((table === undefined) === (sql === undefined)) {
    throw new DbError("invalid_request", 'Send either "table" or "sql".', { field: "table" });
  }
  if (sql !== undefined) return sql;
  const field = (["parameters", "language", "graph"] as const).find((name) => others[name] !== undefined);
  if (field !== undefined) throw new DbError("invalid_request", `"${field}" goes with "sql" only.`, { field });
  const from = relationOf({ ...(schema === undefined ? {} : { schema }), table: table! });
  const list = columns === undefined ? "*" : namesOf(columns).map(quoteIdentifier).join(", ");
  return `SELECT ${list} FROM ${from.schema === null ? "" : `${quoteIdentifier(from.schema)}.`}${quoteIdentifier(from.table)}`;
}
