/** Makes ids of requests, for replies and log lines. One per gateway; called by requests. */
import { randomBytes } from "node:crypto";

const ACCEPTED = /^[A-Za-z0-9._-]{1,64}$/;

export class RequestIds {
  /** Differs between runs, so that ids stay unique across restarts. */
  private readonly run = `${randomBytes(5).toString("hex")}-`;
  private count = 0;

  /** The client's own id when it is a fitting one, else a new one. */
  of(header: string): string {
    return header !== "" && ACCEPTED.test(header) ? header : this.run + (++this.count).toString(36);
  }
}
