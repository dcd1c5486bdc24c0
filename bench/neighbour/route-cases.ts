/**
 * Large bodies for every route that takes one: the example of the route (protocol/endpoints/examples.ts) with one kind of part made
 * large. A route without an example is an error.
 */

import { EXAMPLES } from "../../src/protocol/endpoints/examples.js";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import type { TestServer } from "../../test/e2e/server.js";
import type { NeighbourCase } from "./cases.js";

/** Of a body in all; the server takes 16 MiB. */
const BODY_CHARACTERS = 12_000_000;

const JSON_TYPE = { "content-type": "application/json" };

type Json = unknown;
type Enlarge = (value: Json, size: number) => Json;

/** Each makes all parts of its kind large; `size`: characters for each. Undefined: the body has none of the kind. */
const WAYS: Readonly<Record<string, { is(value: Json): boolean; readonly enlarge: Enlarge }>> = {
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
};

/** Makes the body with every part of the kind enlarged; null when there is none. The body itself counts only where `atTop`. */
function enlarger(body: Json, { is, enlarge }: (typeof WAYS)[string], atTop: boolean): (() => Json) | null {
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
  const size = BODY_CHARACTERS / count;
  return () => walk(body, true, (value) => enlarge(value, size));
}

export const ROUTE_CASES: readonly NeighbourCase[] = ENDPOINTS.flatMap(({ name, method, path, body }) => {
  if (body === undefined) return [];
  const example = EXAMPLES[name];
  if (example === undefined) throw new Error(`the endpoint ${name} has no example`);
  const address = path.replaceAll(/\{(\w+)\}/g, (_, variable: string) => example.params?.[variable] ?? "x");
  return Object.entries(WAYS).flatMap(([way, kind]): NeighbourCase[] => {
    const large = enlarger(example.body, kind, way === "many keys");
    if (large === null) return [];
    let bytes: Buffer = Buffer.alloc(0);
    return [
      {
        name: `route ${name}: ${way}`,
        prepare() {
          bytes = Buffer.from(JSON.stringify(large()));
        },
        run: (server, token) => {
          const body = bytes;
          bytes = Buffer.alloc(0);
          return server.call(method, address, body, { token, headers: JSON_TYPE });
        },
      },
    ];
  });
});

/** Makes what the examples are about; those that a tenant's user may not send make nothing. */
export async function sendExamples(server: TestServer, token: string): Promise<void> {
  for (const [name, { params, body }] of Object.entries(EXAMPLES)) {
    const { method, path } = ENDPOINTS.find((one) => one.name === name)!;
    const address = path.replaceAll(/\{(\w+)\}/g, (_, variable: string) => params?.[variable] ?? "x");
    if (!/provider|logout|password|mfa/.test(name)) await server.call(method, address, body, { token });
  }
}
