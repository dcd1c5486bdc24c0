/**
 * Finds the caller: turns an Authorization header into a Caller. The first request with a header is verified
 * (signature or key hash) and checked against the stored identity, which the directory's actor provides. From then on
 * the header is one Map lookup, until the token or key expires or the directory says that the user, key or tenant has
 * changed. Called by requests. Owns the caches of verified headers and of identities, and the counts of API keys'
 * uses.
 */
import { createHash } from "node:crypto";
import { type AccessClaims, foreignIssuerOf, verifyAccessToken } from "../protocol/access-token.js";
import { DbError, type ErrorCode } from "../protocol/errors.js";
import { encodeCaller, encodeHead } from "../protocol/frames.js";
import { type Identity, type IdentityChange, isAbout } from "../protocol/identity.js";
import type { IdentityQuery, IdentityRefusal, ToActor } from "../protocol/messages.js";
import type { Bucket } from "../protocol/token-bucket.js";
import type { IdentityAnswer } from "./actor-link.js";
import type { Clock } from "./clock.js";
import { LruCache } from "./lru-cache.js";
import { type Asker, QuestionLoad } from "./question-load.js";
import type { RateLimiter } from "./rate-limiter.js";

const IDENTITIES_MAX = 20_000;
const VERIFIED_MAX = 20_000;
/** Of each of the two caches, in characters: an issuer's claims are long. */
const CACHED_CHARS_MAX = 16 * 1024 * 1024;
/** How often one question is, while changes overtake its answers. */
const ASKED_MAX = 4;
const KEY_PREFIXES = ["ak_", "tessera_"] as const;
const KEY_CHARS_MAX = 256;
/**
 * Verified headers are found by their last characters, which of a token are its signature's: to hash all of a header
 * costs half a microsecond.
 */
const TAIL_CHARS = 32;
/** Longer headers are not kept: they are found by their hashes. */
const VERIFIED_CHARS_MAX = 4096;

/** What the directory said of a credential; `undefined`: it cannot be asked. */
type CallerAnswer = (caller: Caller | null | undefined, refusal?: IdentityRefusal) => void;

/** An identity as requests use it. */
export interface Caller {
  readonly identity: Identity;
  /** False once the directory has said that the identity changed. */
  valid: boolean;
  bucket: Bucket;
  /**
   * Where its tenant is, as far as is known: a request that goes to the wrong partition comes back with the right one.
   */
  partition: number;
  readonly readOnly: boolean;
  readonly superAdmin: boolean;
  /** The caller's part of a frame's head. */
  readonly encoded: string;
  /** The whole head of a request that has no path variables, no query string and no Idempotency-Key. */
  readonly plainHead: string;
  /** Uses of the API key since the last report. */
  uses: number;
  lastUsedMs: number;
  /** The caller that this one is at a branch; absent: it is at none. */
  readonly of?: Caller;
}

/** Told, at once or later, how an unknown header was judged: exactly one of the two, once. */
export interface Applicant {
  admitted(caller: Caller): void;
  refused(code: ErrorCode, message: string): void;
  /**
   * Before a token's issuer is asked; false: the applicant's address may not ask so often, and has been told. Absent:
   * it has paid.
   */
  mayAskIssuer?(): boolean;
}

/** Who is asked for. */
interface Question extends Asker {
  readonly by: IdentityQuery["by"];
  readonly value: string;
  /** What the answer is kept by. */
  readonly key: string;
}

const questionOf = (by: "user" | "key", value: string): Question => ({
  ...{ by, value, key: `${by}:${value}`, issuer: null, isProven: false },
});

interface Verified {
  readonly authorization: string;
  readonly caller: Caller;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

export interface AdmissionOptions {
  readonly secret: Uint8Array;
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly findIdentity: (by: IdentityQuery["by"], value: string, answer: IdentityAnswer) => void;
  readonly report: (message: ToActor) => void;
  /** Whether what the directory says may be kept; absent: always. */
  readonly mayCache?: () => boolean;
}

/** The same caller at a branch of its tenant, for connections that stay there. */
export function atBranch(caller: Caller, branch: string): Caller {
  if (branch === "") return caller;
  const encoded = caller.encoded + branch;
  // What is said of the caller later holds here, too.
  return Object.assign(Object.create(caller) as object, {
    of: caller,
    encoded,
    plainHead: encodeHead(encoded, "", "", "", []),
  }) as Caller;
}

export const HEAD_OF_NOBODY = encodeCaller("", "", "", "", []);

export class Admission {
  /** By the header's tail. */
  private readonly verified = new LruCache<string, Verified>(VERIFIED_MAX, {
    max: CACHED_CHARS_MAX,
    of: ({ authorization, caller }) => authorization.length + charsOf(caller),
  });
  private readonly identities = new LruCache<string, Caller>(IDENTITIES_MAX, { max: CACHED_CHARS_MAX, of: charsOf });
  /** Tokens of other issuers that were good, by their keys: to ask for one again is nothing that a stranger can do. */
  private readonly proven = new LruCache<string, true>(VERIFIED_MAX);
  private readonly queries = new Map<string, CallerAnswer[]>();
  private readonly verify: (token: string) => AccessClaims;
  private used: Caller[] = [];
  private lookups = 0;
  private misses = 0;
  /** Of the newest change heard of: an identity that is older is used once and not kept. */
  private newestChange = 0;
  /** Heard of. */
  private changes = 0;
  private readonly mayCache: (() => boolean) | null;
  private readonly load = new QuestionLoad();

  constructor(private readonly options: AdmissionOptions) {
    this.mayCache = options.mayCache ?? null;
    this.verify = verifyAccessToken(options.secret, { now: () => options.clock.wall(), cacheEntriesMax: 1 });
  }

  /** The caller of a header that was verified before and still holds; null when it has to be judged. */
  known(authorization: string, wallMs: number): Caller | null {
    this.lookups++;
    if (this.mayCache !== null && !this.mayCache()) return null;
    const tail = authorization.slice(-TAIL_CHARS);
    const verified = this.verified.get(tail);
    if (verified === undefined || verified.authorization !== authorization) return null;
    if (verified.caller.valid && verified.expiresAtMs > wallMs) return verified.caller;
    this.verified.delete(tail);
    return null;
  }

  /** Of the headers and identities that are known. */
  get cacheMetrics(): { hits: number; misses: number; entries: number; identities: number; asked: number } {
    return {
      hits: this.lookups - this.misses,
      misses: this.misses,
      entries: this.verified.size,
      identities: this.identities.size,
      asked: this.load.size,
    };
  }

  /** Judges a header that is not known. */
  judge(authorization: string, applicant: Applicant): void {
    this.misses++;
    const space = authorization.indexOf(" ");
    const scheme = authorization.slice(0, space).toLowerCase();
    const token = authorization.slice(space + 1).trim();
    if ((scheme !== "bearer" && scheme !== "apikey") || token === "") {
      applicant.refused("missing_authorization", "Send Authorization: Bearer with a token or an API key.");
    } else if (KEY_PREFIXES.some((prefix) => token.startsWith(prefix))) {
      this.judgeKey(authorization, token, applicant);
    } else if (scheme === "apikey") {
      applicant.refused("unauthorized", "The API key is not valid.");
    } else {
      const issuer = foreignIssuerOf(token);
      if (issuer === null) this.judgeToken(authorization, token, applicant);
      else this.judgeForeign(authorization, { token, issuer }, applicant);
    }
  }

  /** The bucket of the caller's tenant. */
  bucketOf(caller: Caller): Bucket {
    if (caller.bucket.detached) caller.bucket = this.findBucket(caller.identity);
    return caller.bucket;
  }

  /** Counts one use of the caller's API key. */
  countUse(used: Caller, wallMs: number): void {
    const caller = used.of ?? used;
    if (caller.uses++ === 0) this.used.push(caller);
    caller.lastUsedMs = wallMs;
  }

  /** What has expired leaves. */
  sweep(wallMs: number): void {
    for (const [tail, { expiresAtMs }] of this.verified.entries()) {
      if (expiresAtMs <= wallMs) this.verified.delete(tail);
    }
    for (const [key, { identity }] of this.identities.entries()) {
      if (identity.expiresAtMs !== null && identity.expiresAtMs <= wallMs) this.identities.delete(key);
    }
  }

  /** Sends the directory what was counted since the last time. */
  reportUses(): void {
    if (this.used.length === 0) return;
    const usage = this.used.map(({ identity, uses, lastUsedMs }) => ({
      keyId: identity.keyId as string,
      count: uses,
      lastUsedMs,
    }));
    for (const caller of this.used) caller.uses = 0;
    this.used = [];
    this.options.report({ kind: "key-usage", usage });
  }

  /** Everything cached about that user, key or tenant stops counting at once. */
  forget(change: IdentityChange): void {
    this.changes++;
    this.newestChange = change.version;
    this.forgetWhere((identity) => isAbout(change, identity));
  }

  /** The tenant's requests go to another partition from now on. */
  moved({ tenantId, partition, version }: Extract<IdentityChange, { kind: "moved" }>): void {
    this.changes++;
    this.newestChange = version;
    const follow = (caller: Caller): void => {
      if (caller.identity.tenantId === tenantId) caller.partition = partition;
    };
    for (const [, caller] of this.identities.entries()) follow(caller);
    for (const [, { caller }] of this.verified.entries()) follow(caller);
  }

  /** After the directory's actor came back: changes may have been missed, so nothing cached counts any more. */
  forgetAll(): void {
    this.newestChange = 0;
    this.forgetWhere(() => true);
  }

  /** The two caches drop their entries at different times, so both are searched. */
  private forgetWhere(gone: (identity: Identity) => boolean): void {
    for (const [key, caller] of this.identities.entries()) {
      if (!gone(caller.identity)) continue;
      caller.valid = false;
      this.identities.delete(key);
    }
    for (const [key, { caller }] of this.verified.entries()) {
      if (!gone(caller.identity)) continue;
      caller.valid = false;
      this.verified.delete(key);
    }
  }

  private judgeToken(authorization: string, token: string, applicant: Applicant): void {
    let claims: AccessClaims;
    try {
      claims = this.verify(token);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      applicant.refused(error.code, error.message);
      return;
    }
    this.callerOf(questionOf("user", claims.sub), (caller) => {
      if (caller == null) refuseUnknown(caller, applicant, "The token's user does not exist.");
      else if (!matches(claims, caller.identity))
        applicant.refused("unauthorized", "The token is no longer valid; sign in again.");
      else this.admit(authorization, caller, claims.exp * 1000, applicant);
    });
  }

  /**
   * A token that names another issuer: the directory verifies it, on a thread of its own, and says whom it stands for.
   */
  private judgeForeign(
    authorization: string,
    { token, issuer }: { readonly token: string; readonly issuer: string },
    applicant: Applicant,
  ): void {
    const key = `token:${createHash("sha256").update(token).digest("hex")}`;
    const isProven = this.proven.get(key) !== undefined;
    if (!isProven && applicant.mayAskIssuer?.() === false) return;
    this.callerOf({ by: "token", value: token, key, issuer, isProven }, (caller, refusal) => {
      if (caller == null) {
        if (refusal === undefined) refuseUnknown(caller, applicant, "The token is not valid.");
        else applicant.refused(refusal.code, refusal.message);
        return;
      }
      const { active, expiresAtMs } = caller.identity;
      if (!active) applicant.refused("unauthorized", "The token's user or its tenant is disabled.");
      else if (expiresAtMs! <= this.options.clock.wall()) applicant.refused("token_expired", "The token has expired.");
      else {
        this.proven.set(key, true);
        this.admit(authorization, caller, expiresAtMs!, applicant);
      }
    });
  }

  private judgeKey(authorization: string, key: string, applicant: Applicant): void {
    if (key.length > KEY_CHARS_MAX) {
      applicant.refused("unauthorized", "The API key is not valid.");
      return;
    }
    const hash = createHash("sha256").update(key).digest("hex");
    this.callerOf(questionOf("key", hash), (caller) => {
      const expiresAtMs = caller?.identity.expiresAtMs ?? Number.POSITIVE_INFINITY;
      if (caller == null) refuseUnknown(caller, applicant, "The API key is not valid.");
      else if (!caller.identity.active) applicant.refused("unauthorized", "The API key is disabled.");
      else if (expiresAtMs <= this.options.clock.wall()) applicant.refused("unauthorized", "The API key has expired.");
      else this.admit(authorization, caller, expiresAtMs, applicant);
    });
  }

  private admit(authorization: string, caller: Caller, expiresAtMs: number, applicant: Applicant): void {
    if (authorization.length <= VERIFIED_CHARS_MAX && caller.valid && (this.mayCache === null || this.mayCache())) {
      this.verified.set(authorization.slice(-TAIL_CHARS), { authorization, caller, expiresAtMs });
    }
    applicant.admitted(caller);
  }

  /** Answers with the cached identity, or asks the directory; requests for the same one wait together. */
  private callerOf(question: Question, answer: CallerAnswer): void {
    if (this.mayCache !== null && !this.mayCache()) {
      // Not with those who asked before: what they are told may have changed since. Nothing is kept.
      this.ask(question, answer);
      return;
    }
    const { key } = question;
    const cached = this.identities.get(key);
    if (cached !== undefined) {
      answer(cached);
      return;
    }
    const waiting = this.queries.get(key);
    if (waiting !== undefined) {
      waiting.push(answer);
      return;
    }
    const answers = [answer];
    this.queries.set(key, answers);
    this.ask(question, (caller, refusal) => {
      this.queries.delete(key);
      if (caller?.valid) this.identities.set(key, caller);
      for (const each of answers) each(caller, refusal);
    });
  }

  /** An answer that was overtaken by a change holds for nobody: the question is asked again. */
  private ask(question: Question, answer: CallerAnswer, left = ASKED_MAX): void {
    const { by, value } = question;
    const { changes } = this;
    const end = this.load.begin(question);
    if (end === null) {
      answer(undefined);
      return;
    }
    this.options.findIdentity(by, value, (identity, refusal) => {
      end();
      const caller = identity == null ? identity : this.makeCaller(identity);
      if (caller == null || caller.valid || this.changes === changes) answer(caller, refusal);
      else if (left > 1) this.ask(question, answer, left - 1);
      else answer(undefined);
    });
  }

  private makeCaller(identity: Identity): Caller {
    const { userId, username, tenantId, keyId, roles } = identity;
    const encoded = encodeCaller(userId, username, tenantId, keyId ?? "", roles, identity);
    return {
      identity,
      valid: identity.version >= this.newestChange,
      bucket: this.findBucket(identity),
      partition: identity.partition,
      readOnly: identity.permission === "ReadOnly",
      superAdmin: roles.includes("super_admin"),
      encoded,
      plainHead: encodeHead(encoded, "", "", "", []),
      uses: 0,
      lastUsedMs: 0,
    };
  }

  private findBucket(identity: Identity): Bucket {
    return this.options.limiter.ofTenant(identity.tenantId, identity.rateLimit, this.options.clock.now());
  }
}

/** What its claims cost, which are in its head and its frame, too. */
function charsOf({ encoded, plainHead, identity }: Caller): number {
  return encoded.length + plainHead.length + (identity.claims?.length ?? 0);
}

function refuseUnknown(caller: null | undefined, applicant: Applicant, message: string): void {
  if (caller === null) applicant.refused("unauthorized", message);
  else applicant.refused("partition_unavailable", "Credentials cannot be checked at the moment; retry shortly.");
}

/** The claims must be those of the stored user: a token cannot choose its tenant, and a revoked one does not return. */
function matches(claims: AccessClaims, identity: Identity): boolean {
  return (
    identity.active &&
    identity.userId === claims.sub &&
    identity.tenantId === claims.tenant_id &&
    identity.companyId === claims.company_id &&
    identity.tokenEpoch === claims.epoch
  );
}
