/**
 * How an actor answers requests: through the partition's gate, so that nobody hears of a commit before it is on disk,
 * then as an envelope of the request's format among the replies of the turn. Made and owned by requests.ts.
 */
import type { Endpoint } from "../protocol/endpoint.js";
import { DbError } from "../protocol/errors.js";
import { REPLY_DISCARD, REPLY_MSGPACK, type ReplyWriter } from "../protocol/frames.js";
import { openAiErrorHeaders, openAiErrorJson } from "../protocol/openai-error.js";
import { sizeError } from "../protocol/size-errors.js";
import { Overrun } from "../protocol/stretch.js";
import { type Answer, STREAMED } from "../session/answer.js";
import { overrunError } from "../session/overrun.js";
import {
  envelopeJson,
  envelopeMsgpack,
  errorHeaders,
  errorJson,
  errorMsgpack,
  messageErrorJson,
  packedMessage,
  rpcErrorJson,
  withAge,
} from "./reply.js";
import type { Request } from "./request.js";

/** The form of the error is that of the way it takes: an HTTP reply, or a message on a WebSocket. */
function errorTextOf(request: Request, error: DbError): string {
  const { requestId, endpoint } = request;
  if (endpoint.jsonRpc !== undefined) {
    return rpcErrorJson(error, endpoint.messages === undefined ? "null" : request.head.params[0]!);
  }
  if (endpoint.form === "openai") return openAiErrorJson(error.code, error.message, error.details);
  if (endpoint.messages === undefined) return errorJson(error, requestId);
  return messageErrorJson(error, request.head.params[0]!, requestId);
}

function headersOf({ form }: Endpoint, error: DbError): string {
  const headers = errorHeaders(error);
  return form === "openai" ? openAiErrorHeaders(error.code, headers) : headers;
}

/** Takes the answer's bytes from the key's budget; not null: it may not leave. What was committed is told anyway. */
function overBudget({ budget, committed, endpoint }: Request, { json, bytes, plain, packed }: Answer): DbError | null {
  if (budget === null || endpoint.ends === true) return null;
  const text = json ?? (plain === undefined ? "" : JSON.stringify(plain));
  const count = bytes?.length ?? packed?.bytes.reduce((sum, { length }) => sum + length, 0) ?? Buffer.byteLength(text);
  if (committed) budget.takeBytesAnyway(count);
  else
    try {
      budget.takeBytes(count);
    } catch (error) {
      if (error instanceof DbError) return error;
      throw error;
    }
  return null;
}

export class Answers {
  constructor(
    private readonly replies: ReplyWriter,
    /** Told of faults of ours. */
    private readonly log: (message: string, fields: object) => void,
  ) {}

  /**
   * `again`: does the request once more, where its answer has seen a commit of another one that the disk refuses then.
   */
  give(request: Request, answer: Answer, again: (() => void) | null): void {
    request.trace?.handled();
    if (answer === STREAMED) {
      request.trace?.end(request.endpoint.name, 200);
      return;
    }
    if (request.endpoint.home === "directory") request.tenant.sawEverything();
    const exhausted = overBudget(request, answer);
    if (exhausted !== null) {
      this.refuse(request, exhausted);
      return;
    }
    const { partition, tenant } = request;
    const seen = answer.seen ?? tenant.lastCommit;
    if (partition.gate.isOpenFor(seen)) {
      this.reply(request, answer);
      return;
    }
    partition.gate.pass(
      seen,
      () => this.reply(request, answer),
      (error) => {
        if (again !== null && error.code === "disk_full" && !request.committed) again();
        else this.replyError(request, error);
      },
    );
  }

  /** The answer is the error that `thrown` is for the client. */
  refuse(request: Request, thrown: unknown): void {
    request.trace?.handled();
    const error = this.expected(thrown, request);
    if (request.sink?.started) {
      request.trace?.end(request.endpoint.name, error.status);
      request.sink.fail(errorTextOf(request, error));
      return;
    }
    const { partition, tenant } = request;
    const send = (): void => this.replyError(request, error);
    partition.gate.pass(tenant.lastCommit, send, send);
  }

  /**
   * A DbError stays as it is. Values that are too deep or too large are the client's error. Anything else is our own
   * fault, and is logged.
   */
  private expected(thrown: unknown, request: Request): DbError {
    if (thrown instanceof DbError) {
      if (thrown.code === "partition_damaged") this.logDamage(thrown, request);
      return thrown.code === "cancelled" ? (request.ending ?? thrown) : thrown;
    }
    if (thrown instanceof Overrun) return overrunError();
    const tooLarge = sizeError(thrown);
    if (tooLarge !== null) return tooLarge;
    const { requestId, endpoint } = request;
    const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    this.log("request failed", { requestId, endpoint: endpoint.name, error: message });
    return new DbError("internal_error");
  }

  /** Paths are not shown to the client. */
  private logDamage({ message, cause }: DbError, { requestId, partition }: Request): void {
    const problem = cause instanceof Error ? cause.message : message;
    const advice =
      "Stop the server and restore a backup of the partition's directory. The rest of it can still be read.";
    this.log("a file of a partition is damaged", { partition: partition.number, problem, advice, requestId });
  }

  private reply(request: Request, answer: Answer): void {
    const { endpoint, id, requestId, warnings } = request;
    const status = answer.status ?? endpoint.status ?? 200;
    const headers = withAge(request, answer.headers ?? "");
    request.trace?.end(endpoint.name, status);
    if (answer.bytes !== undefined) this.replies.bytes(id, status, 0, headers, answer.bytes);
    else if (endpoint.jsonRpc !== undefined) this.replies.text(id, status, 0, headers, answer.json!);
    else if (endpoint.form === "openai") {
      this.replies.text(id, status, 0, headers, answer.json ?? JSON.stringify(answer.plain));
    } else if (status === 204) this.replies.text(id, status, 0, headers, "");
    else if (request.wantsMsgpack) {
      this.replies.bytes(id, status, REPLY_MSGPACK, headers, envelopeMsgpack(endpoint, answer, requestId, warnings));
    } else this.replies.text(id, status, 0, headers, envelopeJson(endpoint, answer, requestId, warnings));
  }

  private replyError(request: Request, error: DbError): void {
    const flags = request.cancelled ? REPLY_DISCARD : 0;
    const { id, requestId, endpoint } = request;
    request.trace?.end(endpoint.name, error.status);
    if (request.wantsMsgpack && endpoint.messages !== undefined) {
      this.replies.bytes(id, error.status, flags, "", packedMessage(errorTextOf(request, error)));
    } else if (request.wantsMsgpack) {
      this.replies.bytes(id, error.status, flags | REPLY_MSGPACK, errorHeaders(error), errorMsgpack(error, requestId));
    } else this.replies.text(id, error.status, flags, headersOf(endpoint, error), errorTextOf(request, error));
  }
}
