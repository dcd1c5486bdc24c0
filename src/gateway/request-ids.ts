/** Makes ids of requests, for replies and log lines. One per gateway; called by requests. */
import { newRun, requestId } from "../protocol/request-id.js";

const ACCEPTED = /^[A-Za-z0-9._-]{1,64}$/;

export class RequestIds {
  private readonly run = newRun();
  private count = 0;

  /** The client's own id when it is a fitting one, else a new one. */
  of(header: string): string {
    return header !== "" && ACCEPTED.test(header) ? header : requestId(this.run, ++this.count);
  }
}
