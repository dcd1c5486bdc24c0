/**
 * Large bodies for endpoints: the endpoint's example with one kind of part made large.
 */
import type { Endpoint } from "../../src/protocol/endpoint.js";
import type { TestServer } from "./server.js";
import { STORY } from "./story.js";

type Json = unknown;
/** Text in the body's JSON: what is nested too deeply for JSON.stringify. */
class RawJson {
  constructor(readonly text: string) {}
}

type Enlarge = (value: Json, size: number) => Json;

/** Each makes all parts of its kind large; `size`: characters for each. Undefined: the body has none of the kind. */
export const WAYS: Readonly<Record<string, { is(value: Json): boolean; readonly enlarge: Enlarge }>> = {
  "long texts": {
    is: (value) => typeof value === "string",
    enlarge: (value, size) => `${value} `.repeat(Math.ceil(size / ((value as string).length + 1))),
  },
  "many items": {
    is: (value) => Array.isArray(value) && value.length > 0,
    enlarge: (value, size) => {
      const items = value as Json[];
      const count = Math.ceil(size / Math.max(1, JSON.stringify(items).length));
      return Array.from({ length: count * items.length }, (_, i) => items[i % items.length]);
    },
  },
  "many keys": {
    is: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    enlarge: (value, size) => ({
      ...(value as object),
      ...Object.fromEntries(Array.from({ length: Math.ceil(size / 16) }, (_, i) => [`key${i}`, i])),
    }),
  },
  "deep nesting": {
    is: (value) => typeof value !== "object" || value === null,
    enlarge: (value, size) => {
      const levels = Math.ceil(size / 2);
      return new RawJson(`${"[".repeat(levels)}${JSON.stringify(value)}${"]".repeat(levels)}`);
    },
  },
};

/**
 * Makes the body with every part of the kind enlarged; null when there is none. The body itself counts only where
 * `atTop`.
 */
export function enlarger(
  body: Json,
  { is, enlarge }: (typeof WAYS)[string],
  atTop: boolean,
  characters: number,
): (() => Json) | null {
  let count = 0;
  const walk = (value: Json, isTop: boolean, change: (value: Json) => Json): Json => {
    if (is(value) && (atTop || !isTop)) {
      count++;
      return change(value);
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => walk(item, false, change));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, false, change)]));
  };
  walk(body, true, (value) => value);
  if (count === 0) return null;
  const size = characters / count;
  return () => walk(body, true, (value) => enlarge(value, size));
}

/** The body as it is sent. */
export function bytesOf(body: Json): Buffer {
  const raw: string[] = [];
  const text = JSON.stringify(body, (_, value: Json) => {
    if (!(value instanceof RawJson)) return value;
    raw.push(value.text);
    return `\u0000${raw.length - 1}`;
  });
  return Buffer.from(text.replaceAll(/"\\u0000(\d+)"/g, (_, place: string) => raw[Number(place)]!));
}

/** The address of the endpoint's example. */
export function addressOf({ path, example }: Pick<Endpoint, "path" | "example">): string {
  const query = example?.query === undefined ? "" : `?${new URLSearchParams(example.query)}`;
  const address = path.replaceAll(/\{(\w+)\}/g, (_, variable: string) => example?.params?.[variable] ?? "x");
  return address + query;
}

/** Makes what the examples are about; those that a tenant's user may not send make nothing. */
export async function sendExamples(server: TestServer, token: string): Promise<void> {
  for (const endpoint of STORY) {
    const { name, method, example, streamedBody: [type = "application/json"] = [] } = endpoint;
    if (!/provider|logout|password|mfa/.test(name))
      await server.call(method, addressOf(endpoint), example.body, { token, headers: { "content-type": type } });
  }
}
