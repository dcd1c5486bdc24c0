/** Finds the caller of a connection by the credentials in HELLO (before 5.1) or LOGON. Called by connection.ts. */
import type { Caller } from "../gateway/admission.js";
import type { Services } from "../gateway/services.js";
import type { SignInMethod } from "../gateway/wire-metrics.js";
import { byPassword, byToken, KEY, outcomeOf } from "../postgres/sign-in.js";
import { boltError } from "../protocol/bolt/failure-message.js";
import type { PackMap } from "../protocol/bolt/pack-reader.js";
import { DbError } from "../protocol/errors.js";

const EVENT = "bolt.login";
const UNAUTHORIZED = "Neo.ClientError.Security.Unauthorized";

/** Rejects with DbError. */
export async function signInBy(services: Services, token: PackMap, address: string): Promise<Caller> {
  const credentials = token.get("credentials");
  const isKey = typeof credentials === "string" && (token.get("scheme") === "bearer" || KEY.test(credentials));
  const method: SignInMethod = isKey ? "key" : "password";
  try {
    const caller = await callerBy(services, token, address);
    services.bolt.countSignIn(method, "ok");
    return caller;
  } catch (error) {
    services.bolt.countSignIn(method, outcomeOf(error));
    throw error instanceof DbError && error.status === 401
      ? new DbError(error.code, error.message, { ...error.details, bolt: UNAUTHORIZED })
      : error;
  }
}

function callerBy(services: Services, token: PackMap, address: string): Promise<Caller> {
  const credentials = textOf(token, "credentials");
  switch (token.get("scheme")) {
    case "basic":
      return byPassword(services, { user: textOf(token, "principal"), address }, credentials, EVENT);
    case "bearer":
      return byToken(services, address, credentials, EVENT);
    default:
      throw boltError(
        "unauthorized",
        UNAUTHORIZED,
        'Sign in with the scheme "basic" (user and password, or the user "key" and an API key) or "bearer" (an API key, or an access token).',
      );
  }
}

function textOf(token: PackMap, name: string): string {
  const value = token.get(name) ?? "";
  if (typeof value === "string") return value;
  throw boltError("unauthorized", UNAUTHORIZED, `"${name}" of the sign-in has to be a string.`);
}
