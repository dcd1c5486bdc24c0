/** Finds the caller of a connection: an API key, or a user's password, which the directory checks as for POST /v1/auth/login. */
import { createHmac, randomBytes } from "node:crypto";
import { ActorCall } from "../gateway/actor-call.js";
import type { Loss, PendingReply } from "../gateway/actor-link.js";
import { DIRECTORY_PARTITION } from "../gateway/actor-pool.js";
import { type Caller, HEAD_OF_NOBODY } from "../gateway/admission.js";
import { LruCache } from "../gateway/lru-cache.js";
import type { SentFrames } from "../gateway/sent-frames.js";
import type { Services } from "../gateway/services.js";
import { ENDPOINTS } from "../protocol/endpoints.js";
import { DbError, type ErrorCode } from "../protocol/errors.js";
import { encodeHead, type ReplyFrame } from "../protocol/frames.js";

const LOGIN = ENDPOINTS.find(({ name }) => name === "auth.login")!;
const LOGIN_MS = 30_000;
const KEY = /^(?:ak_|tessera_)/;

export interface Credential {
  readonly user: string;
  readonly password: string;
  readonly address: string;
}

/** Sign-ins that are remembered, so that clients which connect often do not pay for the check of a password each time. */
const REMEMBERED_MAX = 10_000;
const REMEMBERED_MS = 300_000;

/** Tokens of recent sign-ins by the hash of user and password. A token that was revoked is refused like any other. */
const remembered = new LruCache<string, { readonly token: string; readonly untilMs: number }>(REMEMBERED_MAX);
const salt = randomBytes(32);

/** Rejects with DbError: invalid_credentials, rate_limited and others. */
export async function signIn(services: Services, { user, password, address }: Credential): Promise<Caller> {
  const key = createHmac("sha256", salt).update(`${user}\0${password}`).digest("base64");
  const known = remembered.get(key);
  if (known !== undefined && known.untilMs > services.clock.wall()) {
    const caller = await callerOf(services, `Bearer ${known.token}`).catch(() => null);
    if (caller !== null) return caller;
  }
  remembered.delete(key);
  const bucket = services.limiter.ofAddress(address, services.clock.now());
  if (!bucket.take(services.clock.now()))
    throw new DbError("rate_limited", "Too many attempts to sign in; wait a moment.");
  if (KEY.test(password)) return callerOf(services, `Bearer ${password}`);
  const reply = await login(services, JSON.stringify({ username: user, password }), address);
  const said = JSON.parse(reply.body) as { access_token?: string; error?: { code: ErrorCode; message: string } };
  if (said.error !== undefined) throw new DbError(said.error.code, said.error.message);
  if (said.access_token === undefined) {
    throw new DbError("unauthorized", "The user has a second factor, which this protocol cannot ask for.", {
      sqlstate: "28000",
      hint: "Connect with an API key as the password: POST /v1/auth/api-keys makes one.",
    });
  }
  remembered.set(key, { token: said.access_token, untilMs: services.clock.wall() + REMEMBERED_MS });
  return callerOf(services, `Bearer ${said.access_token}`);
}

/** As for a request with that header. */
function callerOf({ admission, clock }: Services, authorization: string): Promise<Caller> {
  const known = admission.known(authorization, clock.wall());
  if (known !== null) return Promise.resolve(known);
  return new Promise((resolve, reject) => {
    admission.judge(authorization, {
      admitted: resolve,
      refused: (code, message) => reject(new DbError(code, message, { sqlstate: "28P01" })),
    });
  });
}

function login(services: Services, body: string, address: string): Promise<{ readonly body: string }> {
  return new Promise((resolve, reject) => {
    const request = new LoginCall(services, resolve, reject);
    request.begin(Buffer.from(body), address);
  });
}

class LoginCall implements PendingReply {
  keptIn: SentFrames | null = null;
  suspicions = 0;
  readonly ofDirectory = true;
  readonly repeatable = "never";
  readonly tenantId = null;
  readonly requestId: string;
  private readonly call: ActorCall;

  constructor(
    private readonly services: Services,
    private readonly answered: (reply: { readonly body: string }) => void,
    private readonly refused: (error: DbError) => void,
  ) {
    this.requestId = services.requestIds.of("");
    this.call = new ActorCall(services, this);
  }

  begin(body: Buffer, address: string): void {
    const { services, call, requestId } = this;
    if (!services.pool.takes(DIRECTORY_PARTITION) || !call.reserve(DIRECTORY_PARTITION, body, false)) {
      this.refused(new DbError("partition_unavailable", "Credentials cannot be checked at the moment; retry shortly."));
      return;
    }
    const head = encodeHead(HEAD_OF_NOBODY, "", address, "", []);
    const deadlineMs = services.clock.wall() + LOGIN_MS;
    call.send({ code: LOGIN.code, flags: 0, tenant: 0, deadlineMs, requestId, head }, body);
  }

  replied({ body }: ReplyFrame): void {
    this.call.release();
    this.answered({ body: body.toString("utf8") });
  }

  progressed(): void {}

  lost(loss?: Loss): void {
    this.call.release();
    this.refused(new DbError(loss?.code ?? "partition_unavailable", loss?.message));
  }
}
