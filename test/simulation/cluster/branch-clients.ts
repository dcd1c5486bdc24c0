/**
 * Clients of tenants with branches in a simulated cluster: they fork, read, write, merge and drop, and read what was.
 * All know of the same branches; what one was not told may be there or not.
 */

import type { Shard } from "../../../src/storage/shard.js";
import type { Transaction } from "../history.js";
import type { SeededRandom } from "../seeded-random.js";
import {
  BRANCH_LISTS,
  type BranchPlace,
  type BranchWorkHost,
  BranchWorks,
  finalLists,
  type Lists,
  type Moment,
  nameOfMerges,
} from "./simulated-branches.js";
import type { Work } from "./work.js";

/** Their numbers; each is in the partition of that remainder. */
export const BRANCHED_TENANTS = [25, 27];
const BRANCHES_MAX = 8;
const MOMENTS_MAX = 30;
const LONG_PAUSE_MS = 3000;

/** A branch that was asked for. */
interface Asked {
  readonly place: BranchPlace;
  readonly origin: BranchPlace;
  /** Nobody asks for it any more. */
  isOver: boolean;
}

/** What became of work; null: it was refused. */
export type Ask = (root: number, work: Work, writes: boolean) => Promise<{ value: unknown } | "unknown" | "nobody">;

/** What all clients know of a tenant. */
export class BranchedTenant {
  readonly transactions: Transaction[] = [];
  /** Merges, and the list of the history where each has left its number. */
  readonly merging = new Map<Transaction, string>();
  readonly asked: Asked[] = [];
  readonly moments: Moment[] = [];
  forks = 0;
  merges = 0;
  drops = 0;
  pastReads = 0;

  constructor(readonly root: number) {}

  get places(): readonly BranchPlace[] {
    return [{ root: this.root, name: null }, ...this.asked.filter(({ isOver }) => !isOver).map(({ place }) => place)];
  }

  /** Without merges that were not done: what they were to write, a later one may have written. */
  doneOf(final: ReadonlyMap<string, readonly number[]>): readonly Transaction[] {
    const isDone = (one: Transaction, merges: string) =>
      one.ending === "committed" || final.get(merges)!.includes(one.id);
    return this.transactions.filter((one) => {
      const merges = this.merging.get(one);
      return merges === undefined || isDone(one, merges);
    });
  }

  remember(moment: Moment): void {
    this.moments.push(moment);
    if (this.moments.length > MOMENTS_MAX) this.moments.splice(0, 1);
  }

  /** Lists at the end, of all places that there ever were. */
  final(shard: Shard): ReadonlyMap<string, readonly number[]> {
    const places = [{ root: this.root, name: null }, ...this.asked.map(({ place }) => place)];
    return new Map(places.flatMap((place) => finalLists(shard, place)));
  }
}

export interface BranchClientHost extends BranchWorkHost {
  readonly tenants: readonly BranchedTenant[];
  complain(what: string): void;
}

export class BranchClient {
  private readonly works: BranchWorks;

  constructor(
    private readonly host: BranchClientHost,
    private readonly name: string,
    private readonly random: SeededRandom,
    private readonly ids: { next: number },
    private readonly ask: Ask,
  ) {
    this.works = new BranchWorks({ ...host, random });
  }

  step(): Promise<unknown> {
    const { random } = this;
    const tenant = random.pick(this.host.tenants);
    const open = tenant.asked.filter(({ isOver }) => !isOver);
    const dice = random.next();
    if (dice < 0.5) return this.transact(tenant, random.pick(tenant.places));
    if (dice < 0.6) return this.readPast(tenant);
    if (dice < 0.62) return this.ask(tenant.root, this.works.keepPast(tenant.root), true);
    if (dice < 0.78 && open.length < BRANCHES_MAX) return this.fork(tenant, open);
    if (dice < 0.88 && open.length > 0) return this.merge(tenant, random.pick(open));
    if (open.length > 0) return this.drop(tenant, random.pick(open));
    return this.transact(tenant, random.pick(tenant.places));
  }

  /** Runs work, and notes how it ended. */
  private async note(tenant: BranchedTenant, work: (one: Transaction) => Work): Promise<Transaction> {
    const { loop } = this.host;
    const one: Transaction = {
      ...{ id: this.ids.next++, client: this.name, began: loop.now, ended: 0, ending: "unknown", operations: [] },
    };
    // What it does is known once it commits, perhaps long after nobody waits any more.
    tenant.transactions.push(one);
    const answer = await this.ask(tenant.root, work(one), true);
    one.ended = loop.now;
    if (answer === "nobody") one.ending = "aborted";
    else if (answer !== "unknown") one.ending = answer.value === null ? "aborted" : "committed";
    return one;
  }

  private async transact(tenant: BranchedTenant, place: BranchPlace): Promise<void> {
    const { random } = this;
    const id = this.ids.next;
    const lists = random.chance(0.6) ? BRANCH_LISTS.slice(0, 3).filter(() => random.chance(0.5)) : [];
    let after: Moment | null = null;
    const one = await this.note(tenant, (noted) =>
      this.works.transact(
        place,
        {
          appends: lists.map((list, i) => ({ list, value: id * 10 + i })),
          isLarge: lists.length > 0 && random.chance(0.1),
          pauseMs: random.chance(0.02) ? random.next() * LONG_PAUSE_MS : random.chance(0.3) ? random.next() * 8 : 0,
          after: (sequence, found) => {
            after = { place, sequence, lists: new Map(found) };
          },
        },
        noted,
      ),
    );
    if (one.ending === "committed" && lists.length > 0 && after !== null) tenant.remember(after);
  }

  private async fork(tenant: BranchedTenant, open: readonly Asked[]): Promise<void> {
    const { random } = this;
    const root: BranchPlace = { root: tenant.root, name: null };
    // Most often from the newest, so that chains are long.
    const origin = random.chance(0.3) ? root : (open.at(-1 - random.between(0, 1))?.place ?? root);
    const moments = tenant.moments.filter(({ place }) => place.name === origin.name);
    // The oldest ones are about to be forgotten, or have been.
    const oldest = random.chance(0.5) ? moments.slice(0, 2) : moments;
    const moment = moments.length > 0 && random.chance(0.5) ? random.pick(oldest) : null;
    const place = { root: tenant.root, name: `b${this.ids.next}` };
    const asked = { place, origin, isOver: false };
    tenant.asked.push(asked);
    const { ending } = await this.note(tenant, (noted) => this.works.fork(origin, place.name, moment, noted));
    if (ending === "committed") tenant.forks++;
    if (ending === "aborted") asked.isOver = true;
  }

  private async merge(tenant: BranchedTenant, { place, origin }: Asked): Promise<void> {
    const { ending } = await this.note(tenant, (one) => {
      tenant.merging.set(one, nameOfMerges(origin));
      return this.works.merge(place, origin, one.id, one);
    });
    if (ending === "committed") tenant.merges++;
  }

  private async drop(tenant: BranchedTenant, asked: Asked): Promise<void> {
    const { ending } = await this.note(tenant, (noted) => this.works.drop(asked.place, noted));
    if (ending === "committed") tenant.drops++;
    if (ending === "committed") asked.isOver = true;
  }

  private async readPast(tenant: BranchedTenant): Promise<void> {
    if (tenant.moments.length === 0) return;
    const moment = this.random.pick(tenant.moments);
    const answer = await this.ask(tenant.root, this.works.past(moment), false);
    if (typeof answer === "string" || answer.value === null) return;
    tenant.pastReads++;
    const [found, expected] = [answer.value as Lists, moment.lists].map((lists) => JSON.stringify([...lists]));
    if (found !== expected)
      this.host.complain(`${moment.place.name ?? tenant.root} as of ${moment.sequence} has ${found}, not ${expected}`);
  }
}
