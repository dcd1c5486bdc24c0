/** Bytes of a text file to characters, without being told the encoding. Used by the parsers of textual kinds. */
import { DbError } from "../../protocol/errors.js";
import { FILE_CHARACTERS_MAX } from "../../protocol/limits.js";
import { looksBinary, utf16WithoutMark } from "./kind-of.js";

export interface DecodedText {
  readonly text: string;
  /** As the WHATWG Encoding standard names it. */
  readonly encoding: string;
}

/** Bytes of a start that tell UTF-16 without a mark, and text from something else. */
const SAMPLE_BYTES = 64 * 1024;

/**
 * By its byte order mark, else UTF-8, else `declared` (of HTML or MIME), else Windows-1252, which has a character for
 * nearly every byte. Throws DbError `file_corrupt` for what is no text, and `file_too_large` beyond
 * `FILE_CHARACTERS_MAX`.
 */
export function decodeText(bytes: Uint8Array, declared?: string | null): DecodedText {
  const marked = encodingByMark(bytes) ?? utf16WithoutMark(bytes);
  if (marked !== null) return decode(bytes, marked);
  if (looksBinary(bytes.subarray(0, SAMPLE_BYTES))) throw notText();
  try {
    return decode(bytes, "utf-8", true);
  } catch (error) {
    if (error instanceof DbError) throw error;
    return decode(bytes, supported(declared) ?? "windows-1252");
  }
}

function decode(bytes: Uint8Array, encoding: string, fatal = false): DecodedText {
  const text = new TextDecoder(encoding, { fatal }).decode(bytes);
  if (text.length > FILE_CHARACTERS_MAX) {
    throw new DbError(
      "file_too_large",
      `The file has ${text.length} characters; at most ${FILE_CHARACTERS_MAX} are read.`,
    );
  }
  return { text, encoding };
}

function encodingByMark(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return null;
}

/** The name that this runtime knows an encoding by; null when it does not. */
function supported(name: string | null | undefined): string | null {
  if (name === null || name === undefined) return null;
  try {
    return new TextDecoder(name.trim()).encoding;
  } catch {
    return null;
  }
}

function notText(): DbError {
  return new DbError("file_corrupt", "The file is named as text, but its content is binary.");
}
