/**
 * The AsyncAPI 3.0 document of the WebSocket, generated once, for its first request. Clients' messages come from the
 * endpoints of the method MESSAGE and the gateway's own messages, the server's from their table. Called by gateway.ts;
 * pure.
 */
import type { Endpoint } from "../protocol/endpoint.js";
import { CLIENT_MESSAGES, SERVER_MESSAGES, type SocketMessage } from "../protocol/endpoints/socket-messages.js";

type Json = { readonly [key: string]: unknown };

const DESCRIPTION = [
  "Messages are JSON texts, or MessagePack: the subprotocol `msgpack` asks for it, and binary messages are answered in it.",
  "Many requests run at the same time; every answer has the `id` of its message.",
  "A browser gets a ticket from POST /v1/ws/ticket and connects to /ws?token=…; other clients send an Authorization header to /v1/ws.",
  "/ws/filesystem-collections/{id}/progress?token=… gives what `files.follow` gives, from its beginning on, and is asked for nothing.",
  "Close codes: 1001 the server ends, 1008 the credential, 1009 a message is too long, 1013 too many connections, 4408 the client does not read.",
].join(" ");

/** The document's text. `path`: the channel's; other endpoints are on other WebSockets. */
export function asyncApiDocument(endpoints: readonly Endpoint[], version: string, path = "/ws"): string {
  const ofActors = endpoints.filter((endpoint) => endpoint.path === path && endpoint.messages !== undefined);
  const client = [...ofActors.flatMap(messagesOf), ...CLIENT_MESSAGES.map(messageOf)];
  const server = SERVER_MESSAGES.map(messageOf);
  const security = Object.keys(SECURITY).map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
  const channel = { $ref: "#/channels/socket" };
  const refs = (list: readonly (readonly [string, Json])[]) =>
    list.map(([name]) => ({ $ref: `#/channels/socket/messages/${name}` }));
  const all = [...client, ...server];
  return JSON.stringify({
    asyncapi: "3.0.0",
    info: {
      title: "Tessera: the WebSocket",
      version,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    defaultContentType: "application/json",
    servers: { this: { host: "localhost:8080", protocol: "ws", description: "This server." } },
    channels: {
      socket: {
        address: path,
        messages: Object.fromEntries(all.map(([name]) => [name, { $ref: `#/components/messages/${name}` }])),
        bindings: { ws: { method: "GET", query: TOKEN_QUERY } },
      },
    },
    operations: {
      ask: { action: "receive", channel, summary: "What clients send.", security, messages: refs(client) },
      answer: { action: "send", channel, summary: "What the server sends.", security, messages: refs(server) },
    },
    components: { messages: Object.fromEntries(all), securitySchemes: SECURITY },
  });
}

const SECURITY = {
  ticket: { type: "httpApiKey", in: "query", name: "token", description: "A ticket, good once: /ws." },
  bearer: { type: "http", scheme: "bearer", description: "An access token or API key: /v1/ws." },
};

const TOKEN_QUERY = { type: "object", properties: { token: { type: "string", description: "A ticket." } } };

/** A type is a name in paths of references, where dots are fine and slashes are not. */
function messagesOf({ messages, body, summary }: Endpoint): (readonly [string, Json])[] {
  const properties = (body as unknown as { readonly properties: Json }).properties;
  return messages!.map((type) => {
    const payload = { ...(body as unknown as Json), properties: { ...properties, type: { const: type } } };
    const example = { type, id: 1, ...EXAMPLES[type] };
    return [`ask.${type}`, { name: type, summary, payload, examples: [{ payload: example }] }];
  });
}

const EXAMPLES: Readonly<Record<string, Json>> = {
  "sql.execute.stream": { sql: "SELECT * FROM orders WHERE total > $1", parameters: [10] },
  query: { sql: "SELECT 1" },
  subscribe: { collection: "orders", filter: { total: { $gt: 10 } } },
  "transaction.begin": { isolation_level: "serializable" },
  "transaction.commit": { transaction: "tx_0123456789abcdef" },
  "transaction.rollback": { transaction: "tx_0123456789abcdef" },
  "automl.follow": { job_id: "job_1" },
  "files.follow": { collection_id: "fsc_1" },
  send_message: { session_id: "s-1", message: "Hello" },
};

function messageOf({ type, summary, payload, example }: SocketMessage): readonly [string, Json] {
  const side = CLIENT_MESSAGES.some((message) => message.type === type) ? "ask" : "answer";
  return [`${side}.${type}`, { name: type, summary, payload, examples: [{ payload: example }] }];
}
