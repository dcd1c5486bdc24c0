/**
 * MessagePack, as the server writes it on a WebSocket: messages, and their rows by columns. Values are those of the
 * server's JSON: bytes, whole numbers that a number cannot hold, NaN and infinities are text. Pure.
 */

/** The values of a column, one for each row. */
export type ColumnValues = ArrayLike<unknown>;

/** What values of a type are made of: the type's name in SQL, or of a composite type those of its fields. */
export type BaseType = string | { readonly [field: string]: BaseType };

/** A column of numbers: the bytes of a typed array, little-endian. */
interface PackedNumbers {
  readonly dtype: "int32" | "int64" | "float32" | "float64" | "bool";
  readonly data: Uint8Array;
  /** A byte for each row: 1 where there is no value. */
  readonly nulls?: Uint8Array;
}

/** A message. Its columns are still as they were sent. */
export function unpacked(bytes: Uint8Array): unknown {
  const reader = new MessageReader(bytes);
  const value = reader.value();
  if (!reader.isAtEnd()) throw new Error("There are bytes behind the message.");
  return value;
}

/** The values of a column as it was sent. */
export function columnValues(sent: ColumnValues | PackedNumbers, type: BaseType): ColumnValues {
  if (!("dtype" in sent)) {
    const read = readerOf(type);
    return read === null ? sent : Array.from(sent, (value) => read(value));
  }
  const { dtype, data, nulls } = sent;
  const values = numbersOf(dtype, new DataView(data.buffer, data.byteOffset, data.byteLength));
  if (nulls === undefined) return values;
  return Array.from(nulls, (isNull, row) => (isNull === 1 ? null : values[row]));
}

function numbersOf(dtype: PackedNumbers["dtype"], view: DataView): ColumnValues {
  const { byteLength } = view;
  switch (dtype) {
    case "int32":
      return filled(byteLength / 4, (row) => view.getInt32(row * 4, true));
    case "int64":
      return filled(byteLength / 8, (row) => longOf(view, row * 8));
    case "float32":
      return filled(byteLength / 4, (row) => shortest(view.getFloat32(row * 4, true)));
    case "float64":
      return filled(byteLength / 8, (row) => plainDouble(view.getFloat64(row * 8, true)));
    case "bool":
      return filled(byteLength, (row) => view.getUint8(row) === 1);
  }
}

function filled<T>(length: number, value: (row: number) => T): T[] {
  const values = new Array<T>(length);
  for (let row = 0; row < length; row++) values[row] = value(row);
  return values;
}

const TWO_32 = 2 ** 32;

function longOf(view: DataView, at: number): number | string {
  const high = view.getInt32(at + 4, true);
  // Of so many bits a number holds all.
  if (high >= -0x20_0000 && high < 0x20_0000) {
    const number = high * TWO_32 + view.getUint32(at, true);
    if (Number.isSafeInteger(number)) return number;
  }
  return String(view.getBigInt64(at, true));
}

/** Makes of a value that came the one that JSON has. */
type Reader = (value: unknown) => unknown;

/** By the name of the type. Values of all others are the same; those of JSON may be larger than a number can be. */
const READERS: ReadonlyMap<string, Reader> = new Map([
  ["numeric", rounded],
  ["real", finite],
  ["double precision", finite],
  ["variant", finite],
  ["record", finite],
]);

/** null: the values are the same. */
function readerOf(type: BaseType): Reader | null {
  if (typeof type === "string") {
    const read = READERS.get(/^[a-z ]*/.exec(type)![0]);
    return read === undefined ? null : throughLists(read);
  }
  const fields = Object.entries(type).flatMap(([name, inner]) => {
    const read = readerOf(inner);
    return read === null ? [] : [{ name, read }];
  });
  if (fields.length === 0) return null;
  return throughLists((value) => {
    for (const { name, read } of fields) put(value as Members, name, read((value as Members)[name]));
    return value;
  });
}

function throughLists(read: Reader): Reader {
  const each: Reader = (value) => {
    if (value === null) return null;
    return Array.isArray(value) ? value.map(each) : read(value);
  };
  return each;
}

/** A `numeric` with more digits than a number has comes as text. Of JSON's, a whole one stays text. */
function rounded(value: unknown): unknown {
  return typeof value === "string" && /^-?\d+\./.test(value) ? Number(value) : value;
}

/** NaN and infinities, also in lists and maps, are text. */
function finite(value: unknown): unknown {
  if (typeof value === "number") return plainDouble(value);
  if (typeof value !== "object" || value === null) return value;
  const members = value as Members;
  for (const name of Object.keys(members)) {
    const plain = finite(members[name]);
    if (plain !== members[name]) put(members, name, plain);
  }
  return value;
}

/** JSON has no such numbers, and no zero below zero. */
const plainDouble = (value: number): number | string => (Number.isFinite(value) ? value + 0 : String(value));

/** Below it a number of single precision has fewer than six digits. */
const SIX_DIGITS_MIN = 1.2e-38;

/** The shortest decimal number that is this one in single precision. */
function shortest(value: number): number | string {
  if (!Number.isFinite(value)) return String(value);
  for (let digits = Math.abs(value) < SIX_DIGITS_MIN ? 1 : 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

function plainInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

const hex = (bytes: Uint8Array): string =>
  `\\x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;

/** Up to here a text that grows by characters is one piece of memory. */
const SHORT = 12;
/** Longer ones go to the decoder, which takes a while to begin. */
const MEDIUM = 64;
/** A text may begin with U+FEFF. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** The server takes JSON of 1024 levels; of a message some more. */
const DEPTH_MAX = 1_100;

class MessageReader {
  private at = 0;
  /** How many maps and lists the value lies in. */
  private maps = 0;
  private lists = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  value(): unknown {
    const code = this.unsigned(1);
    if (code < 0x80) return code;
    if (code >= 0xe0) return code - 0x100;
    if (code < 0x90) return this.map(code & 0x0f);
    if (code < 0xa0) return this.list(code & 0x0f);
    if (code < 0xc0) return this.text(code & 0x1f);
    const { view } = this;
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xca:
        return view.getFloat32(this.skip(4));
      case 0xcb:
        return view.getFloat64(this.skip(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.unsigned(1 << (code - 0xcc));
      case 0xcf:
        return plainInteger(view.getBigUint64(this.skip(8)));
      case 0xd0:
        return view.getInt8(this.skip(1));
      case 0xd1:
        return view.getInt16(this.skip(2));
      case 0xd2:
        return view.getInt32(this.skip(4));
      case 0xd3:
        return plainInteger(view.getBigInt64(this.skip(8)));
      default:
        return this.long(code);
    }
  }

  /** What has its length before it. */
  private long(code: number): unknown {
    switch (code) {
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.binary(this.unsigned(1 << (code - 0xc4)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.text(this.unsigned(1 << (code - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.list(this.unsigned(2 << (code - 0xdc)));
      case 0xde:
      case 0xdf:
        return this.map(this.unsigned(2 << (code - 0xde)));
      default:
        throw new Error(`The server sends no MessagePack of type ${code.toString(16)}.`);
    }
  }

  private skip(length: number): number {
    const { at } = this;
    if (at + length > this.bytes.length) throw new Error("The message is cut off.");
    this.at = at + length;
    return at;
  }

  private unsigned(length: number): number {
    const at = this.skip(length);
    if (length === 1) return this.bytes[at]!;
    return length === 2 ? this.view.getUint16(at) : this.view.getUint32(at);
  }

  /**
   * Bytes of a column of numbers, `{columns: [{data}]}`, as they are; those that are a value, or within one, as text.
   */
  private binary(length: number): Uint8Array | string {
    const at = this.skip(length);
    const bytes = this.bytes.subarray(at, at + length);
    return this.maps === 2 && this.lists === 1 ? bytes : hex(bytes);
  }

  private text(length: number): string {
    const { bytes } = this;
    const at = this.skip(length);
    const end = at + length;
    if (length > MEDIUM) return decoder.decode(bytes.subarray(at, end));
    for (let i = at; i < end; i++) if (bytes[i]! >= 0x80) return decoder.decode(bytes.subarray(at, end));
    if (length > SHORT) return String.fromCharCode.apply(null, bytes.subarray(at, end) as unknown as number[]);
    let text = "";
    let i = at;
    for (; i + 4 <= end; i += 4) text += String.fromCharCode(bytes[i]!, bytes[i + 1]!, bytes[i + 2]!, bytes[i + 3]!);
    for (; i < end; i++) text += String.fromCharCode(bytes[i]!);
    return text;
  }

  private checkDepth(): void {
    if (this.maps + this.lists > DEPTH_MAX) throw new Error(`The message is nested deeper than ${DEPTH_MAX} levels.`);
  }

  private list(length: number): unknown[] {
    const list: unknown[] = [];
    this.lists++;
    this.checkDepth();
    for (let i = 0; i < length; i++) list.push(this.value());
    this.lists--;
    return list;
  }

  private map(length: number): Members {
    const map: Members = {};
    this.maps++;
    this.checkDepth();
    for (let i = 0; i < length; i++) {
      const name = String(this.value());
      put(map, name, this.value());
    }
    this.maps--;
    return map;
  }
}

type Members = Record<string, unknown>;

function put(map: Members, name: string, value: unknown): void {
  // A plain assignment would set the object's prototype.
  if (name !== "__proto__") map[name] = value;
  else Object.defineProperty(map, name, { value, enumerable: true, configurable: true, writable: true });
}
