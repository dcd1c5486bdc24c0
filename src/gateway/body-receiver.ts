/**
 * Receives the body of one request: in one piece, in several that body-collector.ts puts together, or, if the endpoint
 * streams its body, through body-stream.ts. Made by exchange.ts; owned by it.
 */
import type { HttpResponse } from "uWebSockets.js";
import type { ErrorCode } from "../protocol/errors.js";
import { BodyCollector } from "./body-collector.js";
import { BodyStream } from "./body-stream.js";
import type { RequestHeaders } from "./request-headers.js";
import { tooLarge } from "./request-headers.js";
import type { Services } from "./services.js";

/** The request whose body it is. */
export interface ReceivingRequest {
  readonly services: Services;
  readonly res: HttpResponse;
  /** False: it has its answer, and what still comes is dropped. */
  readonly wantsBody: boolean;
  /** Its caller is known, so that it can go on once the body is there. */
  readonly isAdmitted: boolean;
  dispatch(body: Uint8Array | null): void;
  /** Refuses the body. The connection ends with the answer. */
  refuseBody(code: ErrorCode, message: string): void;
  /** A fault of ours. */
  broken(error: unknown): void;
}

export class BodyReceiver {
  /** Null: the actor gets the body whole. */
  readonly stream: BodyStream | null;
  private collector: BodyCollector | null = null;
  private hasArrived = false;
  /** The client has sent all of it. */
  isOver = false;

  constructor(
    private readonly request: ReceivingRequest,
    private readonly headers: RequestHeaders,
    isStreamed: boolean,
  ) {
    this.stream = isStreamed ? new BodyStream(request.res) : null;
  }

  begin(hasBody: boolean): void {
    if (hasBody) this.request.res.onData(this.onData);
    else this.hasArrived = this.isOver = true;
  }

  private readonly onData = (chunk: ArrayBuffer, isLast: boolean): void => {
    try {
      this.arrived(new Uint8Array(chunk), isLast);
    } catch (error) {
      this.request.broken(error);
    }
  };

  private arrived(chunk: Uint8Array, isLast: boolean): void {
    const { request } = this;
    this.isOver = isLast;
    if (!request.wantsBody) return;
    if (this.stream !== null) {
      this.stream.arrived(chunk, isLast);
      return;
    }
    const { isAdmitted } = request;
    if (isLast && isAdmitted && this.collector === null) {
      if (chunk.length > this.bytesMax) this.tooLarge();
      else request.dispatch(chunk.length === 0 ? null : chunk);
      return;
    }
    this.hasArrived = isLast;
    if (this.collect(chunk) && isLast && isAdmitted) request.dispatch(this.collector!.body);
  }

  /** Keeps a piece of the body; false when the request has been refused because of it. */
  private collect(chunk: Uint8Array): boolean {
    // The body of a request that is going to be refused anyway is not kept.
    const { problem, contentLength } = this.headers;
    if (problem !== null || chunk.length === 0) return true;
    const { services } = this.request;
    this.collector ??= new BodyCollector(contentLength, this.bytesMax);
    if (!this.collector.add(chunk)) {
      this.tooLarge();
      return false;
    }
    services.collectedBytes += chunk.length;
    if (services.collectedBytes <= services.config.limits.requestBytesPerPartitionMax) return true;
    this.request.refuseBody("overloaded", "Too many bodies are being received; retry shortly.");
    return false;
  }

  private get bytesMax(): number {
    return this.request.services.config.server.bodyBytesMax;
  }

  private tooLarge(): void {
    const { code, message } = tooLarge(this.bytesMax);
    this.request.refuseBody(code, message);
  }

  /** The caller became known while or after the body arrived. */
  resume(): void {
    if (this.stream !== null) this.request.dispatch(null);
    else if (this.hasArrived) this.request.dispatch(this.collector === null ? null : this.collector.body);
  }

  /** All of a streamed body has arrived, or it is not streamed. */
  get isComplete(): boolean {
    return this.stream === null || this.stream.ended;
  }

  /** Nobody wants the rest. */
  release(): void {
    this.stream?.release();
    if (this.collector !== null) this.request.services.collectedBytes -= this.collector.length;
    this.collector = null;
  }
}
