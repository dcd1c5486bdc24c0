/**
 * One actor's part in moving tenants. It sends and receives tenants, keeps a tenant's requests waiting while it is
 * undecided where the tenant is, forwards them when it is elsewhere, and removes leftovers. Decisions come from the
 * directory's actor (tenant-moves.ts) as `settle`. The actor owns it and hands it its messages.
 *
 * A crash at any moment leaves records of places (tenant-places.ts); an actor that starts with an undecided tenant
 * asks.
 */

import type { HeldRequest } from "../../actor/actor-features.js";
import type { Partition } from "../../actor/partition.js";
import type { Place } from "../../actor/tenant-places.js";

import { decodeEntries } from "../../backup/entries-buffer.js";
import { DbError } from "../../protocol/errors.js";
import type { FromActor } from "../../protocol/messages.js";
import type { MoveReport, PlacementMessage, TenantMemory, UnsettledTenant } from "../../protocol/placement.js";
import { destroyKeys } from "../../storage/destroy-keys.js";
import { hasEntries } from "../../storage/tenant-entries.js";
import { FEED } from "../feed/feed.js";
import { replaceJobs } from "../jobs/job-records.js";
import { JOBS } from "../jobs/jobs.js";
import { removeTenant } from "./remove-tenant.js";
import { type ShredHost, shredTenant, tenantDeleted } from "./shred-tenant.js";
import { TenantExport } from "./tenant-export.js";
import { writeEntries } from "./write-entries.js";

/** How long requests wait for a decision before clients are asked to retry. */
const HELD_MS_MAX = 5_000;
/** After so long without a word, whoever waits for a decision asks for it: between nodes messages are lost. */
const ASK_MS = 5_000;

type MessageOf<K extends PlacementMessage["do"]> = Extract<PlacementMessage, { do: K }>;
type Deleted = Extract<Place, { kind: "deleted" }>;
type Unaddressed<T> = T extends unknown ? Omit<T, "tenant" | "move"> : never;

export interface PlacementHost extends ShredHost {
  readonly partitions: ReadonlyMap<number, Partition>;
  restoreAnswers(answers: TenantMemory["answers"]): void;
  /** The tenant's content is being replaced. */
  isRestoring(tenant: number): boolean;
  say(message: FromActor, transfer?: readonly ArrayBuffer[]): void;
  log(level: "error" | "warn" | "info", message: string, fields: object): void;
  /** Milliseconds; absent: those of the process. */
  readonly now?: () => number;
}

/** The target's side of a move. */
interface Import {
  readonly move: string;
  readonly from: number;
  memory: TenantMemory | null;
  /** The number of the next entries. */
  next: number;
  /** Of the entries that came so far: they are written one message after the other. */
  written: Promise<void>;
}

/** What is under way for one tenant in one partition. */
interface Passage {
  sending: TenantExport | null;
  receiving: Import | null;
  removal: Promise<void> | null;
  heldSince: number;
  readonly held: HeldRequest[];
}

export class Placement {
  /** By partition and tenant. */
  private readonly passages = new Map<string, Passage>();
  private closing = false;
  /** When something was last heard of an undecided tenant, or asked for it, likewise. */
  private readonly heardMs = new Map<string, number>();

  constructor(private readonly host: PlacementHost) {}

  private get now(): number {
    return this.host.now?.() ?? performance.now();
  }

  begin(): void {
    for (const partition of this.host.partitions.values()) this.beginOne(partition);
  }

  /** After the partition was opened: asks what became of undecided tenants, and goes on removing those that left. */
  beginOne(partition: Partition): void {
    this.reportUnsettled(partition);
    for (const [tenant, place] of partition.places.entries()) {
      if (place.kind === "gone" && !place.clean) this.remove(partition, tenant, null);
      if (place.kind === "deleted" && !place.clean) this.shred(partition, tenant, place);
    }
  }

  hear(partitionNumber: number, message: PlacementMessage): void {
    const partition = this.host.partitions.get(partitionNumber);
    // Damaged: the gateway tells who asked.
    if (partition === undefined) return;
    if (this.closing) return;
    this.heardMs.set(`${partitionNumber}/${message.tenant}`, this.now);
    switch (message.do) {
      case "receive":
        void this.receive(partition, message);
        break;
      case "send":
        this.send(partition, message);
        break;
      case "entries":
        this.takeEntries(partition, message);
        break;
      case "taken":
        this.sendingOf(partition, message)?.taken(message.bytes);
        break;
      case "settle":
        this.settle(partition, message);
        break;
      case "delete":
        this.delete(partition, message);
        break;
    }
  }

  /** The partition is another node's, or is about to be: no move begins there. */
  refuse(message: PlacementMessage): void {
    if (message.do !== "send" && message.do !== "receive") return;
    const { tenant, move } = message;
    this.report(tenant, move, { did: "failed", message: "the partition gets another owner; move the tenant again" });
  }

  /** Tells the directory's actor, which answers with `settle` for each. */
  reportAll(): void {
    for (const partition of this.host.partitions.values()) this.reportUnsettled(partition);
  }

  /** A request of a tenant that has a place (`Partition.places`): it waits, or goes where the tenant is. */
  hold(partition: Partition, tenant: number, request: HeldRequest): void {
    const place = partition.places.get(tenant)!;
    if (place.kind === "gone") {
      request.redirect(place.to);
      return;
    }
    if (place.kind === "deleted") {
      request.refuse(tenantDeleted());
      return;
    }
    const passage = this.passageOf(partition, tenant);
    if (passage.held.length === 0) passage.heldSince = performance.now();
    passage.held.push(request);
  }

  /** Requests that wait. */
  heldIn(partition: Partition): number {
    let count = 0;
    for (const [name, { held }] of this.passages) if (name.startsWith(`${partition.number}/`)) count += held.length;
    return count;
  }

  /** Refuses requests that have waited for too long. */
  sweep(): void {
    const now = performance.now();
    for (const { held, heldSince } of this.passages.values()) {
      if (held.length === 0 || now - heldSince < HELD_MS_MAX) continue;
      this.refuseHeld(held, new DbError("partition_unavailable", "The tenant is being moved; retry shortly."));
    }
    if (!this.closing) for (const partition of this.host.partitions.values()) this.askAgain(partition);
  }

  private askAgain(partition: Partition): void {
    const { now } = this;
    const silent = this.undecidedIn(partition).filter(({ tenant }) => {
      const name = `${partition.number}/${tenant}`;
      const heard = this.heardMs.get(name) ?? now;
      if (now - heard < ASK_MS) {
        this.heardMs.set(name, heard);
        return false;
      }
      this.heardMs.set(name, now);
      return true;
    });
    if (silent.length > 0) this.host.say({ kind: "unsettled", partition: partition.number, tenants: silent });
  }

  /**
   * The partition's commits from some point on were undone. Whatever moves there has lost its footing: what came of it
   * so far may be gone, so nothing more is taken, even if the report of it is lost.
   */
  undone(partition: Partition): void {
    partition.places.reload();
    for (const [name, passage] of this.passages) {
      if (!name.startsWith(`${partition.number}/`)) continue;
      const tenant = Number(name.slice(name.indexOf("/") + 1));
      const move = passage.sending?.move ?? passage.receiving?.move;
      passage.sending?.stop();
      if (passage.receiving !== null && move !== undefined) {
        if (passage.receiving.memory === null) passage.receiving = null;
        this.report(tenant, move, { did: "failed", message: "the disk refused a commit" });
      }
    }
  }

  /** Tenants come, go or are removed there. */
  isAt(partition: Partition): boolean {
    return [...this.passages].some(
      ([name, { sending, receiving, removal, held }]) =>
        name.startsWith(`${partition.number}/`) &&
        (sending !== null || receiving !== null || removal !== null || held.length > 0),
    );
  }

  /** The partition gets another owner. */
  leave(partition: Partition): void {
    for (const name of [...this.passages.keys()])
      if (name.startsWith(`${partition.number}/`)) this.passages.delete(name);
  }

  /** The actor ends. */
  close(): void {
    this.closing = true;
    for (const { sending, held } of this.passages.values()) {
      sending?.stop();
      this.refuseHeld(held, new DbError("shutting_down"));
    }
  }

  private async receive(partition: Partition, { tenant, move, from }: MessageOf<"receive">): Promise<void> {
    const passage = this.passageOf(partition, tenant);
    passage.receiving = { move, from, memory: null, next: 0, written: Promise.resolve() };
    try {
      await passage.removal;
      if (passage.receiving?.move !== move) return;
      if (partition.places.get(tenant)?.kind === "deleted") throw new Error("the tenant was deleted");
      // What is left of a tenant has a record of where it went. Without one it is at home, and the order is an old one.
      if (partition.places.get(tenant) === undefined && hasEntries(partition.shard, tenant)) {
        throw new Error("the tenant is in its partition");
      }
      partition.places.set(tenant, { kind: "incoming", move });
      const isStopped = () => this.closing || passage.receiving?.move !== move;
      if (!(await removeTenant(partition, tenant, this.host.scheduler, isStopped))) return;
      partition.forget(tenant);
      await partition.durable();
      this.report(tenant, move, { did: "receiving" });
    } catch (error) {
      if (passage.receiving?.move === move) passage.receiving = null;
      this.failed(tenant, move, error);
      this.forgetPassage(partition, tenant);
    }
  }

  private send(partition: Partition, { tenant, move, to, transactionsMs }: MessageOf<"send">): void {
    const passage = this.passageOf(partition, tenant);
    if (partition.places.get(tenant) !== undefined || passage.sending !== null) {
      this.report(tenant, move, { did: "failed", message: "the tenant is not settled in its partition" });
      return;
    }
    if ((partition.shard.layers?.oldestOf(tenant) ?? null) !== null) {
      const message = "the tenant has a past or branches, which do not move; delete them first";
      this.report(tenant, move, { did: "failed", message });
      return;
    }
    let number = 0;
    const sending = new TenantExport(move, partition, tenant, this.host, {
      transactionsMs,
      send: (data, last) => {
        const message: PlacementMessage = { do: "entries", tenant, move, number: number++, data, last };
        this.host.say({ kind: "placement", partition: to, message }, [data]);
      },
      progress: (state, entries, bytes) => this.report(tenant, move, { did: "progress", state, entries, bytes }),
    });
    passage.sending = sending;
    partition.exports.set(tenant, sending);
    sending.run().catch((error: unknown) => this.failed(tenant, move, error));
  }

  private takeEntries(partition: Partition, message: MessageOf<"entries">): void {
    const { tenant, move } = message;
    const receiving = this.receivingOf(partition, tenant, move);
    if (receiving === null) return;
    if (message.number !== receiving.next++) {
      // A link between two nodes was broken meanwhile. What comes after it counts for nothing.
      receiving.next = Number.NaN;
      this.failed(tenant, move, new Error("entries were lost on their way"));
      return;
    }
    receiving.written = receiving.written
      .then(() => this.write(partition, message, receiving))
      .catch((error: unknown) => {
        if (this.receivingOf(partition, tenant, move) === receiving) this.failed(tenant, move, error);
      });
  }

  private async write(
    partition: Partition,
    { tenant, move, data, last }: MessageOf<"entries">,
    receiving: Import,
  ): Promise<void> {
    const isCurrent = () => !this.closing && this.receivingOf(partition, tenant, move) === receiving;
    if (!isCurrent()) return;
    const work = { usedMs: 0 };
    const pause = async (): Promise<void> => {
      await this.host.scheduler.yieldTurn(tenant, work);
      if (!isCurrent()) throw new DbError("shutting_down");
    };
    await writeEntries(partition, tenant, decodeEntries(data), pause);
    if (last === null) {
      const taken: PlacementMessage = { do: "taken", tenant, move, bytes: data.byteLength };
      this.host.say({ kind: "placement", partition: receiving.from, message: taken });
      return;
    }
    const tx = partition.shard.begin({ isolation: "read committed" });
    replaceJobs(tx, tenant, last.jobs);
    tx.commit();
    partition.wroteSomething(tenant);
    receiving.memory = last;
    await partition.durable();
    this.report(tenant, move, { did: "received" });
  }

  private settle(partition: Partition, { tenant, at, move }: MessageOf<"settle">): void {
    const own = this.moveOf(partition, tenant);
    // It was decided of another move, and comes late.
    if (move !== null && own !== null && own !== move) return;
    const place = partition.places.get(tenant);
    if (place?.kind === "deleted") return;
    // So does this one: the tenant has left by another move since, and comes back by none but one that begins here.
    if (move !== null && at === partition.number && place?.kind === "gone") return;
    this.heardMs.delete(`${partition.number}/${tenant}`);
    const passage = this.passageOf(partition, tenant);
    const { sending, receiving } = passage;
    sending?.stop();
    partition.exports.delete(tenant);
    passage.sending = null;
    passage.receiving = null;
    if (at === partition.number) {
      if (place?.kind === "incoming") partition.forget(tenant);
      if (sending !== null) this.host.restoreAnswers(sending.answers);
      if (receiving !== null && receiving.memory !== null) this.restore(partition, tenant, receiving.memory);
      partition.places.clear(tenant);
      partition.part(JOBS).queue.resume(tenant);
    } else if (place !== undefined && place.kind !== "gone") {
      partition.part(FEED).subscriptions.tenantLeft(tenant);
      partition.part(FEED).changes.left(tenant);
      partition.part(JOBS).progress.tenantLeft(tenant);
      partition.part(JOBS).queue.left(tenant);
      partition.forget(tenant);
      partition.places.set(tenant, { kind: "gone", to: at, clean: false });
      this.remove(partition, tenant, sending);
    }
    for (const request of passage.held.splice(0)) {
      if (at === partition.number) request.resume();
      else request.redirect(at);
    }
    this.forgetPassage(partition, tenant);
  }

  /** Nothing of the tenant is to be found here any more, whatever it took part in. */
  private delete(partition: Partition, { tenant, move, tenantId }: MessageOf<"delete">): void {
    // One of an earlier start of the directory goes on.
    if (this.host.isRestoring(tenant)) return;
    const place = partition.places.get(tenant);
    if (place?.kind === "deleted" && place.clean) this.report(tenant, move, deletedFrom(partition));
    if (place?.kind === "deleted" && (place.clean || this.passageOf(partition, tenant).removal !== null)) return;
    const passage = this.passageOf(partition, tenant);
    passage.sending?.stop();
    partition.exports.delete(tenant);
    passage.sending = null;
    passage.receiving = null;
    const deleted = { kind: "deleted", move, tenantId, clean: false } as const;
    partition.places.set(tenant, deleted);
    this.refuseHeld(passage.held, tenantDeleted());
    this.shred(partition, tenant, deleted);
  }

  /** In the background, as `remove`. What went wrong is done again when the directory's actor says it again. */
  private shred(partition: Partition, tenant: number, deleted: Deleted): void {
    const passage = this.passageOf(partition, tenant);
    const before = passage.removal;
    const isStopped = this.removalStops(partition, tenant, "deleted");
    const work = async () => {
      await before;
      if (!(await shredTenant(partition, { tenant, ...deleted }, this.host, isStopped)) || isStopped()) return;
      partition.places.set(tenant, { ...deleted, clean: true });
      await partition.durable();
      this.report(tenant, deleted.move, deletedFrom(partition));
    };
    this.removing(partition, tenant, work(), "a deleted tenant's data could not be removed yet");
  }

  private restore(partition: Partition, number: number, memory: TenantMemory): void {
    const tenant = partition.tenant(number);
    tenant.prepared.restore(memory.prepared);
    partition.transactionsOf(tenant).restoreEnded(memory.endedTransactions);
    this.host.restoreAnswers(memory.answers);
    partition.part(FEED).changes.arrived(number, memory.watched);
  }

  /** In the background; another start of the actor goes on where this one ends. */
  private remove(partition: Partition, tenant: number, sent: TenantExport | null): void {
    const heldMs = Math.round(performance.now() - (sent?.heldSince ?? performance.now()));
    const isStopped = this.removalStops(partition, tenant, "gone");
    const work = async () => {
      if (!(await removeTenant(partition, tenant, this.host.scheduler, isStopped)) || isStopped()) return;
      await destroyKeys(partition.shard, tenant);
      const place = partition.places.get(tenant);
      if (isStopped() || place?.kind !== "gone") return;
      partition.places.set(tenant, { ...place, clean: true });
      if (sent !== null) this.report(tenant, sent.move, { did: "removed", heldMs });
    };
    this.removing(partition, tenant, work(), "a tenant that left cannot be removed");
  }

  /** Also where commits were undone: what was removed may be there again. */
  private removalStops({ places }: Partition, tenant: number, kind: Place["kind"]): () => boolean {
    const { reloads } = places;
    return () => this.closing || places.reloads !== reloads || places.get(tenant)?.kind !== kind;
  }

  private removing(partition: Partition, tenant: number, work: Promise<void>, failure: string): void {
    const passage = this.passageOf(partition, tenant);
    const removal = work
      .catch((error: unknown) => {
        if (!this.closing) this.host.log("error", failure, { tenant, error: String(error) });
      })
      .finally(() => {
        if (passage.removal === removal) passage.removal = null;
        this.forgetPassage(partition, tenant);
      });
    passage.removal = removal;
  }

  private reportUnsettled(partition: Partition): void {
    const tenants = this.undecidedIn(partition);
    if (tenants.length > 0) this.host.say({ kind: "unsettled", partition: partition.number, tenants });
  }

  private undecidedIn(partition: Partition): UnsettledTenant[] {
    const tenants = new Set(partition.exports.keys());
    for (const [tenant, { kind }] of partition.places.entries()) {
      if (kind !== "restoring" && !partition.places.hasLeft(tenant)) tenants.add(tenant);
    }
    return [...tenants].map((tenant) => {
      const passage = this.passages.get(`${partition.number}/${tenant}`);
      const goesOn = passage !== undefined && (passage.sending !== null || passage.receiving !== null);
      return { tenant, move: this.moveOf(partition, tenant), goesOn };
    });
  }

  /** That the tenant takes part in here; null: in none, or it is not known. */
  private moveOf(partition: Partition, tenant: number): string | null {
    const passage = this.passages.get(`${partition.number}/${tenant}`);
    const place = partition.places.get(tenant);
    const stored = place?.kind === "leaving" || place?.kind === "incoming" ? place.move : undefined;
    return passage?.sending?.move ?? passage?.receiving?.move ?? stored ?? null;
  }

  private failed(tenant: number, move: string, error: unknown): void {
    if (this.closing) return;
    const message = error instanceof Error ? error.message : String(error);
    this.host.log("warn", "a tenant could not be moved", { tenant, error: message });
    this.report(tenant, move, { did: "failed", message });
  }

  private report(tenant: number, move: string, what: Unaddressed<MoveReport>): void {
    this.host.say({ kind: "move-report", report: { tenant, move, ...what } });
  }

  private refuseHeld(held: HeldRequest[], error: DbError): void {
    for (const request of held.splice(0)) request.refuse(error);
  }

  private sendingOf(partition: Partition, { tenant, move }: { tenant: number; move: string }): TenantExport | null {
    const sending = this.passages.get(`${partition.number}/${tenant}`)?.sending;
    return sending?.move === move ? sending : null;
  }

  private receivingOf(partition: Partition, tenant: number, move: string): Import | null {
    const receiving = this.passages.get(`${partition.number}/${tenant}`)?.receiving;
    return receiving?.move === move ? receiving : null;
  }

  private passageOf(partition: Partition, tenant: number): Passage {
    const name = `${partition.number}/${tenant}`;
    let passage = this.passages.get(name);
    if (passage === undefined) {
      passage = { sending: null, receiving: null, removal: null, heldSince: 0, held: [] };
      this.passages.set(name, passage);
    }
    return passage;
  }

  private forgetPassage(partition: Partition, tenant: number): void {
    const name = `${partition.number}/${tenant}`;
    const passage = this.passages.get(name);
    if (passage === undefined || passage.held.length > 0) return;
    if (passage.sending === null && passage.receiving === null && passage.removal === null) this.passages.delete(name);
  }
}

function deletedFrom({ number }: Partition): Unaddressed<MoveReport> {
  return { did: "deleted", partition: number };
}
