/** Reads streams and files of Arrow's IPC format as lines of JSON. Runs in task threads. */
import {
  type Data,
  type DataType,
  type Field,
  Message,
  MessageHeader,
  RecordBatchReader,
  RecordBatchStreamWriter,
  type Schema,
} from "apache-arrow";
import { Footer } from "apache-arrow/ipc/metadata/file";
import type { DictionaryBatch } from "apache-arrow/ipc/metadata/message";
import { DbError } from "../../protocol/errors.js";
import { arrowColumn } from "./arrow-values.js";
import type { FileShape, RowFile, RowPiece, RowPieceJob } from "./contract.js";
import { bytesAt, unreadable } from "./file-bytes.js";
import { Latest, linesOf, type ReadRows } from "./row-lines.js";

/** A message with its body. */
interface Place {
  readonly at: number;
  readonly length: number;
}

interface DictionaryPlace extends Place {
  readonly id: number;
  readonly isDelta: boolean;
}

interface ArrowFile {
  /** A file has one dictionary for each id, wherever it stands; a stream may replace it between batches. */
  readonly isFile: boolean;
  /** Its message. */
  readonly schema: Uint8Array;
  readonly fields: readonly Field[];
  /** Values of a dictionary have parts, which may stand in another dictionary. */
  readonly isNested: boolean;
  readonly dictionaries: readonly DictionaryPlace[];
  readonly batches: readonly (Place & { readonly rows: number })[];
}

type Head = Pick<ArrowFile, "schema" | "fields" | "isNested">;

const files = new Latest<ArrowFile>();
const parts = new Latest<ReadRows>();

const FILE_MAGIC = "ARROW1";
const FILE_HEAD_BYTES = 8;
const CONTINUATION = 0xffffffff;

/** Throws `invalid_request`. */
export async function describeArrow(file: RowFile): Promise<FileShape> {
  const { fields, batches } = await opened(file);
  const columns = fields.map((field) => ({ name: field.name, type: arrowColumn(field).type }));
  return { columns, rows: batches.reduce((sum, { rows }) => sum + rows, 0) };
}

/** Throws `invalid_request`. */
export async function arrowRows({ file, columns: names, from, rowsMax }: RowPieceJob): Promise<RowPiece> {
  const arrow = await opened(file);
  const { schema, fields, batches } = arrow;
  const batch = batches[from.part];
  if (batch === undefined) return { lines: new Uint8Array(0), rows: 0, next: null };
  const read = await parts.get(`${file.id} ${from.part} ${JSON.stringify(names)}`, () => {
    const bytes = [...dictionariesOf(arrow, batch), batch].map(({ at, length }) => bytesAt(file, at, length));
    return rowsOf(Buffer.concat([schema, ...bytes]), fields, names);
  });
  const next = from.part + 1 < batches.length ? { part: from.part + 1, row: 0 } : null;
  return linesOf(read, from.row, rowsMax, from.part, next);
}

/** Those that hold for a batch, in their order. */
function dictionariesOf({ isFile, isNested, dictionaries }: ArrowFile, batch: Place): readonly Place[] {
  if (isFile) return dictionaries;
  const before = dictionaries.filter(({ at }) => at < batch.at);
  if (isNested) return before;
  // Of a dictionary that is replaced again and again only the last one counts.
  const starts = new Map(before.filter(({ isDelta }) => !isDelta).map(({ id, at }) => [id, at]));
  return before.filter(({ id, at }) => at >= (starts.get(id) ?? 0));
}

function rowsOf(bytes: Uint8Array, fields: readonly Field[], names: readonly string[] | null): ReadRows {
  try {
    const [batch] = [...RecordBatchReader.from(bytes)];
    const wanted = names === null ? fields.map((_field, i) => i) : names.map((name) => placeOf(fields, name));
    const columns = wanted.map((i) => arrowColumn(fields[i]!).read(batch!.data.children[i] as Data<DataType>));
    return { first: 0, rows: batch!.numRows, columns };
  } catch (error) {
    throw unreadable("Arrow", error);
  }
}

const placeOf = (fields: readonly Field[], name: string): number => fields.findIndex((field) => field.name === name);

function opened(file: RowFile): Promise<ArrowFile> {
  return files.get(file.id, () => {
    try {
      return messagesOf(file);
    } catch (error) {
      throw unreadable("Arrow", error);
    }
  });
}

/** Where the messages are. A file has a stream in it, with a list of its messages at the end. */
function messagesOf(file: RowFile): ArrowFile {
  const { bytes: length } = file;
  const isFile =
    length > FILE_HEAD_BYTES && bytesAt(file, 0, FILE_HEAD_BYTES).toString("latin1").startsWith(FILE_MAGIC);
  const dictionaries: DictionaryPlace[] = [];
  const batches: (Place & { rows: number })[] = [];
  let head: Head | null = null;
  for (let at = isFile ? FILE_HEAD_BYTES : 0; at + 4 <= length; ) {
    const first = bytesAt(file, at, 4).readUInt32LE();
    const prefix = first === CONTINUATION ? 8 : 4;
    const headBytes = first === CONTINUATION ? bytesAt(file, at + 4, 4).readInt32LE() : first;
    if (headBytes === 0) break;
    if (headBytes < 0 || at + prefix + headBytes > length) throw new Error("a message is longer than the file");
    const message = Message.decode(bytesAt(file, at + prefix, headBytes));
    const bodyBytes = Number(message.bodyLength);
    const place = { at, length: prefix + headBytes + bodyBytes };
    if (bodyBytes < 0 || at + place.length > length) throw new Error("it ends within a batch");
    if (message.headerType === MessageHeader.Schema) {
      head = headOf(bytesAt(file, at, place.length), message.header() as unknown as Schema);
    } else if (message.headerType === MessageHeader.DictionaryBatch) {
      const { id, isDelta } = message.header() as unknown as DictionaryBatch;
      dictionaries.push({ ...place, id, isDelta });
    } else batches.push({ ...place, rows: Number((message.header() as unknown as { length: number }).length) });
    at += place.length;
  }
  if (head === null && isFile) head = schemaAtEnd(file, length);
  if (head === null) {
    throw new DbError("invalid_request", "The file is not readable as Arrow: it does not begin with a schema.", {
      hint: "Arrow's IPC format is meant: a stream, or a file that begins with ARROW1.",
    });
  }
  return { ...head, isFile, dictionaries, batches };
}

/** Some writers say the schema only at the end of a file, in front of its length and the magic. */
function schemaAtEnd(file: RowFile, length: number): Head {
  const tail = 4 + FILE_MAGIC.length;
  const footer = bytesAt(file, length - tail, 4).readInt32LE();
  if (footer <= 0 || footer + tail + FILE_HEAD_BYTES > length) throw new Error("its end is not complete");
  const end = bytesAt(file, length - tail - footer, footer);
  const { schema } = Footer.decode(end);
  const writer = new RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  return headOf(writer.toUint8Array(true).slice(), schema);
}

function headOf(message: Uint8Array, { fields, dictionaries }: Schema): Head {
  const isNested = [...dictionaries.values()].some(({ children }) => (children ?? []).length > 0);
  return { schema: message, fields, isNested };
}
