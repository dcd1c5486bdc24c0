/**
 * /v1/branches: forks of a tenant. A branch is a tenant number of its own in its root's partition, with the root's users; the engine
 * lays it over its origin (storage/layered-engine.ts). Requests say by a header which branch they are about.
 */
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { InputOf } from "../../actor/validate.js";
import { DbError } from "../../protocol/errors.js";
import { BRANCHES_MAX } from "../../protocol/limits.js";
import { plainMoment, stampOfMoment } from "../../session/as-of.js";
import { branchKey } from "../../storage/history-keys.js";
import { nextBranchKey } from "../../storage/keys.js";
import type { Branch, BranchRecord, LayeredEngine } from "../../storage/layered-engine.js";
import type { CommitStamp } from "../../storage/operation.js";
import type { Transaction } from "../../storage/store.js";
import { rowsOf } from "../statements/run-alone.js";
import { DIFF_ROWS_DEFAULT, diffOf } from "./branch-diff.js";
import { endBranch } from "./branch-life.js";
import { mergeBranch } from "./branch-merge.js";
import { shownStamp } from "./history-routes.js";

/** Numbers of branches begin here; those of tenants stay below. */
const FIRST_NUMBER = 2 ** 30;

export const branchHandlers = {
  "branches.create": createBranch,
  "branches.list": (request, { query }) => {
    const { limit = 100, offset = 0 } = query;
    const layers = layersOf(request);
    const all = layers.branchesUnder(rootOf(request)).map(([, branch]) => shown(layers, branch));
    all.sort((a, b) => (a.name < b.name ? -1 : 1));
    return { plain: { branches: all.slice(Number(offset), Number(offset) + Number(limit)), total: all.length } };
  },
  "branches.get": (request, { params }) => {
    const layers = layersOf(request);
    return { plain: shown(layers, layers.branchOf(numberOf(request, params.name))!) };
  },
  "branches.delete": async (request, { params }) => {
    endBranch(request.partition, numberOf(request, params.name));
    await request.durable();
    return { plain: null };
  },
  "branches.diff": (request, { params, query }) =>
    diffOf(request, numberOf(request, params.name), query.table, Number(query.limit ?? DIFF_ROWS_DEFAULT)),
  "branches.merge": (request, { params, body }) => mergeBranch(request, numberOf(request, params.name), body ?? {}),
} satisfies Handlers;

async function createBranch(request: Request, { body }: InputOf<"branches.create">) {
  const { partition } = request;
  const { shard } = partition;
  const layers = layersOf(request);
  const root = rootOf(request);
  const origin = body.from == null ? request.tenant.number : numberOf(request, body.from, "from");
  requireFree(layers, root, body.name);
  const record: BranchRecord = {
    ...{ origin, root, name: body.name, createdBy: request.head.username, createdAt: new Date().toISOString() },
    start: body.as_of === undefined ? null : await startOf(request, origin, body.as_of),
    expiresAtMs: body.ttl_seconds === undefined ? null : Date.now() + body.ttl_seconds * 1000,
  };
  const tx = shard.begin();
  try {
    const number = takeNumber(tx);
    tx.put(branchKey(number), Buffer.from(JSON.stringify(record)));
    request.tenant.commit(tx);
    await applied(request, () => layers.branchOf(number) !== null);
    return { plain: shown(layers, layers.branchOf(number)!) };
  } catch (error) {
    tx.rollback();
    throw error;
  }
}

function requireFree(layers: LayeredEngine, root: number, name: string): void {
  if (layers.branchNamed(root, name) !== null) {
    throw new DbError("conflict", `A branch "${name}" already exists.`, { field: "name" });
  }
  if (layers.branchesUnder(root).length < BRANCHES_MAX) return;
  throw new DbError(
    "overloaded",
    `A tenant has at most ${BRANCHES_MAX} branches. Delete some, or let them end by ttl_seconds.`,
  );
}

async function startOf(request: Request, origin: number, asOf: string | number): Promise<CommitStamp> {
  const tenant = request.partition.tenant(origin);
  if (typeof asOf === "number") return stampOfMoment(tenant, { sequence: asOf });
  const moment = await plainMoment({ kind: "value", value: asOf }, (text) => rowsOf(request, text));
  return stampOfMoment(tenant, moment);
}

/** Two forks at once meet here, and one of them is begun again. */
function takeNumber(tx: Transaction): number {
  const key = nextBranchKey();
  const found = tx.get(key);
  const number = found === undefined ? FIRST_NUMBER : Buffer.from(found).readUInt32BE(0);
  const next = Buffer.alloc(4);
  next.writeUInt32BE(number + 1);
  tx.put(key, next);
  return number;
}

/** Resolves when the engine has what was committed, and all of it is on disk. */
async function applied(request: Request, isThere: () => boolean): Promise<void> {
  await request.durable();
  while (!isThere()) await request.yieldTurn();
}

function layersOf({ partition }: Request): LayeredEngine {
  const { layers } = partition.shard;
  if (layers === null) throw new DbError("not_supported", "This partition keeps no branches.");
  return layers;
}

function rootOf(request: Request): number {
  const { number } = request.tenant;
  return layersOf(request).branchOf(number)?.root ?? number;
}

function numberOf(request: Request, name: string, field = "name"): number {
  const number = layersOf(request).branchNamed(rootOf(request), name);
  if (number === null) throw new DbError("not_found", `The tenant has no branch "${name}".`, { field });
  return number;
}

function shown(layers: LayeredEngine, { name, origin, start, createdAt, createdBy, expiresAtMs }: Branch) {
  return {
    name,
    from: layers.branchOf(origin)?.name ?? null,
    start: shownStamp(start),
    created_at: createdAt,
    created_by: createdBy,
    expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
  };
}
