/** JSON-RPC 2.0 as MCP uses it: what a message is, and how answers and errors are written. Pure. */

export const RPC_ERROR = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Until revision 2025-11-25; afterwards it is invalidParams. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

export type RpcId = string | number;
export type RpcParams = Readonly<Record<string, unknown>>;

/** A request, or a notification, which has no id and gets no answer. */
export interface RpcMessage {
  readonly id: RpcId | null;
  readonly method: string;
  readonly params: RpcParams;
}

/** An error for the client. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
    /** Of the HTTP answer that holds nothing else. */
    readonly status = 200,
  ) {
    super(message);
  }
}

/** The id of something that may be a request, so that its error can name it. */
export function idOf(value: unknown): RpcId | null {
  const id = isObject(value) ? value.id : null;
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as RpcId) : null;
}

/** Throws invalidRequest. */
export function readMessage(value: unknown): RpcMessage {
  if (Array.isArray(value)) {
    throw invalid("One message is expected; a batch goes to /v1/mcp/batch.");
  }
  if (!isObject(value)) throw invalid("A message is a JSON object.");
  const { jsonrpc, id, method, params = {} } = value;
  if (jsonrpc !== "2.0") throw invalid('"jsonrpc" must be "2.0".');
  if (typeof method !== "string") {
    throw invalid('"method" is missing. This server sends no requests, so it expects no responses.');
  }
  if (id !== undefined && idOf(value) === null) throw invalid('"id" must be a string or a whole number.');
  if (!isObject(params)) throw new RpcError(RPC_ERROR.invalidParams, '"params" must be an object.');
  return { id: id === undefined ? null : (id as RpcId), method, params };
}

function invalid(message: string): RpcError {
  return new RpcError(RPC_ERROR.invalidRequest, `Invalid request: ${message}`, undefined, 400);
}

export function isObject(value: unknown): value is RpcParams {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `result` is JSON. */
export function resultText(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

export function errorText(id: RpcId | null, { code, message, data }: RpcError): string {
  const error = data === undefined ? { code, message } : { code, message, data };
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}

export function notificationText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
