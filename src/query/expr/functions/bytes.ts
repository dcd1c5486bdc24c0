/**
 * Functions of binary strings (chapter 9.5): hashes, encodings, bytes and bits. What text has as well is in text.ts.
 */
import { createHash } from "node:crypto";
import { sqlError } from "../../../protocol/errors.js";
import { bytesInEncoding, textFromEncoding } from "../../../values/encodings.js";
import { BYTEA, INT4, INT8, TEXT } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { fn } from "./define.js";

const digest = (algorithm: string) => (data: Uint8Array | string) =>
  new Uint8Array(createHash(algorithm).update(data).digest());

const md5 = (data: Uint8Array | string) => createHash("md5").update(data).digest("hex");

const encodingError = (name: string) => sqlError("22023", `unrecognized encoding: "${name}"`);

function encode(bytes: Uint8Array, format: string): string {
  const buffer = Buffer.from(bytes);
  switch (format.toLowerCase()) {
    case "hex":
      return buffer.toString("hex");
    case "base64":
      return buffer.toString("base64").replace(/.{76}(?=.)/g, "$&\n");
    case "escape":
      return Array.from(bytes, (byte) => {
        if (byte === 92) return "\\\\";
        return byte === 0 || byte > 127 ? `\\${byte.toString(8).padStart(3, "0")}` : String.fromCharCode(byte);
      }).join("");
    default:
      throw encodingError(format);
  }
}

function decode(text: string, format: string): Uint8Array {
  switch (format.toLowerCase()) {
    case "hex": {
      const hex = text.replace(/\s/g, "");
      const wrong = /[^0-9a-f]/i.exec(hex);
      if (wrong !== null) throw sqlError("22023", `invalid hexadecimal digit: "${wrong[0]}"`);
      if (hex.length % 2 !== 0) throw sqlError("22023", "invalid hexadecimal data: odd number of digits");
      return new Uint8Array(Buffer.from(hex, "hex"));
    }
    case "base64": {
      const wrong = /[^A-Za-z0-9+/=\s]/.exec(text);
      if (wrong !== null) throw sqlError("22023", `invalid symbol "${wrong[0]}" found while decoding base64 sequence`);
      return new Uint8Array(Buffer.from(text, "base64"));
    }
    case "escape":
      // The escapes stand for bytes; all else is in UTF-8 already.
      return new Uint8Array(
        Buffer.from(
          Buffer.from(text)
            .toString("latin1")
            .replace(/\\(\\|[0-7]{3})/g, (_, code: string) =>
              code === "\\" ? "\\" : String.fromCharCode(Number.parseInt(code, 8)),
            ),
          "latin1",
        ),
      );
    default:
      throw encodingError(format);
  }
}

function checkedIndex(index: number | bigint, length: number): number {
  if (index < 0 || index >= length) {
    throw sqlError("2202E", `index ${index} out of valid range, 0..${length - 1}`);
  }
  return Number(index);
}

/** Bits are counted from the least significant one of the first byte. */
function getBit(bytes: Uint8Array, index: number | bigint): number {
  const bit = checkedIndex(index, bytes.length * 8);
  return ((bytes[bit >>> 3] as number) >>> (bit & 7)) & 1;
}

function setBit(bytes: Uint8Array, index: number | bigint, value: number): Uint8Array {
  const bit = checkedIndex(index, bytes.length * 8);
  if (value !== 0 && value !== 1) throw sqlError("22023", "new bit must be 0 or 1");
  const result = new Uint8Array(bytes);
  const mask = 1 << (bit & 7);
  const before = result[bit >>> 3] as number;
  result[bit >>> 3] = value === 1 ? before | mask : before & ~mask;
  return result;
}

function bitCount(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) for (let rest = byte; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Replaces `count` bytes (as many as are put in, by default) from the 1-based `start` on. */
function overlay(bytes: Uint8Array, put: Uint8Array, start: number, count: number = put.length): Uint8Array {
  if (start <= 0) throw sqlError("22011", "negative substring length not allowed");
  const tail = Math.max(start - 1 + count, 0);
  return new Uint8Array(
    Buffer.concat([bytes.subarray(0, start - 1), put, bytes.subarray(Math.min(tail, bytes.length))]),
  );
}

export const BYTES_FUNCTIONS: readonly ScalarFunction[] = [
  fn("md5", [TEXT], TEXT, md5),
  fn("md5", [BYTEA], TEXT, md5),
  ...["sha224", "sha256", "sha384", "sha512"].map((name) => fn(name, [BYTEA], BYTEA, digest(name))),
  fn("encode", [BYTEA, TEXT], TEXT, encode),
  fn("decode", [TEXT, TEXT], BYTEA, decode),
  fn("convert_from", [BYTEA, TEXT], TEXT, textFromEncoding),
  fn("convert_to", [TEXT, TEXT], BYTEA, bytesInEncoding),
  fn("convert", [BYTEA, TEXT, TEXT], BYTEA, (bytes: Uint8Array, from: string, to: string) =>
    bytesInEncoding(textFromEncoding(bytes, from), to),
  ),
  fn("get_byte", [BYTEA, INT4], INT4, (bytes: Uint8Array, index: number) => {
    if (index < 0 || index >= bytes.length) {
      throw sqlError("2202E", `index ${index} out of valid range, 0..${bytes.length - 1}`);
    }
    return bytes[index] as number;
  }),
  fn("set_byte", [BYTEA, INT4, INT4], BYTEA, (bytes: Uint8Array, index: number, value: number) => {
    if (index < 0 || index >= bytes.length) {
      throw sqlError("2202E", `index ${index} out of valid range, 0..${bytes.length - 1}`);
    }
    return bytes.with(index, value & 255);
  }),
  fn("get_bit", [BYTEA, INT8], INT4, getBit),
  fn("set_bit", [BYTEA, INT8, INT4], BYTEA, setBit),
  fn("bit_count", [BYTEA], INT8, bitCount),
  fn("overlay", [BYTEA, BYTEA, INT4], BYTEA, overlay),
  fn("overlay", [BYTEA, BYTEA, INT4, INT4], BYTEA, overlay),
  fn("unistr", [TEXT], TEXT, unistr),
];

const ESCAPE = /\\(?:\\|([0-9a-fA-F]{4})|\+([0-9a-fA-F]{6})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y;

/** Replaces \XXXX, \+XXXXXX, \uXXXX and \UXXXXXXXX by their characters. Throws 42601 and 22023. */
function unistr(text: string): string {
  let out = "";
  let high: number | null = null;
  const badPair = () => sqlError("42601", "invalid Unicode surrogate pair");
  for (let at = 0; at < text.length; ) {
    if (text[at] !== "\\") {
      if (high !== null) throw badPair();
      out += text[at++];
      continue;
    }
    ESCAPE.lastIndex = at;
    const match = ESCAPE.exec(text);
    if (match === null) {
      throw sqlError("42601", "invalid Unicode escape", {
        hint: "Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.",
      });
    }
    at = ESCAPE.lastIndex;
    const digits = match[1] ?? match[2] ?? match[3] ?? match[4];
    if (digits === undefined) {
      if (high !== null) throw badPair();
      out += "\\";
      continue;
    }
    const code = Number.parseInt(digits, 16);
    if (code === 0 || code > 0x10ffff) throw sqlError("22023", `invalid Unicode code point: ${digits}`);
    const low = code >= 0xdc00 && code <= 0xdfff;
    if (low !== (high !== null)) throw badPair();
    if (code >= 0xd800 && code <= 0xdbff) high = code;
    else {
      out += high === null ? String.fromCodePoint(code) : String.fromCharCode(high, code);
      high = null;
    }
  }
  if (high !== null) throw badPair();
  return out;
}
