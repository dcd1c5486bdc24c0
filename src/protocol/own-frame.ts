/** A request that came to the actor's thread itself, so nothing of it was written as bytes (frames.ts). */
import {
  CANCEL_CODE,
  encodeCaller,
  encodeHead,
  encodePlace,
  type RequestFrame,
  type RequestHead,
  TAKEN_CODE,
} from "./frames.js";

const NOTHING = Buffer.alloc(0);

/** What all requests of one connection have in common. */
export type FrameOrigin = Pick<RequestFrame, "id" | "code" | "flags" | "partition" | "tenant" | "head">;

export class OwnFrame implements RequestFrame {
  readonly isIdempotent = false;
  readonly hasBody = true;
  readonly id: number;
  readonly code: number;
  readonly flags: number;
  readonly partition: number;
  readonly tenant: number;
  readonly head: RequestHead;

  constructor(
    origin: FrameOrigin,
    readonly requestId: string,
    readonly deadlineMs: number,
    readonly bodyBytes: Buffer,
  ) {
    this.id = origin.id;
    this.code = origin.code;
    this.flags = origin.flags;
    this.partition = origin.partition;
    this.tenant = origin.tenant;
    this.head = origin.head;
  }

  get headText(): string {
    const { userId, username, tenantId, keyId, roles, branch, asOf } = this.head;
    const caller = encodeCaller(userId, username, tenantId, keyId, roles, this.head) + encodePlace(branch, asOf);
    return encodeHead(caller, "", "", "", []);
  }

  get bodyText(): string {
    return this.bodyBytes.toString("utf8");
  }
}

/** As `RequestWriter.taken`. */
export function takenFrame(origin: FrameOrigin, bytes: number): RequestFrame {
  return new OwnFrame({ ...origin, code: TAKEN_CODE }, "", bytes, NOTHING);
}

/** As `RequestWriter.cancel`. */
export function cancelFrame(origin: FrameOrigin): RequestFrame {
  return new OwnFrame({ ...origin, code: CANCEL_CODE }, "", 0, NOTHING);
}
