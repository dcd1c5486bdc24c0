/**
 * Reads from a message's bytes what the gateway must know, its `type` (in JSON-RPC: `method`) and its `id`, without
 * parsing the rest: a message may be long, and the actor parses it anyway. Called for every message; pure.
 */

import { unpack } from "msgpackr";

/** What a message says of itself. */
export interface MessageName {
  /** "" when there is none. */
  readonly type: string;
  /** As JSON: a text, a whole number, or null when there is none. */
  readonly id: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const ID_BYTES_MAX = 1024;
/** The longest name that is looked for, in its quotes. */
const KEY_BYTES_MAX = 8;

/**
 * Null when the bytes are not a JSON object as far as they were read, which is until both fields were found: what
 * comes after is left to the actor. The first of several fields of one name counts.
 */
export function readMessageHead(bytes: Buffer, typeName: "type" | "method" = "type"): MessageName | null {
  let type: string | null = null;
  let id: string | null = null;
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return null;
  at = skipSpace(bytes, at + 1);
  while (bytes[at] !== CLOSE_BRACE) {
    const keyEnd = endOfValue(bytes, at);
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[at] !== QUOTE || bytes[colon] !== COLON) return null;
    const start = skipSpace(bytes, colon + 1);
    const end = endOfValue(bytes, start);
    const key = keyEnd - at > KEY_BYTES_MAX ? "" : bytes.toString("latin1", at + 1, keyEnd - 1);
    if (key === typeName) type ??= textOf(bytes, start, end);
    else if (key === "id") id ??= idOf(bytes, start, end);
    if (type !== null && id !== null) break;
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    else if (bytes[at] !== CLOSE_BRACE) return null;
  }
  return { type: type ?? "", id: id ?? "null" };
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at]! <= 0x20) at++;
  return at;
}

/** The position behind the value that begins at `from`, which need not be well-formed. */
function endOfValue(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfText(bytes, at);
        if (depth === 0) return at + 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth === 0) return at;
        if (--depth === 0) return at + 1;
        break;
      case COMMA:
      case COLON:
        if (depth === 0) return at;
        break;
    }
  }
  return bytes.length;
}

/** The position of the quote that ends the text. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function textOf(bytes: Buffer, start: number, end: number): string {
  const value = parsed(bytes, start, end);
  return typeof value === "string" ? value : "";
}

function idOf(bytes: Buffer, start: number, end: number): string | null {
  const value = end - start > ID_BYTES_MAX ? null : parsed(bytes, start, end);
  return typeof value === "string" || Number.isSafeInteger(value) ? JSON.stringify(value) : null;
}

function parsed(bytes: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", start, end));
  } catch {
    return undefined;
  }
}

/** The same of a message in MessagePack; null when it is no map. */
export function readPackedHead(bytes: Buffer): MessageName | null {
  let message: unknown;
  try {
    message = unpack(bytes);
  } catch {
    return null;
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) return null;
  const { type, id } = message as { readonly type?: unknown; readonly id?: unknown };
  const name = typeof id === "string" || Number.isSafeInteger(id) ? JSON.stringify(id) : "null";
  return { type: typeof type === "string" ? type : "", id: name.length <= ID_BYTES_MAX ? name : "null" };
}
