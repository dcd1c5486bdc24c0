/**
 * What the server of Bolt asks of actors. As with PostgreSQL's protocol, the body begins with the number that the
 * gateway gave the connection (u32, little endian).
 */
import type { EndpointSpec } from "../endpoint.js";

const shared = {
  method: "WIRE",
  path: "/",
  tag: "bolt",
  access: "member",
  home: "tenant",
  bytesBody: true,
} as const;

export const boltEndpoints = [
  {
    name: "bolt.open",
    door: "none",
    ...shared,
    summary: "Begin a session. The body is JSON: the revision, whether moments are in UTC, the server's address.",
  },
  {
    name: "bolt.messages",
    door: "statements",
    ...shared,
    slow: true,
    summary:
      "Messages of the session's client, each after its length (u32, little endian). The answer is the messages for it.",
  },
  {
    name: "bolt.cancel",
    door: "none",
    ends: true,
    ...shared,
    summary:
      "The client has sent its n-th RESET (u32, little endian): what runs ends, and what is before it is ignored.",
  },
  {
    name: "bolt.close",
    door: "none",
    ends: true,
    ...shared,
    summary: "End the session: its transaction is rolled back.",
  },
] as const satisfies readonly EndpointSpec[];
