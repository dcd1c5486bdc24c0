/**
 * Makes branches and finds them. A branch is a tenant number of its own in its root's partition, with the root's users;
 * the engine lays it over its origin (storage/layered-engine.ts).
 */
import type { Partition } from "../../actor/partition.js";
import type { Request } from "../../actor/request.js";
import type { BodyOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { BRANCH_DEPTH_MAX, BRANCHES_MAX } from "../../protocol/limits.js";
import { plainMoment, stampOfMoment } from "../../session/as-of.js";
import {
  type Branch,
  type BranchAccess,
  type BranchRecord,
  FIRST_BRANCH,
  LAST_BRANCH,
  NO_ORIGIN,
} from "../../storage/branch-list.js";
import { branchEnded, forked, isEnding, requireBranch } from "../../storage/ending-branches.js";
import { branchKey } from "../../storage/history-keys.js";
import { nextBranchKey } from "../../storage/keys.js";
import type { LayeredEngine } from "../../storage/layered-engine.js";
import type { CommitStamp } from "../../storage/operation.js";
import type { Transaction } from "../../storage/store.js";
import { rowsOf } from "../statements/run-alone.js";
import { endBranch } from "./branch-life.js";
import { shownStamp } from "./history-routes.js";

/** Each partition counts in steps of it, from its own number on: no two branches of an installation have the same. */
const NUMBER_STEP = 2048;
/** Entries that are copied in one turn where a chain is too long for one more branch. */
const FLATTENED_AT_ONCE = 64;

/** `origin`: what it is forked from; absent: what the body says. */
export async function createBranch(request: Request, body: BodyOf<"branches.create">, origin?: number) {
  const { partition } = request;
  const { shard } = partition;
  const layers = layersOf(request);
  const { record, making } = await newBranch(request, body, origin);
  await near(request, layers, record.origin);
  // From here to where the name is taken nobody else has a turn.
  requireFree(layers, record, making);
  requireBranch(layers, record.origin);
  const tx = shard.begin();
  beingMade.add(making);
  try {
    const number = takeNumber(tx, partition.number);
    tx.put(branchKey(number), Buffer.from(JSON.stringify(record)));
    request.tenant.commit(tx);
    forked(shard, record.origin);
    await applied(request, () => layers.branchOf(number) !== null);
    requireBegun(partition, number);
    return { plain: shownBranch(layers, number) };
  } catch (error) {
    tx.rollback();
    throw error;
  } finally {
    beingMade.delete(making);
  }
}

/** What `createBranch` would make. Throws what it throws. */
export async function plannedBranch(request: Request, body: BodyOf<"branches.create">) {
  const layers = layersOf(request);
  const { record, making } = await newBranch(request, body);
  requireFree(layers, record, making);
  const { name, origin, root, start, expiresAtMs, quotaBytes, access } = record;
  return {
    ...{ name, from: layers.branchOf(origin)?.name ?? null, empty: origin === NO_ORIGIN, quota_bytes: quotaBytes },
    // Null: as things are when it is made.
    start: start === null ? null : shownStamp(start),
    expires_at: shownExpiry(expiresAtMs),
    ...shownAccess(access ?? {}),
    branches: layers.branchesUnder(root).length,
    branches_max: BRANCHES_MAX,
  };
}

/** As it is wished; `making` stands for its name while it is being made. */
async function newBranch(
  request: Request,
  body: BodyOf<"branches.create">,
  origin = originOf(request, body),
): Promise<{ readonly record: BranchRecord; readonly making: string }> {
  const root = rootOf(request);
  const making = placeOf(request, root, body.name);
  const start = body.as_of === undefined ? null : await startOf(request, origin, body.as_of);
  const record: BranchRecord = {
    ...{ origin, root, name: body.name, createdBy: request.head.username, createdAt: new Date().toISOString() },
    start,
    expiresAtMs: expiryOf(body.ttl_seconds),
    quotaBytes: body.quota_bytes ?? null,
    access: accessOf(body, request.partition.shard.layers!.branchOf(origin)?.access ?? {}),
  };
  return { record, making };
}

function placeOf({ partition }: Request, root: number, name: string): string {
  return `${partition.number}/${root}/${name}`;
}

/** What it is forked from. Throws invalid_request, not_found. */
function originOf(request: Request, { empty, from, as_of }: BodyOf<"branches.create">): number {
  if (empty !== true) return from == null ? request.tenant.number : branchNumber(request, from, "from");
  const field = from != null ? "from" : as_of !== undefined ? "as_of" : null;
  if (field === null) return NO_ORIGIN;
  throw new DbError("invalid_request", `A branch that begins empty has nothing of another: leave out ${field}.`, {
    field,
  });
}

/** Throws conflict for a branch that began empty: `what` needs what it was forked from. */
export function requireOrigin({ name, origin }: Branch, what: string): void {
  if (origin !== NO_ORIGIN) return;
  throw new DbError("conflict", `The branch "${name}" began empty: ${what}.`);
}

/** PATCH /v1/branches/{name}: another quota, or another time at which it ends. */
export async function changeBranch(request: Request, number: number, body: BodyOf<"branches.change">) {
  await changeRecord(request, number, {
    ...(body.ttl_seconds !== undefined && { expiresAtMs: expiryOf(body.ttl_seconds) }),
    ...(body.quota_bytes !== undefined && { quotaBytes: body.quota_bytes }),
    access: accessOf(body, layersOf(request).branchOf(number)!.access),
  });
  return { plain: shownBranch(layersOf(request), number) };
}

/** Throws conflict, with the field `name`, for a name that is taken. */
export async function renameBranch(request: Request, number: number, name: string): Promise<void> {
  const layers = layersOf(request);
  const { root } = layers.branchOf(number)!;
  const making = placeOf(request, root, name);
  requireNew(layers, root, name, making);
  beingMade.add(making);
  try {
    await changeRecord(request, number, { name });
  } finally {
    beingMade.delete(making);
  }
}

/** Resolves when it is on disk and the engine has it. */
async function changeRecord(
  request: Request,
  number: number,
  changes: Partial<Pick<BranchRecord, "name" | "expiresAtMs" | "quotaBytes" | "access">>,
): Promise<void> {
  const layers = layersOf(request);
  const { start } = layers.branchOf(number)!;
  const tx = request.partition.shard.begin();
  // Two changes at once meet here, and so does the end of the branch: the engine may not know of the other one yet.
  const stored = tx.get(branchKey(number));
  if (stored === undefined) throw branchEnded();
  const { merged: _, ...known } = JSON.parse(Buffer.from(stored).toString()) as BranchRecord;
  const record: BranchRecord = { ...known, start, ...changes };
  tx.put(branchKey(number), Buffer.from(JSON.stringify(record)));
  request.partition.tenant(record.root).commit(tx);
  const { shard } = request.partition;
  const sequence = shard.committedSequence;
  await applied(request, () => shard.appliedSequence >= sequence);
  if (layers.branchOf(number) === null) throw branchEnded();
}

type AccessBody = Pick<BodyOf<"branches.create">, "users" | "keys" | "policies">;

/** What is wished, and else as it was. */
function accessOf({ users, keys, policies }: AccessBody, before: BranchAccess): BranchAccess {
  const wanted = {
    users: users === undefined ? before.users : (users ?? undefined),
    keys: keys === undefined ? before.keys : (keys ?? undefined),
    ownPolicies: policies === undefined ? before.ownPolicies : policies === "branch" || undefined,
  };
  return {
    ...(wanted.users !== undefined && { users: wanted.users }),
    ...(wanted.keys !== undefined && { keys: wanted.keys }),
    ...(wanted.ownPolicies === true && { ownPolicies: true }),
  };
}

function expiryOf(seconds: number | null | undefined): number | null {
  return seconds == null ? null : Date.now() + seconds * 1000;
}

function shownExpiry(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Names of forks, and new names, that are committed, and that the engine may not know yet. */
const beingMade = new Set<string>();

/** The past that it begins with was there until the engine had the record: else the branch is none, and ends. */
function requireBegun(partition: Partition, number: number): void {
  const layers = partition.shard.layers!;
  const { origin, start } = layers.branchOf(number)!;
  if (origin === NO_ORIGIN) return;
  const oldest = layers.oldestOf(origin);
  if (oldest !== null && oldest.sequence <= start.sequence) return;
  endBranch(partition, number);
  throw new DbError("serialization_failure", "What the branch was to begin with has been forgotten meanwhile.");
}

function requireNew(layers: LayeredEngine, root: number, name: string, making: string): void {
  if (layers.branches.named(root, name) === null && !beingMade.has(making)) return;
  throw new DbError("conflict", `A branch "${name}" already exists.`, { field: "name" });
}

function requireFree(layers: LayeredEngine, { root, name }: BranchRecord, making: string): void {
  requireNew(layers, root, name, making);
  if (layers.branchesUnder(root).length < BRANCHES_MAX) return;
  throw new DbError(
    "overloaded",
    `A tenant has at most ${BRANCHES_MAX} branches. Delete some, or let them end by ttl_seconds.`,
  );
}

/** Until one may be forked from it: the server has not yet come to make the chain shorter. */
async function near(request: Request, layers: LayeredEngine, origin: number): Promise<void> {
  while (layers.flat.depthOf(origin) >= BRANCH_DEPTH_MAX && layers.flat.some(FLATTENED_AT_ONCE))
    await request.yieldTurn();
}

/** The commit that a time, or the number of one, means. */
export async function startOf(request: Request, origin: number, asOf: string | number): Promise<CommitStamp> {
  const tenant = request.partition.tenant(origin);
  if (typeof asOf === "number") return stampOfMoment(tenant, { sequence: asOf });
  const moment = await plainMoment({ kind: "value", value: asOf }, (text) => rowsOf(request, text));
  return stampOfMoment(tenant, moment);
}

/** Two forks at once meet here, and one of them is begun again. */
export function takeNumber(tx: Transaction, partition: number): number {
  const key = nextBranchKey();
  const found = tx.get(key);
  const number = found === undefined ? FIRST_BRANCH + partition : Buffer.from(found).readUInt32BE(0);
  if (partition >= NUMBER_STEP || number > LAST_BRANCH)
    throw new DbError("overloaded", "There is no number left for a branch.");
  const next = Buffer.alloc(4);
  next.writeUInt32BE(number + NUMBER_STEP);
  tx.put(key, next);
  return number;
}

/** Resolves when the engine has what was committed, and all of it is on disk. */
async function applied(request: Request, isThere: () => boolean): Promise<void> {
  await request.durable();
  while (!isThere()) await request.yieldTurn();
}

export function layersOf({ partition }: Request): LayeredEngine {
  const { layers } = partition.shard;
  if (layers === null) throw new DbError("not_supported", "This partition keeps no branches.");
  return layers;
}

export function rootOf(request: Request): number {
  const { number } = request.tenant;
  return layersOf(request).branchOf(number)?.root ?? number;
}

/** Null: there is none, or it is about to end. */
export function findBranch(request: Request, name: string): number | null {
  const layers = layersOf(request);
  const number = layers.branches.named(rootOf(request), name);
  return number === null || isEnding(layers.branchOf(number)!) ? null : number;
}

/** Throws not_found. */
export function branchNumber(request: Request, name: string, field = "name"): number {
  const number = findBranch(request, name);
  if (number === null) throw new DbError("not_found", `The tenant has no branch "${name}".`, { field });
  return number;
}

/** What a branch is compared with: another one, or the tenant itself (""). Throws not_found. */
export function otherNumber(request: Request, against: string): number {
  return against === "" ? rootOf(request) : branchNumber(request, against, "against");
}

/** Of a branch that is there. */
export function shownBranch(layers: LayeredEngine, number: number) {
  const { name, origin, start, merges, createdAt, createdBy, expiresAtMs, quotaBytes, access }: Branch =
    layers.branchOf(number)!;
  return {
    name,
    from: layers.branchOf(origin)?.name ?? null,
    empty: origin === NO_ORIGIN,
    start: shownStamp(start),
    merged: merges.all === null ? null : shownStamp(merges.all),
    created_at: createdAt,
    created_by: createdBy,
    expires_at: shownExpiry(expiresAtMs),
    held_bytes: layers.bytesOf(number),
    quota_bytes: quotaBytes,
    ...shownAccess(access),
  };
}

function shownAccess({ users, keys, ownPolicies }: BranchAccess) {
  const policies = ownPolicies === true ? ("branch" as const) : ("tenant" as const);
  return { users: users === undefined ? null : [...users], keys: keys === undefined ? null : [...keys], policies };
}
