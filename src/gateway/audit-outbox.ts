/**
 * Entries of the audit trail on their way to the directory: those of the gateway's refusals, and of requests that other
 * actors have answered. They stay here until the directory says that it has them on disk, and are sent again where it
 * does not: it may be starting anew, or have no owner in a cluster for some seconds. It keeps each once
 * (directory/audit-trail.ts). The pool owns it.
 */
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { AuditEvent, AuditKept } from "../protocol/audit.js";
import type { ActorLink } from "./actor-link.js";
import type { Cancel, Clock } from "./clock.js";

export interface AuditOutboxOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly directory: () => Pick<ActorLink, "alive" | "post">;
}

/** Beyond that the oldest go to the server's log. */
const EVENTS_MAX = 10_000;
/** That are sent and not known to be kept. */
const WINDOW = 500;
/** Without an answer they are sent again. */
const AGAIN_MS = 2000;

export class AuditOutbox {
  private readonly name = randomUUID();
  private readonly events: AuditEvent[] = [];
  /** The number of the first of them. */
  private first = 1;
  /** The number of the next that is to be sent. */
  private next = 1;
  private cancelTimer: Cancel | null = null;
  private whenEmpty: (() => void) | null = null;
  private isClosed = false;

  constructor(private readonly options: AuditOutboxOptions) {}

  add(events: readonly AuditEvent[]): void {
    for (const event of events) {
      this.events.push(event);
      if (this.events.length <= EVENTS_MAX) continue;
      this.lose(this.events.shift()!);
      this.first++;
      this.next = Math.max(this.next, this.first);
    }
    if (this.isClosed) this.close();
    else this.send();
  }

  /** False: they are another process's. */
  kept({ outbox, upTo }: AuditKept): boolean {
    if (outbox !== this.name) return false;
    const count = Math.min(this.events.length, upTo + 1 - this.first);
    if (count > 0) {
      this.events.splice(0, count);
      this.first += count;
      this.next = Math.max(this.next, this.first);
    }
    if (this.events.length === 0) this.isEmpty();
    else this.send();
    return true;
  }

  /** The directory has begun anew: what it did not say to have may be lost. */
  sendAgain(): void {
    this.next = this.first;
    this.send();
  }

  private send(): void {
    const { name: outbox, first: base } = this;
    const end = Math.min(base + this.events.length, base + WINDOW);
    const directory = this.options.directory();
    if (this.next < end && directory.alive) {
      const events = this.events.slice(this.next - base, end - base);
      directory.post({ kind: "audit", batch: { outbox, first: this.next, base, events } });
      this.next = end;
    }
    if (this.events.length > 0) this.cancelTimer ??= this.options.clock.after(AGAIN_MS, () => this.late(base));
  }

  private late(base: number): void {
    this.cancelTimer = null;
    // If some were kept meanwhile, the others may be, too, in a moment.
    if (this.first === base) this.sendAgain();
    else this.send();
  }

  private isEmpty(): void {
    this.cancelTimer?.();
    this.cancelTimer = null;
    this.whenEmpty?.();
  }

  /** Resolves when the directory has all of them, or after that time, or at once where it is not there. */
  drained(msMax: number): Promise<void> {
    if (this.events.length === 0 || !this.options.directory().alive) return Promise.resolve();
    this.sendAgain();
    return new Promise((resolve) => {
      const cancel = this.options.clock.after(msMax, () => resolve());
      this.whenEmpty = () => {
        cancel();
        resolve();
      };
    });
  }

  /** The process ends: what is left goes to the server's log. */
  close(): void {
    this.isClosed = true;
    this.cancelTimer?.();
    this.cancelTimer = null;
    for (const event of this.events.splice(0)) this.lose(event);
  }

  private lose(event: AuditEvent): void {
    this.options.logger.error({ ...event }, "the audit trail does not get this entry, as the directory is not there");
  }
}
