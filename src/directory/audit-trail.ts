/**
 * The audit trail: events under ascending numbers in the directory's records, only ever added; the oldest go when there
 * are more than configured. Called by the directory's actor, which owns it; nobody else writes there.
 */
import type { AuditEvent } from "../protocol/audit.js";
import { AUDIT_EXAMINED_MAX } from "../protocol/limits.js";
import { directoryKey, directoryPrefix, prefixRange } from "../storage/keys.js";
import type { Transaction } from "../storage/store.js";
import { getUserByName } from "./directory-store.js";
import { decodeRecord, encodeRecord } from "./records.js";

const KIND = "audit";
const DIGITS = 16;
/** Characters of a name that somebody typed. */
const NAME_CHARACTERS_MAX = 128;

export interface AuditEntry extends AuditEvent {
  readonly number: number;
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
    const tx = this.begin(false);
    try {
      let number = this.nextNumber(tx);
      for (const event of events) {
        tx.put(keyOf(number), encodeRecord(complete(tx, event)));
        if (number > this.entriesMax) tx.delete(keyOf(number - this.entriesMax));
        number++;
      }
      tx.commit();
      this.next = number;
    } catch (error) {
      tx.rollback();
      throw error;
    }
  }

  /** Newest first. A page may be shorter than its limit and yet have a next one: it looks at a bounded number of entries. */
  list(filter: AuditFilter): AuditPage {
    const tx = this.begin(true);
    try {
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
    } finally {
      tx.rollback();
    }
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
