/**
 * Lets go of a partition of a simulated node as an actor does (src/actor/let-go.ts), which is the real code here. What
 * is around it is simulated: transactions in place of requests, a gateway that hears a moment later that nothing more
 * is to be sent.
 */
import { type LetGoHost, letGo } from "../../../src/actor/let-go.js";
import type { OutputGate } from "../../../src/actor/output-gate.js";
import type { Partition } from "../../../src/actor/partition.js";
import type { TenureGate } from "../../../src/cluster/tenure-gate.js";
import type { DbError } from "../../../src/protocol/errors.js";
import type { Shard } from "../../../src/storage/shard.js";

/** A transaction that has begun; `end` has it answer at once, and it commits nothing any more. */
export interface Running {
  /** Null: of none that moves. */
  readonly tenant: number | null;
  end(error: DbError): void;
}

export interface LettingGo {
  readonly shard: Shard;
  readonly durable: OutputGate;
  readonly gate: TenureGate;
  readonly running: ReadonlySet<Running>;
  isFlushPlanned(): boolean;
  /** It cannot be let go now. */
  isTied(): boolean;
  /** The tenure is over by other means. */
  isOver(): boolean;
  takesNoMore(): void;
  /** Runs that when the gateway has heard. */
  tellGateway(heard: () => void): void;
  close(): Promise<void>;
}

/** Resolves when it is closed; false: it is still served. Throws when something does not end: the thread must. */
export function letGoOf(number: number, what: LettingGo): Promise<boolean> {
  const { shard, durable, gate, running } = what;
  const partition = {
    shard,
    gate: {
      get waiting() {
        return durable.waiting + gate.waiting;
      },
    },
    endWork: () => undefined,
    forgetAll: () => [],
    close: () => what.close(),
  } as unknown as Partition;
  const gatewayKnows = new Map<number, () => void>();
  const host = {
    partitions: new Map([[number, partition]]),
    requests: { in: () => [...running], leave: () => what.takesNoMore(), left: () => undefined },
    features: { isTied: () => what.isTied(), leaving: async () => undefined, leave: async () => undefined },
    upkeep: { isAt: () => false },
    idempotency: { take: () => [] },
    gatewayKnows,
    unflushed: { has: () => what.isFlushPlanned() },
    tell: () => what.tellGateway(() => gatewayKnows.get(number)!()),
    isClosing: () => what.isOver(),
    armTurn: () => undefined,
  };
  return letGo(number, host as unknown as LetGoHost);
}
