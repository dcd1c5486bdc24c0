/**
 * Deadlines of requests that all have the same timeout. What is added later expires later, so a linked list in order
 * of arrival is enough: adding and removing cost a few assignments, and one coarse timer for all looks at the head
 * only. Called by requests and by the server's ticking; owned by the gateway.
 */

import type { Identity } from "../protocol/identity.js";

export interface Deadlined {
  previous: Deadlined | null;
  next: Deadlined | null;
  /** On the steady clock. */
  expiresAt: number;
  queue: DeadlineQueue | null;
  /** The deadline has passed; the entry is out of its queue already. */
  expired(): void;
  /** For whom it runs; null: for nobody who signed in, or so short that nobody ends it. */
  readonly running: Identity | null;
  /** It is not to run any longer. */
  end(why: EndedFor): void;
}

/** `disowned`: its identity has been disabled or removed. `shutdown`: the server waits no longer. */
export type EndedFor = "disowned" | "shutdown";

export class DeadlineQueue {
  private first: Deadlined | null = null;
  private last: Deadlined | null = null;

  constructor(readonly timeoutMs: number) {}

  add(entry: Deadlined, now: number): void {
    entry.queue = this;
    entry.expiresAt = now + this.timeoutMs;
    entry.previous = this.last;
    entry.next = null;
    if (this.last === null) this.first = entry;
    else this.last.next = entry;
    this.last = entry;
  }

  remove(entry: Deadlined): void {
    if (entry.queue !== this) return;
    if (entry.previous === null) this.first = entry.next;
    else entry.previous.next = entry.next;
    if (entry.next === null) this.last = entry.previous;
    else entry.next.previous = entry.previous;
    entry.queue = null;
    entry.previous = null;
    entry.next = null;
  }

  /** All running requests, oldest first, from a copy, so that a request may end during the call. */
  entries(): Deadlined[] {
    const all: Deadlined[] = [];
    for (let entry = this.first; entry !== null; entry = entry.next) all.push(entry);
    return all;
  }

  /** Takes out and tells every entry whose time has come. */
  expire(now: number): void {
    for (let entry = this.first; entry !== null && entry.expiresAt <= now; entry = this.first) {
      this.remove(entry);
      entry.expired();
    }
  }
}
