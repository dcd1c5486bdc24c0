/**
 * The two body formats, JSON and MessagePack, in Accept and Content-Type headers (RFC 9110, sections 8.3 and 12.5.1).
 * Called by requests; pure. No package: each takes many times as long on the path of every request
 * (docs/decisions/packages-or-own-code.md).
 */
import type { Endpoint } from "../protocol/endpoint.js";

export type BodyFormat = "json" | "msgpack";

const JSON_TYPES = new Set(["application/json", "text/json"]);
const MSGPACK_TYPES = new Set(["application/msgpack", "application/x-msgpack", "application/vnd.msgpack"]);

/** The format of a body; null when it is neither. A body without a type is taken for JSON. */
export function bodyFormat(contentType: string): BodyFormat | null {
  if (contentType === "application/json" || contentType === "") return "json";
  const [type, ...parameters] = contentType.toLowerCase().split(";");
  const name = type!.trim();
  if (MSGPACK_TYPES.has(name)) return "msgpack";
  if (!JSON_TYPES.has(name)) return null;
  return parameters.every(isUtf8) ? "json" : null;
}

/** Whether a body is of one of the types, in UTF-8. */
export function isTextOf(contentType: string, types: readonly string[]): boolean {
  const [type, ...parameters] = contentType.toLowerCase().split(";");
  return types.includes(type!.trim()) && parameters.every(isUtf8);
}

/** JSON is UTF-8 (RFC 8259, section 8.1); another charset is refused instead of being read wrongly. */
function isUtf8(parameter: string): boolean {
  const [name, value = ""] = parameter.split("=");
  if (name!.trim() !== "charset") return true;
  return ["utf-8", "utf8", "us-ascii"].includes(value.trim().replaceAll('"', ""));
}

/** The format to answer in: the one with the higher quality, JSON when they are equal; null when neither is wanted. */
export function acceptedFormat(accept: string): BodyFormat | null {
  if (accept === "" || accept === "*/*" || accept === "application/json") return "json";
  if (accept === "application/msgpack") return "msgpack";
  const ranges = accept.toLowerCase().split(",").map(parseRange);
  const json = qualityOf(JSON_TYPES, ranges);
  const msgpack = qualityOf(MSGPACK_TYPES, ranges);
  if (json === 0 && msgpack === 0) return null;
  return msgpack > json ? "msgpack" : "json";
}

/** Whether a range such as image/* covers what the endpoint answers with, where that has no other form to choose. */
export function answersOnly({ response, streamedReply = [] }: Endpoint, accept: string): boolean {
  if (response !== undefined) return false;
  const ranges = accept.toLowerCase().split(",").map(parseRange);
  return streamedReply.some((type) => {
    const family = `${type.slice(0, type.indexOf("/"))}/*`;
    return ranges.some((range) => range.type === family && range.quality > 0);
  });
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

function parseRange(text: string): MediaRange {
  const [type, ...parameters] = text.split(";");
  const weight = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith("q="));
  const quality = weight === undefined ? 1 : Number.parseFloat(weight.slice(2));
  return { type: type!.trim(), quality: Number.isNaN(quality) ? 1 : quality };
}

/** The most specific range that covers the type decides. */
function qualityOf(types: ReadonlySet<string>, ranges: readonly MediaRange[]): number {
  const exact = ranges.filter(({ type }) => types.has(type));
  const family = ranges.filter(({ type }) => type === "application/*");
  const any = ranges.filter(({ type }) => type === "*/*");
  const deciding = [exact, family, any].find((some) => some.length > 0) ?? [];
  return Math.max(0, ...deciding.map(({ quality }) => quality));
}
