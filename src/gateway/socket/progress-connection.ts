/**
 * The WebSocket of one filesystem collection: from its beginning it gets the messages that `files.follow` gives on
 * /ws, without asking. Made by an upgrade of /ws/filesystem-collections/{id}/progress.
 */
import type { WebSocket } from "uWebSockets.js";
import type { Caller } from "../admission.js";
import { Connection } from "./connection.js";
import {
  CLOSE,
  type ConnectionSet,
  type HandleMessage,
  type MessageFormat,
  type RunningRequest,
  type SocketUser,
} from "./contract.js";
import { readMessageHead } from "./message-head.js";

export class ProgressConnection extends Connection {
  constructor(
    sockets: ConnectionSet,
    caller: Caller,
    private readonly answerFormat: MessageFormat,
    private readonly follow: HandleMessage,
    private readonly collectionId: string,
  ) {
    super(sockets, caller, answerFormat);
  }

  override opened(ws: WebSocket<SocketUser>): void {
    super.opened(ws);
    const message = Buffer.from(JSON.stringify({ type: "files.follow", collection_id: this.collectionId }));
    this.follow(this, { type: "files.follow", id: "null", format: this.answerFormat, isPacked: false }, message);
  }

  /** The only client message with an effect is `ping`. */
  override message(bytes: Buffer, isBinary: boolean): void {
    const head = isBinary ? null : readMessageHead(bytes);
    if (head?.type === "ping") super.message(bytes, isBinary);
    else
      this.fail(
        "null",
        "invalid_request",
        'This WebSocket reports on one collection. The only message that it answers is "ping".',
      );
  }

  /** It was refused, or nothing follows any more: the last message says why. */
  override ended(request: RunningRequest): void {
    super.ended(request);
    this.end(CLOSE.goingAway, "This connection reports no more; connect again.");
  }
}
