/** Starts a gateway over fake actors on a free port, and speaks to it. */
import { connect } from "node:net";
import type { Test } from "tap";
import { type Gateway, startGateway } from "../../src/gateway/gateway.js";
import { type AccessClaims, accessTokenSigner } from "../../src/protocol/access-token.js";
import { ENDPOINTS, type EndpointName } from "../../src/protocol/endpoints.js";
import type { Identity } from "../../src/protocol/identity.js";
import { type Behaviour, FakeActor } from "./fake-actor.js";
import { FakeClock } from "./fake-clock.js";
import { type ConfigChanges, gatewayConfig } from "./gateway-config.js";
import { type LogLines, memoryLogger } from "./memory-logger.js";

export const SECRET = Buffer.alloc(32, 7);

export const ALICE: Identity = {
  userId: "user-alice",
  keyId: null,
  username: "alice",
  tenantId: "acme",
  companyId: "acme",
  tenantNumber: 7,
  partition: 0,
  roles: ["user"],
  permission: "FullAccess",
  tokenEpoch: 3,
  active: true,
  rateLimit: null,
  expiresAtMs: null,
  version: 1,
};

export interface TestGateway {
  readonly gateway: Gateway;
  readonly url: string;
  readonly clock: FakeClock;
  /** Every actor that was ever spawned, in order. */
  readonly actors: FakeActor[];
  readonly log: LogLines;
  /** A token of ALICE's, unless claims say otherwise. */
  token(claims?: Partial<AccessClaims>): string;
  /** A request with ALICE's token. */
  call(path: string, init?: RequestInit & { duplex?: "half" }): Promise<Response>;
  execute(body?: string, headers?: Record<string, string>): Promise<Response>;
  /** Sends bytes as they are and gives everything that comes back until `enough` or the end. */
  raw(text: string, enough: RegExp): Promise<string>;
  /** The same, saying at once that nothing more will be sent. */
  rawToEnd(text: string, enough: RegExp): Promise<string>;
}

export interface TestOptions {
  readonly config?: ConfigChanges;
  readonly behaviour?: Behaviour;
  /** By actor and how often it was started; in place of `behaviour`. */
  readonly behaviours?: (actor: number, start: number) => Behaviour;
  readonly actors?: number;
  readonly partitions?: number;
}

/** Knows ALICE and nobody else. */
export const knowsAlice: Behaviour = {
  identity: (by, value) => (by === "user" && value === ALICE.userId ? ALICE : null),
};

export async function testGateway(t: Test, options: TestOptions = {}): Promise<TestGateway> {
  const clock = new FakeClock();
  const actors: FakeActor[] = [];
  const { logger, lines } = memoryLogger();
  const gateway = await startGateway({
    startInference: () => undefined,
    config: gatewayConfig(options.config),
    secret: SECRET,
    version: "1.2.3",
    logger,
    clock,
    actors: options.actors ?? 1,
    partitions: options.partitions ?? 1,
    spawn(index) {
      const starts = actors.filter((actor) => actor.index === index).length;
      const behaviour = options.behaviours?.(index, starts) ?? { ...knowsAlice, ...options.behaviour };
      const actor = new FakeActor(index, behaviour);
      actors.push(actor);
      return actor;
    },
  });
  // A test that closes the gateway itself gets the same promise.
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= gateway.close();
    return closing;
  };
  t.teardown(close);
  const url = `http://127.0.0.1:${gateway.port}`;
  const token = (claims: Partial<AccessClaims> = {}): string => tokenOf(clock, claims);
  const call: TestGateway["call"] = (path, init = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${token()}`, ...init.headers } });
  return {
    gateway: { ...gateway, close },
    url,
    clock,
    actors,
    log: lines,
    token,
    call,
    execute: (body = '{"sql":"SELECT 1"}', headers = {}) =>
      call("/v1/query/execute", { method: "POST", body, headers: { "content-type": "application/json", ...headers } }),
    raw: (text, enough) => rawExchange(gateway.port, text, enough, false),
    rawToEnd: (text, enough) => rawExchange(gateway.port, text, enough, true),
  };
}

export function tokenOf(clock: FakeClock, claims: Partial<AccessClaims>, secret: Uint8Array = SECRET): string {
  const seconds = Math.floor(clock.wall() / 1000);
  return accessTokenSigner(secret)({
    sub: ALICE.userId,
    username: ALICE.username,
    tenant_id: ALICE.tenantId,
    company_id: ALICE.companyId,
    roles: ALICE.roles,
    epoch: ALICE.tokenEpoch,
    iat: seconds,
    exp: seconds + 3600,
    ...claims,
  });
}

export function endpointCode(name: EndpointName): number {
  return ENDPOINTS.find((endpoint) => endpoint.name === name)!.code;
}

export interface ErrorReply {
  readonly error: { readonly code: string; readonly message: string; readonly details?: { readonly hint?: string } };
  readonly meta: { readonly request_id: string; readonly timestamp: string };
}

export async function errorOf(response: Response): Promise<ErrorReply["error"]> {
  return ((await response.json()) as ErrorReply).error;
}

function rawExchange(port: number, text: string, enough: RegExp, end: boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.on("data", (data) => {
      received += data.toString("latin1");
      if (enough.test(received)) socket.destroy();
    });
    // A reset after the answer says no more than a close does.
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
    socket.write(Buffer.from(text, "latin1"));
    if (end) socket.end();
  });
}
