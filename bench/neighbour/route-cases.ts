/**
 * Large bodies for every route that takes one: the example of the route with one kind of part made
 * large. A route without an example is an error.
 */

import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { addressOf, bytesOf, enlarger, WAYS } from "../../test/e2e/large-bodies.js";
import type { NeighbourCase } from "./cases.js";

/** Of a body in all; the server takes 16 MiB. */
const BODY_CHARACTERS = 12_000_000;

const JSON_TYPE = { "content-type": "application/json" };

export const ROUTE_CASES: readonly NeighbourCase[] = ENDPOINTS.flatMap((endpoint) => {
  const { name, method, body, example } = endpoint;
  if (body === undefined) return [];
  if (example === undefined) throw new Error(`the endpoint ${name} has no example`);
  const address = addressOf(endpoint);
  return Object.entries(WAYS).flatMap(([way, kind]): NeighbourCase[] => {
    const large = enlarger(example.body, kind, way === "many keys", BODY_CHARACTERS);
    if (large === null) return [];
    let bytes: Buffer = Buffer.alloc(0);
    return [
      {
        name: `route ${name}: ${way}`,
        prepare() {
          bytes = bytesOf(large());
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
