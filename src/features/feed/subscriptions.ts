/**
 * The subscriptions of a partition's tenants. The life of one:
 *
 *  1. `follow` finds the table and has it watched, within a request like any other.
 *  2. The first message says `subscribed` and the sequence from which changes follow.
 *  3. A client that comes back gets what it missed, at its own pace: from memory, or from the commit log.
 *  4. At a moment when nothing is missing it joins the channel of its group (change-group.ts). The request ends, and
 *     the subscription lives on until the client leaves, the table or the tenant goes, or the actor ends.
 *
 * Owned by the partition; the actor gives it the way out.
 */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { ReplySink } from "../../actor/reply-sink.js";
import type { CatalogView } from "../../catalog/catalog-view.js";
import type { TableDef } from "../../catalog/table.js";
import { DbError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import { noteReads } from "../../session/data-audit.js";
import type { ChangeForm } from "./change-form.js";
import { ChangeGroup, type Member } from "./change-group.js";
import type { FollowingRequest, LiveOutput, Subscriber, SubscriptionHost, Way } from "./contract.js";
import { type FollowRequest, type FollowTarget, findTarget, viewOf } from "./follow-target.js";
import { logChanges } from "./log-changes.js";
import type { QueryGroup } from "./query-group.js";
import { type QueryRequest, QuerySubscriptions, sendAnswer } from "./query-subscriptions.js";
import { conditionContext } from "./row-program.js";
import type { TableWatch } from "./table-watch.js";

export interface FollowOptions extends FollowRequest {
  /** Of the last change that the client has seen; absent: only what comes from now on. */
  readonly sequence?: number;
}

/** Times that the log is looked at until the changes in memory reach back far enough. */
const READINGS_MAX = 3;
/** Looks at the log at the same time. */
const LOG_READERS_MAX = 2;

/** Of subscriptions that were allowed by roles and policies that no longer hold. */
export const ACCESS_CHANGED = (): DbError =>
  new DbError("subscription_interrupted", "Who may see what has changed: subscribe again.");

/** Changed rows reach their followers as they are: throws 403 unless the caller may see all of the table. */
function requireAllRows(catalog: CatalogView, table: TableDef, { head }: FollowingRequest): void {
  const rights = rightsOfCaller(head)(catalog);
  if (rights.mayName(table) && rights.mayAll(table.id, ["r"])) return;
  throw new DbError("forbidden", `permission denied for the changes of ${table.name}: some of them you may not see.`, {
    sqlstate: "42501",
    hint: 'Subscribe to a query with "sql": it answers what you may see.',
  });
}

export class Subscriptions {
  output: LiveOutput | null = null;
  private queries: QuerySubscriptions | null = null;
  private readonly groups = new Map<string, ChangeGroup>();
  /** How many each tenant has. */
  private readonly counts = new Map<number, Set<Subscription>>();
  private logReaders = 0;
  private readonly logWaiters: (() => void)[] = [];
  /**
   * By tenant: how often all of its subscriptions were ended. What began before does not join those that began after.
   */
  private readonly ends = new Map<number, number>();
  /** The partition gets another owner. */
  private isLeft = false;

  constructor(private readonly partition: SubscriptionHost) {}

  get size(): number {
    let size = 0;
    for (const subscriptions of this.counts.values()) size += subscriptions.size;
    return size;
  }

  /** Subscribes to the answer of a query. Throws an error that says what is wrong with it. */
  async followQuery(request: FollowingRequest, query: QueryRequest, way: Way): Promise<void> {
    const { tenant } = request;
    const output = this.begin(tenant.number);
    this.queries ??= new QuerySubscriptions(this.partition, (number) => output.turnsOf(number));
    const began = this.endsOf(tenant.number);
    const group = await this.queries.groupOf(request, query, way.form, output, began);
    tenant.sawEverything();
    request.deadlineMs = Number.POSITIVE_INFINITY;
    const subscription = new Subscription(request.id, tenant.number, way, group, this, output);
    group.join(subscription);
    try {
      const sink = await request.openReply(way.form.contentType, SSE_HEADERS[way.form.name] ?? []);
      sink.errorText = way.errorText;
      output.began(request.id);
      await sendAnswer(group, sink, way, () => {
        request.checkpoint();
        this.requireStill(tenant.number, began);
        if (subscription.ended !== null) throw subscription.ended;
      });
      request.checkpoint();
      if (subscription.ended !== null) throw subscription.ended;
      this.requireStill(tenant.number, began);
    } catch (error) {
      group.leave(subscription);
      throw error;
    }
    this.live(request, subscription, output);
  }

  private endsOf(tenant: number): number {
    return this.ends.get(tenant) ?? 0;
  }

  /** Throws where subscriptions were ended while this one was being made: it was made by what held then. */
  private requireStill(tenant: number, began: number): void {
    this.requireHere();
    if (this.endsOf(tenant) !== began) throw ACCESS_CHANGED();
  }

  /** Throws where the subscription would outlive the partition, and hear nothing. */
  private requireHere(): void {
    if (this.isLeft) throw new DbError("subscription_interrupted", `${PARTITION_LEFT}: subscribe again.`);
  }

  /** From now on it gets what its group gets. */
  private live(request: FollowingRequest, subscription: Subscription, output: LiveOutput): void {
    subscription.isLive = true;
    this.add(subscription);
    output.joined(request.id, subscription.group.channel);
    output.listen(request.id, subscription);
  }

  /** Resolves when the subscription lives by itself. Throws invalid_request, not_found, sequence_too_old. */
  async follow(request: FollowingRequest, options: FollowOptions, way: Way): Promise<void> {
    const { tenant } = request;
    const { feed, shard } = this.partition;
    const output = this.begin(tenant.number);
    const began = this.endsOf(tenant.number);
    const { target, watch, group } = this.prepare(request, options, way.form);
    noteReads([target.table], request.audited());
    // The client hears nothing before the record of the watch is on disk.
    tenant.sawEverything();
    const { sequence } = options;
    if (sequence !== undefined) {
      if (sequence < watch.since) throw tooOld(sequence, watch);
      if (sequence > shard.lastMicros) throw unknownSequence(sequence);
    }
    request.deadlineMs = Number.POSITIVE_INFINITY;
    const sink = await request.openReply(way.form.contentType, SSE_HEADERS[way.form.name] ?? []);
    sink.errorText = way.errorText;
    output.began(request.id);
    const subscription = new Subscription(request.id, tenant.number, way, group, this, output);
    const position = sequence ?? Math.max(feed.durableMicros, watch.since);
    const about = JSON.stringify({ collection: target.label ?? target.table.name, sequence: position });
    await sink.write(way.form.whole(way.id, way.form.shared("subscribed", about, position)));
    await this.catchUp(request, sink, way, group, position, began);
    request.checkpoint();
    this.requireStill(tenant.number, began);
    group.join(subscription);
    this.live(request, subscription, output);
  }

  /**
   * Subscribes to messages that do not come from commits, which nobody can ask for again. `about`: what `subscribed`
   * tells. `join` gets what sends a message, and gives what ends that.
   */
  async followMessages(
    request: FollowingRequest,
    about: object,
    way: Way,
    join: (send: (type: string, fields: object) => void) => () => void,
  ): Promise<void> {
    const output = this.begin(request.tenant.number);
    request.deadlineMs = Number.POSITIVE_INFINITY;
    const sink = await request.openReply(way.form.contentType, SSE_HEADERS[way.form.name] ?? []);
    sink.errorText = way.errorText;
    output.began(request.id);
    const channel = output.newChannel();
    const source = { channel, leave: () => leave() };
    const subscription = new Subscription(request.id, request.tenant.number, way, source, this, output);
    const publish = (message: Uint8Array): void => output.publish(channel, 0, message);
    let early: Uint8Array[] | null = [];
    const leave = join((type, fields) => {
      const message = way.form.shared(type, JSON.stringify(fields), 0);
      if (early === null) publish(message);
      else early.push(message);
    });
    try {
      await sink.write(way.form.whole(way.id, way.form.shared("subscribed", JSON.stringify(about), 0)));
      request.checkpoint();
      this.requireHere();
    } catch (error) {
      leave();
      throw error;
    }
    this.live(request, subscription, output);
    for (const message of early) publish(message);
    early = null;
  }

  private begin(tenant: number): LiveOutput {
    const { output, partition } = this;
    if (output === null) throw new Error("subscriptions have no way out");
    const max = partition.config.changes.subscriptionsPerTenantMax;
    if ((this.counts.get(tenant)?.size ?? 0) >= max) {
      throw new DbError("rate_limited", `The tenant already has ${max} subscriptions, which is the limit. End one.`);
    }
    return output;
  }

  private prepare(request: FollowingRequest, options: FollowOptions, form: ChangeForm) {
    const { partition } = this;
    const { tenant } = request;
    const tx = partition.shard.begin({ readOnly: true });
    try {
      const catalog = tenant.catalog.view(tx);
      const target = findTarget(catalog, options);
      requireAllRows(catalog, target.table, request);
      // A wrong filter is reported before anything is watched.
      const view = viewOf(tenant, tx, target, options.filter);
      const watch = partition.feed.watch(tenant.number, target.table, catalog);
      const began = this.endsOf(tenant.number);
      const key = JSON.stringify([
        tenant.number,
        began,
        target.table.id,
        target.label,
        options.filter ?? null,
        form.name,
      ]);
      let group = this.groups.get(key);
      if (group === undefined || group.watch !== watch) {
        group = this.newGroup(key, request, watch, target, options.filter, form, view);
        this.groups.set(key, group);
      }
      return { target, watch, group };
    } finally {
      tx.rollback();
    }
  }

  private newGroup(
    key: string,
    request: FollowingRequest,
    watch: TableWatch,
    { label }: FollowTarget,
    filter: unknown,
    form: ChangeForm,
    first: ReturnType<typeof viewOf>,
  ): ChangeGroup {
    const { partition } = this;
    const output = this.output!;
    const { tenantId } = request.head;
    let known: typeof first | null = first;
    const group: ChangeGroup = new ChangeGroup(output.newChannel(), form, watch, {
      withContext: (work) => this.withContext(watch.tenant, tenantId, work),
      publish: (channel, sequence, message) => output.publish(channel, sequence, message),
      view: () => {
        if (known === null) {
          const tx = partition.shard.begin({ readOnly: true });
          try {
            return viewOf(partition.tenant(watch.tenant), tx, { table: watch.table, label }, filter);
          } finally {
            tx.rollback();
          }
        }
        const view = known;
        known = null;
        return view;
      },
      failed: (error) => output.failed(error),
      empty: () => {
        if (this.groups.get(key) === group) this.groups.delete(key);
      },
    });
    return group;
  }

  private withContext<T>(tenant: number, tenantName: string, work: (context: ExecContext) => T): T {
    const tx = this.partition.shard.begin({ readOnly: true });
    try {
      return work(conditionContext(this.partition.tenant(tenant), tenantName, tx));
    } finally {
      tx.rollback();
    }
  }

  /** Sends all changes after `from`; when it resolves, none is missing at that moment. */
  private async catchUp(
    request: FollowingRequest,
    sink: ReplySink,
    way: Way,
    group: ChangeGroup,
    from: number,
    began: number,
  ): Promise<void> {
    const { feed } = this.partition;
    const { watch } = group;
    const turn = (): Promise<void> => request.yieldTurn();
    let position = from;
    let readings = 0;
    for (;;) {
      this.requireStill(watch.tenant, began);
      const changes = feed.changesAfter(watch, position);
      if (changes === null) {
        if (position < watch.since) throw tooOld(position, watch);
        if (readings++ < READINGS_MAX) await feed.readBack(watch, turn);
        if (position < watch.historySince) position = await this.fromLog(request, sink, way, group, position, began);
        continue;
      }
      if (changes.length === 0) return;
      const part = changes.slice(0, CHANGES_AT_ONCE);
      for (const { message } of group.messagesOf(watch.rowsOf(part))) {
        await sink.write(way.form.whole(way.id, message));
      }
      position = part.at(-1)!.micros;
      if (request.shouldYield()) await turn();
      request.checkpoint();
    }
  }

  /** The same straight from the log, which has more than fits into memory; answers how far it came. */
  private async fromLog(
    request: FollowingRequest,
    sink: ReplySink,
    way: Way,
    group: ChangeGroup,
    from: number,
    began: number,
  ): Promise<number> {
    const { watch } = group;
    const { shard } = this.partition;
    await this.logTurn();
    try {
      const range = {
        tenant: watch.tenant,
        storageIds: new Set(watch.storageIds),
        after: from,
        upTo: watch.historySince,
      };
      for await (const { changes, gap } of logChanges(shard.log, range, () => request.yieldTurn())) {
        if (gap) throw tooOld(from, watch);
        this.requireStill(watch.tenant, began);
        for (const { message } of group.messagesOf(watch.rowsOf(changes))) {
          await sink.write(way.form.whole(way.id, message));
        }
      }
      return range.upTo;
    } finally {
      this.logReaders--;
      this.logWaiters.shift()?.();
    }
  }

  private async logTurn(): Promise<void> {
    while (this.logReaders >= LOG_READERS_MAX) {
      await new Promise<void>((resolve) => this.logWaiters.push(resolve));
    }
    this.logReaders++;
  }

  private add(subscription: Subscription): void {
    const own = this.counts.get(subscription.tenant);
    if (own === undefined) this.counts.set(subscription.tenant, new Set([subscription]));
    else own.add(subscription);
  }

  remove(subscription: Subscription): void {
    const own = this.counts.get(subscription.tenant);
    own?.delete(subscription);
    if (own?.size === 0) this.counts.delete(subscription.tenant);
  }

  /** Those of all tenants. */
  endAll(error: DbError): void {
    for (const own of [...this.counts.values()]) for (const subscription of [...own]) subscription.end(error);
  }

  /** Those of one tenant. */
  endOf(tenant: number, error: DbError): void {
    this.ends.set(tenant, this.endsOf(tenant) + 1);
    for (const subscription of [...(this.counts.get(tenant) ?? [])]) subscription.end(error);
  }

  /** The partition gets another owner: likewise. Those that are being made end, too. */
  partitionLeft(): void {
    this.isLeft = true;
    for (const tenant of [...this.counts.keys()]) this.tenantLeft(tenant, PARTITION_LEFT);
  }

  /** The tenant is elsewhere, or gone: its subscriptions end, and say where to go on. */
  tenantLeft(tenant: number, why = `The tenant was moved to another partition: ${AGAIN}`): void {
    for (const subscription of [...(this.counts.get(tenant) ?? [])]) {
      const { group } = subscription;
      const details = group instanceof ChangeGroup ? { sequence: group.watch.lastChange } : {};
      subscription.end(new DbError("subscription_interrupted", why, details));
    }
  }
}

const AGAIN = "subscribe again with this sequence.";
const PARTITION_LEFT = `The partition gets another owner: ${AGAIN}`;
const CHANGES_AT_ONCE = 64;
const SSE_HEADERS: Readonly<Record<string, readonly string[]>> = {
  sse: ["Cache-Control: no-store", "X-Accel-Buffering: no"],
};

/** Of messages that do not come from commits. */
interface MessageSource {
  readonly channel: number;
  leave(): void;
}

/** One subscription that lives by itself. */
class Subscription implements Member, Subscriber {
  isLive = false;
  /** Why it ended before it lived by itself. */
  ended: DbError | null = null;

  constructor(
    private readonly id: number,
    readonly tenant: number,
    readonly way: Way,
    readonly group: ChangeGroup | QueryGroup | MessageSource,
    private readonly all: Subscriptions,
    private readonly output: LiveOutput,
  ) {}

  end(error: DbError): void {
    if (!this.isLive) {
      this.ended = error;
      return;
    }
    this.left();
    this.output.listen(this.id, null);
    this.output.ended(this.id, error.status, this.way.errorMessage(error));
  }

  left(): void {
    this.group.leave(this);
    this.all.remove(this);
  }
}

function tooOld(sequence: number, watch: TableWatch): DbError {
  const why = `Changes after the sequence ${sequence} are no longer kept. Load everything again and subscribe without a sequence.`;
  return new DbError("sequence_too_old", why, { sequence, oldest_sequence: watch.since });
}

function unknownSequence(sequence: number): DbError {
  const why = `There is no change with the sequence ${sequence}. Load everything again and subscribe without a sequence.`;
  return new DbError("sequence_too_old", why, { sequence });
}
