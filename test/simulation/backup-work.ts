/**
 * One who backs a tenant up between the transactions of its clients, and restores what was backed up, as of any moment,
 * into a copy of the tenant, over and over. What the copy then has is a read of all lists that happened at that moment,
 * so the checker of histories says whether it can have been. A copy whose restore was cut short is refused, or has what
 * it had before or what was being restored.
 */
import type { Transaction } from "./history.js";
import type { SeededRandom } from "./seeded-random.js";
import { type Outcome, type Reply, statusOf } from "./simulated-node.js";
import { BULK_ROWS, LISTS, listName, readOf, type TenantWork, valuesOf } from "./workload.js";

/** A moment that is known to lie between two, in the loop's milliseconds. */
export interface Moment {
  readonly began: number;
  readonly ended: number;
}

interface Restore extends Moment {
  readonly what: string;
}

/** What a tenant has: its lists, and the bulks that are there. */
export interface Content {
  readonly lists: ReadonlyMap<string, readonly number[]>;
  readonly bulks: readonly number[];
}

/** Of a backup, as the API tells it. */
export interface View {
  readonly id: string;
  readonly status: string;
  readonly base: string | null;
  readonly encrypted: boolean;
  readonly started_at: string;
  readonly finished_at: string;
  readonly holds_until: string;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const PASSPHRASE = "a passphrase of backups";
/** An answer to what failed as files could not be written comes within that. */
const FAILED_MS = 100;
const EMPTY = "nothing";

export class BackupWork {
  isStopped = false;
  readonly problems: string[] = [];
  /** Backups, and restores, that ended well. */
  backups = 0;
  restores = 0;
  /** Backups that were acknowledged, or were seen whole, and not deleted since. */
  private readonly whole = new Set<string>();
  private readonly deleted = new Set<string>();
  /** When the first one was there. */
  first: number | null = null;
  /** What the copy is known to have, and the restores since, of which nobody knows what became of them. */
  private known: string | null;
  private open: Restore[] = [];

  constructor(
    readonly source: TenantWork,
    readonly copy: TenantWork,
    private readonly random: SeededRandom,
    /** The copy has something to begin with, whatever it is. */
    hasContent = false,
  ) {
    this.known = hasContent ? null : EMPTY;
  }

  async run(): Promise<void> {
    const { random } = this;
    while (!this.isStopped) {
      await this.source.node.loop.sleep(random.next() * 120);
      const dice = random.next();
      if (dice < 0.45) await this.backUpOne();
      else if (dice < 0.85) await this.restore();
      else if (dice < 0.95) await this.verify();
      else await this.delete();
      await this.look();
    }
  }

  private async backUpOne(): Promise<void> {
    const passphrase = this.random.chance(0.2) ? { passphrase: PASSPHRASE } : {};
    await this.backUp({ incremental: this.random.chance(0.7), ...passphrase });
  }

  /** Null: it failed, or nobody knows. */
  async backUp(options: object): Promise<View | null> {
    const { random, source } = this;
    const { loop } = source.node;
    const began = loop.now;
    const asked = await source.call("backups.create", options);
    this.judge(asked, "a backup", [202, 409]);
    if (statusOf(asked) !== 202) return null;
    const { id } = (asked as Reply).body.data as View;
    for (;;) {
      await loop.sleep(random.next() * 8);
      const outcome = await source.call("backups.get", undefined, { params: [id] });
      // Without an answer nobody knows; that there is none any more, somebody has crashed.
      if (statusOf(outcome) !== 200) return null;
      const view = (outcome as Reply).body.data as View;
      if (view.status === "failed") this.judgeFailure(view, `backup ${id}`);
      if (view.status === "failed") return null;
      if (view.status !== "completed") continue;
      const moment = this.momentOf(view);
      if (moment.began + 1 < began || moment.ended > loop.now + 1) {
        this.problems.push(`backup ${id} says it was made from ${moment.began} to ${moment.ended}, not since ${began}`);
      }
      this.first ??= loop.now;
      this.backups++;
      this.whole.add(id);
      return view;
    }
  }

  /** Whole ones; null: nobody answered. */
  private async list(): Promise<View[] | null> {
    const outcome = await this.source.call("backups.list", undefined);
    this.judge(outcome, "a list of backups", [200]);
    if (statusOf(outcome) !== 200) return null;
    const all = ((outcome as Reply).body.data.backups as View[]).filter(({ status }) => status === "completed");
    const ids = new Set(all.map(({ id }) => id));
    for (const id of this.whole) if (!ids.has(id)) this.problems.push(`backup ${id} was whole and is lost`);
    for (const id of this.deleted) if (ids.has(id)) this.problems.push(`backup ${id} was deleted and is there`);
    for (const id of ids) this.whole.add(id);
    for (const view of all) this.momentOf(view);
    return all;
  }

  /** When a backup was made; the moment that it names is one of those. */
  private momentOf({ id, started_at, finished_at, holds_until }: View): Moment {
    const [began, ended, until] = [started_at, finished_at, holds_until].map((time) => this.loopTime(time));
    // Earlier than it was begun where nothing was committed in between.
    const missed = this.source.transactions.find(
      (one) =>
        one.ending === "committed" &&
        one.began > until! + 1 &&
        one.ended < began! &&
        one.operations.some(({ kind }) => kind === "append"),
    );
    if (missed !== undefined) {
      this.problems.push(`backup ${id}, begun at ${began}, holds until ${until}: not what ended at ${missed.ended}`);
    }
    if (until! > ended! + 1) this.problems.push(`backup ${id}, made by ${ended}, holds until ${until}`);
    return { began: began!, ended: ended! + 1 };
  }

  private loopTime(time: string): number {
    return Date.parse(time) - this.source.node.loop.epochMs;
  }

  private async verify(): Promise<void> {
    const backup = await this.pick();
    if (backup === null) return;
    const body = backup.encrypted ? { passphrase: PASSPHRASE } : {};
    const outcome = await this.source.call("backups.verify", body, { params: [backup.id] });
    this.judge(outcome, `verifying backup ${backup.id}`, [200]);
  }

  private async delete(): Promise<void> {
    const backup = await this.pick();
    if (backup === null) return;
    this.whole.delete(backup.id);
    const outcome = await this.source.call("backups.delete", undefined, { params: [backup.id] });
    this.judge(outcome, `deleting backup ${backup.id}`, [204, 409]);
    if (statusOf(outcome) === 204) this.deleted.add(backup.id);
    else if (statusOf(outcome) === 409) this.whole.add(backup.id);
  }

  private async pick(): Promise<View | null> {
    const all = await this.list();
    return all === null || all.length === 0 ? null : this.random.pick(all);
  }

  private async restore(): Promise<void> {
    const { random, source } = this;
    const backup = await this.pick();
    if (backup === null) return;
    const named = random.chance(0.5) ? { backup: backup.id } : {};
    const isEncrypted = backup.encrypted ? { passphrase: PASSPHRASE } : {};
    if (named.backup !== undefined && random.chance(0.5)) {
      await this.of(backup);
      return;
    }
    const { loop } = source.node;
    const first = this.first ?? this.loopTime(backup.finished_at);
    await this.asOf(first + random.next() * (loop.now - first), { ...named, ...isEncrypted });
  }

  /** Restores what that backup holds; answers whether that was done. */
  of(backup: View): Promise<boolean> {
    const { id, encrypted } = backup;
    const options = { backup: id, ...(encrypted && { passphrase: PASSPHRASE }) };
    return this.into(options, this.momentOf(backup));
  }

  /** Restores the source's content of that moment, in the loop's milliseconds. */
  asOf(at: number, options: object = {}): Promise<boolean> {
    const { epochMs } = this.source.node.loop;
    const ms = Math.floor(epochMs + at);
    // Of commits within that millisecond some are later.
    return this.into(
      { ...options, until: new Date(ms).toISOString() },
      { began: ms - 1 - epochMs, ended: ms + 1 - epochMs },
    );
  }

  private async into(options: object, moment: Moment): Promise<boolean> {
    const { node, name: from } = this.source;
    const what = `restoring ${JSON.stringify(options)} into ${this.copy.name}`;
    const params = [this.copy.name];
    const restore = { ...moment, what };
    const asked = await node.call({
      ...{ endpoint: "admin.tenants.restore", body: { ...options, from, replace: true }, params },
    });
    this.judge(asked, what, [202, 400, 404, 409]);
    // Some are answered 500 or 507 as the log could not be written, and go on: they write nothing themselves.
    const isUnknown = asked === "lost" || asked.status >= 500;
    if (isUnknown || asked.status === 202) this.open.push(restore);
    if (isUnknown || asked.status !== 202) return false;
    const { started_at } = asked.body.data;
    for (;;) {
      await node.loop.sleep(this.random.next() * 8);
      const outcome = await node.call({ endpoint: "admin.tenants.restore.get", params });
      if (statusOf(outcome) !== 200) return false;
      const view = (outcome as Reply).body.data;
      if (view.started_at !== started_at) return false;
      if (view.state === "failed") this.judgeFailure(view, what);
      if (view.state === "failed") return false;
      if (view.state !== "completed") continue;
      if (view.verified === false) this.problems.push(`${what} found another digest`);
      this.restores++;
      // Whatever it had before, and whatever else was begun, is gone.
      this.open = [restore];
      this.known = "";
      return true;
    }
  }

  /** Of what the copy serves, if it does. */
  async look(): Promise<Content | string | null> {
    const { copy } = this;
    const outcome = await copy.call("query.batch", { statements: EVERYTHING, transactional: true, max_rows: 100_000 });
    this.judge(outcome, `a read of ${copy.name}`, [200, 400, 404, 409, 422]);
    const status = statusOf(outcome);
    // A request that a restore ended, or a tenant that is on its way, says nothing.
    if (status === null || status >= 500 || status === 409) return null;
    const content = status === 200 ? contentOf((outcome as Reply).body.data.results) : EMPTY;
    this.found(content);
    return content;
  }

  /** Holds what a tenant has against what may have become of the restores. */
  private found(content: Content | string): void {
    const { problems, source, copy } = this;
    const told = typeof content === "string" ? content : textOf(content);
    if (this.known === null && typeof content !== "string") this.known = told;
    if (told === this.known) return;
    if (typeof content === "string" || this.open.length === 0) {
      const open = this.open.map(({ what }) => what).join("; ");
      problems.push(`${copy.name} has ${told}, not ${this.known || "what was restored"} (${open || "no restores"})`);
      return;
    }
    // Of several that nobody knows the end of, it may be any.
    const began = Math.min(...this.open.map((one) => one.began));
    const ended = Math.max(...this.open.map((one) => one.ended));
    const what = this.open.map((one) => one.what).join("; ");
    this.known = told;
    const read: Transaction = {
      ...{ id: source.transactions.length + 1, client: what, began, ended, ending: "committed" },
      operations: [...content.lists].map(([key, list]) => ({ kind: "read", key, list })),
    };
    source.transactions.push(read);
    for (const [b, bulk] of source.bulks) {
      const isThere = content.bulks.includes(b);
      if (isThere && bulk.ending === "aborted") problems.push(`${what}: bulk ${b} was refused and is there`);
      if (isThere && bulk.began > ended) problems.push(`${what}: bulk ${b} is of ${bulk.began}, after ${ended}`);
      if (!isThere && bulk.ending === "committed" && bulk.ended < began)
        problems.push(`${what}: bulk ${b} of ${bulk.ended} is missing`);
    }
  }

  private judgeFailure({ error }: Pick<View, "error">, what: string): void {
    if (error?.code === "backup_damaged") this.problems.push(`${what} failed: ${error.message}`);
  }

  private judge(outcome: Outcome, what: string, expected: readonly number[]): void {
    if (outcome === "lost" || outcome.status === 503 || outcome.status === 507 || expected.includes(outcome.status))
      return;
    const { files, loop } = this.source.node;
    if (outcome.status === 500 && loop.now - files.failedAt < FAILED_MS) return;
    this.problems.push(`${what} answered ${outcome.status}: ${JSON.stringify(outcome.body)}`);
  }
}

/** In one transaction. */
const EVERYTHING = [
  ...LISTS.map(({ model, k }) => readOf(model, k)),
  { sql: "SELECT x, place FROM journal", parameters: [] },
  { sql: "SELECT b, count(*)::integer FROM bulk GROUP BY b", parameters: [] },
];

// biome-ignore lint/suspicious/noExplicitAny: answers are read as they come
function contentOf(results: any[]): Content | string {
  const rows = results.map(({ data }) => data.rows as unknown[][]);
  const lists = new Map<string, readonly number[]>();
  const journal = rows.at(-2)! as [number, string][];
  for (const [i, { model, k }] of LISTS.entries()) {
    const name = listName(model, k);
    if (rows[i]!.length !== 1) return `${rows[i]!.length} rows of ${name}`;
    const list = valuesOf(rows[i]![0]![0]);
    lists.set(name, list);
    const noted = journal.filter(([, place]) => place === name).map(([x]) => x);
    if (`${noted.sort((a, b) => a - b)}` !== `${list.toSorted((a, b) => a - b)}`)
      return `${name} [${list}], and [${noted}] in the journal`;
  }
  const bulks = rows.at(-1)! as [number, number][];
  const half = bulks.find(([, count]) => count !== BULK_ROWS);
  if (half !== undefined) return `bulk ${half[0]} by half: ${half[1]} rows of ${BULK_ROWS}`;
  return { lists, bulks: bulks.map(([b]) => b).sort((a, b) => a - b) };
}

export function textOf({ lists, bulks }: Content): string {
  return JSON.stringify([[...lists], bulks]);
}
