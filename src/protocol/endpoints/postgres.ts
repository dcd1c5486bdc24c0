/** What the server of PostgreSQL's protocol asks of actors. `session` is the number that the gateway gave the connection. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";

const shared = {
  method: "WIRE",
  path: "/{session}",
  tag: "postgres",
  access: "member",
  home: "tenant",
  params: Type.Object({ session: Type.String({ pattern: "^[0-9]{1,10}$" }) }),
  bytesBody: true,
} as const;

export const postgresEndpoints = [
  {
    name: "postgres.open",
    ...shared,
    summary: "Begin a session. The body is the start-up message's parameters; the answer is ParameterStatus messages.",
  },
  {
    name: "postgres.messages",
    ...shared,
    slow: true,
    summary: "Messages of the session's client, whole ones and in order. The answer is the messages for it.",
  },
  {
    name: "postgres.cancel",
    ...shared,
    summary: "Cancel the statement that the session runs.",
  },
  {
    name: "postgres.listen",
    ...shared,
    live: true,
    summary: "Take messages for the session's client at any time: what others notify.",
  },
  {
    name: "postgres.close",
    ...shared,
    summary: "End the session: its transaction is rolled back and its temporary relations go.",
  },
] as const satisfies readonly EndpointSpec[];
