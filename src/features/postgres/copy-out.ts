/** COPY … TO STDOUT: the rows of a query as CopyData messages in text, CSV or binary. */
import { sqlError } from "../../protocol/errors.js";
import { RESULT_BYTES_MAX } from "../../protocol/limits.js";
import { BACK } from "../../protocol/postgres/message-types.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { resultTooLarge } from "../../protocol/size-errors.js";
import { textOfBytes } from "../../query/exec/segments/text-column.js";
import type { Batch } from "../../query/expr/expr.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import type { ResultShape, RowCollector } from "../../session/sql-result.js";
import type { BoundStatement } from "../../sql/bind/bound-statement.js";
import type { CopyStatement } from "../../sql/parse/copy.js";
import { type CsvStyle, csvEscaper, csvFieldWriter } from "../../values/csv-format.js";
import { toText } from "../../values/text-format.js";
import { binaryWriter } from "./binary-values.js";
import { type FieldWriter, fieldsOf, sizedField } from "./column-fields.js";
import { copyEscapes } from "./copy-escapes.js";
import { copiedQuery } from "./copy-statement.js";
import { isText, type TextSettings, type ValueWriter } from "./text-values.js";
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
  const start = writer.position;
  let rows = 0;
  let hasSent = false;
  let lines: Lines | null = null;
  const collector: RowCollector = (shape, streamable = false) => {
    if (!hasSent) writer.cut(start);
    rows = 0;
    writeResponse(wire, copy, shape.outputs.length);
    const into = linesOf(writer, copy, shape, session.settings);
    lines = into;
    const { outputs, heavy } = shape;
    return {
      takesChunks: true,
      weight: { outputs, heavy, writesJson: false },
      append: (batch, count) => {
        into.write(batch, count);
        rows += count;
        if (!streamable && writer.length > RESULT_BYTES_MAX) throw resultTooLarge();
        return 0;
      },
      room: () => {
        if (!streamable || writer.length < PIECE_BYTES) return undefined;
        hasSent = true;
        return wire.flush();
      },
    };
  };
  const table = copy.table === null ? null : session.protocol.tableNamed(copy.table.schema, copy.table.name);
  const run = {
    ...{ sql: copiedQuery(copy, table), params: [], maxRows: Number.MAX_SAFE_INTEGER, collector, request: client },
    planned: requireRows,
  };
  await session.execute(run, (tx) => client.request.commitPart(tx));
  (lines as Lines | null)?.end();
  writer.empty(BACK.copyDone);
  wire.runs.complete(`COPY ${rows}`);
}

/** Throws 0A000 for a statement that changes rows and gives none. */
function requireRows(bound: BoundStatement): void {
  if (bound.kind !== "query" || bound.command === "select" || bound.plan.columns.length > 0) return;
  throw sqlError("0A000", "COPY query must have a RETURNING clause");
}

function writeResponse({ writer }: WireHost, { format }: CopyStatement, columns: number): void {
  const code = format === "binary" ? 1 : 0;
  writer.begin(BACK.copyOutResponse);
  writer.byte(code);
  writer.int16(columns);
  for (let c = 0; c < columns; c++) writer.int16(code);
  writer.end();
}

/** Writes rows in the statement's format, each as a message. */
export function linesOf(writer: MessageWriter, copy: CopyStatement, shape: ResultShape, settings: TextSettings): Lines {
  if (copy.format === "binary") return binaryRows(writer, shape);
  const { outputs } = shape;
  const isCsv = copy.format === "csv";
  const fields = outputs.map((output) =>
    isCsv ? csvField(copy, output, settings) : textField(copy, output, settings),
  );
  const delimiter = copy.delimiter.charCodeAt(0);
  if (copy.header) writeHeader(writer, copy, outputs);
  const write: WriteRows = (batch, count) => {
    const columns = fieldsOf(batch, fields, writer);
    const { length } = columns;
    for (let r = 0; r < count; r++) {
      writer.begin(BACK.copyData);
      for (let c = 0; c < length; c++) {
        if (c > 0) writer.byte(delimiter);
        if (!columns[c]!(r)) writer.text(copy.nullText);
      }
      writer.byte(NEWLINE);
      writer.end();
    }
  };
  return { write, end() {} };
}

const NEWLINE = 0x0a;

/** FORCE_QUOTE is not about names. */
function writeHeader(writer: MessageWriter, copy: CopyStatement, outputs: readonly OutputColumn[]): void {
  const field = csvFieldWriter(copy satisfies CsvStyle);
  writer.begin(BACK.copyData);
  for (const [c, { name }] of outputs.entries()) {
    if (c > 0) writer.text(copy.delimiter);
    if (copy.format === "csv") writer.text(field(name));
    else writer.escapedText(name, copyEscapes(copy.delimiter));
  }
  writer.byte(NEWLINE);
  writer.end();
}

/** Whole numbers: their digits have nothing to escape, unless the format uses digits or the sign for itself. */
const NUMBERS: ReadonlySet<string> = new Set(["int2", "int4", "int8", "oid"]);
const PART_OF_NUMBERS = /[-\d]/;
const PART_OF_DECIMALS = /[-.\d]/;
const writeDecimal: FieldWriter["scaled"] = (writer, unscaled, scale) => writer.decimal(unscaled, scale);
const integerField: FieldWriter = { value: (writer, value) => writer.integer(value as number | bigint) };

function textField(copy: CopyStatement, { type }: OutputColumn, settings: TextSettings): FieldWriter {
  if (NUMBERS.has(type.name) && !PART_OF_NUMBERS.test(copy.delimiter)) return integerField;
  const escapes = copyEscapes(copy.delimiter);
  const value: ValueWriter = isText(type)
    ? (writer, text) => writer.escapedText(text as string, escapes)
    : (writer, other) => writer.escapedText(toText(type, other, settings.timeZone, settings.style), escapes);
  if (type.name === "numeric" && !PART_OF_DECIMALS.test(copy.delimiter)) return { value, scaled: writeDecimal };
  if (!isText(type)) return { value };
  const without = Uint8Array.from(escapes.keys()).filter((byte) => escapes[byte] !== 0);
  return {
    value,
    utf8: (writer, data, start, end) => writer.escapedUtf8(data, start, end, escapes),
    plainUtf8: { without, write: (writer, data, start, end) => writer.utf8(data, start, end) },
  };
}

function csvField(copy: CopyStatement, output: OutputColumn, settings: TextSettings): FieldWriter {
  const { type } = output;
  const { delimiter, quote, nullText } = copy;
  const isForced = isQuotedAlways(copy, output);
  const isPlain = !isForced && !PART_OF_NUMBERS.test(delimiter + quote + nullText);
  if (NUMBERS.has(type.name) && isPlain) return integerField;
  const field = csvText(copy, output);
  if (!isText(type)) {
    const isDecimal = type.name === "numeric" && !isForced && !PART_OF_DECIMALS.test(delimiter + quote + nullText);
    const write: ValueWriter = (writer, value) =>
      writer.text(field(toText(type, value, settings.timeZone, settings.style)));
    return isDecimal ? { value: write, scaled: writeDecimal } : { value: write };
  }
  const value: ValueWriter = (writer, text) => writer.text(field(text as string));
  if (isForced) return { value };
  const special = new Uint8Array(256);
  for (const character of `${delimiter}${quote}\n\r\\`) special[character.charCodeAt(0)] = 1;
  const nullBytes = Buffer.byteLength(nullText);
  const mayNeedQuotes = (data: Uint8Array, start: number, end: number): boolean => {
    if (end - start === nullBytes) return true;
    for (let i = start; i < end; i++) if (special[data[i]!] === 1) return true;
    return false;
  };
  return {
    value,
    utf8: (writer, data, start, end) => {
      if (mayNeedQuotes(data, start, end)) value(writer, textOfBytes(data, start, end, false));
      else writer.utf8(data, start, end);
    },
  };
}

function csvText(copy: CopyStatement, output: OutputColumn): (text: string) => string {
  if (!isQuotedAlways(copy, output)) return csvFieldWriter(copy satisfies CsvStyle);
  const { quote } = copy;
  const escaped = csvEscaper(copy satisfies CsvStyle);
  return (text) => quote + escaped(text) + quote;
}

function isQuotedAlways({ forceQuote }: CopyStatement, { name }: OutputColumn): boolean {
  return forceQuote === "*" || forceQuote.includes(name);
}

/** The signature goes with the first row's message, or with the trailer where there are no rows. */
function binaryRows(writer: MessageWriter, { outputs }: ResultShape): Lines {
  const fields = outputs.map(({ type }) => sizedField(type, binaryWriter(type), true));
  let isFirst = true;
  const begin = (): void => {
    writer.begin(BACK.copyData);
    if (isFirst) writer.bytes(SIGNATURE);
    isFirst = false;
  };
  const write: WriteRows = (batch, count) => {
    const columns = fieldsOf(batch, fields, writer);
    const { length } = columns;
    for (let r = 0; r < count; r++) {
      begin();
      writer.int16(length);
      for (let c = 0; c < length; c++) if (!columns[c]!(r)) writer.int32(-1);
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
