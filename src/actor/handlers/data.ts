/** /v1/data/…: files of rows into tables and out of them. */
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { quoteIdentifier } from "../../query/expr/print.js";
import { type Answer, STREAMED } from "../reply.js";
import type { Request } from "../request.js";
import { csvRows, ndjsonRows, RowStream } from "../row-stream.js";
import { Session } from "../session.js";
import type { Input } from "../validate.js";
import type { Handler } from "./handler.js";
import { sessionOptions } from "./query.js";

export const dataHandlers = {
  "data.export": exportRows,
} satisfies Partial<Record<EndpointName, Handler>>;

/** CSV's settings out of a query string. */
export function csvStyleOf(query: Input["query"]) {
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
export function namesOf(list: string): string[] {
  return list.split(",").map((name) => name.trim());
}

async function exportRows(request: Request, { query }: Input): Promise<Answer> {
  const [accept = ""] = request.head.media;
  const wanted = accept.includes("x-ndjson") && !accept.includes("text/csv") ? "ndjson" : "csv";
  const kind = query.format ?? wanted;
  const format = kind === "csv" ? csvRows(csvStyleOf(query)) : ndjsonRows;
  const gzip = query.gzip === "true";
  const name = query.filename ?? `${(query.table ?? "query").replace(/[^A-Za-z0-9._-]/g, "_")}.${kind}`;
  const stream = new RowStream(request, format, [`Content-Disposition: attachment; filename="${name}"`], gzip);
  const session = new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
  try {
    const run = {
      sql: exportedSql(query),
      params: [],
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

function exportedSql({ table, schema, columns, sql }: Input["query"]): string {
  if ((table === undefined) === (sql === undefined)) {
    throw new DbError("invalid_request", 'Send either "table" or "sql".', { field: "table" });
  }
  if (sql !== undefined) return sql;
  const list = columns === undefined ? "*" : namesOf(columns).map(quoteIdentifier).join(", ");
  return `SELECT ${list} FROM ${schema === undefined ? "" : `${quoteIdentifier(schema)}.`}${quoteIdentifier(table!)}`;
}
