/**
 * One message of MCP and its answer, whatever the transport: reads it, decides its revision, runs its method, and
 * writes the answer; what goes wrong becomes a JSON-RPC error. Called by mcp-routes.ts.
 */

import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import {
  errorText,
  idOf,
  isObject,
  RPC_ERROR,
  RpcError,
  type RpcMessage,
  readMessage,
  resultText,
} from "./json-rpc.js";
import { METHODS, type MethodContext, unknownMethod } from "./methods.js";
import type { ProgressStream } from "./progress-stream.js";
import { isStateless, type McpHeaders } from "./revision.js";

export interface RpcAnswer {
  /** Null: nothing is answered to a notification. */
  readonly text: string | null;
  /** Of the HTTP answer that holds nothing else. */
  readonly status: number;
}

const NOTHING: RpcAnswer = { text: null, status: 202 };

/**
 * `stream` receives progress reports; null: there are none. Our own faults are thrown, for the actor to log and answer.
 */
export async function answerMessage(
  request: Request,
  value: unknown,
  headers: McpHeaders | null,
  stream: ProgressStream | null,
): Promise<RpcAnswer> {
  let stateless = false;
  try {
    const message = readMessage(value);
    stateless = isStateless(message, headers);
    if (message.id === null) return NOTHING;
    const result = await run(request, message, stateless, stream);
    return { text: resultText(message.id, result), status: 200 };
  } catch (error) {
    const failure = asRpcError(request.told(error));
    return { text: errorText(idOf(value), failure), status: statusOf(failure, stateless) };
  }
}

function run(
  request: Request,
  { method, params }: RpcMessage,
  stateless: boolean,
  stream: ProgressStream | null,
): string | Promise<string> {
  const answer = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (answer === undefined) throw unknownMethod(method);
  const token = isObject(params._meta) ? params._meta.progressToken : undefined;
  const told = stream !== null && (typeof token === "string" || typeof token === "number");
  const context: MethodContext = {
    request,
    readOnly: request.readOnly,
    stateless,
    progress: told ? (done, total, message) => stream.progress(token, done, total, message) : () => undefined,
  };
  return answer(context, params);
}

/** A method that is not there is, over stateless HTTP, not found. */
function statusOf({ code, status }: RpcError, stateless: boolean): number {
  return stateless && code === RPC_ERROR.methodNotFound ? 404 : status;
}

/** Errors of the database that are no tool's; what is a fault of ours is thrown on. */
function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (!(error instanceof DbError) || error.code === "cancelled" || error.code === "internal_error") throw error;
  const { code, message, details } = error;
  return new RpcError(RPC_ERROR.internal, message, { code, ...details });
}
