/** Signing in with a provider of OpenID Connect: the way there, and what the page does when the browser comes back. */
import { TesseraError } from "../../../clients/typescript/src/index.js";
import { createStore } from "./store.js";

export interface Provider {
  readonly id: string;
  readonly label: string;
}

interface SignedIn {
  readonly access_token: string;
  /** Seconds. */
  readonly expires_in: number;
}

const PLACE = "tessera.place";
/** Of the sign-in that this tab has begun. */
const STATE = "tessera.sign-in";

/** Why the newest sign-in with a provider came to nothing; null: it did not fail. */
export const providerFailure = createStore<unknown>(null);

/** A tenant's own are shown to who asks for them: /console/?tenant=acme. */
export function tenantOfAddress(): string | null {
  return new URLSearchParams(location.search).get("tenant");
}

export async function listProviders(tenant: string | null, signal: AbortSignal): Promise<readonly Provider[]> {
  const query = tenant === null ? "" : `?tenant=${encodeURIComponent(tenant)}`;
  const { providers } = await ask<{ providers: readonly Provider[] }>("GET", query, undefined, signal);
  return providers;
}

/** The browser leaves this page. */
export async function goToProvider({ id }: Provider): Promise<void> {
  const { authorization_url } = await ask<{ authorization_url: string }>("POST", "/start", { provider: id });
  const tenant = tenantOfAddress();
  // Who signs out later finds the provider again.
  const search = tenant === null ? "" : `?tenant=${encodeURIComponent(tenant)}`;
  sessionStorage.setItem(PLACE, search + location.hash);
  sessionStorage.setItem(STATE, new URL(authorization_url).searchParams.get("state") ?? "");
  location.assign(authorization_url);
}

/**
 * What a provider that the browser comes from has given; null: it comes from elsewhere. Anybody can send people to an
 * address, so it says nothing unless this tab has begun the sign-in.
 */
export async function broughtSignIn(): Promise<SignedIn | null> {
  const given = new URLSearchParams(location.search);
  const state = given.get("state");
  if (state === null || state === "" || state !== sessionStorage.getItem(STATE)) return null;
  sessionStorage.removeItem(STATE);
  // The code works once. It stays in no history, and the page comes back to where it was.
  history.replaceState(null, "", location.pathname + (sessionStorage.getItem(PLACE) ?? ""));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  sessionStorage.removeItem(PLACE);
  const refusal = given.get("error");
  if (refusal !== null) {
    const why = given.get("error_description") ?? refusal;
    throw new TesseraError(`The provider did not sign you in: ${why}`, { code: "sign_in_failed", status: 401 });
  }
  const iss = given.get("iss");
  const body = { code: given.get("code") ?? "", state, ...(iss !== null && { iss }) };
  return ask<SignedIn>("POST", "/finish", body);
}

async function ask<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
  const response = await fetch(`/v1/auth/oidc${path}`, {
    method,
    credentials: "same-origin",
    ...(signal !== undefined && { signal }),
    ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { data: T; error?: { code: string; message: string } };
  if (answer.error === undefined) return answer.data;
  throw new TesseraError(answer.error.message, { code: answer.error.code, status: response.status });
}
