/**
 * What tests of backups in clusters ask of a node, or of a machine by itself: over HTTP, as one of several users; and
 * what is in a folder of backups.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterProcesses, NodeProcess } from "../torture/cluster/cluster-processes.js";

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
export async function signIn(door: Door, username = "admin", password = PASSWORD): Promise<string> {
  return (await expect(door, "", "POST", "/v1/auth/login", { username, password })).access_token;
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

/** Makes folders of backups; the nodes that are started from then on have the newest. `teardown` removes them. */
export function backupFolders(teardown: (work: () => void) => void): (name: string) => string {
  const folders = mkdtempSync(join(tmpdir(), "tessera-shared-"));
  teardown(() => {
    delete process.env.TESSERA_BACKUP_DIRECTORY;
    rmSync(folders, { recursive: true, force: true });
  });
  return (name) => {
    const folder = join(folders, name);
    process.env.TESSERA_BACKUP_DIRECTORY = folder;
    return folder;
  };
}

/** Backups of the installation, and those of tenants that are parts of them, whole or not. */
export function inFolder(folder: string) {
  const below = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);
  const parts = join(folder, "_installation", "tenants");
  const partsOf = (tenant: string) => below(join(parts, tenant)).map((id) => join(parts, tenant, id));
  const isWhole = (part: string): boolean => existsSync(join(part, "manifest.json"));
  return {
    sets: below(join(folder, "_installation", "sets")).sort(),
    parts: below(parts).flatMap(partsOf),
    isHalfWritten: (tenant: string): boolean =>
      partsOf(tenant).some((part) => existsSync(join(part, "data.bak")) && !isWhole(part)),
  };
}

/** Hands the partition over, and waits until the node has it. */
export async function give(cluster: ClusterProcesses, partition: number, { name }: NodeProcess): Promise<void> {
  await cluster.handOver(partition, name);
  const hasIt = async () => (await cluster.ownerOf(partition)) === name;
  await until(`${name} has partition ${partition}`, hasIt, () => cluster.logEnds());
}

export async function partitionOf(door: Door, admin: string, tenant: string): Promise<number> {
  return (await expect(door, admin, "GET", `/admin/tenants/${tenant}`)).partition;
}

/** What the installation's backup became; it is asked for at one node, and looked at by another. */
export async function wholeBackup(asked: Door, seen: Door, admin: string, body: object): Promise<Answered> {
  const { id } = await expect(asked, admin, "POST", "/admin/backups", body);
  return ended(seen, admin, `/admin/backups/${id}`);
}

export const COUNT = "SELECT count(*) FROM item";
export const ROWS = 500;

/** A tenant with rows; answers its user's token. */
export async function fillTenant(door: Door, admin: string, id: string): Promise<string> {
  const token = await makeTenant(door, admin, id);
  await rows(door, token, "CREATE TABLE item (id integer PRIMARY KEY, what text)");
  await rows(door, token, `INSERT INTO item SELECT g, '${id} ' || g FROM generate_series(1, ${ROWS}) AS g`);
  return token;
}

/** A branch of the tenant, with ten of its rows. */
export async function fillBranch(door: Door, token: string): Promise<void> {
  await expect(door, token, "POST", "/v1/branches", { name: "work" });
  await rows(door, token, "DELETE FROM item WHERE id > 10", "work");
}

export const LARGE_ROWS = 60_000;
const LARGE_ROWS_AT_ONCE = 5000;

/** A table whose backup takes long enough to be met half written. */
export async function fillLarge(door: Door, token: string): Promise<void> {
  await rows(door, token, "CREATE TABLE large (id integer PRIMARY KEY, what text)");
  for (let from = 0; from < LARGE_ROWS; from += LARGE_ROWS_AT_ONCE) {
    const series = `generate_series(${from + 1}, ${from + LARGE_ROWS_AT_ONCE})`;
    await rows(door, token, `INSERT INTO large SELECT g, repeat('x', 200) || g FROM ${series} AS g`);
  }
}
