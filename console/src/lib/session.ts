/** Who is signed in, and the client that asks on their behalf. The credential is kept for this tab only. */
import { type Client, connect, signIn, TesseraError } from "../../../clients/typescript/src/index.js";
import { broughtSignIn, providerFailure } from "./provider-sign-in.js";
import { createStore } from "./store.js";

export interface User {
  readonly username: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly hasSecondFactor: boolean;
}

interface Credential {
  readonly token: string;
  /** Milliseconds since 1970; null: as long as the key is valid. */
  readonly expiresAt: number | null;
}

export type Session =
  | { readonly state: "out" }
  | { readonly state: "opening" }
  /** `isExpired`: the credential is not valid any more; what is open stays. */
  | { readonly state: "in"; readonly user: User; readonly client: Client; readonly isExpired: boolean };

/** A sign-in beside the one that is in use. */
export interface OtherSignIn extends Credential, Pick<User, "username" | "tenant"> {}

const KEY = "tessera.session";
const OTHERS = "tessera.other-sign-ins";
const URL_OF_SERVER = location.origin;

export const session = createStore<Session>({ state: "opening" });

/** Newest first. They live as long as the tab, and end when the user signs out. */
export const otherSignIns = createStore<readonly OtherSignIn[]>(keptOthers());

function keptOthers(): readonly OtherSignIn[] {
  const kept = sessionStorage.getItem(OTHERS);
  return kept === null ? [] : (JSON.parse(kept) as readonly OtherSignIn[]);
}

/** The present sign-in stays among the others. It goes, if it cannot be used any more. */
export async function switchTo(other: OtherSignIn): Promise<void> {
  try {
    await open({ token: other.token, expiresAt: other.expiresAt });
  } catch (failure) {
    if (failure instanceof TesseraError && failure.status === 401) keepOthers(otherSignIns.get(), other);
    throw failure;
  }
}

/** Without those of that user. */
function keepOthers(all: readonly OtherSignIn[], user: Pick<User, "username" | "tenant">): void {
  const rest = all.filter(({ username, tenant }) => username !== user.username || tenant !== user.tenant);
  sessionStorage.setItem(OTHERS, JSON.stringify(rest));
  otherSignIns.set(rest);
}

/** The client of the signed-in user. Pages are only shown to them. */
export function client(): Client {
  const current = session.get();
  if (current.state !== "in") throw new Error("Nobody is signed in.");
  return current.client;
}

/** May the user change what the installation has in common? */
export function isOperator(user: User): boolean {
  return user.tenant === "system" && user.roles.some((role) => role === "super_admin" || role === "admin");
}

export function isAdmin(user: User): boolean {
  return user.roles.some((role) => role.endsWith("admin"));
}

export async function signInByPassword(username: string, password: string, code: () => Promise<string>): Promise<void> {
  const { text, expiresAtMs } = await signIn({ url: URL_OF_SERVER, username, password, code });
  await open({ token: text, expiresAt: expiresAtMs });
}

export function signInByKey(token: string): Promise<void> {
  return open({ token, expiresAt: null });
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(OTHERS);
  otherSignIns.set([]);
  session.set({ state: "out" });
}

/** At the start of the page: goes on with what a provider has given, or with what this tab has kept. */
export async function resume(): Promise<void> {
  try {
    const brought = await broughtSignIn();
    if (brought !== null) {
      await open({ token: brought.access_token, expiresAt: Date.now() + brought.expires_in * 1000 });
      return;
    }
  } catch (failure) {
    providerFailure.set(failure);
    signOut();
    return;
  }
  const kept = sessionStorage.getItem(KEY);
  if (kept === null) {
    session.set({ state: "out" });
    return;
  }
  try {
    await open(JSON.parse(kept) as Credential);
  } catch {
    signOut();
  }
}

interface Me {
  readonly username: string;
  readonly tenant_id: string;
  readonly roles: readonly string[];
  readonly mfa_enabled: boolean;
}

async function open(credential: Credential): Promise<void> {
  if (credential.expiresAt !== null && credential.expiresAt < Date.now()) {
    throw new TesseraError("The session has expired.", { code: "unauthorized", status: 401 });
  }
  const made = connect({ url: URL_OF_SERVER, apiKey: credential.token, attempts: 3, fetch: watchedFetch });
  const me = await made.request<Me>("GET", "/v1/users/me");
  const before = session.get();
  const kept = sessionStorage.getItem(KEY);
  const user = { username: me.username, tenant: me.tenant_id, roles: me.roles, hasSecondFactor: me.mfa_enabled };
  if (before.state === "in" && kept !== null && !before.isExpired) {
    const { username, tenant } = before.user;
    const present = { ...(JSON.parse(kept) as Credential), username, tenant };
    keepOthers(
      [present, ...otherSignIns.get().filter((one) => one.username !== username || one.tenant !== tenant)],
      user,
    );
  }
  sessionStorage.setItem(KEY, JSON.stringify(credential));
  session.set({ state: "in", user, client: made, isExpired: false });
}

const watchedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.status === 401) {
    session.update((current) => (current.state === "in" ? { ...current, isExpired: true } : current));
  }
  return response;
};
