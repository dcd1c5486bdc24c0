/**
 * What the server of PostgreSQL's protocol asks of actors. A body about a session begins with the number that the
 * gateway gave the connection (u32, little endian). The number is not in the head, so all frames of a caller have the
 * same head.
 */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { Strict } from "./schemas.js";

const shared = {
  method: "WIRE",
  path: "/",
  tag: "postgres",
  access: "member",
  home: "tenant",
  bytesBody: true,
} as const;

/** Bodies and answers are JSON. */
const signIn = { method: "WIRE", path: "/", tag: "postgres", access: "public", home: "directory" } as const;

export const postgresEndpoints = [
  {
    name: "postgres.open",
    door: "none",
    ...shared,
    summary: "Begin a session. The body is the start-up message's parameters; the answer is ParameterStatus messages.",
  },
  {
    name: "postgres.messages",
    door: "statements",
    ...shared,
    slow: true,
    summary: "Messages of the session's client, whole ones and in order. The answer is the messages for it.",
  },
  {
    name: "postgres.cancel",
    door: "none",
    ends: true,
    ...shared,
    summary: "Cancel the statement that the session runs.",
  },
  {
    name: "postgres.listen",
    door: "none",
    ...shared,
    live: true,
    summary: "Take messages for the session's client at any time: what others notify, and that the session was ended.",
  },
  {
    name: "postgres.lend",
    door: "none",
    ...shared,
    live: true,
    summary:
      "Take the session's connection: its descriptor (u32) and what was read of it. The answer comes when it is given back: whether the client has gone (u8) and what was read and not answered.",
  },
  {
    name: "postgres.recall",
    door: "none",
    ends: true,
    ...shared,
    summary: "Give the session's connection back when what runs on it has ended.",
  },
  {
    name: "postgres.close",
    door: "none",
    ends: true,
    ...shared,
    summary: "End the session: its transaction is rolled back and its temporary relations go.",
  },
  {
    name: "postgres.challenge",
    door: "none",
    ...signIn,
    summary: "What the user's client needs to prove the password by SCRAM-SHA-256; null: it has to send the password.",
    body: Strict({ username: Type.String() }),
  },
  {
    name: "postgres.login",
    door: "none",
    ...signIn,
    summary: "Exchange a proof of SCRAM-SHA-256 for an access token.",
    audited: true,
    body: Strict({ username: Type.String(), auth_message: Type.String(), proof: Type.String() }),
  },
] as const satisfies readonly EndpointSpec[];
