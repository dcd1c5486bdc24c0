/** Makes a reply's bytes: the envelope around a payload or an error, as JSON text or MessagePack. */
import { Packr } from "msgpackr";
import { mapHeader } from "../bodies/pack-in-turns.js";
import type { Endpoint } from "../protocol/endpoint.js";
import { type DbError, ERRORS } from "../protocol/errors.js";
import type { Answer } from "../session/answer.js";

// Answers may hold integers that no double holds, of a client's MessagePack or JSON: they are strings, as in results.
Object.defineProperty(BigInt.prototype, "toJSON", {
  value(this: bigint): string {
    return String(this);
  },
});

const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true, variableMapSize: true });

let stampMs = 0;
let stamp = "";

/** RFC 3339 with milliseconds; many replies of one millisecond share the text. */
function timestamp(): string {
  const now = Date.now();
  if (now !== stampMs) {
    stampMs = now;
    stamp = new Date(now).toISOString();
  }
  return stamp;
}

/** A request id needs no escaping: the gateway admits only letters, digits, dot, dash and underscore. */
export function metaJson(requestId: string, warnings: readonly string[] = NO_WARNINGS): string {
  const said = warnings.length === 0 ? "" : `,"warnings":${JSON.stringify(warnings)}`;
  return `"meta":{"request_id":"${requestId}","timestamp":"${timestamp()}"${said}}`;
}

const NO_WARNINGS: readonly string[] = [];

function metaOf(requestId: string, warnings: readonly string[]): object {
  const meta = { request_id: requestId, timestamp: timestamp() };
  return warnings.length === 0 ? meta : { ...meta, warnings };
}

/** `warnings`: of the request, for `meta`. */
export function envelopeJson(
  endpoint: Endpoint,
  answer: Answer,
  requestId: string,
  warnings: readonly string[] = NO_WARNINGS,
): string {
  const data = answer.json ?? JSON.stringify(answer.plain ?? null);
  const fields = endpoint.flat && data.startsWith("{") && data !== "{}" ? `,${data.slice(1, -1)}` : "";
  return `{"data":${data},${metaJson(requestId, warnings)}${fields}}`;
}

export function envelopeMsgpack(
  endpoint: Endpoint,
  answer: Answer,
  requestId: string,
  warnings: readonly string[] = NO_WARNINGS,
): Uint8Array {
  if (answer.packed !== undefined) return Buffer.concat(packedEnvelope(endpoint, answer.packed, requestId, warnings));
  const meta = metaOf(requestId, warnings);
  const data = answer.plain ?? (answer.json === undefined ? null : JSON.parse(answer.json));
  return packr.pack(endpoint.flat ? { data, meta, ...data } : { data, meta });
}

/** The envelope around a payload that is packed already, in pieces. */
export function packedEnvelope(
  endpoint: Endpoint,
  { bytes, members }: NonNullable<Answer["packed"]>,
  requestId: string,
  warnings: readonly string[] = NO_WARNINGS,
): Uint8Array[] {
  const meta = metaOf(requestId, warnings);
  const flat = endpoint.flat && members !== null ? members : { count: 0, bytes: [] };
  const start = [mapHeader(2 + flat.count), packr.pack("data")];
  return [...start, ...bytes, packr.pack("meta"), packr.pack(meta), ...flat.bytes];
}

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: object;
}

export function errorBody(error: DbError): ErrorBody {
  const { code, message, details } = error;
  return details === undefined ? { code, message } : { code, message, details };
}

export function errorJson(error: DbError, requestId: string): string {
  return `{"error":${JSON.stringify(errorBody(error))},${metaJson(requestId)}}`;
}

/** The same in JSON-RPC; `id` is JSON, null if it is no longer known. */
export function rpcErrorJson({ code, message, details }: DbError, id: string): string {
  const error = JSON.stringify({ code: -32603, message, data: { code, ...details } });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

/** The same as a message on a WebSocket; `id` is JSON: the client's name for the request that failed. */
export function messageErrorJson(error: DbError, id: string, requestId: string): string {
  const fields = JSON.stringify({ ...errorBody(error), request_id: requestId });
  return `{"type":"error","id":${id},${fields.slice(1)}`;
}

/** A message on a WebSocket in the format that the client reads. */
export function messageBytes({ wantsMsgpack }: { readonly wantsMsgpack: boolean }, json: string): Uint8Array {
  return wantsMsgpack ? packedMessage(json) : Buffer.from(json);
}

/** A message on a WebSocket in MessagePack, of its JSON. */
export function packedMessage(json: string): Uint8Array {
  return new Uint8Array(packr.pack(JSON.parse(json)));
}

export function errorMsgpack(error: DbError, requestId: string): Uint8Array {
  return packr.pack({ error: errorBody(error), meta: { request_id: requestId, timestamp: timestamp() } });
}

/** 429 and 503 say when to come back: the seconds that the error names, else one. */
export function errorHeaders(error: DbError): string {
  if (!ERRORS[error.code].retry || (error.status !== 429 && error.status !== 503)) return "";
  const seconds = error.details?.retry_after_seconds;
  return `Retry-After: ${typeof seconds === "number" ? Math.max(1, Math.ceil(seconds)) : 1}`;
}

/** Headers of an answer, with how old it may be where it was asked for one that may be stale. */
export function withAge({ staleMs }: { readonly staleMs: number | null }, headers: string): string {
  if (staleMs === null) return headers;
  const age = `X-Tessera-Stale-Ms: ${staleMs}`;
  return headers === "" ? age : `${headers}\n${age}`;
}
