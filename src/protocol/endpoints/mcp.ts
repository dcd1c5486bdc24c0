/** The Model Context Protocol: JSON-RPC over HTTP. Its WebSocket is /mcp. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { AnyObject } from "./schemas.js";

const Message = Type.Object({
  jsonrpc: Type.Literal("2.0"),
  id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
  method: Type.String({
    description: "initialize, tools/list, tools/call, resources/list, resources/read, prompts/list, …",
  }),
  params: Type.Optional(AnyObject),
});

const tag = "mcp";
/** For revisions without a handshake, which are named there. */
const headers = ["mcp-protocol-version", "mcp-method", "mcp-name"];

export const mcpEndpoints = [
  {
    name: "mcp.call",
    door: "parts",
    method: "POST",
    path: "/v1/mcp",
    summary:
      "One message of the Model Context Protocol (2024-11-05 to 2025-11-25, and 2026-07-28). The answer is JSON-RPC, or a stream of events for calls that ask for progress; a notification is answered 202.",
    tag,
    access: "member",
    home: "tenant",
    keeps: "memory",
    jsonRpc: Message,
    example: {
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "query", arguments: { sql: "SELECT 1 AS one" } },
      },
    },
    headers,
    streamedReply: ["text/event-stream"],
  },
  {
    name: "mcp.batch",
    door: "parts",
    method: "POST",
    path: "/v1/mcp/batch",
    summary: "Several messages, processed in order. The answers come as an array.",
    tag,
    access: "member",
    home: "tenant",
    keeps: "memory",
    jsonRpc: Type.Array(Message, { minItems: 1 }),
    example: {
      body: [
        { jsonrpc: "2.0", id: 1, method: "tools/list" },
        { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "list_tables", arguments: {} } },
      ],
    },
    headers,
  },
  {
    name: "mcp.info",
    door: "none",
    method: "GET",
    path: "/v1/mcp/info",
    summary: "The revisions, transports and tools that the MCP server offers the caller.",
    tag,
    access: "member",
    home: "tenant",
    response: Type.Object({
      name: Type.String(),
      title: Type.String(),
      version: Type.String(),
      protocol_versions: Type.Array(Type.String()),
      transports: Type.Record(Type.String(), Type.String()),
      capabilities: AnyObject,
      tools: Type.Array(Type.String()),
    }),
  },
  {
    name: "mcp.bridge",
    door: "none",
    method: "GET",
    path: "/v1/mcp/bridge",
    summary:
      "A script for Node 18 and later, without dependencies, that speaks MCP on stdin and stdout and calls POST /v1/mcp. It reads SVC_URL and SVC_TOKEN, or SVC_USERNAME and SVC_PASSWORD.",
    tag,
    access: "member",
    home: "gateway",
  },
  {
    name: "mcp.connect",
    door: "whole",
    method: "GET",
    path: "/mcp",
    summary:
      "The same protocol over a WebSocket: /mcp?token=<token or API key>. A request without an upgrade gets 426.",
    tag,
    access: "public",
    home: "gateway",
    status: 101,
  },
  {
    name: "mcp.message",
    door: "parts",
    method: "MESSAGE",
    path: "/mcp",
    messages: [],
    summary: "A message of the Model Context Protocol. It has a method instead of a type.",
    tag,
    access: "member",
    home: "tenant",
    jsonRpc: Message,
  },
] as const satisfies readonly EndpointSpec[];
