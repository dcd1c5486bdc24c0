/**
 * Signing in with a provider of OpenID Connect by authorization code with PKCE (RFC 6749, RFC 7636, RFC 9207). State,
 * nonce and verifier lie in a signed cookie between the two steps, so nothing is kept here and any node can end what
 * another began. Called by oidc-routes.ts.
 */
import type * as OpenId from "openid-client";
import type { Directory } from "../../directory/directory.js";
import type { KnownProvider } from "../../directory/oidc-providers.js";
import type { SignedIn } from "../../protocol/accounts.js";
import { DbError } from "../../protocol/errors.js";
import { CLOCK_SKEW_SECONDS } from "../../protocol/oidc.js";
import { keyFor } from "../../protocol/sealing.js";
import { claimedUser } from "./claim-mapping.js";
import type { IssuerFetch } from "./issuer-fetch.js";
import type { Issuers } from "./issuers.js";
import { checkedToken } from "./token-check.js";

const COOKIE = "tessera_oidc";
const COOKIE_PATH = "/v1/auth/oidc";
const LIFETIME_SECONDS = 600;
const PURPOSE = "tessera/sign-in with a provider";

interface Begun {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface SignInRequest {
  readonly code: string;
  readonly state: string;
  /** The issuer, of providers that say so (RFC 9207). */
  readonly iss?: string;
}

export interface OidcSignInOptions {
  readonly directory: Directory;
  readonly issuers: Issuers;
  readonly fetch: IssuerFetch;
  /** The installation's. */
  readonly secret: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class OidcSignIns {
  private readonly key: Uint8Array;

  constructor(private readonly options: OidcSignInOptions) {
    this.key = keyFor(options.secret, PURPOSE);
  }

  /** Where the browser goes, and the cookie that it brings back. */
  async start(key: string): Promise<{ readonly url: string; readonly cookie: string }> {
    const provider = this.options.directory.providerByKey(key);
    const { spec } = provider;
    if (spec.redirect_uri === undefined) {
      throw new DbError("invalid_request", `"${key}" takes tokens only; it has no client_id.`, { field: "provider" });
    }
    const client = await import("openid-client");
    const begun: Begun = {
      provider: key,
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = client.buildAuthorizationUrl(await this.clientOf(provider), {
      redirect_uri: spec.redirect_uri,
      scope: (spec.scopes ?? ["openid", "profile", "email"]).join(" "),
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, cookie: cookieOf(await this.signed(begun), LIFETIME_SECONDS, spec.redirect_uri) };
  }

  /**
   * `cookies`: the request's header. The cookie of the answer takes its cookie away. Throws `sign_in_failed` and what
   * tokens are refused with.
   */
  async finish(
    cookies: string,
    { code, state, iss }: SignInRequest,
  ): Promise<{ readonly signedIn: SignedIn; readonly cookie: string }> {
    const begun = await this.begunBy(cookies);
    if (begun.state !== state) throw new DbError("sign_in_failed", "The sign-in is another one; begin it anew.");
    const provider = this.options.directory.providerByKey(begun.provider);
    const { spec } = provider;
    if (spec.redirect_uri === undefined || spec.client_id === undefined) throw new DbError("sign_in_failed");
    const given = new URL(spec.redirect_uri);
    for (const [name, value] of Object.entries({ code, state, iss })) {
      if (value !== undefined) given.searchParams.set(name, value);
    }
    const idToken = await this.exchanged(provider, given, begun);
    // The library checks the token of a direct answer without its signature.
    const claims = await checkedToken(this.options.issuers, provider, idToken, {
      audience: [spec.client_id],
      nowMs: this.options.now(),
      nonce: begun.nonce,
    });
    const signedIn = this.options.directory.federatedLogin(claimedUser(provider, claims));
    return { signedIn, cookie: cookieOf("", 0, spec.redirect_uri) };
  }

  private async exchanged(provider: KnownProvider, given: URL, begun: Begun): Promise<string> {
    const client = await import("openid-client");
    const configuration = await this.clientOf(provider);
    try {
      const { id_token } = await client.authorizationCodeGrant(configuration, given, {
        pkceCodeVerifier: begun.verifier,
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        idTokenExpected: true,
      });
      return id_token!;
    } catch (error) {
      throw signInError(error);
    }
  }

  private async clientOf(provider: KnownProvider): Promise<OpenId.Configuration> {
    const { client_id, client_secret, clock_skew_seconds = CLOCK_SKEW_SECONDS } = provider.spec;
    const client = await import("openid-client");
    const metadata = (await this.options.issuers.metadata(provider)) as OpenId.ServerMetadata;
    const own = { [client.clockTolerance]: clock_skew_seconds, ...(client_secret !== undefined && { client_secret }) };
    const configuration = new client.Configuration(metadata, client_id!, own, shownBy(client, metadata, client_secret));
    if (metadata.issuer.startsWith("http:")) client.allowInsecureRequests(configuration);
    configuration[client.customFetch] = this.fetchFor(provider);
    return configuration;
  }

  /** The same bounds as for keys. */
  private fetchFor(provider: KnownProvider): OpenId.CustomFetch {
    return async (url, { method, headers, body }) => {
      const { status, bytes, type } = await this.options.fetch(url, provider, {
        field: url,
        method: method === "POST" ? "POST" : "GET",
        headers,
        takesErrors: true,
        ...(body == null ? {} : { body: body instanceof URLSearchParams ? body.toString() : String(body) }),
      });
      return new Response(new Uint8Array(bytes), { status, headers: { "content-type": type } });
    };
  }

  private async signed(begun: Begun): Promise<string> {
    const { SignJWT } = await import("jose");
    const until = Math.floor(this.options.now() / 1000) + LIFETIME_SECONDS;
    return new SignJWT({ ...begun })
      .setProtectedHeader({ alg: "HS256" })
      .setAudience(PURPOSE)
      .setExpirationTime(until)
      .sign(this.key);
  }

  private async begunBy(cookies: string): Promise<Begun> {
    const { jwtVerify } = await import("jose");
    const token = cookies
      .split(";")
      .map((each) => each.trim().split("="))
      .find(([name]) => name === COOKIE)?.[1];
    try {
      const { payload } = await jwtVerify(token ?? "", this.key, {
        algorithms: ["HS256"],
        audience: PURPOSE,
        currentDate: new Date(this.options.now()),
      });
      return payload as unknown as Begun;
    } catch {
      throw new DbError("sign_in_failed", "The sign-in was not begun in this browser, or too long ago; begin it anew.");
    }
  }
}

/** A secret goes into the header where the provider takes it there, which is what it has to by default. */
function shownBy(
  client: typeof OpenId,
  { token_endpoint_auth_methods_supported: methods }: OpenId.ServerMetadata,
  secret?: string,
): OpenId.ClientAuth {
  if (secret === undefined) return client.None();
  const takesHeader = methods === undefined || methods.includes("client_secret_basic");
  return takesHeader ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}

/** Out of reach for scripts, and sent by pages of this server only. */
function cookieOf(value: string, seconds: number, redirectUri: string): string {
  const secure = redirectUri.startsWith("https:") ? "; Secure" : "";
  return `${COOKIE}=${value}; Path=${COOKIE_PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

function signInError(error: unknown): DbError {
  if (error instanceof DbError) return error;
  const cause = (error as { cause?: unknown }).cause;
  if (cause instanceof DbError) return cause;
  const { error: code, message } = error as { error?: string; message?: string };
  return new DbError("sign_in_failed", `The provider did not complete the sign-in: ${code ?? message}.`);
}
