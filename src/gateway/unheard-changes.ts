/**
 * Changes of identities that an actor has made and not all nodes of the cluster have heard of. Nobody is told of a
 * change before: answers to those who may have made it wait, and so do orders to other partitions that follow from it.
 * All else leaves. An answer that says who somebody is does not wait past the next change: the question is asked again.
 * Owned by actor-link.ts.
 */
import type { ReplyFrame } from "../protocol/frames.js";
import { REPLAYED } from "../protocol/frames.js";
import type { FromActor } from "../protocol/messages.js";

/** They are in order among themselves: nothing of a partition is believed once it has left. */
const ORDERS: ReadonlySet<FromActor["kind"]> = new Set([
  ...(["placement", "restore", "backup", "backup-answer", "partition-leaving"] as const),
]);

export class UnheardChanges {
  /** By the id of a request or question: how many changes it may have made. */
  private readonly changes = new Map<number, number>();
  /** What is said to each of them then. */
  private readonly kept = new Map<number, (() => void)[]>();
  private unheard = 0;
  /** What is delivered now has waited. */
  private isTelling = false;
  /** All that ever were. */
  private made = 0;
  /** When all until now are heard. */
  private last: Promise<unknown> = Promise.resolve();
  /** Another one for each thread. */
  private life = {};

  constructor(
    private readonly deliver: (frame: ReplyFrame) => void,
    private readonly hear: (message: FromActor) => void,
    /** The id of a question who somebody is. */
    private readonly askAgain: (id: number) => void,
  ) {}

  /** A change that one of these requests and questions has made is told when that has resolved. */
  add(heard: Promise<void>, ids: readonly number[]): void {
    this.unheard++;
    this.made++;
    for (const id of ids) this.changes.set(id, (this.changes.get(id) ?? 0) + 1);
    const then = this.inThisLife(() => this.isHeard(ids));
    const done = heard.then(then);
    this.last = Promise.all([this.last, done]);
  }

  /** The thread is gone, and so is what it said. */
  clear(): void {
    this.life = {};
    this.changes.clear();
    this.kept.clear();
    this.unheard = 0;
    this.last = Promise.resolve();
  }

  /** `ofDirectory`: the request is. A kept answer tells of a change, too, which may be one of those. */
  keepsReply(frame: ReplyFrame, ofDirectory: boolean): boolean {
    if (this.unheard === 0 || this.isTelling) return false;
    const isReplayed = ofDirectory && frame.headers.includes(REPLAYED);
    if (!isReplayed && !this.changes.has(frame.id)) return false;
    const copy = { ...frame, body: Buffer.from(frame.body) };
    const say = (): void => {
      this.isTelling = true;
      try {
        this.deliver(copy);
      } finally {
        this.isTelling = false;
      }
    };
    if (isReplayed) void this.last.then(this.inThisLife(say));
    else this.keep(frame.id, say);
    return true;
  }

  keeps(message: FromActor): boolean {
    if (this.unheard === 0) return false;
    if (ORDERS.has(message.kind)) {
      void this.last.then(this.inThisLife(() => this.hear(message)));
      return true;
    }
    if (message.kind !== "identity" || !this.changes.has(message.id)) return false;
    const { made } = this;
    this.keep(message.id, () => {
      if (this.made === made) this.hear(message);
      else this.askAgain(message.id);
    });
    return true;
  }

  private keep(id: number, say: () => void): void {
    this.kept.set(id, [...(this.kept.get(id) ?? []), say]);
  }

  private isHeard(ids: readonly number[]): void {
    this.unheard--;
    for (const id of ids) {
      const left = this.changes.get(id)! - 1;
      if (left > 0) {
        this.changes.set(id, left);
        continue;
      }
      this.changes.delete(id);
      const kept = this.kept.get(id) ?? [];
      this.kept.delete(id);
      for (const say of kept) say();
    }
  }

  private inThisLife(work: () => void): () => void {
    const { life } = this;
    return () => {
      if (this.life === life) work();
    };
  }
}
