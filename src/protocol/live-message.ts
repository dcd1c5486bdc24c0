/**
 * Messages that many subscribers get. The actor makes one for all of them, without the client's id; the gateway puts
 * each client's id in front. Called by both sides.
 *
 *   json     shared: `"type":…}`          whole: `{"id":…,` shared
 *   msgpack  shared: u8 fields, fields    whole: map of one field more, "id", its value, the fields
 *   sse      shared: the event; there is no id
 */
import { pack } from "msgpackr";

export type LiveFormat = "json" | "msgpack" | "sse";

const FIX_MAP = 0x80;
const MSGPACK_ID_KEY = Buffer.from(pack("id"));

/** `id` is JSON. */
export function messagePrefix(format: LiveFormat, id: string): Buffer {
  if (format === "json") return Buffer.from(`{"id":${id},`);
  return format === "sse" ? Buffer.alloc(0) : Buffer.concat([MSGPACK_ID_KEY, pack(JSON.parse(id))]);
}

/** `prefix` comes from messagePrefix. */
export function prefixedMessage(format: LiveFormat, prefix: Buffer, shared: Uint8Array): Uint8Array {
  if (format === "sse") return shared;
  if (format === "json") return Buffer.concat([prefix, shared]);
  return Buffer.concat([Buffer.of(FIX_MAP | (shared[0]! + 1)), prefix, shared.subarray(1)]);
}

export function wholeMessage(format: LiveFormat, id: string, shared: Uint8Array): Uint8Array {
  return prefixedMessage(format, messagePrefix(format, id), shared);
}
