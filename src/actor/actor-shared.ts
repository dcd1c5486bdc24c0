/**
 * What the partitions of one actor share. Made by the actor; a partition without one has its own (`sharedByNobody`).
 */
import { join } from "node:path";
import type { StartInference } from "../ai/inference-messages.js";
import { Models } from "../ai/models.js";
import { modelsOptions } from "../ai/models-options.js";
import { ClaimVerifier } from "../ai/nli/claim-verifier.js";
import { claimVerifierOptions } from "../ai/nli/claim-verifier-options.js";
import type { DerivedIndexesOptions } from "../derived/derived-indexes.js";
import type { Config } from "../protocol/config.js";
import type { ActorSettings, FromActor } from "../protocol/messages.js";
import { SegmentCache } from "../query/exec/segments/segment-cache.js";
import { SpillArea } from "../query/exec/spill/spill-area.js";
import type { LongTasks } from "../session/long-tasks.js";
import { SlowStatements } from "../session/slow-statements.js";
import { TenantProviders } from "../session/tenant-providers.js";
import type { StoppedStatements } from "./stopped-statements.js";

export interface ActorShared {
  readonly segments: SegmentCache;
  /** Null: statements must fit into their memory. */
  readonly spill: SpillArea | null;
  readonly models: Models;
  readonly claims: ClaimVerifier;
  /** Who writes texts for tenants. */
  readonly providers: TenantProviders;
  /** Null: there are no task threads. */
  readonly tasks: LongTasks | null;
  /** What indexes in memory need. */
  readonly indexes: Omit<DerivedIndexesOptions, "store" | "durable" | "directory">;
  /** Null: none is looked for. */
  readonly slowStatements: SlowStatements | null;
  /** Null: no statement is refused. */
  readonly stopped: StoppedStatements | null;
  /** From which tenants' own secrets are derived; null: there is no installation around the partition. */
  readonly secret: Uint8Array | null;
  /** To the server's log. */
  warn(message: string, fields: object): void;
}

/** Of the actor's thread. */
export interface SharedSurroundings {
  control(message: FromActor): void;
  readonly startInference: StartInference;
  readonly tasks?: LongTasks;
  log(level: "warn", message: string, fields: object): void;
}

export function actorShared(
  { config, dataDirectory, actor, secret, claimBundles }: ActorSettings,
  output: SharedSurroundings,
  own: Pick<ActorShared, "stopped" | "indexes">,
): ActorShared {
  const warn = (message: string, fields: object): void => output.log("warn", message, fields);
  const { startInference } = output;
  const { columnSegmentBytes, spillBytesMax, encryption } = config.storage;
  const spillTo = join(dataDirectory, `spill-${actor}`);
  const toLibrary: Parameters<typeof modelsOptions>[1] = {
    ...{ warn, startInference },
    toLibrary: (message) => output.control({ kind: "library", message }),
  };
  const models = new Models(modelsOptions(config, toLibrary));
  const { slowMs, slowValues } = config.query;
  return {
    ...own,
    models,
    segments: new SegmentCache(columnSegmentBytes),
    spill: spillBytesMax > 0 ? new SpillArea(spillTo, spillBytesMax, undefined, encryption) : null,
    claims: new ClaimVerifier(claimVerifierOptions(config, models, claimBundles, warn)),
    providers: new TenantProviders(config, models, secret),
    tasks: output.tasks ?? null,
    slowStatements: new SlowStatements({ slowMs, values: slowValues, log: warn }),
    secret,
    warn,
  };
}

/** For a partition without an actor: no threads, no files, turns of the event loop. */
export function sharedByNobody(config: Config, given: Partial<ActorShared> = {}): ActorShared {
  const turns = {
    shouldYield: () => true,
    yieldTurn: () => new Promise<void>((resolve) => setImmediate(resolve)),
  };
  const models = given.models ?? new Models(modelsOptions(config));
  return {
    segments: given.segments ?? new SegmentCache(config.storage.columnSegmentBytes),
    spill: given.spill ?? null,
    models,
    claims: given.claims ?? new ClaimVerifier(claimVerifierOptions(config, models)),
    providers: given.providers ?? new TenantProviders(config, models),
    tasks: given.tasks ?? null,
    warn: given.warn ?? (() => undefined),
    indexes: given.indexes ?? {
      memory: { bytes: 0, bytesMax: config.storage.indexMemoryBytes },
      turnsOf: () => turns,
      warn: () => undefined,
    },
    slowStatements: given.slowStatements ?? null,
    stopped: given.stopped ?? null,
    secret: given.secret ?? null,
  };
}
