/** A served method and path, as requests use it: everything that can be computed at boot is. Made by router.ts. */
import type { HttpRequest } from "uWebSockets.js";
import type { Endpoint } from "../protocol/endpoint.js";
import type { ErrorCode, ErrorDetails } from "../protocol/errors.js";
import type { Caller } from "./admission.js";
import type { DeadlineQueue } from "./deadline-queue.js";

/** What a route that the gateway answers by itself does with a request. */
export interface LocalExchange {
  readonly requestId: string;
  /** Raw, without `?`; "" for routes that take no caller. */
  readonly query: string;
  /** True if the client has disconnected by then. */
  readonly answered: boolean;
  /** Must be called before returning without an answer. */
  waitForAnswer(): void;
  /** `headers`: "name: value" lines joined by "\n". */
  answer(status: number, type: string, headers: string, body: Uint8Array | string): void;
  fail(code: ErrorCode, message?: string, details?: ErrorDetails, headers?: string): void;
}

export type Serve = (exchange: LocalExchange, req: HttpRequest) => void;

/** The same for a route that needs the caller; called once the caller is known. */
export type ServeCaller = (exchange: LocalExchange, caller: Caller) => void;

export interface Route {
  /** Position among the routes: how metrics name it. */
  readonly index: number;
  /** Null for what matches no endpoint. */
  readonly endpoint: Endpoint | null;
  readonly method: string;
  readonly path: string;
  readonly paramCount: number;
  readonly hasBody: boolean;
  /** An Idempotency-Key counts here. */
  readonly takesIdempotencyKey: boolean;
  /** Null where the gateway answers by itself and at once. */
  readonly deadlines: DeadlineQueue | null;
  readonly serve: Serve | null;
  readonly serveCaller: ServeCaller | null;
}
