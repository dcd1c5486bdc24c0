/**
 * The channels of one actor's subscriptions: one message of the actor goes to all members of a channel. Messages of
 * one loop turn are handed out together, so that each client's socket is written to once. Owned by the actor's link.
 */
import { LIVE, type ReplyFrame } from "../protocol/frames.js";

/** A subscription of a client. */
export interface LiveSubscriber {
  /** It has no deadline any more. */
  began(): void;
  /** Messages without the client's id (protocol/live-message.ts), and what was seen with the last of them. */
  published(messages: readonly Uint8Array[], sequence: number): void;
}

interface Channel {
  readonly members: Set<LiveSubscriber>;
  messages: Uint8Array[];
  sequence: number;
}

export class LiveChannels {
  private readonly channels = new Map<number, Channel>();
  private readonly channelOf = new Map<LiveSubscriber, number>();
  private waiting: Channel[] = [];
  private armed = false;

  /** `subscriber`: who has the frame's id, if it is a request's. */
  heard({ id, status, headers, body }: ReplyFrame, subscriber: LiveSubscriber | undefined): void {
    if (status === LIVE.published) this.publish(id, Number(headers), body);
    else if (status === LIVE.began) subscriber?.began();
    else if (subscriber !== undefined) this.join(Number(headers), subscriber);
  }

  leave(subscriber: LiveSubscriber): void {
    const id = this.channelOf.get(subscriber);
    if (id === undefined) return;
    this.channelOf.delete(subscriber);
    const channel = this.channels.get(id)!;
    channel.members.delete(subscriber);
    if (channel.members.size === 0) this.channels.delete(id);
  }

  clear(): void {
    this.channels.clear();
    this.channelOf.clear();
    this.waiting = [];
  }

  private join(id: number, subscriber: LiveSubscriber): void {
    let channel = this.channels.get(id);
    if (channel === undefined) {
      channel = { members: new Set(), messages: [], sequence: 0 };
      this.channels.set(id, channel);
    }
    // What came before is not for it.
    if (channel.messages.length > 0) this.handOut(channel);
    channel.members.add(subscriber);
    this.channelOf.set(subscriber, id);
  }

  private publish(id: number, sequence: number, message: Uint8Array): void {
    const channel = this.channels.get(id);
    if (channel === undefined) return;
    if (channel.messages.length === 0) this.waiting.push(channel);
    channel.messages.push(new Uint8Array(message));
    channel.sequence = sequence;
    if (this.armed) return;
    this.armed = true;
    setImmediate(this.handOutAll);
  }

  private readonly handOutAll = (): void => {
    this.armed = false;
    for (const channel of this.waiting.splice(0)) this.handOut(channel);
  };

  private handOut(channel: Channel): void {
    const { messages, sequence, members } = channel;
    channel.messages = [];
    if (messages.length > 0) for (const member of [...members]) member.published(messages, sequence);
  }
}
