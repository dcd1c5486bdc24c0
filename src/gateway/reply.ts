/**
 * Writes replies: status line, headers and body, inside one cork, so that a small reply is one system call. The rest
 * of a body that the socket does not take at once follows as the client reads. Called by requests. It holds only what
 * is being written at this moment, which spares the hot path a closure.
 */

import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import { Packr } from "msgpackr";
import { ERRORS, type ErrorCode, type ErrorDetails } from "../protocol/errors.js";
import { endLingering } from "./lingering.js";

/** Above this size a body is streamed instead of being handed over whole, which would copy what the socket refuses. */
const WHOLE_BYTES_MAX = 16 * 1024;

export const JSON_TYPE = "application/json";
export const MSGPACK_TYPE = "application/msgpack";

const NO_SNIFFING = "X-Content-Type-Options: nosniff";

const packr = new Packr({ useRecords: false });

/** What of a request shapes every reply to it. */
export interface Outgoing {
  readonly res: HttpResponse;
  readonly requestId: string;
  /** "": it is not traced. */
  readonly traceparent: string;
  /** Whole tokens left, and whole seconds until the bucket is full; -1 when no limit applies. */
  readonly rateRemaining: number;
  readonly rateResetSeconds: number;
  /** "name: value" lines, "" when the request is not cross-origin. */
  readonly corsHeaders: string;
  /** The answer to HEAD: everything but the body. */
  readonly headOnly: boolean;
  readonly noStore: boolean;
  readonly closeAfter: boolean;
  /** The client still sends the request's body, and may finish. */
  readonly isBodyComing: boolean;
  /**
   * The client asked for the connection's end, which uWebSockets.js sees to but does not say (RFC 9112, section 9.6).
   */
  readonly clientCloses: boolean;
  /** The last byte of a streamed body has been handed over. */
  finished(): void;
}

const STATUS_LINES: readonly string[] = Array.from({ length: 600 }, (_, code) => `${code} ${reasonOf(code)}`);

function reasonOf(code: number): string {
  return code === 499 ? "Client Closed Request" : (STATUS_CODES[code] ?? "Unknown");
}

let writing: Outgoing;
let writingStatus = 200;
let writingType = "";
let writingHeaders = "";
let writingBody: Uint8Array | string = "";
let complete = false;

/**
 * Writes a whole reply; `headers` are "name: value" lines joined by "\n". False when the body is too much for the
 * socket: then `finished` is called when the client has taken it.
 */
export function writeReply(
  out: Outgoing,
  status: number,
  type: string,
  headers: string,
  body: Uint8Array | string,
): boolean {
  writing = out;
  writingStatus = status;
  writingType = type;
  writingHeaders = headers;
  writingBody = body;
  out.res.cork(writeCorked);
  return complete;
}

/**
 * Status line and headers of a reply whose body comes in pieces, `first` the first of them. The first line of
 * `headers` is the Content-Type.
 */
export function beginReply(out: Outgoing, status: number, headers: string, first: () => void): void {
  const end = headers.indexOf("\n");
  writing = out;
  writingStatus = status;
  writingType = end === -1 ? headers : headers.slice(0, end);
  // What comes in pieces is a file, an export or events: it is what its type says, and no browser shall guess.
  writingHeaders = NO_SNIFFING + (end === -1 ? "" : headers.slice(end));
  out.res.cork(() => {
    writeHead();
    first();
    if (out.headOnly) endWithoutBody(out.res, out.closeAfter);
  });
}

/** The last piece of such a reply. */
export function endReply({ res, closeAfter }: Outgoing, piece: Uint8Array): void {
  res.cork(() => res.end(piece, closeAfter));
}

function writeCorked(): void {
  complete = true;
  writeHead();
  writeBody(writing.res);
}

/**
 * The status line and all headers but the length, handed over as the status: uWebSockets.js writes that as it is, and a
 * call for each header costs more than all else here.
 */
function writeHead(): void {
  const { requestId, traceparent, rateRemaining, rateResetSeconds, corsHeaders } = writing;
  let head = STATUS_LINES[writingStatus]!;
  if (writingStatus !== 204) head += `\r\nContent-Type: ${writingType}`;
  head += `\r\nX-Request-Id: ${requestId}`;
  if (traceparent !== "") head += `\r\nTraceparent: ${traceparent}`;
  if (rateRemaining >= 0)
    head += `\r\nX-RateLimit-Remaining: ${rateRemaining}\r\nX-RateLimit-Reset: ${rateResetSeconds}`;
  if (writing.clientCloses) head += "\r\nConnection: close";
  if (writing.noStore) head += "\r\nCache-Control: no-store";
  if (writingHeaders !== "") head += headerLines(writingHeaders);
  if (corsHeaders !== "") head += headerLines(corsHeaders);
  writing.res.writeStatus(head);
}

function writeBody(res: HttpResponse): void {
  const { headOnly, closeAfter } = writing;
  if (writingStatus === 204 || writingStatus === 304) endWithoutBody(res, closeAfter);
  else if (headOnly) {
    const length = typeof writingBody === "string" ? Buffer.byteLength(writingBody) : writingBody.length;
    res.writeHeader("Content-Length", String(length));
    endWithoutBody(res, closeAfter);
  } else if (closeAfter && writing.isBodyComing) endLingering(res, writingBody);
  else if (typeof writingBody === "string" || writingBody.length <= WHOLE_BYTES_MAX) res.end(writingBody, closeAfter);
  else stream(writing, writingBody);
}

/**
 * Without arguments: with a length uWebSockets.js leaves the reply unfinished, with `undefined` it writes a wild one.
 */
function endWithoutBody(res: HttpResponse, closeAfter: boolean): void {
  if (closeAfter && !writing.clientCloses) res.writeHeader("Connection", "close");
  res.endWithoutBody();
}

function stream(out: Outgoing, whole: Uint8Array): void {
  const { res } = out;
  const [taken, done] = res.tryEnd(whole, whole.length);
  if (taken || done) return;
  complete = false;
  // What was received is freed when this call ends.
  const body = new Uint8Array(whole);
  res.onWritable((offset) => {
    const [takenNow, doneNow] = res.tryEnd(body.subarray(offset), body.length);
    if (doneNow) out.finished();
    return takenNow;
  });
}

/** Each line after the end of the one before. No line has a carriage return in it. */
function headerLines(lines: string): string {
  return `\r\n${lines.replaceAll("\r", "").replaceAll("\n", "\r\n")}`;
}

/** The body of an error that the gateway itself reports. */
export function errorBody(
  code: ErrorCode,
  message: string,
  details: ErrorDetails | undefined,
  requestId: string,
  wallMs: number,
  msgpack: boolean,
): Uint8Array | string {
  const error = details === undefined ? { code, message } : { code, message, details };
  const body = { error, meta: { request_id: requestId, timestamp: new Date(wallMs).toISOString() } };
  return msgpack ? packr.pack(body) : JSON.stringify(body);
}

/** Replies that are worth repeating say when, in whole seconds. */
export function retryAfter(code: ErrorCode, seconds: number): string {
  const { status, retry } = ERRORS[code];
  return retry && (status === 429 || status === 503) ? `Retry-After: ${Math.max(1, Math.ceil(seconds))}` : "";
}
