/** Builds what a request's frame tells its actor besides the body. Called by exchange.ts; pure. */
import type { Endpoint } from "../protocol/endpoint.js";
import {
  encodeHead,
  encodePlace,
  REQUEST_BODY_MSGPACK,
  REQUEST_BODY_TEXT,
  REQUEST_IDEMPOTENT,
  REQUEST_READ_ONLY,
  REQUEST_STALE,
  type ReplyFrame,
} from "../protocol/frames.js";
import { DIRECTORY_PARTITION } from "./actor-pool.js";
import { type Caller, HEAD_OF_NOBODY } from "./admission.js";
import { bodyFormat, isTextOf } from "./media-type.js";
import type { RequestHeaders } from "./request-headers.js";

/** The flag of the body's format, 0 for JSON; negative where the endpoint takes no such body. */
export function formatFlag(contentType: string, { textBody }: Endpoint): number {
  const format = bodyFormat(contentType);
  if (format === "json") return 0;
  if (format === "msgpack") return REQUEST_BODY_MSGPACK;
  return textBody !== undefined && isTextOf(contentType, textBody.types) ? REQUEST_BODY_TEXT : -1;
}

/** `caller` null: nobody has signed in. Most requests need no more than what is encoded once for their caller. */
export function headOf(
  caller: Caller | null,
  { idempotencyKey, query, params, media, branch, asOf, staleMs }: RequestHeaders,
  remoteAddress: string,
  isAudited: boolean,
): string {
  const isOfNow = branch === "" && asOf === "" && staleMs === null;
  const plain = idempotencyKey === "" && query === "" && params.length === 0 && media === "";
  if (plain && isOfNow && caller !== null && !isAudited) return caller.plainHead;
  const encoded = caller === null ? HEAD_OF_NOBODY : caller.encoded;
  return encodeHead(encoded + encodePlace(branch, asOf, staleMs), idempotencyKey, remoteAddress, query, params, media);
}

/** What may be stale is only read, so it needs no key against being done twice. */
export function placeFlags({ idempotencyKey, staleMs }: RequestHeaders): number {
  if (staleMs !== null) return REQUEST_STALE | REQUEST_READ_ONLY;
  return idempotencyKey === "" ? 0 : REQUEST_IDEMPOTENT;
}

/** The partition that a request goes to first, and the tenant's number: 0 where the directory has to find it. */
export function homeOf({ home }: Endpoint, caller: Caller | null): { readonly partition: number; readonly of: number } {
  const of = caller === null || home === "named" ? 0 : caller.identity.tenantNumber;
  return { partition: home === "tenant" ? caller!.partition : DIRECTORY_PARTITION, of };
}

/**
 * Of a reply with REPLY_MOVED; `tooOld`: why a copy has not answered, null where none was asked; `of`: the number of
 * the tenant that was asked for by name.
 */
export function movedTo({ headers }: Pick<ReplyFrame, "headers">): {
  readonly to: number;
  readonly tooOld: string | null;
  readonly of: number | null;
} {
  const [to, tooOld = "", of = ""] = headers.split("\n");
  return { to: Number(to), tooOld: tooOld === "" ? null : tooOld, of: of === "" ? null : Number(of) };
}
