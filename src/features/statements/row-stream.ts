/**
 * Rows that leave as they come: as lines of JSON, MessagePack values or CSV, in pieces of some 64 KiB. The reply is
 * opened with the first piece. What changes data is not streamed: its rows are kept until it has committed. One per
 * streamed answer; handlers give its `collector` to the session and call `finish` after the statement.
 */
import { createGzip, type Gzip } from "node:zlib";
import { Packr } from "msgpackr";
import type { ReplySink } from "../../actor/reply-sink.js";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { RESULT_BYTES_MAX } from "../../protocol/limits.js";
import type { Batch } from "../../query/expr/expr.js";
import type { ResultShape, RowCollector, Rows } from "../../session/sql-result.js";
import { type CsvStyle, csvFieldWriter } from "../../values/csv-format.js";
import { plainWriter } from "../../values/json-format.js";
import { toText } from "../../values/text-format.js";

/** One of the forms in which rows can be streamed. */
export interface RowFormat {
  readonly contentType: string;
  /** What comes before the rows. */
  head(shape: ResultShape): string | Uint8Array;
  /** The writer of rows `from` to `to` of a batch. */
  rows(shape: ResultShape): (batch: Batch, from: number, to: number) => string | Uint8Array;
  /** What comes after them. */
  tail(summary: object): string | Uint8Array;
  /** It writes by the shape's writers of JSON. */
  readonly writesJson?: boolean;
  /** Rows of one call of the writer; absent: some hundred. */
  readonly rowsAtOnce?: number;
  /** The tail is the last message, which is no piece of rows. */
  readonly isMessages?: boolean;
  /** Makes a piece of rows a message of its own; absent where rows simply follow each other. */
  readonly wrap?: (rows: string) => string;
  /** The error that ended the stream, as its last piece; null: the connection is cut. */
  readonly errorText: ((errorJson: string) => string | Uint8Array) | null;
}

const PIECE_BYTES = 64 * 1024;
/** Rows written between two looks at the size of the piece. */
const ROWS_AT_ONCE = 128;

const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true, variableMapSize: true });

/** Each row as a JSON list with `end` behind it. */
export function rowLists(end: string): RowFormat["rows"] {
  return ({ json: writers }) =>
    ({ columns }, from, to) => {
      let text = "";
      for (let r = from; r < to; r++) {
        text += "[";
        for (let c = 0; c < writers.length; c++) {
          const value = columns[c]![r]!;
          if (c > 0) text += ",";
          text += value === null ? "null" : writers[c]!(value);
        }
        text += `]${end}`;
      }
      return text;
    };
}

/** `{"columns":[…]}`, a line per row (an array), and a last line that sums up or tells the error. */
export const ndjsonResult: RowFormat = {
  contentType: "application/x-ndjson",
  head: ({ columnsJson }) => `{"columns":${columnsJson}}\n`,
  rows: rowLists("\n"),
  writesJson: true,
  tail: (summary) => `${JSON.stringify(summary)}\n`,
  errorText: (errorJson) => `${errorJson}\n`,
};

/** The same as a sequence of MessagePack values. */
export const msgpackResult: RowFormat = {
  contentType: "application/x-msgpack-stream",
  head: ({ columns }) => packr.pack({ columns }),
  rows: ({ outputs }) => {
    const writers = outputs.map(({ type }) => plainWriter(type));
    return ({ columns }, from, to) => {
      const rows: Uint8Array[] = [];
      for (let r = from; r < to; r++) {
        rows.push(
          packr.pack(
            writers.map((write, c) => {
              const value = columns[c]![r]!;
              return value === null ? null : write(value);
            }),
          ),
        );
      }
      return Buffer.concat(rows);
    };
  },
  tail: (summary) => packr.pack(summary),
  errorText: null,
};

/** A line per row, an object by column name. */
export const ndjsonRows: RowFormat = {
  contentType: "application/x-ndjson",
  writesJson: true,
  head: () => "",
  rows: ({ outputs, json: writers }) => {
    const names = outputs.map(({ name }, c) => `${c === 0 ? "{" : ","}${JSON.stringify(name)}:`);
    return ({ columns }, from, to) => {
      let text = "";
      for (let r = from; r < to; r++) {
        for (let c = 0; c < writers.length; c++) {
          const value = columns[c]![r]!;
          text += names[c]! + (value === null ? "null" : writers[c]!(value));
        }
        text += writers.length === 0 ? "{}\n" : "}\n";
      }
      return text;
    };
  },
  tail: () => "",
  errorText: (errorJson) => `${errorJson}\n`,
};

/** CSV in the types' text forms. */
export function csvRows(style: CsvStyle): RowFormat {
  const field = csvFieldWriter(style);
  return {
    contentType: "text/csv; charset=utf-8",
    head: ({ outputs }) => (style.header ? `${outputs.map(({ name }) => field(name)).join(style.delimiter)}\n` : ""),
    rows: ({ outputs }) => {
      const types = outputs.map(({ type }) => type);
      return ({ columns }, from, to) => {
        let text = "";
        for (let r = from; r < to; r++) {
          for (let c = 0; c < types.length; c++) {
            const value = columns[c]![r]!;
            if (c > 0) text += style.delimiter;
            text += field(value === null ? null : toText(types[c]!, value));
          }
          text += "\n";
        }
        return text;
      };
    },
    tail: () => "",
    errorText: null,
  };
}

export class RowStream {
  private sink: ReplySink | null = null;
  private gzip: Gzip | null = null;
  /** What gzip gave and was not sent yet. */
  private zipped: Uint8Array[] = [];
  private pieces: (string | Uint8Array)[] = [];
  private bytes = 0;
  private streamable = false;
  rowCount = 0;

  constructor(
    private readonly request: Request,
    private readonly format: RowFormat,
    private readonly headers: readonly string[] = [],
    compressed = false,
  ) {
    if (!compressed) return;
    this.headers = [...headers, "Content-Encoding: gzip", "Vary: Accept-Encoding"];
    this.gzip = createGzip({ level: 1 });
    this.gzip.on("data", (piece: Uint8Array) => this.zipped.push(piece));
  }

  readonly collector: RowCollector = (shape, streamable = false): Rows => {
    this.streamable = streamable;
    this.pieces = [];
    this.bytes = 0;
    this.rowCount = 0;
    this.add(this.format.head(shape));
    const write = this.format.rows(shape);
    const { outputs, heavy } = shape;
    return {
      weight: { outputs, heavy, writesJson: this.format.writesJson ?? false },
      append: (batch, count) => {
        const step = this.format.rowsAtOnce ?? ROWS_AT_ONCE;
        for (let from = 0; from < count; from += step) this.add(write(batch, from, Math.min(count, from + step)));
        this.rowCount += count;
        if (this.bytes > RESULT_BYTES_MAX) {
          throw new DbError("query_error", `The result is larger than ${RESULT_BYTES_MAX} bytes.`, {
            sqlstate: "54000",
          });
        }
        return 0;
      },
      room: () => (this.streamable && this.bytes >= PIECE_BYTES ? this.flush() : undefined),
    };
  };

  /** Sends what is left and ends the reply. */
  async finish(summary: object): Promise<void> {
    const tail = this.format.tail(summary);
    if (this.format.isMessages) {
      await this.flush();
      (await this.opened()).end(Buffer.from(tail as Uint8Array));
      return;
    }
    this.add(tail);
    await this.flush();
    if (this.gzip !== null) {
      const { gzip } = this;
      await new Promise<void>((resolve) => {
        gzip.once("end", resolve);
        gzip.end();
      });
      await this.sendZipped();
    }
    (await this.opened()).end();
  }

  /** Frees what a stream holds that did not come to its end. */
  close(): void {
    this.gzip?.destroy();
  }

  private add(piece: string | Uint8Array): void {
    if (piece.length === 0) return;
    this.pieces.push(piece);
    this.bytes += piece.length;
  }

  private async opened(): Promise<ReplySink> {
    if (this.sink === null) {
      // A handler that tells of progress has opened it.
      this.sink = this.request.sink ?? (await this.request.openReply(this.format.contentType, this.headers));
      // Compressed text cannot be followed by a plain error.
      this.sink.errorText = this.gzip === null ? this.format.errorText : null;
    }
    return this.sink;
  }

  private async flush(): Promise<void> {
    const sink = await this.opened();
    const { pieces } = this;
    this.pieces = [];
    this.bytes = 0;
    for (const piece of joined(pieces, this.format.wrap)) {
      this.request.checkpoint();
      if (this.gzip === null) await sink.write(piece);
      else {
        const { gzip } = this;
        await new Promise<void>((resolve, reject) => gzip.write(piece, (error) => (error ? reject(error) : resolve())));
        await this.sendZipped();
      }
    }
    // The client was waited for, perhaps; the work goes on in a turn of the tenant's.
    await this.request.yieldTurn();
  }

  private async sendZipped(): Promise<void> {
    const sink = await this.opened();
    for (const piece of this.zipped.splice(0)) await sink.write(piece);
  }
}

/** The pieces as bytes: texts put together to some 64 KiB each, bytes as they are. */
function* joined(
  pieces: readonly (string | Uint8Array)[],
  wrap = (text: string): string => text,
): Iterable<Uint8Array> {
  let text = "";
  for (const piece of pieces) {
    if (typeof piece === "string") {
      text += piece;
      if (text.length < PIECE_BYTES) continue;
    }
    if (text !== "") yield Buffer.from(wrap(text));
    text = "";
    if (typeof piece !== "string") yield piece;
  }
  if (text !== "") yield Buffer.from(wrap(text));
}
