/** Builds what a request's frame tells its actor besides the body. Called by exchange.ts; pure. */
import type { Endpoint } from "../protocol/endpoint.js";
import { encodeHead, encodePlace, REQUEST_BODY_MSGPACK, REQUEST_BODY_TEXT } from "../protocol/frames.js";
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
  { idempotencyKey, query, params, media, branch, asOf }: RequestHeaders,
  remoteAddress: string,
  isAudited: boolean,
): string {
  const plain =
    idempotencyKey === "" && query === "" && params.length === 0 && media === "" && branch === "" && asOf === "";
  if (plain && caller !== null && !isAudited) return caller.plainHead;
  const encoded = caller === null ? HEAD_OF_NOBODY : caller.encoded;
  return encodeHead(encoded + encodePlace(branch, asOf), idempotencyKey, remoteAddress, query, params, media);
}
