/**
 * The bytes of an image, a sound or a video as a request has them: base64 in JSON, or fetched already. Read in task
 * threads, since it takes milliseconds; pure.
 */
import { DbError } from "../../protocol/errors.js";
import { MEDIA_BYTES_MAX } from "../../protocol/limits.js";

export interface MediaBytes {
  /** By which the request names it: messages begin with it. */
  readonly field: string;
  readonly content: string | Uint8Array;
}

/** Characters of base64 for the given number of bytes. */
export const MEDIA_BASE64_MAX = Math.ceil(MEDIA_BYTES_MAX / 3) * 4;

/** Throws invalid_request that says what is wrong. */
export function bytesOf({ field, content }: MediaBytes): Uint8Array {
  if (typeof content !== "string") return content;
  // Lines are what command-line tools make of base64.
  const text = /\s/.test(content) ? content.replaceAll(/[\r\n]+/g, "") : content;
  if (text === "") throw wrong(field, "is empty; expected base64");
  const stray = /[^A-Za-z0-9+/]/.exec(text.replace(/={1,2}$/, ""));
  if (stray !== null) throw wrong(field, `is not valid base64: unexpected ${JSON.stringify(stray[0])}`);
  if (text.length % 4 !== 0)
    throw wrong(field, "is not valid base64: its length is no multiple of 4; it may be cut off");
  const bytes = Buffer.from(text, "base64");
  if (bytes.length > MEDIA_BYTES_MAX) throw wrong(field, `is larger than ${MEDIA_BYTES_MAX} bytes`);
  return bytes;
}

/** What can be said at once, without reading all of it. */
export function checkBase64(field: string, text: string): void {
  if (/^\s*data:/i.test(text.slice(0, 100))) {
    throw wrong(field, 'send base64 alone, without the "data:…;base64," before it');
  }
  if (text.length > MEDIA_BASE64_MAX * 1.05) throw wrong(field, `is larger than ${MEDIA_BYTES_MAX} bytes`);
}

function wrong(field: string, what: string): DbError {
  return new DbError("invalid_request", `${field}: ${what}`, { field });
}

/** For a request's image, an error of the file (file_…) is an error of the request. */
export async function blamingRequest<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DbError) || !error.code.startsWith("file_")) throw error;
    throw wrong(field, error.message);
  }
}
