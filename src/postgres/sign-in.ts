/**
 * Finds the caller of a connection. A user proves the password by SCRAM; an API key, and a password of which the
 * directory keeps no verifier yet, come in clear text and are checked as by POST /v1/auth/login.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Caller } from "../gateway/admission.js";
import { LruCache } from "../gateway/lru-cache.js";
import type { Services } from "../gateway/services.js";
import type { SignInMethod, SignInOutcome } from "../gateway/wire-metrics.js";
import { DbError } from "../protocol/errors.js";
import { MessageFields } from "../protocol/postgres/message-reader.js";
import { AUTHENTICATION } from "../protocol/postgres/message-types.js";
import { askDirectory } from "./directory-call.js";
import { type Challenge, type SignInClient, takeProof } from "./scram.js";

/** API keys, and tokens: of this server, and of issuers that it accepts. */
export const KEY = /^(?:ak_|tessera_|eyJ[\w-]+\.[\w-]+\.[\w-]*$)/;
/** Who connects by that name sends an API key, a token, or the user's password if there is one, in clear text. */
const KEY_USER = "key";

export interface Applicant {
  readonly user: string;
  readonly address: string;
  /** Hash of the certificate that encrypts the connection; null: there is none to bind to. */
  readonly certificate: Buffer | null;
}

/**
 * Sign-ins that are remembered, so that clients which connect often do not pay for the check of a password each time.
 */
const REMEMBERED_MAX = 10_000;
const REMEMBERED_MS = 300_000;

/** Tokens of recent sign-ins by the hash of user and password. A token that was revoked is refused like any other. */
const remembered = new LruCache<string, { readonly token: string; readonly untilMs: number }>(REMEMBERED_MAX);
const salt = randomBytes(32);
/** Until when users' proofs from an address do not count against that address: it has given a right one. */
const proven = new LruCache<string, number>(REMEMBERED_MAX);

interface LetIn {
  readonly access_token?: string;
  /** Base64; of SCRAM. */
  readonly server_signature?: string;
}

/** Rejects with DbError: invalid_credentials, rate_limited and others. */
export async function signIn(services: Services, applicant: Applicant, client: SignInClient): Promise<Caller> {
  let method: SignInMethod = "password";
  try {
    const caller = await callerFor(services, applicant, client, (used) => {
      method = used;
    });
    services.wire.countSignIn(method, "ok");
    return caller;
  } catch (error) {
    services.wire.countSignIn(method, outcomeOf(error));
    throw error;
  }
}

export function outcomeOf(error: unknown): SignInOutcome {
  if (!(error instanceof DbError)) return "failed";
  if (error.code === "rate_limited") return "limited";
  const isRefused = [401, 403].includes(error.status);
  return isRefused ? "refused" : "failed";
}

/** `uses` is told how the password is shown. */
async function callerFor(
  services: Services,
  applicant: Applicant,
  client: SignInClient,
  uses: (method: SignInMethod) => void,
): Promise<Caller> {
  const { user, address } = applicant;
  const challenge =
    user === KEY_USER
      ? null
      : await askDirectory<Challenge | null>(services, "postgres.challenge", { username: user }, address);
  if (challenge !== null) {
    uses("scram");
    return byProof(services, applicant, client, challenge);
  }
  client.ask(AUTHENTICATION.cleartextPassword);
  const fields = new MessageFields(await client.answer());
  const password = fields.cstring();
  fields.end();
  if (KEY.test(password)) uses("key");
  return byPassword(services, applicant, password);
}

async function byProof(
  services: Services,
  { user, address, certificate }: Applicant,
  client: SignInClient,
  challenge: Challenge,
): Promise<Caller> {
  const key = `${user}\0${address}`;
  if ((proven.get(key) ?? 0) < services.clock.wall()) takeToken(services, address);
  const { authMessage, proof } = await takeProof(client, challenge, certificate);
  const body = { username: user, auth_message: authMessage, proof };
  const said = await askDirectory<LetIn>(services, "postgres.login", body, address).catch((error: DbError) => {
    proven.delete(key);
    throw error.code === "invalid_credentials" ? withHint(error) : error;
  });
  const caller = await callerOf(services, `Bearer ${tokenIn(said)}`);
  client.ask(AUTHENTICATION.saslFinal, Buffer.from(`v=${said.server_signature!}`));
  proven.set(key, services.clock.wall() + REMEMBERED_MS);
  return caller;
}

const withHint = ({ code, message }: DbError): DbError =>
  new DbError(code, `${message} To connect with an API key as the password, give "${KEY_USER}" as the user.`);

/**
 * By a password, or an API key in its place, that came in clear text. `event`: of the audit trail, for a key that is
 * refused. Rejects with DbError.
 */
export async function byPassword(
  services: Services,
  { user, address }: Pick<Applicant, "user" | "address">,
  password: string,
  event: "postgres.login" | "bolt.login" = "postgres.login",
): Promise<Caller> {
  const key = createHmac("sha256", salt).update(`${user}\0${password}`).digest("base64");
  const known = remembered.get(key);
  if (known !== undefined && known.untilMs > services.clock.wall()) {
    const caller = await callerOf(services, `Bearer ${known.token}`).catch(() => null);
    if (caller !== null) return caller;
  }
  remembered.delete(key);
  takeToken(services, address);
  if (KEY.test(password)) return byKey(services, password, address, event);
  const token = tokenIn(await askDirectory<LetIn>(services, "auth.login", { username: user, password }, address));
  remembered.set(key, { token, untilMs: services.clock.wall() + REMEMBERED_MS });
  return callerOf(services, `Bearer ${token}`);
}

/** A refused one is noted for the audit trail, as at HTTP. */
async function byKey(services: Services, key: string, address: string, event: string): Promise<Caller> {
  try {
    return await callerOf(services, `Bearer ${key}`);
  } catch (error) {
    const { code, status } = error as DbError;
    if (status === 401 || status === 403)
      services.refusals.note(event, code, null, address, services.requestIds.of(""));
    throw error;
  }
}

/** By a token or an API key, as an Authorization header of HTTP has it. Rejects with DbError. */
export function byToken(services: Services, address: string, token: string, event: "bolt.login"): Promise<Caller> {
  const known = services.admission.known(`Bearer ${token}`, services.clock.wall());
  if (known !== null) return Promise.resolve(known);
  takeToken(services, address);
  return byKey(services, token, address, event);
}

function tokenIn({ access_token }: LetIn): string {
  if (access_token !== undefined) return access_token;
  throw new DbError("unauthorized", "The user has a second factor, which this protocol cannot ask for.", {
    sqlstate: "28000",
    hint: `Connect as the user "${KEY_USER}" with an API key as the password: POST /v1/api-keys makes one.`,
  });
}

/** Throws where the address has none left. */
function takeToken({ limiter, clock }: Services, address: string): void {
  if (limiter.ofAddress(address, clock.now()).take(clock.now())) return;
  throw new DbError("rate_limited", "Too many attempts to sign in; wait a moment.");
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
