/**
 * The way from subscriptions to the gateway: what they say goes among the replies of the turn, and when the client has
 * left, its subscription hears of it. Made by actor.ts, which owns the replies.
 */

import type { Scheduler, Work } from "../../actor/scheduler.js";
import { LIVE, REPLY_LIVE, type ReplyWriter } from "../../protocol/frames.js";
import type { Client } from "../../session/statement-run.js";
import type { LiveOutput, Subscriber } from "./contract.js";

const NOTHING = new Uint8Array(0);

export interface LiveRepliesHost {
  readonly replies: ReplyWriter;
  readonly scheduler: Scheduler;
  /** There are replies for the end of the turn. */
  armTurn(): void;
  log(level: "error", message: string, fields: object): void;
}

export class LiveReplies implements LiveOutput {
  /** Subscriptions that have outlived their requests, by id. */
  private readonly subscribers = new Map<number, Subscriber>();
  private nextChannel = 1;

  constructor(private readonly host: LiveRepliesHost) {}

  newChannel(): number {
    return this.nextChannel++;
  }

  began(id: number): void {
    this.say(id, LIVE.began, "", NOTHING);
  }

  joined(id: number, channel: number): void {
    this.say(id, LIVE.joined, String(channel), NOTHING);
  }

  publish(channel: number, sequence: number, message: Uint8Array): void {
    this.say(channel, LIVE.published, String(sequence), message);
  }

  ended(id: number, status: number, message: Uint8Array): void {
    this.host.replies.bytes(id, status, 0, "", message);
    this.host.armTurn();
  }

  listen(id: number, subscriber: Subscriber | null): void {
    if (subscriber === null) this.subscribers.delete(id);
    else this.subscribers.set(id, subscriber);
  }

  /** The client of that request has left; false when the request is no subscription. */
  left(id: number): boolean {
    const subscriber = this.subscribers.get(id);
    if (subscriber === undefined) return false;
    subscriber.left();
    this.subscribers.delete(id);
    return true;
  }

  failed(error: unknown): void {
    this.host.log("error", "a subscription failed", { error: String(error) });
  }

  turnsOf(tenant: number): Client {
    const { scheduler } = this.host;
    const work: Work = { usedMs: 0 };
    return {
      checkpoint: () => undefined,
      shouldYield: () => scheduler.shouldYield(),
      yieldTurn: () => scheduler.yieldTurn(tenant, work),
    };
  }

  private say(id: number, what: number, headers: string, body: Uint8Array): void {
    this.host.replies.bytes(id, what, REPLY_LIVE, headers, body);
    this.host.armTurn();
  }
}
