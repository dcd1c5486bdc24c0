/**
 * What issuers of OpenID Connect say of themselves: their metadata and their keys, fetched when they are first needed
 * and kept. Keys that are old go on for a time while they are fetched anew, so nobody waits for an issuer that does not
 * answer. A token that names an unknown key has them fetched, but not often. Called by token-check.ts and
 * oidc-sign-in.ts; owns what was fetched.
 */
import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import type { KnownProvider } from "../../directory/oidc-providers.js";
import { DbError } from "../../protocol/errors.js";
import type { IssuerFetch } from "./issuer-fetch.js";

/** Unknown keys have the keys fetched anew this often at most; whoever comes sooner waits. */
const UNKNOWN_KEY_MS = 1_000;
/** After a failure, this long nothing is tried. */
const FAILURE_MS = 1_000;
/** Providers that are remembered. */
const ISSUERS_MAX = 1_000;
const KEYS_MAX = 100;

/** The part that is used; openid-client reads the rest. */
export interface IssuerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly [name: string]: unknown;
}

interface Known {
  metadata: IssuerMetadata | null;
  keys: { readonly find: JWTVerifyGetKey; readonly atMs: number } | null;
  /** For a key that was unknown: when it was done last, and what is about to be done. Milliseconds since 1970. */
  againAtMs: number;
  again: Promise<void> | null;
  failure: { readonly error: DbError; readonly atMs: number } | null;
  fetching: Promise<void> | null;
  /** That a key of it cannot be used has been logged. */
  isTold: boolean;
}

export interface IssuersOptions {
  readonly fetch: IssuerFetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
  readonly keysMs: number;
  readonly keysMsMax: number;
  /** Of an issuer, once. */
  readonly warn: (message: string, fields: object) => void;
}

export class Issuers {
  private readonly known = new Map<string, Known>();

  constructor(private readonly options: IssuersOptions) {}

  /** Throws `issuer_unavailable`, `issuer_misconfigured`. */
  async metadata(provider: KnownProvider): Promise<IssuerMetadata> {
    const known = this.of(provider);
    if (known.metadata === null) await this.renew(known, provider);
    return known.metadata!;
  }

  /**
   * Its keys: at once where they are known and not too old; old ones are fetched anew behind. Throws
   * `issuer_unavailable`, `issuer_misconfigured`.
   */
  async keys(provider: KnownProvider): Promise<JWTVerifyGetKey> {
    const known = this.of(provider);
    const { keysMs, keysMsMax, now } = this.options;
    const ageMs = known.keys === null ? Number.POSITIVE_INFINITY : now() - known.keys.atMs;
    if (ageMs >= keysMs) {
      const renewed = this.renew(known, provider);
      if (ageMs >= keysMsMax) await renewed;
      // Kept with the issuer, and told to whoever cannot go on without.
      else renewed.catch(() => undefined);
    }
    return known.keys!.find;
  }

  /** The same after a token has named a key that was not among them: as they are now, for keys rotate at any time. */
  async keysAgain(provider: KnownProvider): Promise<JWTVerifyGetKey> {
    const known = this.of(provider);
    const { now, wait } = this.options;
    // What is being fetched may have been read before the key was there.
    if (known.again === null) {
      const ageMs = now() - known.againAtMs;
      known.again = (ageMs < UNKNOWN_KEY_MS ? wait(UNKNOWN_KEY_MS - ageMs) : Promise.resolve())
        .then(() => known.fetching?.catch(() => undefined))
        .then(() => {
          known.again = null;
          known.againAtMs = now();
          return this.renew(known, provider);
        });
    }
    await known.again;
    return known.keys!.find;
  }

  /** What a token is refused with whose key is there and cannot be used: too short, or not as keys are written. */
  unusable(provider: KnownProvider, thrown: unknown): DbError {
    const { issuer } = provider.spec;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const known = this.of(provider);
    if (!known.isTold) this.options.warn("a key of an issuer cannot be used", { issuer, provider: provider.key, why });
    known.isTold = true;
    return misconfigured(issuer, `its key cannot be used (${why.slice(0, 200)})`);
  }

  private of({ key, spec }: KnownProvider): Known {
    const id = `${key}\n${spec.issuer}`;
    let known = this.known.get(id);
    if (known === undefined) {
      known = {
        ...{ metadata: null, keys: null, failure: null, fetching: null, again: null, isTold: false },
        againAtMs: Number.NEGATIVE_INFINITY,
      };
      if (this.known.size >= ISSUERS_MAX) this.known.delete(this.known.keys().next().value as string);
      this.known.set(id, known);
    }
    return known;
  }

  /** Those who ask meanwhile wait for the same answer. */
  private renew(known: Known, provider: KnownProvider): Promise<void> {
    const { now } = this.options;
    if (known.failure !== null && now() - known.failure.atMs < FAILURE_MS) return Promise.reject(known.failure.error);
    known.fetching ??= this.fetchAll(known, provider)
      .then(
        () => {
          known.failure = null;
        },
        (thrown: unknown) => {
          const error = errorOf(thrown, provider.spec.issuer);
          known.failure = { error, atMs: now() };
          throw error;
        },
      )
      .finally(() => {
        known.fetching = null;
      });
    return known.fetching;
  }

  private async fetchAll(known: Known, provider: KnownProvider): Promise<void> {
    const { issuer } = provider.spec;
    const metadata = await this.json(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, provider);
    if (metadata.issuer !== issuer) {
      const said = JSON.stringify(metadata.issuer)?.slice(0, 200) ?? "none";
      throw misconfigured(issuer, `its metadata is of another issuer, ${said}`);
    }
    const { jwks_uri } = metadata;
    if (typeof jwks_uri !== "string" || !URL.canParse(jwks_uri)) {
      throw misconfigured(issuer, "its metadata has no jwks_uri");
    }
    const set = await this.json(jwks_uri, provider);
    const { keys } = set;
    if (!Array.isArray(keys) || keys.length > KEYS_MAX) {
      throw misconfigured(issuer, `${jwks_uri} is no set of at most ${KEYS_MAX} keys`);
    }
    // Only servers with providers wait for the package.
    const { createLocalJWKSet } = await import("jose");
    known.metadata = { ...metadata, issuer, jwks_uri };
    // What a shared secret signs is not accepted, whatever the issuer publishes.
    const asymmetric = keys.filter((key) => (key as { kty?: unknown } | null)?.kty !== "oct");
    known.keys = { find: createLocalJWKSet({ keys: asymmetric } as JSONWebKeySet), atMs: this.options.now() };
  }

  private async json(address: string, provider: KnownProvider): Promise<Record<string, unknown>> {
    const { bytes } = await this.options.fetch(address, provider, { field: address });
    let value: unknown;
    try {
      value = JSON.parse(bytes.toString());
    } catch {
      value = null;
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw misconfigured(provider.spec.issuer, `${address} answers no JSON object`);
  }
}

function misconfigured(issuer: string, what: string): DbError {
  return new DbError("issuer_misconfigured", `Tokens of ${issuer} cannot be checked: ${what}.`);
}

/** What could not be fetched is told as the issuer's state, not as a mistake of whoever sent the token. */
function errorOf(thrown: unknown, issuer: string): DbError {
  if (thrown instanceof DbError && thrown.code === "fetch_failed") {
    return new DbError("issuer_unavailable", `The keys of ${issuer} cannot be fetched at the moment; retry shortly.`);
  }
  if (thrown instanceof DbError && thrown.code === "invalid_request") return misconfigured(issuer, thrown.message);
  if (thrown instanceof DbError) return thrown;
  return misconfigured(issuer, (thrown as Error).message);
}
