/**
 * The Model Context Protocol on a WebSocket: each text is a JSON-RPC message, which the tenant's actor answers as it
 * does those of POST /v1/mcp. The only notification with an effect here is `notifications/cancelled`. Made by an
 * upgrade of /mcp.
 */
import { ERRORS, type ErrorCode } from "../../protocol/errors.js";
import type { Caller } from "../admission.js";
import { Connection } from "./connection.js";
import { CLOSE, type ConnectionSet, type HandleMessage } from "./contract.js";
import { readMessageHead } from "./message-head.js";

const PARSE_ERROR = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: not a JSON object"}}';
const INTERNAL_ERROR = -32603;

export class McpConnection extends Connection {
  constructor(
    sockets: ConnectionSet,
    caller: Caller,
    private readonly call: HandleMessage,
  ) {
    super(sockets, caller);
  }

  override message(bytes: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.end(CLOSE.unsupportedData, "Messages are JSON texts.");
      return;
    }
    const head = readMessageHead(bytes, "method");
    if (head === null) this.send(PARSE_ERROR);
    else if (head.type === "notifications/cancelled") this.cancel(bytes);
    else if (!head.type.startsWith("notifications/")) {
      this.call(this, { ...head, format: "json", isPacked: false }, bytes);
    }
  }

  override fail(id: string, code: ErrorCode, message: string = ERRORS[code].message, details = ""): void {
    const data = details === "" ? "{}" : details;
    const error = { code: INTERNAL_ERROR, message, data: { code, ...(JSON.parse(data) as object) } };
    this.send(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`);
  }

  /** Nothing is answered to a request that was cancelled, nor to the notification. */
  private cancel(bytes: Buffer): void {
    let requestId: unknown;
    try {
      requestId = (JSON.parse(bytes.toString("utf8")) as { params?: { requestId?: unknown } }).params?.requestId;
    } catch {
      return;
    }
    if (typeof requestId === "string" || typeof requestId === "number") this.find(JSON.stringify(requestId))?.cancel();
  }
}
