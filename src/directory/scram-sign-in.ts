/**
 * Signing in by SCRAM-SHA-256 (RFC 5802): the server of a protocol that has it holds the exchange with the client, and
 * the secrets stay here. Called by the `Directory`.
 */
import type { ScramChallenge, ScramLoginRequest, ScramSignedIn } from "../protocol/accounts.js";
import { DbError } from "../protocol/errors.js";
import { loginSubject } from "./credential-checks.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import { getUserByName } from "./directory-store.js";
import type { UserRecord } from "./records.js";
import { isProof, type ScramVerifier, serverSignature } from "./scram.js";
import { enter } from "./sign-in.js";

/** What the client needs to prove the password; null: it must send the password, because there is no verifier yet. */
export function scramChallenge(context: DirectoryContext, username: string): ScramChallenge | null {
  const { verifier } = find(context, username);
  return verifier === null ? null : { salt: verifier.salt.toString("base64"), iterations: verifier.iterations };
}

/** Counted as a guess of the password. Throws `invalid_credentials`, `forbidden` (disabled) or `rate_limited`. */
export function scramLogin(context: DirectoryContext, request: ScramLoginRequest): ScramSignedIn {
  const { username, auth_message, proof, remoteAddress } = request;
  const attempt = context.throttle.attempt(loginSubject(username, remoteAddress));
  const { user, verifier } = find(context, username);
  const isRight = verifier !== null && isProof(verifier, auth_message, Buffer.from(proof, "base64"));
  if (!isRight || user === undefined) {
    attempt.failed();
    throw new DbError("invalid_credentials");
  }
  attempt.succeeded();
  const entered = write(context, (tx) => enter(context, tx, user, {}));
  return { ...entered, server_signature: serverSignature(verifier, auth_message).toString("base64") };
}

function find(
  { begin, verifiers }: DirectoryContext,
  username: string,
): { readonly user: UserRecord | undefined; readonly verifier: ScramVerifier | null } {
  const user = read({ begin }, (tx) => getUserByName(tx, username));
  if (user?.federated !== undefined) return { user: undefined, verifier: verifiers.pretended(username) };
  return { user, verifier: user === undefined ? verifiers.pretended(username) : verifiers.open(user.id, user.scram) };
}
