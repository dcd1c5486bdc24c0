/** What tests of backups in clusters ask of a node, or of a machine by itself: over HTTP, as one of several users. */
import { setTimeout as sleep } from "node:timers/promises";

const ASK_MS = 30_000;
const WAIT_MS = 120_000;
const LOOK_MS = 50;
const PASSWORD = "correct-horse";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect; a wrong shape fails the test
type Answered = any;

export interface Reply {
  readonly status: number;
  readonly data: Answered;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A node, or several that are as good as each other. */
export interface Door {
  readonly port: number;
}

/** Throws when there is no answer. */
export async function call(door: Door, token: string, method: string, path: string, body?: object, branch = "") {
  const answer = await fetch(`http://127.0.0.1:${door.port}${path}`, {
    method,
    headers: {
      ...(token !== "" && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(branch !== "" && { "x-tessera-branch": branch }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ASK_MS),
  });
  const text = await answer.text();
  const told = text === "" ? {} : JSON.parse(text);
  const reply: Reply = { status: answer.status, data: told.data ?? told, error: told.error ?? null };
  return reply;
}

export async function expect(door: Door, token: string, method: string, path: string, body?: object, branch = "") {
  const reply = await call(door, token, method, path, body, branch);
  if (reply.status < 300) return reply.data;
  throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(reply.error)}`);
}

export async function rows(door: Door, token: string, sql: string, branch = ""): Promise<unknown[][]> {
  return (await expect(door, token, "POST", "/v1/query/execute", { sql }, branch)).rows;
}

/** The token of a user; of the first administrator's unless another name is given. */
export async function signIn(door: Door, username = "admin"): Promise<string> {
  return (await expect(door, "", "POST", "/v1/auth/login", { username, password: PASSWORD })).access_token;
}

/** A tenant with one user, who may do all; answers that user's token. */
export async function makeTenant(door: Door, admin: string, id: string): Promise<string> {
  await expect(door, admin, "POST", "/admin/tenants", { id });
  const user = { username: `${id}-user`, password: PASSWORD, roles: ["super_admin"] };
  await expect(door, admin, "POST", `/admin/tenants/${id}/users`, user);
  return signIn(door, user.username);
}

/** What the path answers when that has ended. A node that is asked may lose its owner meanwhile. */
export async function ended(door: Door, token: string, path: string): Promise<Answered> {
  let last: Reply | null = null;
  for (const began = Date.now(); Date.now() - began < WAIT_MS; await sleep(LOOK_MS)) {
    last = await call(door, token, "GET", path);
    if (last.status === 200 && last.data.finished_at !== null) return last.data;
    if (last.status < 500 && last.status !== 200) throw new Error(`${path} answered ${JSON.stringify(last)}`);
  }
  throw new Error(`${path} never ended: ${JSON.stringify(last)}`);
}

export async function until(what: string, isSo: () => Promise<boolean> | boolean, why: () => string): Promise<void> {
  for (const began = Date.now(); !(await isSo()); await sleep(LOOK_MS))
    if (Date.now() - began > WAIT_MS) throw new Error(`never: ${what}\n${why()}`);
}
