/** The documents of the interface: examples fit their schemas, references lead somewhere. */
import t from "tap";
import { Compile } from "typebox/compile";
import { asyncApiDocument } from "../../src/gateway/asyncapi.js";
import { exampleOf } from "../../src/gateway/schema-example.js";
import { CLIENT_MESSAGES, SERVER_MESSAGES } from "../../src/protocol/endpoints/socket-messages.js";
import { ENDPOINTS, MESSAGES } from "../../src/protocol/endpoints.js";

t.test("examples of routes fit their schemas", async (t) => {
  for (const { name, body, response } of ENDPOINTS) {
    for (const schema of [body, response]) {
      if (schema !== undefined) t.ok(Compile(schema).Check(exampleOf(schema)), name);
    }
  }
});

t.test("messages of the WebSocket fit their schemas", async (t) => {
  for (const { type, payload, example } of [...CLIENT_MESSAGES, ...SERVER_MESSAGES]) {
    t.ok(Compile(payload).Check(example), type);
  }
});

t.test("the AsyncAPI document names every message, and its references lead somewhere", async (t) => {
  const document = JSON.parse(asyncApiDocument(MESSAGES, "1.0.0"));
  const names = Object.values<{ name: string }>(document.components.messages).map(({ name }) => name);
  const served = MESSAGES.filter(({ path }) => path === "/ws").flatMap(({ messages }) => messages ?? []);
  for (const type of [...served, "ping", "cancel", "credit", "unsubscribe", "sql.rows", "change"]) {
    t.ok(names.includes(type), type);
  }
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, below] of Object.entries(value)) {
      if (key !== "$ref") {
        visit(below);
        continue;
      }
      const found = (below as string)
        .slice(2)
        .split("/")
        .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
      t.ok(found !== undefined, below as string);
    }
  };
  visit(document);
});
