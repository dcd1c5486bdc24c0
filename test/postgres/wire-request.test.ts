/** The request of a connection: what it waits for, and what it costs. */
import t from "tap";
import type { Services } from "../../src/gateway/services.js";
import { WireMetrics } from "../../src/gateway/wire-metrics.js";
import { type RequestHost, WireRequest } from "../../src/postgres/wire-request.js";
import { FakeClock } from "../gateway/fake-clock.js";

const PARTITION = 0;

/** A connection of a tenant whose partition holds `requests` requests. */
function connection(requests: number) {
  const clock = new FakeClock();
  const tokens = { taken: 0, left: 1 };
  const takeMany = (_now: number, count: number): boolean => {
    if (tokens.left === 0) return false;
    tokens.left -= count;
    tokens.taken += count;
    return true;
  };
  const bucket = { inFlight: 0, takeMany };
  const sent: string[] = [];
  const pool = {
    requestsInFlight: Int32Array.of(requests),
    bytesInFlight: new Float64Array(1),
    takes: () => true,
    linkOf: () => ({ send: () => sent.push("frame") }),
  };
  const services = {
    clock,
    pool,
    admission: { bucketOf: () => bucket },
    config: {
      limits: { requestsPerTenantMax: 1, requestsPerPartitionMax: 1, requestBytesPerPartitionMax: 1000 },
      postgres: { defaultRateLimit: true },
    },
    requestIds: { of: () => "r" },
    open: 0,
  };
  const host: RequestHost<"open" | "simple" | "extended" | "copy"> = {
    services: services as unknown as Services,
    caller: {
      identity: { tenantId: "a", tenantNumber: 1, rateLimit: null },
      partition: PARTITION,
      plainHead: "",
    } as never,
    session: 1,
    isClosed: false,
    address: "",
    kindOf: () => "simple",
    fatal: (error) => t.fail(error.message),
    piece: () => true,
    done: () => undefined,
    pushed: () => undefined,
    failed: (error) => t.fail(error.message),
  };
  const request = new WireRequest(host, "postgres", WireMetrics.ofPostgres(), "open");
  return { clock, bucket, sent, pool, tokens, request };
}

t.test("what waits for its partition is paid once", (t) => {
  const { clock, bucket, sent, pool, tokens, request } = connection(1);
  request.ask("messages", Buffer.from("Q"));
  for (let i = 0; i < 5; i++) clock.advance(10);
  t.same([tokens.taken, sent, request.isBusy, request.isUnderWay], [1, [], true, false]);
  pool.requestsInFlight[PARTITION] = 0;
  clock.advance(10);
  t.same([tokens.taken, sent, request.isUnderWay, bucket.inFlight], [1, ["frame"], true, 1]);
  request.ended("answered");
  t.same([request.isBusy, bucket.inFlight], [false, 0]);
  t.end();
});

t.test("it waits while the tenant has no token, and while it has as many requests as it may", (t) => {
  const { clock, bucket, sent, tokens, request } = connection(0);
  tokens.left = 0;
  request.ask("messages", Buffer.from("Q"));
  clock.advance(1000);
  t.same(sent, []);
  tokens.left = 1;
  bucket.inFlight = 1;
  clock.advance(50);
  t.same([tokens.taken, sent], [0, []], "a request that cannot run costs nothing");
  bucket.inFlight = 0;
  clock.advance(50);
  t.same([tokens.taken, sent], [1, ["frame"]]);
  t.end();
});

t.test("a client that leaves is not asked for again", (t) => {
  const { clock, sent, pool, request } = connection(1);
  request.ask("messages", Buffer.from("Q"));
  request.cancel();
  pool.requestsInFlight[PARTITION] = 0;
  clock.advance(1000);
  t.same(sent, []);
  t.end();
});
