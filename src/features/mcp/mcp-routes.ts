/**
 * /v1/mcp… and messages on /mcp: the Model Context Protocol. Answers are JSON-RPC, without the envelope of other
 * routes.
 */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { parseJsonBody } from "../../bodies/parse-body.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { MCP_BATCH_MAX } from "../../protocol/limits.js";
import type { Answer } from "../../session/answer.js";
import { toolsFor } from "../tools/toolbox.js";
import { answerMessage } from "./exchange.js";
import { errorText, RPC_ERROR, RpcError } from "./json-rpc.js";
import { SERVER_INFO } from "./methods.js";
import { eventFrame, ProgressStream, socketFrame } from "./progress-stream.js";
import { type McpHeaders, NEGOTIATED_REVISIONS, STATELESS_REVISIONS } from "./revision.js";

export const mcpHandlers = {
  "mcp.call": (request, { body }) => call(request, body),
  "mcp.message": (request, { body }) => callOnSocket(request, body),
  "mcp.batch": (request, { body }) => callAll(request, body),
  "mcp.info": (request) => ({ plain: describeServer(request) }),
} satisfies Handlers;

/** In the order that the endpoint names them. */
function headersOf({ head }: Request): McpHeaders {
  const [accept = "", , , version = "", method = "", name = ""] = head.media;
  return { accept, version, method, name };
}

/** What was sent; `failed` answers what is not even JSON. */
type Parsed = { readonly value: unknown; readonly failed: null } | { readonly failed: Answer };

async function parse(request: Request, body: Buffer): Promise<Parsed> {
  try {
    return { value: await parseJsonBody(body, {}, request), failed: null };
  } catch (error) {
    if (!(error instanceof DbError) || (error.code !== "invalid_json" && error.code !== "invalid_request")) throw error;
    const message = `Parse error: ${error.message}`;
    return { failed: rejected(new RpcError(RPC_ERROR.parse, message, undefined, 400)) };
  }
}

function rejected(error: RpcError): Answer {
  return { json: errorText(null, error), status: error.status };
}

async function call(request: Request, body: Buffer): Promise<Answer> {
  const read = await parse(request, body);
  if (read.failed !== null) return read.failed;
  const headers = headersOf(request);
  const stream = headers.accept.includes("text/event-stream") ? new ProgressStream(request, eventFrame) : null;
  const { text, status } = await answerMessage(request, read.value, headers, stream);
  if (text === null) return { json: "", status };
  return (await stream?.finish(text)) ?? { json: text, status };
}

async function callOnSocket(request: Request, body: Buffer): Promise<Answer> {
  const read = await parse(request, body);
  if (read.failed !== null) return read.failed;
  const stream = new ProgressStream(request, socketFrame);
  const { text } = await answerMessage(request, read.value, null, stream);
  return (await stream.finish(text ?? "")) ?? { json: text ?? "" };
}

/** Messages in order, each as if it had come alone; what are notifications have no answer among the others. */
async function callAll(request: Request, body: Buffer): Promise<Answer> {
  const read = await parse(request, body);
  if (read.failed !== null) return read.failed;
  const { value: list } = read;
  if (!Array.isArray(list) || list.length === 0 || list.length > MCP_BATCH_MAX) {
    const message = `Invalid request: a batch is an array of 1 to ${MCP_BATCH_MAX} messages.`;
    return rejected(new RpcError(RPC_ERROR.invalidRequest, message, undefined, 400));
  }
  const answers: string[] = [];
  for (const value of list) {
    const { text } = await answerMessage(request, value, null, null);
    if (text !== null) answers.push(text);
    if (request.shouldYield()) await request.yieldTurn();
  }
  return answers.length === 0 ? { json: "", status: 202 } : { json: `[${answers.join(",")}]` };
}

function describeServer(request: Request): ResponseOf<"mcp.info"> {
  return {
    ...SERVER_INFO,
    protocol_versions: [...STATELESS_REVISIONS, ...NEGOTIATED_REVISIONS],
    transports: {
      http: "POST /v1/mcp",
      batch: "POST /v1/mcp/batch",
      websocket: "/mcp?token=<token>",
      stdio: "GET /v1/mcp/bridge",
    },
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    tools: toolsFor(request.readOnly).map(({ name }) => name),
  };
}
