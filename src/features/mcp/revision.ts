/**
 * Revisions of MCP. Until 2025-11-25 client and server agree on one with `initialize`; from 2026-07-28 on each request says
 * for itself, in `_meta` and in headers, which revision it follows (modelcontextprotocol.io/specification). One URL serves
 * both: what a request's own body claims decides, and headers must say the same.
 */
import { isObject, RPC_ERROR, RpcError, type RpcMessage } from "./json-rpc.js";

export const NEGOTIATED_REVISIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
export const STATELESS_REVISIONS: readonly string[] = ["2026-07-28"];

const META = "io.modelcontextprotocol/";
const VERSION_KEY = `${META}protocolVersion`;
const CAPABILITIES_KEY = `${META}clientCapabilities`;
const ENCODED_NAME = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Headers of the HTTP request; "" where one is absent. */
export interface McpHeaders {
  readonly accept: string;
  readonly version: string;
  readonly method: string;
  readonly name: string;
}

/** Of methods that are about something named: the member of `params` that names it. */
const NAMED: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/**
 * Whether the request follows a stateless revision. Throws when it is none that is served, when `_meta` is not complete or when a
 * header says otherwise. `headers` null: not HTTP.
 */
export function isStateless(message: RpcMessage, headers: McpHeaders | null): boolean {
  const { _meta: meta } = message.params;
  const claimed = isObject(meta) ? meta[VERSION_KEY] : undefined;
  if (claimed === undefined) return withoutClaim(message, headers);
  if (typeof claimed !== "string") throw missing(VERSION_KEY, "must be a string");
  if (headers !== null && headers.version !== "" && headers.version !== claimed) {
    throw mismatch(`MCP-Protocol-Version is "${headers.version}", but _meta says "${claimed}"`);
  }
  if (!STATELESS_REVISIONS.includes(claimed)) throw unsupported(claimed, STATELESS_REVISIONS);
  if (!isObject((meta as Record<string, unknown>)[CAPABILITIES_KEY])) {
    throw missing(CAPABILITIES_KEY, "is missing or not an object");
  }
  if (headers !== null && message.id !== null) checkHeaders(message, headers);
  return true;
}

function withoutClaim({ id }: RpcMessage, headers: McpHeaders | null): false {
  const version = headers?.version ?? "";
  if (version === "" || NEGOTIATED_REVISIONS.includes(version)) return false;
  if (STATELESS_REVISIONS.includes(version)) {
    // A notification has nothing to say for itself.
    if (id === null) return false;
    throw missing(VERSION_KEY, "is missing");
  }
  throw unsupported(version, [...NEGOTIATED_REVISIONS, ...STATELESS_REVISIONS]);
}

function checkHeaders({ method, params }: RpcMessage, headers: McpHeaders): void {
  if (headers.version === "") throw mismatch("the header MCP-Protocol-Version is missing");
  if (headers.method === "") throw mismatch("the header Mcp-Method is missing");
  if (headers.method !== method) throw mismatch(`Mcp-Method is "${headers.method}", but the body says "${method}"`);
  const member = NAMED[method];
  if (member === undefined) return;
  if (headers.name === "") throw mismatch("the header Mcp-Name is missing");
  const name = decodedName(headers.name);
  if (name === null) throw mismatch("Mcp-Name is not valid base64");
  if (name !== params[member]) throw mismatch(`Mcp-Name is "${name}", but the body says otherwise`);
}

/** Names that a header cannot hold come as `=?base64?…?=`. Null: not valid. */
function decodedName(header: string): string | null {
  if (!header.startsWith("=?base64?")) return header;
  const encoded = ENCODED_NAME.exec(header)?.[1];
  if (encoded === undefined || Buffer.from(encoded, "base64").toString("base64") !== encoded) return null;
  return Buffer.from(encoded, "base64").toString("utf8");
}

/** `supported`: of those that are chosen in the same way. */
function unsupported(requested: string, supported: readonly string[]): RpcError {
  const data = { supported, requested };
  return new RpcError(RPC_ERROR.unsupportedVersion, `Unsupported protocol version: ${requested}`, data, 400);
}

function mismatch(what: string): RpcError {
  return new RpcError(RPC_ERROR.headerMismatch, `Header mismatch: ${what}.`, undefined, 400);
}

function missing(key: string, what: string): RpcError {
  return new RpcError(RPC_ERROR.invalidParams, `Invalid params: _meta["${key}"] ${what}.`, undefined, 400);
}
