/**
 * Answers in an encoding that the client accepts: br, gzip, and zstd where Node.js has it. zlib works on threads of its
 * own, so the gateway's goes on meanwhile. Streamed answers are encoded piece by piece, and each piece is flushed.
 * Exchanges ask; one per gateway, which also counts the bytes.
 */
import zlib from "node:zlib";
import { Counter, type Registry } from "prom-client";
import { type Outgoing, writeReply } from "./reply.js";

export type Encoding = "br" | "gzip" | "zstd";

/** Shorter answers are not worth it. */
const BYTES_MIN = 1024;
/** Output that zlib makes at a time: other work of its threads comes in between. */
const CHUNK_BYTES = 32 * 1024;
const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH } = zlib.constants;

/** Level 1 of both: br is then as fast as gzip, and smaller. A small window keeps the memory of a stream small. */
const BROTLI = { chunkSize: CHUNK_BYTES, params: { [BROTLI_PARAM_QUALITY]: 1, [BROTLI_PARAM_LGWIN]: 18 } };
const GZIP = { chunkSize: CHUNK_BYTES, level: 1 };

/** What newer versions of Node.js have. */
const { createZstdCompress } = zlib as { readonly createZstdCompress?: (options: object) => zlib.Gzip };

/** Of those that a client likes as much, the first. */
const ENCODINGS: readonly Encoding[] = createZstdCompress === undefined ? ["br", "gzip"] : ["br", "zstd", "gzip"];

/** Images and archives are small already; events are read one by one. */
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:json|msgpack|x-ndjson|x-msgpack-stream|vnd\.apache\.arrow))/;
const VARY = "Vary: Accept-Encoding";
/** Files may have been encoded when they were made. */
const ENCODED = /^Content-Encoding:/m;

/** The encoding that the header likes most (RFC 9110, section 12.5.3); null: none of ours. */
export function chosenEncoding(accepted: string): Encoding | null {
  if (accepted === "") return null;
  const qualities = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(",")) {
    const [name, ...parameters] = part.split(";").map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = weight === undefined ? 1 : Number(weight.slice(2));
    qualities.set(name === "x-gzip" ? "gzip" : name!, Number.isNaN(quality) ? 0 : quality);
  }
  const likes = (encoding: Encoding) => qualities.get(encoding) ?? qualities.get("*") ?? 0;
  const best = Math.max(...ENCODINGS.map(likes));
  return best > 0 ? ENCODINGS.find((encoding) => likes(encoding) === best)! : null;
}

/** Encodes one body, a piece after the other. */
export class BodyEncoder {
  private readonly stream: zlib.Gzip | zlib.BrotliCompress;
  private made: Uint8Array[] = [];
  /** Bytes that came in. */
  private taken = 0;

  constructor(
    readonly encoding: Encoding,
    private readonly count: (taken: number, given: number) => void,
    private readonly broken: () => void,
  ) {
    if (encoding === "br") this.stream = zlib.createBrotliCompress(BROTLI);
    else this.stream = encoding === "gzip" ? zlib.createGzip(GZIP) : createZstdCompress!({ chunkSize: CHUNK_BYTES });
    this.stream.on("data", (bytes: Uint8Array) => this.made.push(bytes));
    this.stream.on("error", this.broken);
  }

  /** `encoded` gets all that the client needs to read the piece, which is copied. */
  write(piece: Uint8Array, encoded: (bytes: Uint8Array) => void): void {
    this.taken += piece.length;
    const { stream, encoding } = this;
    stream.write(Buffer.from(piece));
    const done = (): void => encoded(this.take());
    if (encoding === "zstd") stream.flush(done);
    else stream.flush(encoding === "br" ? BROTLI_OPERATION_FLUSH : Z_SYNC_FLUSH, done);
  }

  end(piece: Uint8Array, encoded: (bytes: Uint8Array) => void): void {
    this.taken += piece.length;
    this.stream.once("end", () => encoded(this.take()));
    this.stream.end(Buffer.from(piece));
  }

  close(): void {
    this.stream.destroy();
  }

  private take(): Uint8Array {
    const { made } = this;
    this.made = [];
    const bytes = made.length === 1 ? made[0]! : Buffer.concat(made);
    this.count(this.taken, bytes.length);
    this.taken = 0;
    return bytes;
  }
}

/** An answer that may be encoded. */
export interface EncodedOutgoing extends Outgoing {
  /** Null: as it is. */
  readonly encoding: Encoding | null;
  /** The client has left. */
  readonly isGone: boolean;
}

export class Compression {
  private readonly taken = new Map<Encoding, number>();
  private readonly given = new Map<Encoding, number>();

  /** As `writeReply`; a body that is encoded first is written later, and `out.finished` is called then. */
  write(out: EncodedOutgoing, status: number, type: string, headers: string, body: Uint8Array | string): boolean {
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    if (length < BYTES_MIN || !COMPRESSIBLE.test(type)) return writeReply(out, status, type, headers, body);
    const varied = joined(headers, VARY);
    const { encoding } = out;
    const isReady = encoding === null || out.headOnly || ENCODED.test(headers);
    if (isReady) return writeReply(out, status, type, varied, body);
    const encoder = this.encoder(encoding, () => out.res.close());
    encoder.end(typeof body === "string" ? Buffer.from(body) : body, (bytes) => {
      if (out.isGone) return;
      if (writeReply(out, status, type, joined(varied, `Content-Encoding: ${encoding}`), bytes)) out.finished();
    });
    return false;
  }

  /** Of an answer in pieces: its headers, the first of which is the type, and what encodes the pieces. */
  ofStream(out: EncodedOutgoing, headers: string): { readonly headers: string; readonly encoder: BodyEncoder | null } {
    if (!COMPRESSIBLE.test(headers) || /\nContent-Encoding:/i.test(headers)) return { headers, encoder: null };
    const varied = `${headers}\n${VARY}`;
    if (out.encoding === null || out.headOnly) return { headers: varied, encoder: null };
    const encoder = this.encoder(out.encoding, () => out.res.close());
    return { headers: `${varied}\nContent-Encoding: ${out.encoding}`, encoder };
  }

  private encoder(encoding: Encoding, broken: () => void): BodyEncoder {
    const count = (taken: number, given: number): void => {
      this.taken.set(encoding, (this.taken.get(encoding) ?? 0) + taken);
      this.given.set(encoding, (this.given.get(encoding) ?? 0) + given);
    };
    return new BodyEncoder(encoding, count, broken);
  }

  register(registry: Registry): void {
    const counters = [
      ["tessera_http_compression_input_bytes_total", "Bytes of answers that were compressed.", this.taken],
      ["tessera_http_compression_output_bytes_total", "Bytes that they were compressed to.", this.given],
    ] as const;
    for (const [name, help, bytes] of counters) {
      new Counter({
        name,
        help,
        labelNames: ["encoding"],
        registers: [registry],
        collect() {
          this.reset();
          for (const [encoding, count] of bytes) this.inc({ encoding }, count);
        },
      });
    }
  }
}

const joined = (headers: string, line: string): string => (headers === "" ? line : `${headers}\n${line}`);
