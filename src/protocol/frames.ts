/**
 * The flat frames that cross between the gateway's thread and an actor's. All frames of one loop turn travel in one
 * transferred ArrayBuffer, back to back, little endian. Written and read by both sides; nothing else is shared.
 *
 * Long bodies and replies cross in pieces. Each side may send STREAM_WINDOW_BYTES beyond what the other has reported
 * as taken (TAKEN_CODE, REPLY_TAKEN), so neither ever holds more of one request than that.
 *
 *   request   0 u32 size of the whole frame      reply   0 u32 size of the whole frame
 *             4 u32 id (of the gateway)                  4 u32 id
 *             8 u16 endpoint code (or …_CODE)            8 u16 HTTP status
 *            10 u8  flags                               10 u8  flags
 *            11 u8  request id length                   11 u8  reserved
 *            12 u32 partition                           12 u32 headers length
 *            16 u32 tenant number                       16 headers ("name: value" lines, UTF-8), then the body
 *            20 u32 head length
 *            24 f64 deadline, ms since the epoch
 *            32 request id (ASCII), head (UTF-8), body
 *
 * The head holds fields that only some endpoints read (see RequestHead); it is decoded on demand.
 */
import { type RateLimit, rateLimitOf, rateLimitText } from "./identity.js";

export const CANCEL_CODE = 0xffff;
/** A further piece of a streamed body; the request's own frame had none. The last one has REQUEST_LAST_PIECE. */
export const PIECE_CODE = 0xfffe;
/** The number of bytes of a streamed reply that the gateway has handed over (in the place of the deadline). */
export const TAKEN_CODE = 0xfffd;
/** An endpoint that this program does not have: a node of another release sent it. */
export const UNKNOWN_CODE = 0xfffc;

export const REQUEST_HAS_BODY = 1;
export const REQUEST_BODY_MSGPACK = 2;
/** The client asked for MessagePack. */
export const REQUEST_WANTS_MSGPACK = 4;
/** The credential's permission is ReadOnly: nothing may be written, in any language. */
export const REQUEST_READ_ONLY = 8;

/** The head has an Idempotency-Key. */
export const REQUEST_IDEMPOTENT = 16;

/** The body follows in pieces (PIECE_CODE). */
export const REQUEST_STREAMED = 32;
/** Of a piece. */
export const REQUEST_LAST_PIECE = 64;
/** Of a request: what it reads may be stale (RequestHead.staleMs), so a copy of the partition may answer. */
export const REQUEST_STALE = 64;

/** The body is text in place of JSON (Endpoint.textBody). */
export const REQUEST_BODY_TEXT = 128;

export const REPLY_MSGPACK = 1;
/** The request's deadline passed or its client left while it ran; the gateway has answered already. */
export const REPLY_DISCARD = 2;
/** Not a reply: the number of further bytes of the streamed body that the actor has taken (u32, the body). */
export const REPLY_TAKEN = 4;
/**
 * A piece of a streamed reply; the one without it ends the reply. The first line of the first one's headers is the
 * Content-Type.
 */
export const REPLY_MORE = 8;
/** A streamed reply cannot be finished: the connection is cut, so that the client knows. */
export const REPLY_BROKEN = 16;
/**
 * No reply: the request's tenant has moved to another partition (decimal, the headers); the body is the request's own.
 * A second line of the headers says why a copy did not answer a read that may be stale.
 */
export const REPLY_MOVED = 32;

/** No reply, but word of a subscription; the status says which (LIVE). */
export const REPLY_LIVE = 64;

export const LIVE = {
  /** The request has become a subscription: it ends when its client leaves. */
  began: 1,
  /** It gets what the channel (decimal, the headers) gets from now on. */
  joined: 2,
  /**
   * The id is a channel's: the body is for all who joined it, who have seen the sequence (decimal, the headers) with
   * it.
   */
  published: 3,
} as const;

/** Bytes of one request's body, or of one reply, that may be on their way between the two threads. */
export const STREAM_WINDOW_BYTES = 1024 * 1024;

export const REQUEST_HEADER_BYTES = 32;
const REPLY_HEADER_BYTES = 16;
const SEPARATOR = "\u0000";
/** No name of a role has it (protocol/oidc.ts). */
const ROLE_SEPARATOR = "\u0001";
const SCRATCH_BYTES = 64 * 1024;
/** Scratch above this size is given back after a turn that needed it. */
const SCRATCH_KEEP_BYTES = 1 << 20;
const LARGE_TEXT_CHARS = 16 * 1024;

export interface RequestHead {
  readonly idempotencyKey: string;
  readonly remoteAddress: string;
  /** Path variables, decoded, in the order of the route's path. */
  readonly params: readonly string[];
  /** The raw query string, without `?`. */
  readonly query: string;
  readonly userId: string;
  readonly username: string;
  readonly tenantId: string;
  readonly keyId: string;
  readonly roles: readonly string[];
  /** As of an `Identity`. */
  readonly memberOf?: readonly string[];
  readonly claims?: string;
  readonly lead?: string;
  /** The tenant's own. */
  readonly rateLimit?: RateLimit;
  /**
   * Accept, Content-Type, Content-Encoding and the endpoint's own `headers`, each "" when absent; only of endpoints
   * that stream or have such.
   */
  readonly media: readonly string[];
  /** Of its tenant, which the request is about; "": the tenant itself. */
  readonly branch: string;
  /** The moment that the request reads: a time, or the number of a commit; "": now. */
  readonly asOf: string;
  /** What it reads may be that old when it arrives, in milliseconds; absent: it reads what there is now. */
  readonly staleMs?: number;
}

/** The caller's part of a head, made once per cached identity. What `encodePlace` makes may be appended. */
export function encodeCaller(
  userId: string,
  username: string,
  tenantId: string,
  keyId: string,
  roles: readonly string[],
  also: Pick<RequestHead, "memberOf" | "claims" | "lead"> & { readonly rateLimit?: RateLimit | null } = {},
): string {
  const { memberOf = [], claims = "", lead = "", rateLimit } = also;
  const own = memberOf.join(ROLE_SEPARATOR);
  const limit = rateLimit ? rateLimitText(rateLimit) : "";
  return [userId, username, tenantId, keyId, roles.join(","), own, claims, lead, limit, ""].join(SEPARATOR);
}

/**
 * `caller` comes from encodeCaller, `media` is three header values joined by "\n". No field may hold a NUL; the gateway
 * refuses such input before.
 */
export function encodeHead(
  caller: string,
  idempotencyKey: string,
  remoteAddress: string,
  query: string,
  params: readonly string[],
  media = "",
): string {
  let head = caller + SEPARATOR + idempotencyKey + SEPARATOR + remoteAddress + SEPARATOR + query + SEPARATOR + media;
  for (const param of params) head += SEPARATOR + param;
  return head;
}

let lastText = "";
let lastHead: RequestHead | null = null;

/** One caller's requests often come in a row with the same head; then it is decoded once. */
function decodeHead(text: string): RequestHead {
  if (lastHead === null || text !== lastText) {
    lastHead = parseHead(text);
    lastText = text;
  }
  return lastHead;
}

function parseHead(text: string): RequestHead {
  const fields = text.split(SEPARATOR);
  return {
    userId: fields[0]!,
    username: fields[1]!,
    tenantId: fields[2]!,
    keyId: fields[3]!,
    roles: fields[4] === "" ? [] : fields[4]!.split(","),
    ...(fields[5] === "" ? {} : { memberOf: fields[5]!.split(ROLE_SEPARATOR) }),
    ...(fields[6] === "" ? {} : { claims: fields[6]! }),
    ...(fields[7] === "" ? {} : { lead: fields[7]! }),
    ...(fields[8] === "" ? {} : { rateLimit: rateLimitOf(fields[8]!) }),
    ...placeOf(fields[9]!),
    idempotencyKey: fields[10]!,
    remoteAddress: fields[11]!,
    query: fields[12]!,
    media: fields[13] === "" ? [] : fields[13]!.split("\n"),
    params: fields.slice(14),
  };
}

/** Appended to the caller's part of a head: a branch and a moment, either "", or in its place how old that may be. */
export function encodePlace(branch: string, asOf: string, staleMs: number | null = null): string {
  if (staleMs !== null) return `${branch}@${STALE_MARK}${staleMs}`;
  return asOf === "" ? branch : `${branch}@${asOf}`;
}

/** No moment begins with it. */
const STALE_MARK = "~";

function placeOf(text: string): Pick<RequestHead, "branch" | "asOf" | "staleMs"> {
  const at = text.indexOf("@");
  if (at === -1) return { branch: text, asOf: "" };
  const branch = text.slice(0, at);
  if (text[at + 1] === STALE_MARK) return { branch, asOf: "", staleMs: Number(text.slice(at + 2)) };
  return { branch, asOf: text.slice(at + 1) };
}

/** Collects the frames of one turn in scratch memory that is reused; `take` copies them out, sized exactly. */
class FrameBuffer {
  protected scratch: Buffer = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  /** Of the same bytes: V8 makes one instruction of its calls, which it does not of Buffer's. */
  protected numbers = new DataView(this.scratch.buffer, this.scratch.byteOffset);
  protected length = 0;

  get empty(): boolean {
    return this.length === 0;
  }

  protected ensure(bytes: number): void {
    if (this.length + bytes <= this.scratch.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.scratch.length * 2, this.length + bytes));
    this.scratch.copy(grown, 0, 0, this.length);
    this.use(grown);
  }

  private use(scratch: Buffer): void {
    this.scratch = scratch;
    this.numbers = new DataView(scratch.buffer, scratch.byteOffset);
  }

  /** The frames since the last call, in an ArrayBuffer of their own that may be transferred. */
  take(): ArrayBuffer {
    const { scratch, length } = this;
    const out = scratch.buffer.slice(scratch.byteOffset, scratch.byteOffset + length) as ArrayBuffer;
    this.length = 0;
    if (scratch.length > SCRATCH_KEEP_BYTES) this.use(Buffer.allocUnsafeSlow(SCRATCH_BYTES));
    return out;
  }
}

export class RequestWriter extends FrameBuffer {
  /** `body` is copied, so the caller may reuse its memory at once. */
  request(
    id: number,
    code: number,
    flags: number,
    partition: number,
    tenant: number,
    deadlineMs: number,
    requestId: string,
    head: string,
    body: Uint8Array | null,
  ): void {
    const bodyBytes = body === null ? 0 : body.length;
    this.ensure(REQUEST_HEADER_BYTES + requestId.length + head.length * 3 + bodyBytes);
    const { scratch } = this;
    const start = this.length;
    let at = start + REQUEST_HEADER_BYTES;
    at += scratch.write(requestId, at, "latin1");
    const headBytes = scratch.write(head, at, "utf8");
    at += headBytes;
    if (body !== null) {
      scratch.set(body, at);
      at += bodyBytes;
    }
    const { numbers } = this;
    numbers.setUint32(start, at - start, true);
    numbers.setUint32(start + 4, id, true);
    numbers.setUint16(start + 8, code, true);
    scratch[start + 10] = body === null ? flags : flags | REQUEST_HAS_BODY;
    scratch[start + 11] = requestId.length;
    numbers.setUint32(start + 12, partition, true);
    numbers.setUint32(start + 16, tenant, true);
    numbers.setUint32(start + 20, headBytes, true);
    numbers.setFloat64(start + 24, deadlineMs, true);
    this.length = at;
  }

  /** Asks the actor to stop the request with that id; its reply, if any, carries REPLY_DISCARD. */
  cancel(id: number): void {
    this.request(id, CANCEL_CODE, 0, 0, 0, 0, "", "", null);
  }

  /** A further piece of that request's body. */
  piece(id: number, body: Uint8Array, isLast: boolean): void {
    this.request(id, PIECE_CODE, isLast ? REQUEST_LAST_PIECE : 0, 0, 0, 0, "", "", body);
  }

  /** The number of further bytes of that request's streamed reply that were handed over. */
  taken(id: number, bytes: number): void {
    this.request(id, TAKEN_CODE, 0, 0, 0, bytes, "", "", null);
  }
}

/** One request as an actor reads it. */
export type RequestFrame = Pick<FlatFrame, keyof FlatFrame>;

/** Inside a received buffer. Only valid while that buffer is alive, which the view sees to. */
class FlatFrame {
  readonly id: number;
  readonly code: number;
  readonly flags: number;
  readonly partition: number;
  readonly tenant: number;
  readonly deadlineMs: number;
  readonly requestId: string;
  private decoded: RequestHead | null = null;
  private readonly headStart: number;
  private readonly bodyStart: number;

  constructor(
    private readonly buffer: Buffer,
    numbers: DataView,
    start: number,
    private readonly end: number,
  ) {
    this.id = numbers.getUint32(start + 4, true);
    this.code = numbers.getUint16(start + 8, true);
    this.flags = buffer[start + 10]!;
    this.partition = numbers.getUint32(start + 12, true);
    this.tenant = numbers.getUint32(start + 16, true);
    this.deadlineMs = numbers.getFloat64(start + 24, true);
    this.headStart = start + REQUEST_HEADER_BYTES + buffer[start + 11]!;
    this.requestId = buffer.toString("latin1", start + REQUEST_HEADER_BYTES, this.headStart);
    this.bodyStart = this.headStart + numbers.getUint32(start + 20, true);
  }

  get head(): RequestHead {
    this.decoded ??= decodeHead(this.buffer.toString("utf8", this.headStart, this.bodyStart));
    return this.decoded;
  }

  get headText(): string {
    return this.buffer.toString("utf8", this.headStart, this.bodyStart);
  }

  get isIdempotent(): boolean {
    return (this.flags & REQUEST_IDEMPOTENT) !== 0;
  }

  get hasBody(): boolean {
    return (this.flags & REQUEST_HAS_BODY) !== 0;
  }

  get bodyText(): string {
    return this.buffer.toString("utf8", this.bodyStart, this.end);
  }

  get bodyBytes(): Buffer {
    return this.buffer.subarray(this.bodyStart, this.end);
  }
}

/** Of a request's frame by itself. */
export function bodyOf(frame: Uint8Array): Buffer {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.length);
  const start = REQUEST_HEADER_BYTES + bytes[11]! + bytes.readUInt32LE(20);
  return bytes.subarray(start);
}

/** Likewise. */
export function partitionOf(frame: Uint8Array): number {
  return new DataView(frame.buffer, frame.byteOffset).getUint32(12, true);
}

/** The requests of one received buffer, in order. */
export function readRequests(data: ArrayBuffer, each: (frame: RequestFrame) => void): void {
  const buffer = Buffer.from(data);
  const numbers = new DataView(data);
  let at = 0;
  while (at < buffer.length) {
    const end = at + numbers.getUint32(at, true);
    each(new FlatFrame(buffer, numbers, at, end));
    at = end;
  }
}

/** Where the frames of a buffer begin and end, and their ids. */
export function eachFrame(data: ArrayBuffer, each: (id: number, start: number, end: number) => void): void {
  const numbers = new DataView(data);
  let at = 0;
  while (at < data.byteLength) {
    const end = at + numbers.getUint32(at, true);
    each(numbers.getUint32(at + 4, true), at, end);
    at = end;
  }
}

/** Makes points in time of requests' frames relative to `byMs`: clocks of two machines differ. */
export function shiftDeadlines(data: ArrayBuffer, byMs: number): void {
  const numbers = new DataView(data);
  for (let at = 0; at < data.byteLength; at += numbers.getUint32(at, true)) {
    if (numbers.getUint16(at + 8, true) >= TAKEN_CODE) continue;
    numbers.setFloat64(at + 24, numbers.getFloat64(at + 24, true) + byMs, true);
  }
}

/** Takes the replies of requests that came to the actor's thread itself; the bytes are valid during the call only. */
export type ReplyTaker = (status: number, flags: number, headers: string, body: Uint8Array) => void;

export class ReplyWriter extends FrameBuffer {
  /** By the requests' ids: their replies do not go to the gateway. */
  readonly takers = new Map<number, ReplyTaker>();

  /** A reply whose body is text; `headers` are "name: value" lines joined by "\n", "" for none. */
  text(id: number, status: number, flags: number, headers: string, body: string): void {
    if (this.takers.has(id)) {
      this.bytes(id, status, flags, headers, Buffer.from(body));
      return;
    }
    // Three bytes a character is the most; counting them first pays only for what is large.
    const bodyBytes = body.length > LARGE_TEXT_CHARS ? Buffer.byteLength(body) : body.length * 3;
    this.ensure(REPLY_HEADER_BYTES + headers.length * 3 + bodyBytes);
    const at = this.length + REPLY_HEADER_BYTES + this.headers(headers);
    this.finish(id, status, flags, at + this.scratch.write(body, at, "utf8"));
  }

  bytes(id: number, status: number, flags: number, headers: string, body: Uint8Array): void {
    const taker = this.takers.size === 0 ? undefined : this.takers.get(id);
    if (taker !== undefined) {
      taker(status, flags, headers, body);
      return;
    }
    this.ensure(REPLY_HEADER_BYTES + headers.length * 3 + body.length);
    const at = this.length + REPLY_HEADER_BYTES + this.headers(headers);
    this.scratch.set(body, at);
    this.finish(id, status, flags, at + body.length);
  }

  /** The number of further bytes of that request's streamed body that were taken. */
  taken(id: number, count: number): void {
    const body = Buffer.allocUnsafe(4);
    body.writeUInt32LE(count);
    this.bytes(id, 0, REPLY_TAKEN, "", body);
  }

  private headers(headers: string): number {
    const bytes = headers === "" ? 0 : this.scratch.write(headers, this.length + REPLY_HEADER_BYTES, "utf8");
    this.numbers.setUint32(this.length + 12, bytes, true);
    return bytes;
  }

  private finish(id: number, status: number, flags: number, end: number): void {
    const { scratch, numbers, length: start } = this;
    numbers.setUint32(start, end - start, true);
    numbers.setUint32(start + 4, id, true);
    numbers.setUint16(start + 8, status, true);
    scratch[start + 10] = flags;
    scratch[start + 11] = 0;
    this.length = end;
  }
}

/** A header of answers that were kept by Idempotency-Key. */
export const REPLAYED = "Idempotency-Replayed: true";

export interface ReplyFrame {
  readonly id: number;
  readonly status: number;
  readonly flags: number;
  /** "name: value" lines joined by "\n"; "" for none. */
  readonly headers: string;
  /** A view into the received buffer, which the gateway frees when the frame has been read. */
  readonly body: Buffer;
}

export function readReplies(data: ArrayBuffer, each: (frame: ReplyFrame) => void): void {
  const buffer = Buffer.from(data);
  const numbers = new DataView(data);
  let at = 0;
  while (at < buffer.length) {
    const end = at + numbers.getUint32(at, true);
    const headerBytes = numbers.getUint32(at + 12, true);
    const headerStart = at + REPLY_HEADER_BYTES;
    each({
      id: numbers.getUint32(at + 4, true),
      status: numbers.getUint16(at + 8, true),
      flags: buffer[at + 10]!,
      headers: headerBytes === 0 ? "" : buffer.toString("utf8", headerStart, headerStart + headerBytes),
      body: buffer.subarray(headerStart + headerBytes, end),
    });
    at = end;
  }
}
