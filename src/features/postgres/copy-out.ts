/** COPY … TO STDOUT: the rows of a query as CopyData messages in text, CSV or binary. */
import { BACK } from "../../protocol/postgres/message-types.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import type { Batch } from "../../query/expr/expr.js";
import type { ResultShape, RowCollector } from "../../session/sql-result.js";
import type { CopyStatement } from "../../sql/parse/copy.js";
import { type CsvStyle, csvFieldWriter } from "../../values/csv-format.js";
import { toText } from "../../values/text-format.js";
import type { Value } from "../../values/values.js";
import { binaryWriter } from "./binary-values.js";
import { copiedQuery } from "./copy-statement.js";
import { timeoutOf } from "./timeouts.js";
import type { WireHost } from "./wire-host.js";

const PIECE_BYTES = 64 * 1024;
/** What a file of COPY's binary format begins with: its signature, no flags, no extension. */
const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");

/** Writes rows `from` to `to` as messages. */
type WriteRows = (batch: Batch, count: number) => void;

interface Lines {
  readonly write: WriteRows;
  /** After the last row. */
  end(): void;
}

export async function copyOut(wire: WireHost, copy: CopyStatement): Promise<void> {
  const { session, client, writer } = wire;
  client.begin(timeoutOf(session.settings, client.request));
  const start = writer.length;
  let rows = 0;
  let hasSent = false;
  let lines: Lines | null = null;
  const collector: RowCollector = (shape, streamable = false) => {
    if (!hasSent) writer.cut(start);
    rows = 0;
    writeResponse(wire, copy, shape.outputs.length);
    const into = linesOf(wire, copy, shape);
    lines = into;
    const { outputs, heavy } = shape;
    return {
      weight: { outputs, heavy, writesJson: false },
      append: (batch, count) => {
        into.write(batch, count);
        rows += count;
        return 0;
      },
      room: () => {
        if (!streamable || writer.length < PIECE_BYTES) return undefined;
        hasSent = true;
        return wire.flush();
      },
    };
  };
  const run = { sql: copiedQuery(copy), params: [], maxRows: Number.MAX_SAFE_INTEGER, collector, request: client };
  await session.execute(run, (tx) => client.request.commitPart(tx));
  (lines as Lines | null)?.end();
  writer.empty(BACK.copyDone);
  wire.runs.complete(`COPY ${rows}`);
}

function writeResponse({ writer }: WireHost, { format }: CopyStatement, columns: number): void {
  const code = format === "binary" ? 1 : 0;
  writer.begin(BACK.copyOutResponse);
  writer.byte(code);
  writer.int16(columns);
  for (let c = 0; c < columns; c++) writer.int16(code);
  writer.end();
}

function linesOf(wire: WireHost, copy: CopyStatement, shape: ResultShape): Lines {
  const { writer } = wire;
  if (copy.format === "binary") return binaryRows(writer, shape);
  const { delimiter, nullText, header } = copy;
  const { outputs } = shape;
  const escapes = copy.format === "csv" ? csvFields(copy, shape) : outputs.map(() => textField(copy));
  const { timeZone } = wire.session.settings;
  const texts = outputs.map(({ type }, c) => {
    const escaped = escapes[c]!;
    const isPlain = NUMBERS.has(type.name) && copy.format === "text" && !/[-\d]/.test(delimiter);
    return isPlain ? String : (value: Value) => escaped(toText(type, value, timeZone));
  });
  const send = (line: string): void => {
    writer.begin(BACK.copyData);
    writer.text(`${line}\n`);
    writer.end();
  };
  if (header) send(outputs.map(({ name }, c) => escapes[c]!(name)).join(delimiter));
  const write: WriteRows = ({ columns }, count) => {
    for (let r = 0; r < count; r++) {
      let line = "";
      for (let c = 0; c < texts.length; c++) {
        const value = columns[c]![r]!;
        if (c > 0) line += delimiter;
        line += value === null ? nullText : texts[c]!(value);
      }
      send(line);
    }
  };
  return { write, end() {} };
}

/** Whole numbers have nothing to escape. */
const NUMBERS: ReadonlySet<string> = new Set(["int2", "int4", "int8", "oid"]);

type Escape = (text: string) => string;

function csvFields(copy: CopyStatement, { outputs }: ResultShape): readonly Escape[] {
  const { quote, forceQuote } = copy;
  const field = csvFieldWriter(copy satisfies CsvStyle);
  const quoted: Escape = (text) => quote + text.replaceAll(quote, quote + quote) + quote;
  return outputs.map(({ name }) => (forceQuote === "*" || forceQuote.includes(name) ? quoted : field));
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

function textField({ delimiter }: CopyStatement): Escape {
  const special = /[\\\b\f\n\r\t\v]/;
  const all = /[\\\b\f\n\r\t\v]/g;
  return (text) => {
    const plain = special.test(text) ? text.replace(all, (character) => ESCAPES[character]!) : text;
    return delimiter === "\t" ? plain : plain.replaceAll(delimiter, `\\${delimiter}`);
  };
}

/** The signature goes with the first row's message, or with the trailer where there are no rows. */
function binaryRows(writer: MessageWriter, { outputs }: ResultShape): Lines {
  const writers = outputs.map(({ type }) => binaryWriter(type));
  let isFirst = true;
  const begin = (): void => {
    writer.begin(BACK.copyData);
    if (isFirst) writer.bytes(SIGNATURE);
    isFirst = false;
  };
  const write: WriteRows = ({ columns }, count) => {
    for (let r = 0; r < count; r++) {
      begin();
      writer.int16(writers.length);
      for (const [c, writeValue] of writers.entries()) {
        const value = columns[c]![r]!;
        if (value === null) writer.int32(-1);
        else writeValue(writer, value);
      }
      writer.end();
    }
  };
  const end = (): void => {
    begin();
    writer.int16(-1);
    writer.end();
  };
  return { write, end };
}
