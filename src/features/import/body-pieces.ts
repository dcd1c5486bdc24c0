/** The bytes of an imported file as UTF-8: unzipped, transcoded and checked. Used by import-rows.ts. */
import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { TextDecoder } from "node:util";
import { createGunzip } from "node:zlib";
import type { BodySource } from "../../bodies/body-source.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { REQUEST_HEADER_BYTES } from "../../protocol/frames.js";
import { freeBuffer } from "../../protocol/free-buffer.js";
import { IMPORT_INFLATED_FREE_BYTES, IMPORT_INFLATION_MAX } from "../../protocol/limits.js";
import type { PieceBuffer } from "../../values/piece-buffer.js";

/**
 * Pieces of the body, unzipped when its Content-Encoding says so and in UTF-8 whatever its encoding. A piece is of use
 * until the one after the next is asked for.
 */
export function filePieces(body: BodySource, contentEncoding: string, encoding: string): AsyncIterable<Uint8Array> {
  const label = encoding.toLowerCase();
  const raw = unzipped(body, contentEncoding.trim().toLowerCase());
  if (label === "utf-8" || label === "utf8") return withoutMark(raw);
  return transcoded(raw, decoderOf(label));
}

function decoderOf(label: string): TextDecoder {
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    throw new DbError("invalid_request", `The encoding "${label}" is not known.`, { field: "encoding" });
  }
}

async function* pieces(body: BodySource): AsyncIterable<Uint8Array> {
  for (;;) {
    const next = body.next();
    const piece = next instanceof Promise ? await next : next;
    if (piece === null) return;
    yield piece;
  }
}

async function* unzipped(body: BodySource, encoding: string): AsyncIterable<Uint8Array> {
  const raw = pieces(body);
  if (encoding === "" || encoding === "identity") {
    yield* zippedOrNot(raw, body);
    return;
  }
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    throw new DbError("unsupported_media_type", `The Content-Encoding "${encoding}" is not known; send gzip or none.`);
  }
  yield* gunzipped(raw, body);
}

/** A file.gz that is sent as it is: no text begins so. */
async function* zippedOrNot(raw: AsyncIterable<Uint8Array>, body: BodySource): AsyncIterable<Uint8Array> {
  const [first, all] = await withFirst(raw);
  yield* first !== null && first[0] === 0x1f && first[1] === 0x8b ? gunzipped(all, body) : freed(all);
}

/** The memory of a piece that came by itself is given back when the next one has been read, too. */
async function* freed(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let last: ArrayBuffer | null = null;
  for await (const piece of pieces) {
    yield piece;
    if (last !== null) freeBuffer(last);
    last = ownMemory(piece);
  }
}

/** Null: there may be something else in it than the piece and the head of its frame. */
function ownMemory({ buffer, byteOffset, length }: Uint8Array): ArrayBuffer | null {
  const isWhole = byteOffset <= REQUEST_HEADER_BYTES && byteOffset + length === buffer.byteLength;
  return isWhole && buffer instanceof ArrayBuffer ? buffer : null;
}

async function* gunzipped(raw: AsyncIterable<Uint8Array>, body: BodySource): AsyncIterable<Uint8Array> {
  const source = Readable.from(raw, { objectMode: false });
  const gunzip = createGunzip({ chunkSize: 64 * 1024 });
  source.on("error", (error) => gunzip.destroy(error));
  try {
    let inflated = 0;
    for await (const piece of source.pipe(gunzip)) {
      inflated += (piece as Buffer).length;
      if (inflated > IMPORT_INFLATED_FREE_BYTES + body.bytes * IMPORT_INFLATION_MAX) throw inflatesTooMuch();
      yield piece as Buffer;
    }
  } catch (error) {
    if (error instanceof DbError) throw error;
    throw new DbError("invalid_request", `The body is not valid gzip: ${(error as Error).message}.`);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

/** The first piece, and all of them. */
async function withFirst(
  pieces: AsyncIterable<Uint8Array>,
): Promise<[first: Uint8Array | null, all: AsyncIterable<Uint8Array>]> {
  const { head, all } = await sampled(pieces, 2);
  return [head.length === 0 ? null : head, all];
}

/** The beginning of a file, up to the given number of bytes, and the whole file again. */
export async function sampled(
  pieces: AsyncIterable<Uint8Array>,
  bytes: number,
): Promise<{ readonly head: Uint8Array; readonly isWhole: boolean; readonly all: AsyncIterable<Uint8Array> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let length = 0;
  let isWhole = false;
  while (length < bytes && !isWhole) {
    const { value, done } = await iterator.next();
    if (done === true) isWhole = true;
    else {
      // What the source gives may be written over once it is asked for more.
      read.push(Uint8Array.from(value as Uint8Array));
      length += read.at(-1)!.length;
    }
  }
  return { head: Buffer.concat(read), isWhole, all: again(read, iterator) };
}

async function* again(read: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* read;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

function inflatesTooMuch(): DbError {
  return new DbError(
    "payload_too_large",
    `The body decompresses to more than ${IMPORT_INFLATION_MAX} times its size.`,
    {
      hint: "Send it without Content-Encoding.",
    },
  );
}

/** Without the byte order mark that some programs write. */
export async function* withoutMark(raw: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let first = true;
  for await (const piece of raw) {
    const isMarked = first && piece[0] === 0xef && piece[1] === 0xbb && piece[2] === 0xbf;
    first = false;
    yield isMarked ? piece.subarray(3) : piece;
  }
}

async function* transcoded(raw: AsyncIterable<Uint8Array>, decoder: TextDecoder): AsyncIterable<Uint8Array> {
  const decode = (piece?: Uint8Array): Buffer => {
    try {
      return Buffer.from(piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true }));
    } catch {
      throw sqlError("22021", `invalid byte sequence for encoding "${decoder.encoding}"`);
    }
  };
  for await (const piece of raw) yield decode(piece);
  yield decode();
}

/**
 * Checks the bytes that have come since the last time. Throws 22021 with the line when there is a NUL or what is not
 * UTF-8; a character that has not wholly arrived waits for its rest.
 */
export function checkText(reader: { readonly pieces: PieceBuffer; readonly unreadLine: number }, isEnd: boolean): void {
  const { fresh } = reader.pieces;
  const { bytes } = fresh;
  const whole = isEnd ? bytes : bytes.subarray(0, wholeCharacters(bytes));
  if (whole.indexOf(0) !== -1 || !isUtf8(whole)) throw textError(whole, fresh.lineFrom(reader.unreadLine));
  reader.pieces.checked(whole.length);
}

function textError(bytes: Buffer, line: number): DbError {
  let start = 0;
  for (let number = line; ; number++) {
    const found = bytes.indexOf(10, start);
    const end = found === -1 ? bytes.length : found;
    const text = bytes.subarray(start, end);
    if (found === -1 || text.includes(0) || !isUtf8(text)) {
      const what = text.includes(0) ? ": 0x00" : "";
      return sqlError("22021", `invalid byte sequence for encoding "UTF8"${what} at line ${number}`, { line: number });
    }
    start = end + 1;
  }
}

/** The length without an incomplete last character. */
function wholeCharacters(bytes: Buffer): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back]!;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? length - back : length;
    }
  }
  return length;
}
