/** The credential of a client: a key as it is, or a token that is got with a password and renewed. One per client. */
import { AuthenticationError, TesseraError } from "./errors.js";
import type { ConnectOptions, PasswordOptions } from "./options.js";

/** Sends one request without a credential; gives the payload of the answer. */
export type AskOpenly = (path: string, body: object) => Promise<unknown>;

/** An access token. */
export interface AccessToken {
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

interface SignedIn {
  readonly access_token?: string;
  readonly expires_in: number;
  readonly mfa_required?: boolean;
  readonly mfa_token?: string;
}

/** A token is renewed when it has this much left. */
const MARGIN_MS = 60_000;

export class SignIn {
  private token: AccessToken | null = null;
  /** The sign-in that is under way, which all requests wait for. */
  private under: Promise<AccessToken> | null = null;

  constructor(
    private readonly options: ConnectOptions,
    private readonly ask: AskOpenly,
  ) {}

  /** Of the header Authorization. */
  async header(): Promise<string> {
    const { options } = this;
    if ("apiKey" in options) return `Bearer ${options.apiKey}`;
    return `Bearer ${(await this.tokenOf(options)).text}`;
  }

  /** One that is valid, got now if need be. */
  async tokenOf(options: PasswordOptions): Promise<AccessToken> {
    const { token } = this;
    if (token !== null && token.expiresAtMs - MARGIN_MS > Date.now()) return token;
    this.under ??= this.signIn(options).finally(() => {
      this.under = null;
    });
    return this.under;
  }

  /** The server did not accept that header. True: a new one may help. */
  refused(header: string): boolean {
    if ("apiKey" in this.options) return false;
    if (this.token !== null && `Bearer ${this.token.text}` === header) this.token = null;
    return true;
  }

  private async signIn({ username, password, code }: PasswordOptions): Promise<AccessToken> {
    let signed = (await this.ask("/v1/auth/login", { username, password })) as SignedIn;
    if (signed.mfa_required === true) {
      if (code === undefined) throw needsCode();
      const body = { mfa_token: signed.mfa_token, code: await code() };
      signed = (await this.ask("/v1/auth/mfa/verify", body)) as SignedIn;
    }
    const { access_token: text, expires_in: seconds } = signed;
    if (text === undefined) throw new TesseraError("The server gave no token.", { code: "unauthorized", status: 200 });
    this.token = { text, expiresAtMs: Date.now() + seconds * 1000 };
    return this.token;
  }
}

function needsCode(): AuthenticationError {
  const message = 'The user has a second factor. Give connect() the option "code", which returns its code.';
  return new AuthenticationError(message, { code: "invalid_credentials", status: 401 });
}
