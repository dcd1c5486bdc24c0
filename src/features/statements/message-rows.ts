/**
 * The rows of a statement as messages on a WebSocket: `sql.columns`, then `sql.rows` with some 64 KiB of rows each,
 * then `sql.done`; other statements use another prefix than `sql`. An error ends the stream instead of the last
 * message. In MessagePack rows come by columns (packed-columns.ts). Called by handlers; used by RowStream.
 */
import { Packr } from "msgpackr";
import { packedMessage } from "../../actor/reply.js";
import { packedColumns, withBaseTypes } from "./packed-columns.js";
import { type RowFormat, rowLists } from "./row-stream.js";

const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true, variableMapSize: true });

/** What the last message is called. */
const ENDINGS = { sql: "done", graph: "complete" } as const;

/** `id` is JSON: the client's name for its request, which every message carries. */
export function messageRows(id: string, packed: boolean, kind: "sql" | "graph" = "sql"): RowFormat {
  return packed ? packedRows(id, kind) : jsonRows(id, kind);
}

function jsonRows(id: string, kind: "sql" | "graph"): RowFormat {
  return {
    contentType: "application/json",
    // As bytes, so that no rows are put into the same message.
    head: ({ columnsJson }) => Buffer.from(`{"type":"${kind}.columns","id":${id},"columns":${columnsJson}}`),
    rows: rowLists(","),
    wrap: (rows) => `{"type":"${kind}.rows","id":${id},"rows":[${rows.slice(0, -1)}]}`,
    tail: (summary) => Buffer.from(`{"type":"${kind}.${ENDINGS[kind]}","id":${id},${JSON.stringify(summary).slice(1)}`),
    isMessages: true,
    errorText: (errorJson) => errorJson,
  };
}

/** Rows of one message. */
const ROWS_AT_ONCE = 1024;

function packedRows(idJson: string, kind: "sql" | "graph"): RowFormat {
  const id: unknown = JSON.parse(idJson);
  const packed = (message: object): Uint8Array => new Uint8Array(packr.pack(message));
  return {
    contentType: "application/msgpack",
    head: (shape) => packed({ type: `${kind}.columns`, id, columns: withBaseTypes(shape) }),
    rowsAtOnce: ROWS_AT_ONCE,
    rows: (shape) => {
      const columnsOf = packedColumns(shape.outputs.map(({ type }) => type));
      return (batch, from, to) =>
        packed({ type: `${kind}.rows`, id, count: to - from, columns: columnsOf(batch, from, to) });
    },
    tail: (summary) => packed({ type: `${kind}.${ENDINGS[kind]}`, id, ...summary }),
    isMessages: true,
    errorText: packedMessage,
  };
}
