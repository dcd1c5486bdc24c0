/** Bytes of a text file to characters, without being told the encoding. Used by the parsers of textual kinds. */
import { DbError } from "../../protocol/errors.js";
import { looksBinary } from "./kind-of.js";

export interface DecodedText {
  readonly text: string;
  /** As the WHATWG Encoding standard names it. */
  readonly encoding: string;
}

/** Bytes of a start that tell UTF-16 without a mark, and text from something else. */
const SAMPLE_BYTES = 64 * 1024;

/**
 * By its byte order mark, else UTF-8, else `declared` (of HTML or MIME), else Windows-1252, which has a character for nearly
 * every byte. Throws DbError `file_corrupt` for what is no text.
 */
export function decodeText(bytes: Uint8Array, declared?: string | null): DecodedText {
  const marked = encodingByMark(bytes) ?? utf16WithoutMark(bytes);
  if (marked !== null) return decode(bytes, marked);
  if (looksBinary(bytes.subarray(0, SAMPLE_BYTES))) throw notText();
  try {
    return decode(bytes, "utf-8", true);
  } catch {
    return decode(bytes, supported(declared) ?? "windows-1252");
  }
}

function decode(bytes: Uint8Array, encoding: string, fatal = false): DecodedText {
  return { text: new TextDecoder(encoding, { fatal }).decode(bytes), encoding };
}

function encodingByMark(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return null;
}

/** Text of mostly Latin letters has a zero in every second byte. */
function utf16WithoutMark(bytes: Uint8Array): string | null {
  const sample = bytes.subarray(0, 1024);
  if (sample.length < 8) return null;
  let even = 0;
  let odd = 0;
  for (let at = 0; at + 1 < sample.length; at += 2) {
    if (sample[at] === 0) even++;
    if (sample[at + 1] === 0) odd++;
  }
  const pairs = sample.length >> 1;
  if (odd > pairs * 0.7 && even < pairs * 0.05) return "utf-16le";
  if (even > pairs * 0.7 && odd < pairs * 0.05) return "utf-16be";
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
