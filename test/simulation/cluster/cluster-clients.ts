/**
 * Clients of a simulated cluster: they append numbers to lists and read lists, and note what they saw for the checker.
 */

import { DbError } from "../../../src/protocol/errors.js";
import type { CheckedTurns } from "../../../src/protocol/turns.js";
import { rowPrefix } from "../../../src/storage/keys.js";
import type { Shard } from "../../../src/storage/shard.js";
import type { Operation, Transaction } from "../history.js";
import type { SeededRandom } from "../seeded-random.js";
import type { VirtualLoop } from "../virtual-loop.js";
import { BranchClient } from "./branch-clients.js";
import { NODES, PARTITIONS } from "./cluster-node.js";
import type { Place, SimulatedCluster } from "./simulated-cluster.js";
import type { StaleRead } from "./simulated-copy-reads.js";
import { homeOf, TENANTS } from "./simulated-moves.js";
import type { Answer, Work } from "./work.js";

const LISTS = ["a", "b", "c"];

/** A client gives up after so long, and does not know what became of it. A few are patient. */
const PATIENCE_MS = [300, 300, 300, 1000, 9000];
/** Of few transactions: they run when their partition is to be handed over, and some outlast that. */
const LONG_PAUSE_MS = 5000;
/** Of what is done, where tenants move, and where tenants have branches. */
const TENANTS_SHARE = 0.35;
const BRANCHES_SHARE = 0.4;
const PAUSE_STEP_MS = 20;
/** Writes that make a commit large in the simulation. */
const FILLERS = 8;

/** Of what is done, reads that copies may answer; how old the answers may be. */
const STALE_SHARE = 0.12;
const STALE_MS = [0, 100, 1000, 5000];
/** Ends the name of a client of the history: such a read comes after nothing that its client has done. */
export const STALE = " stale";

/** Shares of transactions that write, by partition. */
const WRITES = [0.55, 0.08, 0.25];

const NEVER_YIELD: CheckedTurns = {
  checkpoint: () => undefined,
  shouldYield: () => false,
  yieldTurn: async () => undefined,
};

export interface Plan {
  readonly reads: readonly string[];
  readonly appends: readonly { readonly list: string; readonly value: number }[];
  readonly isLarge: boolean;
  readonly pauseMs: number;
}

/** `tenant`: whose list it is; null: nobody's who moves. */
export const keyOf = (list: string, tenant: number | null = null): Buffer =>
  tenant === null ? Buffer.from(`list/${list}`) : Buffer.concat([rowPrefix(tenant, 1), Buffer.from(list.padEnd(4))]);

function fillerOf(value: number, i: number, tenant: number | null): Buffer {
  if (tenant === null) return Buffer.from(`filler/${value % 50}/${i}`);
  return Buffer.concat([rowPrefix(tenant, 2), Buffer.of(value % 50, i, 0, 0)]);
}

function listIn(value: Uint8Array | undefined): number[] {
  return value === undefined ? [] : (JSON.parse(Buffer.from(value).toString()) as number[]);
}

export const READ_ALL: Plan = { reads: LISTS, appends: [], isLarge: false, pauseMs: 0 };

/** One transaction; its value is what it did, as the checker reads it. */
function workOf(plan: Plan, loop: VirtualLoop, tenant: number | null = null): Work {
  return async (shard: Shard, isEnded: () => boolean) => {
    const transaction = shard.begin({ readOnly: plan.appends.length === 0 });
    try {
      const operations: Operation[] = [];
      const read = (list: string): number[] => {
        const values = listIn(transaction.get(keyOf(list, tenant)));
        operations.push({ kind: "read", key: list, list: values });
        return values;
      };
      for (const list of plan.reads) read(list);
      // Whoever is ended meanwhile does not wait to the end.
      for (let left = plan.pauseMs; left > 0 && !isEnded(); left -= PAUSE_STEP_MS)
        await loop.sleep(Math.min(left, PAUSE_STEP_MS));
      for (const { list, value } of plan.appends) {
        const values = [...read(list), value];
        transaction.put(keyOf(list, tenant), Buffer.from(JSON.stringify(values)));
        operations.push({ kind: "append", key: list, value });
      }
      if (plan.isLarge) {
        const { value } = plan.appends[0]!;
        for (let i = 0; i < FILLERS; i++) {
          transaction.put(fillerOf(value, i, tenant), Buffer.from(String(value)));
        }
        await transaction.prepareCommit(NEVER_YIELD);
      }
      if (isEnded()) throw new DbError("partition_unavailable");
      // Also of one that only read: it fails if what it has read was undone meanwhile.
      return { seen: transaction.commit(), value: operations };
    } catch (error) {
      transaction.rollback();
      throw error;
    }
  };
}

export class ClusterClient {
  isStopped = false;
  /** By partition; those of tenants that move are behind. */
  readonly transactions: Transaction[][] = Array.from({ length: PARTITIONS + TENANTS.length }, () => []);
  /** Where tenants were found last. */
  private readonly places = new Map<number, number>();
  private readonly owners: number[] = Array.from({ length: PARTITIONS }, (_, i) => i % NODES);
  /** Null: no tenant has branches. */
  private readonly branches: BranchClient | null;

  constructor(
    private readonly cluster: SimulatedCluster,
    private readonly name: string,
    private readonly random: SeededRandom,
    private readonly ids: { next: number },
  ) {
    const { loop, sabotage, branched } = cluster;
    const host = { loop, random, sabotage, tenants: branched, complain: (what: string) => cluster.complain(what) };
    this.branches =
      branched.length === 0
        ? null
        : new BranchClient(host, name, random, ids, async (root, work, writes) => {
            const answer = await this.send({ partition: root % PARTITIONS, tenant: null, writes }, work);
            return typeof answer === "string" ? answer : { value: answer.value };
          });
  }

  async run(): Promise<void> {
    const { loop } = this.cluster;
    while (!this.isStopped) {
      const partition = this.random.between(0, PARTITIONS - 1);
      if (this.branches !== null && this.random.chance(BRANCHES_SHARE)) await this.branches.step();
      else if (this.cluster.movesTenants && this.random.chance(TENANTS_SHARE)) {
        await this.transact(this.random.between(0, TENANTS.length - 1) + PARTITIONS);
      } else if (this.cluster.readsCopies && this.random.chance(STALE_SHARE)) await this.readStale(partition);
      else await this.transact(partition);
      await loop.sleep(this.random.next() * 70);
    }
  }

  /**
   * What is seen is as of a moment: all that was acknowledged before must be there, so for the checker the read begins
   * then.
   */
  private async readStale(partition: number): Promise<void> {
    const { cluster, random } = this;
    const { loop } = cluster;
    const lists = LISTS.filter(() => random.chance(0.7));
    const asked = { partition, maxMs: random.pick(STALE_MS), keys: lists.map((list) => keyOf(list)) };
    const node = random.between(0, NODES - 1);
    const sentMs = loop.now;
    const read = await new Promise<StaleRead | null>((resolve) => {
      const deadline = loop.after(random.pick(PATIENCE_MS), () => resolve(null));
      cluster.callStale(node, asked, (found) => {
        deadline.cancelled = true;
        resolve(found);
      });
    });
    if (read === null) return;
    if (read.asOfMs < sentMs - asked.maxMs)
      cluster.complain(`a read of ${partition} that may be ${asked.maxMs} ms old is as of ${read.asOfMs}`);
    this.transactions[partition]!.push({
      ...{ id: this.ids.next++, client: this.name + STALE, began: read.asOfMs, ended: loop.now, ending: "committed" },
      operations: lists.map((key, i) => ({ kind: "read", key, list: listIn(read.lists[i]) })),
    });
  }

  /** `history`: the partition; for a tenant that moves, behind those. */
  private async transact(history: number): Promise<void> {
    const { loop } = this.cluster;
    const id = this.ids.next++;
    // Where writes are rare, reads of an owner that is cut off do not come to wait behind one.
    const plan = this.plan(id, WRITES[history % WRITES.length]!);
    const planned: Operation[] = plan.appends.map(({ list, value }) => ({ kind: "append", key: list, value }));
    const one: Transaction = {
      id,
      client: this.name,
      began: loop.now,
      ended: 0,
      ending: "unknown",
      operations: planned,
    };
    const tenant = TENANTS[history - PARTITIONS] ?? null;
    const answer = await this.ask(tenant === null ? history : null, plan, tenant);
    one.ended = loop.now;
    if (answer === "nobody") return;
    if (answer !== "unknown") {
      one.ending = answer === null ? "aborted" : "committed";
      if (answer !== null) one.operations.splice(0, planned.length, ...answer);
    }
    // What only read and has no answer says nothing.
    if (answer !== "unknown" || plan.appends.length > 0) this.transactions[history]!.push(one);
  }

  private plan(id: number, writes: number): Plan {
    const { random } = this;
    const some = (chance: number) => LISTS.filter(() => random.chance(chance));
    const appends = random.chance(writes) ? some(0.5).map((list, i) => ({ list, value: id * 10 + i })) : [];
    const reads = some(appends.length === 0 ? 0.7 : 0.3);
    const isLarge = appends.length > 0 && random.chance(0.1);
    const pauseMs = random.chance(this.cluster.isCalm ? 0.01 : 0.03)
      ? random.next() * LONG_PAUSE_MS
      : random.chance(0.3)
        ? random.next() * 8
        : 0;
    return { reads, appends, isLarge, pauseMs };
  }

  /** `nobody`: no node had the partition, so nothing was done. */
  async ask(
    asked: number | null,
    plan: Plan,
    tenant: number | null = null,
  ): Promise<readonly Operation[] | null | "unknown" | "nobody"> {
    const work = workOf(plan, this.cluster.loop, tenant);
    const partition = asked ?? this.places.get(tenant!) ?? homeOf(tenant!, PARTITIONS);
    const answer = await this.send({ partition, tenant, writes: plan.appends.length > 0 }, work);
    return typeof answer === "string" ? answer : (answer.value as readonly Operation[] | null);
  }

  /** Asks nodes for the owner of the place. */
  async send(place: Place, work: Work): Promise<Extract<Answer, { kind: "done" }> | "unknown" | "nobody"> {
    const { tenant, writes } = place;
    let { partition } = place;
    for (let tries = 0; tries < 60 && !(this.isStopped && tries > 3); tries++) {
      // Now and then another than the last owner, so that some clients see a new owner while others still ask the old
      // one.
      const node = this.random.chance(0.5) ? this.random.between(0, NODES - 1) : this.owners[partition]!;
      const answer = await this.callWithPatience(node, { partition, tenant, writes }, work);
      const isDone = answer !== null && answer.kind === "done";
      this.owners[partition] = isDone ? node : this.random.between(0, NODES - 1);
      if (answer === null || answer.kind === "failed") return "unknown";
      if (answer.kind === "done") return answer;
      if (answer.to !== undefined) {
        partition = answer.to;
        this.places.set(tenant!, partition);
      }
      await this.cluster.loop.sleep(this.random.next() * 60);
    }
    return "nobody";
  }

  private callWithPatience(node: number, place: Place, work: Work): Promise<Answer | null> {
    const { loop } = this.cluster;
    return new Promise((resolve) => {
      const deadline = loop.after(this.random.pick(PATIENCE_MS), () => resolve(null));
      this.cluster.call(node, place, work, (answer) => {
        deadline.cancelled = true;
        resolve(answer);
      });
    });
  }
}
