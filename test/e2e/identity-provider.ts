/**
 * A real provider of OpenID Connect (oidc-provider) on loopback, with accounts whose claims a test says, keys that
 * rotate, and a browser that goes through its sign-in. Tokens that no provider would give are signed by its keys here.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import Provider, { type Configuration } from "oidc-provider";

export const CLIENT = { id: "tessera-console", secret: "a secret of the client" } as const;
export const AUDIENCE = "tessera";
/** Nobody listens there: a test reads the code from the redirect. */
export const REDIRECT = "http://127.0.0.1:9/console/";

export type Claims = Readonly<Record<string, unknown>>;

interface Key {
  readonly kid: string;
  readonly alg: "RS256" | "ES256";
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

export class IdentityProvider {
  issuer = "";
  /** Claims by account. */
  readonly accounts = new Map<string, Claims>();
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  /** Answers in the provider's place; false: the provider answers. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Addresses that it sends browsers back to. */
  private redirects: readonly string[] = [REDIRECT];
  private keys: Key[] = [];
  private handle!: (request: IncomingMessage, response: ServerResponse) => void;
  private server!: Server;
  private made = 0;
  private port = 0;

  static async start(): Promise<IdentityProvider> {
    const provider = new IdentityProvider();
    await provider.listen();
    provider.issuer = `http://127.0.0.1:${provider.port}`;
    await provider.rotate();
    return provider;
  }

  /** Listens at its port, or at a free one the first time. */
  async listen(): Promise<void> {
    this.server = createServer((request, response) => {
      this.asked.push(request.url!);
      if (!this.intercept(request, response)) this.handle(request, response);
    });
    await new Promise<void>((resolve) => this.server.listen(this.port, "127.0.0.1", resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** New keys; the old ones are gone. */
  async rotate(): Promise<void> {
    this.keys = await Promise.all([this.newKey("RS256"), this.newKey("ES256")]);
    this.serve();
  }

  /** Browsers may be sent back there, too. */
  allow(redirect: string): void {
    this.redirects = [...this.redirects, redirect];
    this.serve();
  }

  private async newKey(alg: Key["alg"]): Promise<Key> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const kid = `key-${++this.made}`;
    return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(privateKey)), kid, alg, use: "sig" } };
  }

  private serve(): void {
    const provider = new Provider(this.issuer, this.configuration());
    const callback = provider.callback();
    this.handle = (request, response) => {
      if (!request.url!.startsWith("/interaction/")) return void callback(request, response);
      // A person would see a form here.
      const account = /account=([^;]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "";
      void provider.interactionFinished(request, response, { login: { accountId: account } });
    };
  }

  private configuration(): Configuration {
    const { accounts } = this;
    return {
      jwks: { keys: this.keys.map(({ jwk }) => jwk) } as NonNullable<Configuration["jwks"]>,
      clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [...this.redirects] }],
      claims: { openid: ["sub", "groups", "company", "email", "email_verified"] },
      scopes: ["openid"],
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      cookies: { keys: ["a key for tests"] },
      features: {
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => "urn:tessera",
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope: "openid",
            audience: AUDIENCE,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "ES256" } },
          }),
        },
      },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...accounts.get(id) }) }),
      extraTokenClaims: (_context, token) => {
        const { accountId } = token as { accountId?: string };
        return { ...accounts.get(accountId ?? "") };
      },
      async loadExistingGrant({ oidc }) {
        const { client, session, provider } = oidc;
        const grant = new provider.Grant({ clientId: client!.clientId, accountId: session!.accountId! });
        grant.addOIDCScope("openid");
        grant.addResourceScope("urn:tessera", "openid");
        await grant.save();
        return grant;
      },
    };
  }

  /** Goes with a browser's cookies from the address to the redirect, as that account. */
  async browse(address: string, account: string): Promise<URL> {
    const cookies = new Map([["account", account]]);
    let at = address;
    for (let hops = 0; hops < 10; hops++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(at, { redirect: "manual", headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        cookies.set(name!, value!);
      }
      const location = response.headers.get("location");
      if (location === null) throw new Error(`${at} answered ${response.status}: ${await response.text()}`);
      at = new URL(location, at).href;
      if (at.startsWith(REDIRECT)) return new URL(at);
    }
    throw new Error("the provider redirects without end");
  }

  /** An access token as the provider gives one to a program that a person has let in. */
  async accessToken(account: string): Promise<string> {
    const verifier = "v".repeat(64);
    const { createHash } = await import("node:crypto");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const asked = new URL(`${this.issuer}/auth`);
    const parameters = { client_id: CLIENT.id, response_type: "code", redirect_uri: REDIRECT, scope: "openid" };
    const proof = { code_challenge: challenge, code_challenge_method: "S256", state: "s" };
    for (const [name, value] of Object.entries({ ...parameters, ...proof })) asked.searchParams.set(name, value);
    const code = (await this.browse(asked.href, account)).searchParams.get("code")!;
    const response = await fetch(`${this.issuer}/token`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${CLIENT.id}:${encodeURIComponent(CLIENT.secret)}`).toString("base64")}`,
      },
      body: new URLSearchParams({
        ...{ grant_type: "authorization_code", code, redirect_uri: REDIRECT },
        ...{ code_verifier: verifier, resource: "urn:tessera" },
      }),
    });
    const body = (await response.json()) as { access_token?: string };
    if (body.access_token === undefined) throw new Error(JSON.stringify(body));
    return body.access_token;
  }

  /** A token with exactly those claims, beside what every one has. `null` leaves a claim out. */
  sign(claims: Claims, how: { readonly alg?: Key["alg"]; readonly kid?: string } = {}): Promise<string> {
    const { alg = "RS256" } = how;
    const key = this.keys.find((each) => each.alg === alg)!;
    const now = Math.floor(Date.now() / 1000);
    const all: Record<string, unknown> = {
      iss: this.issuer,
      aud: AUDIENCE,
      sub: "ada",
      iat: now,
      exp: now + 300,
      ...claims,
    };
    for (const [name, value] of Object.entries(all)) if (value === null) delete all[name];
    const token = new SignJWT(all as JWTPayload).setProtectedHeader({ alg, kid: how.kid ?? key.kid });
    return token.sign(key.privateKey);
  }

  /** Of the key that `sign` signs with. */
  publicKey(alg: Key["alg"] = "RS256"): CryptoKey {
    return this.keys.find((each) => each.alg === alg)!.publicKey;
  }

  kid(alg: Key["alg"] = "RS256"): string {
    return this.keys.find((each) => each.alg === alg)!.kid;
  }
}
