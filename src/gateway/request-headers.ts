/**
 * Reads what a request for an actor says besides its body, while uWebSockets.js still holds it. Problems are noted and
 * not answered here, because a caller without the right to ask must not learn of them. Called by exchange.ts; pure.
 */
import type { HttpRequest } from "uWebSockets.js";
import { BRANCH_NAME } from "../protocol/endpoints/branches.js";
import type { ErrorCode } from "../protocol/errors.js";
import type { Route } from "./route.js";

const MOMENT = /^(?:\d{1,15}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))$/;
const STALE = /^stale *; *max_ms=(\d{1,8})$/;
const STALE_MS_MAX = 86_400_000;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

export interface RequestHeaders {
  /** Raw, without `?`. */
  readonly query: string;
  /** Path variables, decoded, in the order of the path. */
  readonly params: readonly string[];
  /** "" when there is none. */
  readonly idempotencyKey: string;
  /** The branch of the caller's tenant that the request is about; "": the tenant itself. */
  readonly branch: string;
  /** The moment that it reads; "": now. */
  readonly asOf: string;
  /** How old what it reads may be, in milliseconds; null: it reads what there is now. */
  readonly staleMs: number | null;
  readonly contentType: string;
  /**
   * Accept, Content-Type and Content-Encoding where the body or the answer is streamed, and what else the endpoint
   * reads (RequestHead.media); else "".
   */
  readonly media: string;
  /** 0 when the body comes in chunks or not at all. */
  readonly contentLength: number;
  readonly problem: Problem | null;
}

export interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
}

const NO_PARAMS: readonly string[] = [];
const NO_HEADERS: readonly string[] = [];
const MEDIA_HEADERS = ["accept", "content-type", "content-encoding"];
const NOT_ACCEPTABLE: Problem = {
  code: "not_acceptable",
  message: "The route answers in application/json or application/msgpack.",
};
const BAD_PATH: Problem = {
  code: "invalid_request",
  message: "The path has a malformed percent-encoding or a NUL character.",
};
export const BAD_BRANCH: Problem = {
  code: "invalid_request",
  message: "X-Tessera-Branch must be the name of a branch: 1 to 63 characters of a-z, 0-9, - and _.",
};
const BAD_MOMENT: Problem = {
  code: "invalid_request",
  message: "X-Tessera-As-Of must be a time such as 2026-11-20T10:00:00Z, or the number of a commit.",
};
const BAD_CONSISTENCY: Problem = {
  code: "invalid_request",
  message:
    "X-Tessera-Consistency must be like: stale; max_ms=500 (0 to 86400000). It cannot be sent with X-Tessera-As-Of.",
};
const BAD_IDEMPOTENCY_KEY: Problem = {
  code: "invalid_request",
  message: "Idempotency-Key must be 1 to 255 printable ASCII characters.",
};

/** `streams`: the client asks for a streamed form of the answer. */
export function readHeaders(
  req: HttpRequest,
  route: Route,
  acceptable: boolean,
  streams: boolean,
  bodyBytesMax: number,
): RequestHeaders {
  const params = route.paramCount === 0 ? NO_PARAMS : pathParams(req, route.paramCount);
  const idempotencyKey = route.takesIdempotencyKey ? req.getHeader("idempotency-key") : "";
  const isOfTenant = route.endpoint?.home === "tenant";
  const branch = isOfTenant ? req.getHeader("x-tessera-branch") : "";
  const asOf = isOfTenant ? req.getHeader("x-tessera-as-of") : "";
  const consistency = isOfTenant ? req.getHeader("x-tessera-consistency") : "";
  const staleMs = consistency === "" ? null : staleMsOf(consistency);
  const streamsBody = route.endpoint?.streamedBody !== undefined;
  const extra = route.endpoint?.headers ?? NO_HEADERS;
  const contentLength = route.hasBody ? Number(req.getHeader("content-length")) : 0;
  let problem: Problem | null = null;
  if (!acceptable) problem = NOT_ACCEPTABLE;
  else if (params === null) problem = BAD_PATH;
  else if (idempotencyKey !== "" && !IDEMPOTENCY_KEY.test(idempotencyKey)) problem = BAD_IDEMPOTENCY_KEY;
  else if (branch !== "" && !BRANCH_NAME.test(branch)) problem = BAD_BRANCH;
  else if (asOf !== "" && !MOMENT.test(asOf)) problem = BAD_MOMENT;
  else if (staleMs !== null && (asOf !== "" || !(staleMs <= STALE_MS_MAX))) problem = BAD_CONSISTENCY;
  else if (contentLength > bodyBytesMax && !streamsBody) problem = tooLarge(bodyBytesMax);
  return {
    query: req.getQuery() ?? "",
    params: params ?? NO_PARAMS,
    idempotencyKey,
    branch,
    asOf,
    staleMs,
    contentType: route.hasBody ? req.getHeader("content-type") : "",
    media: streamsBody || streams || extra.length > 0 ? mediaOf(req, extra) : "",
    contentLength,
    problem,
  };
}

/** NaN: it says something else. */
function staleMsOf(text: string): number {
  return Number(STALE.exec(text)?.[1] ?? Number.NaN);
}

function mediaOf(req: HttpRequest, extra: readonly string[]): string {
  return [...MEDIA_HEADERS, ...extra]
    .map((name) => req.getHeader(name))
    .join("\n")
    .replaceAll("\0", "");
}

export function tooLarge(bodyBytesMax: number): Problem {
  return { code: "payload_too_large", message: `The body is larger than ${bodyBytesMax} bytes.` };
}

/** Null when an encoding is malformed or a NUL is among the characters. */
function pathParams(req: HttpRequest, count: number): readonly string[] | null {
  const params: string[] = [];
  try {
    for (let i = 0; i < count; i++) params.push(decodeURIComponent(req.getParameter(i)!));
  } catch {
    return null;
  }
  return params.some((param) => param.includes("\0")) ? null : params;
}
