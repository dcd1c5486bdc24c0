/**
 * The rows of a statement as messages on a WebSocket: `sql.columns`, then `sql.rows` with some 64 KiB of rows each, then
 * `sql.complete`. An error ends the stream in place of the last. Called by handlers; used by RowStream.
 */
import { type RowFormat, rowLists } from "./row-stream.js";

/** `id` is JSON: the client's name for its request, which every message carries. */
export function messageRows(id: string): RowFormat {
  return {
    contentType: "application/json",
    // As bytes, so that no rows are put into the same message.
    head: ({ columnsJson }) => Buffer.from(`{"type":"sql.columns","id":${id},"columns":${columnsJson}}`),
    rows: rowLists(","),
    wrap: (rows) => `{"type":"sql.rows","id":${id},"rows":[${rows.slice(0, -1)}]}`,
    tail: (summary) => Buffer.from(`{"type":"sql.complete","id":${id},${JSON.stringify(summary).slice(1)}`),
    errorText: (errorJson) => errorJson,
  };
}
