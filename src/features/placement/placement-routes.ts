/**
 * Where tenants are, moving and deleting them: answered in the directory's actor, for the system tenant's
 * administrators.
 */

import type { Handlers } from "../../actor/handler.js";
import type { Directory } from "../../directory/directory.js";
import { leastLoaded } from "../../directory/placement.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { ActorMetrics } from "../../protocol/messages.js";
import type { TenantDeletions } from "./tenant-deletions.js";
import type { TenantMoves } from "./tenant-moves.js";

export interface PlacementContext {
  readonly directory: Directory;
  readonly moves: TenantMoves;
  readonly deletions: TenantDeletions;
  readonly actors: number;
  readonly partitions: number;
  readonly isCluster: boolean;
  /** Of the actors that are up. */
  readonly metrics: () => Promise<readonly ActorMetrics[]>;
}

const TRANSACTIONS_SECONDS_DEFAULT = 5;

export function placementHandlers(context: PlacementContext) {
  const { directory, moves, deletions } = context;
  return {
    "admin.tenants.delete": async (_request, { params, query }) => {
      return { plain: await deletions.start(params.tenant!, query.confirm) };
    },
    "admin.tenants.deletion": (_request, { params }) => {
      return { plain: deletions.get(params.tenant!) };
    },
    "admin.tenants.move": (_request, { params, body }) => {
      const { transaction_seconds = TRANSACTIONS_SECONDS_DEFAULT } = body;
      return { plain: moves.start(params.tenant!, targetOf(context, body), transaction_seconds * 1000) };
    },
    "admin.tenants.move.get": (_request, { params }) => {
      return { plain: moves.get(params.tenant!) };
    },
    "admin.tenants.move.cancel": (_request, { params }) => {
      return { plain: moves.cancel(params.tenant!) };
    },
    "admin.placement": async () => {
      return { plain: placementOf(context, directory.tenantsPerPartition(), await context.metrics()) };
    },
  } satisfies Handlers;
}

function targetOf(
  { directory, actors, isCluster }: PlacementContext,
  body: { partition?: number; actor?: number },
): number {
  const { partition, actor } = body;
  if ((partition === undefined) === (actor === undefined)) {
    throw new DbError("invalid_request", 'Send either "partition" or "actor".', { field: "partition" });
  }
  if (partition !== undefined) return partition;
  if (isCluster) {
    throw new DbError("invalid_request", "In a cluster a tenant moves to a partition, not to an actor.", {
      field: "actor",
      hint: 'Send "partition". GET /admin/cluster says which node owns which.',
    });
  }
  const counts = directory.tenantsPerPartition();
  if (actor! >= actors)
    throw new DbError("invalid_request", `The actors are numbered 0 to ${actors - 1}.`, { field: "actor" });
  // Partitions of other actors are out of the question.
  return leastLoaded(
    counts.map((count, number) => (number % actors === actor ? count : Number.POSITIVE_INFINITY)),
    [],
  );
}

function placementOf(
  { actors, partitions }: PlacementContext,
  tenants: readonly number[],
  metrics: readonly ActorMetrics[],
): ResponseOf<"admin.placement"> {
  const actorMetrics = new Map(metrics.map((one) => [one.actor, one]));
  const found = new Map(metrics.flatMap((one) => one.partitions).map((one) => [one.partition, one]));
  return {
    actors: Array.from({ length: actors }, (_, actor) => {
      const one = actorMetrics.get(actor);
      return {
        actor,
        up: one !== undefined,
        load: one === undefined ? null : rounded(one.partitions.reduce((sum, { load }) => sum + load, 0)),
        heap_bytes: one?.heapBytes ?? null,
        requests_running: one?.running ?? null,
      };
    }),
    partitions: Array.from({ length: partitions }, (_, partition) => {
      const one = found.get(partition);
      return {
        partition,
        actor: partition % actors,
        tenants: tenants[partition] ?? 0,
        tenants_in_memory: one?.tenantsInMemory ?? null,
        stored_bytes: one?.storedBytes ?? null,
        log_bytes: one?.logBytes ?? null,
        load: one === undefined ? null : rounded(one.load),
        requests_held: one?.requestsHeld ?? null,
      };
    }),
  };
}

function rounded(share: number): number {
  return Math.round(share * 1000) / 1000;
}
