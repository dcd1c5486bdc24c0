/** Who is signed in, and the client that asks on their behalf. The credential is kept for this tab only. */
import { type Client, connect, signIn, TesseraError } from "../../../clients/typescript/src/index.js";
import { isPassing } from "./errors.js";
import { broughtSignIn, providerFailure } from "./provider-sign-in.js";
import { createStore } from "./store.js";
import { uploading } from "./upload.js";

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

export type Session = { readonly state: "out" } | { readonly state: "opening"; readonly failure?: unknown } | SignedIn;

interface SignedIn {
  readonly state: "in";
  readonly user: User;
  /** About the tenant, or the branch. */
  readonly client: Client;
  /** About the tenant. */
  readonly tenantClient: Client;
  /** The branch that all pages are about; null: the tenant itself. */
  readonly branch: string | null;
  /** The credential is not valid any more; what is open stays. */
  readonly isExpired: boolean;
}

/** A sign-in beside the one that is in use. */
export interface OtherSignIn extends Credential, Pick<User, "username" | "tenant"> {}

const KEY = "tessera.session";
const OTHERS = "tessera.other-sign-ins";
const BRANCH = "tessera.branch";
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
  return signedIn().client;
}

/** The same, for one large body: tells how many bytes of it have been sent. */
export function uploadingClient(sent: (bytes: number) => void): Client {
  const { branch } = signedIn();
  const { token } = JSON.parse(sessionStorage.getItem(KEY)!) as Credential;
  return connected(token, branch, uploading(sent));
}

/** The same, always about the tenant itself: for what is about branches. */
export function tenantClient(): Client {
  return signedIn().tenantClient;
}

/** The branch that all pages are about; null: the tenant itself. */
export function branchShown(): string | null {
  return signedIn().branch;
}

function signedIn(): SignedIn {
  const current = session.get();
  if (current.state !== "in") throw new Error("Nobody is signed in.");
  return current;
}

/** All pages are about the branch from now on; null: about the tenant again. This tab keeps it. */
export function showBranch(branch: string | null): void {
  const { user, tenantClient, isExpired } = signedIn();
  if (branch === null) sessionStorage.removeItem(BRANCH);
  else sessionStorage.setItem(BRANCH, JSON.stringify({ tenant: user.tenant, branch }));
  const { token } = JSON.parse(sessionStorage.getItem(KEY)!) as Credential;
  const client = branch === null ? tenantClient : connected(token, branch);
  session.set({ state: "in", user, client, tenantClient, branch, isExpired });
}

/** The branch of that tenant that this tab has shown. One that has ended meanwhile is left. */
async function keptBranch(of: Client, tenant: string): Promise<string | null> {
  const kept = sessionStorage.getItem(BRANCH);
  if (kept === null) return null;
  const found = JSON.parse(kept) as { readonly tenant: string; readonly branch: string };
  if (found.tenant !== tenant) return null;
  try {
    await of.request("GET", `/v1/branches/${encodeURIComponent(found.branch)}`);
    return found.branch;
  } catch (failure) {
    if (failure instanceof TesseraError && failure.status === 404) return null;
    throw failure;
  }
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
  sessionStorage.removeItem(BRANCH);
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
  session.set({ state: "opening" });
  try {
    await open(JSON.parse(kept) as Credential);
  } catch (failure) {
    if (isPassing(failure)) session.set({ state: "opening", failure });
    else signOut();
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
  const made = connected(credential.token);
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
  const branch = await keptBranch(made, user.tenant);
  if (branch === null) sessionStorage.removeItem(BRANCH);
  const shown = branch === null ? made : connected(credential.token, branch);
  sessionStorage.setItem(KEY, JSON.stringify(credential));
  session.set({ state: "in", user, client: shown, tenantClient: made, branch, isExpired: false });
}

function connected(token: string, branch: string | null = null, fetch = watchedFetch): Client {
  const place = branch === null ? {} : { branch };
  return connect({ url: URL_OF_SERVER, apiKey: token, attempts: 3, fetch, ...place });
}

/** While the server asks to come back later, and the client waits: until when, in milliseconds since 1970. */
export const heldUntil = createStore(0);

const watchedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.status === 429) heldUntil.set(Date.now() + Number(response.headers.get("retry-after") ?? 0) * 1_000);
  if (response.status === 401) {
    session.update((current) => (current.state === "in" ? { ...current, isExpired: true } : current));
  }
  return response;
};
