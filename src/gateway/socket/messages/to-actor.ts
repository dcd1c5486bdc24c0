/**
 * Messages that the tenant's actor answers (endpoints of the method MESSAGE): limited like requests, and handed on as
 * frames. The id goes where other endpoints have their first path variable.
 */
import type { ErrorCode } from "../../../protocol/errors.js";
import {
  encodeHead,
  REQUEST_BODY_MSGPACK,
  REQUEST_READ_ONLY,
  REQUEST_WANTS_MSGPACK,
} from "../../../protocol/frames.js";
import { reserve } from "../../partition-load.js";
import type { Route } from "../../route.js";
import { whyRefused } from "../../why-refused.js";
import { CLOSE, type HandleMessage } from "../contract.js";
import { MessageRequest, type SendMessage } from "../message-request.js";

export function toActor(route: Route): HandleMessage {
  return (connection, head, bytes) => {
    const { id, format } = head;
    const fail = (code: ErrorCode, message?: string, details?: string): void =>
      connection.fail(id, code, message, details, format);
    const { services, caller } = connection;
    const { clock, pool, admission, config } = services;
    const now = clock.now();
    const bucket = admission.bucketOf(caller);
    if (connection.running >= config.websocket.requestsRunningMax) {
      fail("rate_limited", "Too many requests are running on this connection.");
      return;
    }
    if (id !== "null" && connection.find(id) !== null) {
      fail("invalid_request", "A request with this id is running.");
      return;
    }
    if (connection.subscriptions >= config.changes.subscriptionsPerConnectionMax) {
      if (route.endpoint!.live) {
        fail("rate_limited", "Too many subscriptions are open on this connection.");
        return;
      }
    }
    if (!bucket.take(now)) {
      const details = `{"retry_after_seconds":${bucket.retryAfterSeconds}}`;
      fail("rate_limited", "Too many requests; wait as long as retry_after_seconds says.", details);
      return;
    }
    if (bucket.inFlight >= config.limits.requestsPerTenantMax) {
      fail("rate_limited", "Too many requests are running at the same time.");
      return;
    }
    const refusal = whyRefused(route.endpoint!.access, caller);
    if (refusal !== null) {
      fail("forbidden", refusal);
      return;
    }
    const { tenantNumber, keyId, expiresAtMs } = caller.identity;
    const { partition } = caller;
    if (expiresAtMs !== null && expiresAtMs <= clock.wall()) {
      connection.end(CLOSE.policy, "The API key has expired.");
      return;
    }
    if (!pool.takes(partition)) {
      fail(pool.stateOf(partition) === "damaged" ? "partition_damaged" : "partition_unavailable");
      return;
    }
    if (!reserve(services, partition, bytes.length)) {
      fail("overloaded");
      return;
    }
    if (keyId !== null) admission.countUse(caller, clock.wall());
    const requestId = services.requestIds.of("");
    const send: SendMessage = (request, link, to, body) => {
      const deadlineMs = clock.wall() + request.expiresAt - now;
      const encoded = encodeHead(caller.encoded, "", "", "", [id]);
      let flags = caller.readOnly ? REQUEST_READ_ONLY : 0;
      if (head.isPacked) flags |= REQUEST_BODY_MSGPACK;
      if (format === "msgpack") flags |= REQUEST_WANTS_MSGPACK;
      return link.send(request, route.endpoint!.code, flags, to, tenantNumber, deadlineMs, requestId, encoded, body);
    };
    const request = new MessageRequest(connection, route, head, requestId, partition, send, bytes.length, bucket, now);
    connection.began(request);
    request.begin(bytes);
  };
}
