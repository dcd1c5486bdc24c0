/**
 * The audit trail: events under ascending numbers in the directory's records, only ever added; the oldest go when there
 * are more than configured. Called by the directory's actor, which owns it; nobody else writes there.
 */
import type { AuditBatch, AuditEvent } from "../protocol/audit.js";
import { AUDIT_EXAMINED_MAX } from "../protocol/limits.js";
import { directoryKey, directoryPrefix, prefixRange } from "../storage/keys.js";
import type { Transaction } from "../storage/store.js";
import { getUserByName } from "./directory-store.js";
import { decodeRecord, encodeRecord } from "./records.js";

const KIND = "audit";
/** How far each process's events are kept. */
const FROM_KIND = "audit-from";
/** After that long a process that has sent nothing is forgotten. */
const FROM_MS_MAX = 7 * 24 * 3_600_000;
/** That are looked at when a process sends for the first time. */
const FROM_EXAMINED_MAX = 200;
const DIGITS = 16;
/** Characters of a name that somebody typed. */
const NAME_CHARACTERS_MAX = 128;

export interface AuditEntry extends AuditEvent {
  readonly number: number;
}

/** Of a process that sends events. */
interface AuditFrom {
  /** The number of its newest event that is kept. */
  readonly upTo: number;
  readonly atMs: number;
}

export interface AuditFilter {
  /** Entries older than this one; absent: from the newest on. */
  readonly before?: number;
  readonly limit: number;
  readonly tenant?: string;
  readonly username?: string;
  readonly action?: string;
  readonly outcome?: string;
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Where the next page begins; null: there is nothing older. */
  readonly next: number | null;
}

export class AuditTrail {
  /** Of the next entry; 0: not read yet. */
  private next = 0;

  constructor(
    private readonly begin: (readOnly: boolean) => Transaction,
    private readonly entriesMax: number,
  ) {}

  /** Adds the events in one transaction, whose commit is on disk when the shard says so. */
  append(events: readonly AuditEvent[]): void {
    if (events.length === 0) return;
    this.write((tx) => this.add(tx, events));
  }

  /**
   * The same for events that may come again: each is kept once. Gives the number of the newest event of that process
   * which is kept; null: events before these are missing, and these must come again after those.
   */
  receive({ outbox, first, base, events }: AuditBatch, nowMs: number): number | null {
    const key = directoryKey(FROM_KIND, outbox);
    const found = this.read((tx) => tx.get(key));
    const known = found === undefined ? 0 : decodeRecord<AuditFrom>(found).upTo;
    if (first > Math.max(known + 1, base)) return null;
    const fresh = events.slice(Math.max(0, known + 1 - first));
    if (fresh.length === 0) return known;
    const upTo = first + events.length - 1;
    this.write((tx) => {
      if (found === undefined) forgetOld(tx, nowMs - FROM_MS_MAX);
      tx.put(key, encodeRecord({ upTo, atMs: nowMs } satisfies AuditFrom));
      return this.add(tx, fresh);
    });
    return upTo;
  }

  /** Gives the number of the next entry. */
  private add(tx: Transaction, events: readonly AuditEvent[]): number {
    let number = this.nextNumber(tx);
    for (const event of events) {
      tx.put(keyOf(number), encodeRecord(complete(tx, event)));
      if (number > this.entriesMax) tx.delete(keyOf(number - this.entriesMax));
      number++;
    }
    return number;
  }

  private write(work: (tx: Transaction) => number): void {
    const tx = this.begin(false);
    try {
      const next = work(tx);
      tx.commit();
      this.next = next;
    } catch (error) {
      tx.rollback();
      throw error;
    }
  }

  private read<T>(work: (tx: Transaction) => T): T {
    const tx = this.begin(true);
    try {
      return work(tx);
    } finally {
      tx.rollback();
    }
  }

  /**
   * Newest first. A page may be shorter than its limit and yet have a next one: it looks at a bounded number of
   * entries.
   */
  list(filter: AuditFilter): AuditPage {
    return this.read((tx) => {
      const from = Math.min(filter.before ?? Number.MAX_SAFE_INTEGER, this.nextNumber(tx)) - 1;
      const last = Math.max(1, from - AUDIT_EXAMINED_MAX + 1);
      const entries: AuditEntry[] = [];
      for (let number = from; number >= last; number--) {
        const bytes = tx.get(keyOf(number));
        if (bytes === undefined) return { entries, next: null };
        const entry = { ...decodeRecord<AuditEvent>(bytes), number };
        if (filter.sinceMs !== undefined && entry.atMs < filter.sinceMs) return { entries, next: null };
        if (!fits(entry, filter)) continue;
        entries.push(entry);
        if (entries.length === filter.limit) return { entries, next: number > 1 ? number : null };
      }
      return { entries, next: last > 1 ? last : null };
    });
  }

  private nextNumber(tx: Transaction): number {
    if (this.next > 0) return this.next;
    const cursor = tx.scan(prefixRange(directoryPrefix(KIND), true));
    const { keys } = cursor.next(1);
    const newest = keys.length === 0 ? 0 : Number(Buffer.from(keys[0]!).toString("latin1").slice(-DIGITS));
    cursor.close();
    this.next = newest + 1;
    return this.next;
  }
}

function keyOf(number: number): Uint8Array {
  return directoryKey(KIND, String(number).padStart(DIGITS, "0"));
}

function forgetOld(tx: Transaction, beforeMs: number): void {
  const cursor = tx.scan(prefixRange(directoryPrefix(FROM_KIND)));
  const { keys, values } = cursor.next(FROM_EXAMINED_MAX);
  cursor.close();
  keys.forEach((key, index) => {
    if (decodeRecord<AuditFrom>(values[index]!).atMs < beforeMs) tx.delete(key);
  });
}

/** The tenant of who signs in is not known before. */
function complete(tx: Transaction, event: AuditEvent): AuditEvent {
  const username = event.username?.slice(0, NAME_CHARACTERS_MAX) ?? null;
  const tenant = event.tenant ?? (username === null ? null : (getUserByName(tx, username)?.tenantId ?? null));
  return { ...event, username, tenant };
}

function fits(entry: AuditEntry, { tenant, username, action, outcome, untilMs }: AuditFilter): boolean {
  return (
    (tenant === undefined || entry.tenant === tenant) &&
    (username === undefined || entry.username === username) &&
    (action === undefined || entry.action === action || entry.action.startsWith(`${action}.`)) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (untilMs === undefined || entry.atMs <= untilMs)
  );
}
