/**
 * Encodings of text besides UTF-8 (chapter 24.3): their names and numbers (pg_wchar.h), bytes read as text and text
 * written as bytes. The tables are those of TextDecoder, which reads bytes; here they are turned to write them, too.
 * Called by the functions of bytes and of the server.
 */
import { isUtf8 } from "node:buffer";
import { sqlError } from "../protocol/errors.js";

/** Names by number; and what TextDecoder calls those that it knows. */
const ENCODINGS: readonly (readonly [name: string, label?: string])[] = [
  ["SQL_ASCII"],
  ["EUC_JP", "euc-jp"],
  ["EUC_CN", "gb2312"],
  ["EUC_KR", "euc-kr"],
  ["EUC_TW"],
  ["EUC_JIS_2004"],
  ["UTF8"],
  ["MULE_INTERNAL"],
  ["LATIN1"],
  ["LATIN2", "iso-8859-2"],
  ["LATIN3", "iso-8859-3"],
  ["LATIN4", "iso-8859-4"],
  ["LATIN5", "iso-8859-9"],
  ["LATIN6", "iso-8859-10"],
  ["LATIN7", "iso-8859-13"],
  ["LATIN8", "iso-8859-14"],
  ["LATIN9", "iso-8859-15"],
  ["LATIN10"],
  ["WIN1256", "windows-1256"],
  ["WIN1258", "windows-1258"],
  ["WIN866", "ibm866"],
  ["WIN874", "windows-874"],
  ["KOI8R", "koi8-r"],
  ["WIN1251", "windows-1251"],
  ["WIN1252", "windows-1252"],
  ["ISO_8859_5", "iso-8859-5"],
  ["ISO_8859_6", "iso-8859-6"],
  ["ISO_8859_7", "iso-8859-7"],
  ["ISO_8859_8", "iso-8859-8"],
  ["WIN1250", "windows-1250"],
  ["WIN1253", "windows-1253"],
  ["WIN1254", "windows-1254"],
  ["WIN1255", "windows-1255"],
  ["WIN1257", "windows-1257"],
  ["KOI8U", "koi8-u"],
  ["SJIS", "shift_jis"],
  ["BIG5", "big5"],
  ["GBK", "gbk"],
  ["UHC"],
  ["GB18030"],
  ["JOHAB"],
  ["SHIFT_JIS_2004"],
];

const ALIASES: Readonly<Record<string, string>> = {
  abc: "WIN1258",
  alt: "WIN866",
  iso88591: "LATIN1",
  iso88592: "LATIN2",
  iso88593: "LATIN3",
  iso88594: "LATIN4",
  iso88599: "LATIN5",
  iso885910: "LATIN6",
  iso885913: "LATIN7",
  iso885914: "LATIN8",
  iso885915: "LATIN9",
  iso885916: "LATIN10",
  koi8: "KOI8R",
  mskanji: "SJIS",
  shiftjis: "SJIS",
  tcvn: "WIN1258",
  tcvn5712: "WIN1258",
  unicode: "UTF8",
  vscii: "WIN1258",
  win: "WIN1251",
  win932: "SJIS",
  win936: "GBK",
  win949: "UHC",
  win950: "BIG5",
};

const MULTI_BYTE = new Set(["EUC_JP", "EUC_CN", "EUC_KR", "SJIS", "BIG5", "GBK"]);

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** As pg_char_to_encoding has it; −1: there is none of the name. */
export function encodingNumber(name: string): number {
  const wanted = plain(name).replace(/^windows/, "win");
  const known = Object.hasOwn(ALIASES, wanted) ? plain(ALIASES[wanted]!) : wanted;
  return ENCODINGS.findIndex(([own]) => plain(own) === known);
}

export function encodingName(number: number): string {
  return ENCODINGS[number]?.[0] ?? "";
}

/** Throws 22023 for an unknown name, 0A000 for an encoding without tables; `side`: source or destination. */
function encodingOf(name: string, side: string): (typeof ENCODINGS)[number] {
  const found = ENCODINGS[encodingNumber(name)];
  if (found === undefined) throw sqlError("22023", `invalid ${side} encoding name "${name}"`);
  const [own, label] = found;
  if (label !== undefined || own === "UTF8" || own === "SQL_ASCII" || own === "LATIN1") return found;
  throw sqlError("0A000", `encoding ${own} is not supported`, {
    hint: `Supported: ${ENCODINGS.filter((each) => each[1] !== undefined).map(([each]) => each)}, LATIN1, UTF8.`,
  });
}

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => `0x${byte.toString(16).padStart(2, "0")}`).join(" ");

const invalidBytes = (encoding: string, bytes?: Uint8Array) =>
  sqlError("22021", `invalid byte sequence for encoding "${encoding}"${bytes === undefined ? "" : `: ${hex(bytes)}`}`);

const noEquivalent = (bytes: Uint8Array, from: string, to: string) =>
  sqlError(
    "22P05",
    `character with byte sequence ${hex(bytes)} in encoding "${from}" has no equivalent in encoding "${to}"`,
  );

/** Bytes of an encoding as text. Throws 22021, 22P05, 22023, 0A000. */
export function textFromEncoding(bytes: Uint8Array, encoding: string): string {
  const [name, label] = encodingOf(encoding, "source");
  if (bytes.includes(0)) throw invalidBytes(name, new Uint8Array(1));
  if (label === undefined) {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (name === "LATIN1") return buffer.toString("latin1");
    if (!isUtf8(bytes)) throw invalidUtf8(bytes);
    return buffer.toString();
  }
  if (!MULTI_BYTE.has(name)) return singleByteText(bytes, name, label);
  const text = plainControls(name, new TextDecoder(label).decode(bytes));
  if (text.includes("\ufffd") || (name.startsWith("EUC") && hasLowBytes(bytes))) throw invalidBytes(name);
  if (PRIVATE.test(text)) throw sqlError("22P05", `a character in encoding "${name}" has no equivalent in "UTF8"`);
  return text;
}

/** Where an encoding leaves room for users' characters, the decoder has characters for private use. */
const PRIVATE = /[\ue000-\uf8ff]/;

/** The decoder of Shift_JIS moves three controls in a circle, as IBM's machines did. */
function plainControls(name: string, text: string): string {
  if (name !== "SJIS") return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is meant.
  return text.replace(/[\x1a\x1c\x7f]/g, (control) => ({ "\x1a": "\x7f", "\x1c": "\x1a", "\x7f": "\x1c" })[control]!);
}

/** The decoders of EUC read more than it has: in its characters each byte has the highest bit set. */
function hasLowBytes(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < 0x80) continue;
    const more = byte === 0x8f ? 2 : 1;
    if (byte < 0xa1 && byte !== 0x8e && byte !== 0x8f) return true;
    for (let i = 1; i <= more; i++) if ((bytes[at + i] ?? 0) < 0xa1) return true;
    at += more;
  }
  return false;
}

function invalidUtf8(bytes: Uint8Array): Error {
  const text = Buffer.from(bytes).toString();
  let at = -1;
  for (;;) {
    at = text.indexOf("\ufffd", at + 1);
    const start = Buffer.byteLength(text.slice(0, at));
    // The replacement character may also stand there itself.
    if (Buffer.from(bytes.subarray(start, start + 3)).equals(REPLACEMENT)) continue;
    const first = bytes[start]!;
    const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return invalidBytes("UTF8", bytes.subarray(start, start + (first >= 0xf8 ? 1 : length)));
  }
}

const REPLACEMENT = Buffer.from("\ufffd");

// ---- Tables ----

interface Table {
  /** Of an encoding of single bytes: the character of each, 0 where there is none. */
  readonly characters: Uint16Array;
  /** By code unit, the two bytes or the one; 0 where there are none. */
  readonly bytes: Uint16Array;
}

const tables = new Map<string, Table>();

function tableOf(name: string, label: string): Table {
  const made = tables.get(name) ?? (MULTI_BYTE.has(name) ? doubleByteTable(name, label) : singleByteTable(name, label));
  tables.set(name, made);
  return made;
}

function singleByteTable(name: string, label: string): Table {
  const characters = new Uint16Array(256);
  const bytes = new Uint16Array(65_536);
  const decoded = new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  for (let byte = 1; byte < 256; byte++) {
    const character = characterOf(name, byte, decoded.charCodeAt(byte));
    characters[byte] = character;
    if (character !== 0) bytes[character] = byte;
  }
  return { characters, bytes };
}

/** Windows' encoding of the West between 0x80 and 0x9f, which some versions of Node.js read as controls. */
const WIN1252 = "\u20ac\0\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\0\u017d\0".concat(
  "\0\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\0\u017e\u0178",
);

/** Of ISO's encodings, 0x80 to 0x9f are controls; Windows' have none of these, which the decoder fills in. */
function characterOf(name: string, byte: number, decoded: number): number {
  const isHigh = byte >= 0x80 && byte <= 0x9f;
  if (isHigh && name === "LATIN5") return byte;
  if (isHigh && name === "WIN1252") return WIN1252.charCodeAt(byte - 0x80);
  if (name.startsWith("WIN") && decoded >= 0x80 && decoded <= 0x9f) return 0;
  return decoded === 0xfffd || PRIVATE.test(String.fromCharCode(decoded)) ? 0 : decoded;
}

/** All pairs are read at once, each with a line's end behind it. Of several pairs for a character the first counts. */
function doubleByteTable(name: string, label: string): Table {
  const pairs: number[] = [];
  const isEuc = name.startsWith("EUC");
  for (const lead of leadBytes(name)) {
    for (let trail = isEuc ? 0xa1 : 0x40; trail <= 0xfe; trail++) pairs.push(lead, trail, 10);
  }
  const bytes = new Uint16Array(65_536);
  for (let byte = 1; byte < 0x80; byte++) bytes[byte] = byte;
  if (name === "SJIS") for (let byte = 0xa1; byte <= 0xdf; byte++) bytes[0xff61 + byte - 0xa1] = byte;
  const lines = new TextDecoder(label).decode(Uint8Array.from(pairs)).split("\n");
  lines.forEach((line, i) => {
    const character = line.charCodeAt(0);
    if (line.length === 1 && character !== 0xfffd && bytes[character] === 0 && !PRIVATE.test(line)) {
      bytes[character] = (pairs[3 * i]! << 8) | pairs[3 * i + 1]!;
    }
  });
  return { characters: new Uint16Array(0), bytes };
}

/** In the order of preference: what NEC added comes behind IBM's characters, and what it chose of these not at all. */
function leadBytes(name: string): readonly number[] {
  const between = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
  if (name === "EUC_JP") return [0x8e, ...between(0xa1, 0xf4)];
  if (name.startsWith("EUC")) return between(0xa1, 0xfe);
  if (name !== "SJIS") return between(0x81, 0xfe);
  return [...between(0x81, 0x86), ...between(0x88, 0xec), ...between(0xef, 0xfe), 0x87];
}

function singleByteText(bytes: Uint8Array, name: string, label: string): string {
  const { characters } = tableOf(name, label);
  const units = Buffer.alloc(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    const character = characters[bytes[i]!]!;
    if (character === 0) throw noEquivalent(bytes.subarray(i, i + 1), name, "UTF8");
    units.writeUInt16LE(character, 2 * i);
  }
  return units.toString("utf16le");
}

/** Text as bytes of an encoding. Throws 22P05, 22023, 0A000. */
export function bytesInEncoding(text: string, encoding: string): Uint8Array {
  const [name, label] = encodingOf(encoding, "destination");
  if (name === "UTF8" || name === "SQL_ASCII") return new Uint8Array(Buffer.from(text));
  const table = label === undefined ? null : tableOf(name, label).bytes;
  const out = new Uint8Array(2 * text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const written = table === null ? (unit < 256 ? unit : 0) : table[unit]!;
    if (written === 0) throw noEquivalent(Buffer.from(String.fromCodePoint(text.codePointAt(i)!)), "UTF8", name);
    if (written > 255) out[length++] = written >> 8;
    out[length++] = written & 255;
  }
  return out.slice(0, length);
}
