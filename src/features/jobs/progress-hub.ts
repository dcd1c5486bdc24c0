/**
 * Reports the progress of background work to its followers. A topic is one piece of work, such as `automl/{job}`; a
 * follower that comes late gets the last message first. Nothing of it is stored: what must be known later is in the
 * work's own record. Owned by the partition; the actor gives it the way out.
 */

import { DbError } from "../../protocol/errors.js";
import type { ChangeForm } from "../feed/change-form.js";
import type { FollowingRequest, LiveOutput, Subscriber, Way } from "../feed/contract.js";

export interface ProgressMessage {
  /** Of the message on the socket. */
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Topic {
  last: ProgressMessage | null;
  /** It is over. */
  final: ProgressMessage | null;
  /** Requests on the way to following it. */
  joining: number;
  readonly listeners: Set<(message: ProgressMessage) => void>;
  /** One for each form in which followers want it. */
  readonly channels: Map<ChangeForm, { readonly id: number; readonly followers: Set<Follower> }>;
}

export class ProgressHub {
  output: LiveOutput | null = null;
  /** By tenant, then by name. */
  private readonly topics = new Map<number, Map<string, Topic>>();
  private readonly counts = new Map<number, number>();
  /** The partition gets another owner. */
  private isLeft = false;

  constructor(private readonly followersPerTenantMax: number) {}

  /** Calls `hear` with each message on the topic, until what it answers is called: for work inside the actor. */
  listen(tenant: number, name: string, hear: (message: ProgressMessage) => void): () => void {
    const topic = this.topicOf(tenant, name);
    topic.listeners.add(hear);
    return () => {
      topic.listeners.delete(hear);
      this.forgetUnused(tenant, name, topic);
    };
  }

  /** Sent to all followers of the topic, and to those that come before the next message. */
  publish(tenant: number, name: string, message: ProgressMessage): void {
    const topic = this.topicOf(tenant, name);
    topic.last = message;
    for (const hear of topic.listeners) hear(message);
    for (const [form, { id }] of topic.channels) this.output?.publish(id, 0, writtenIn(form, message));
  }

  /** The last message: those who follow get it as the end of their subscription. */
  end(tenant: number, name: string, message: ProgressMessage): void {
    const topic = this.topics.get(tenant)?.get(name);
    if (topic === undefined) return;
    topic.final = message;
    for (const { followers } of topic.channels.values()) {
      for (const follower of [...followers]) follower.end(200, follower.written(message));
    }
    this.forget(tenant, name);
  }

  /**
   * The request becomes a subscription to the topic. `read` returns the state from records, for the time before the
   * first message, and whether that is the end. `mayFollow` throws where the caller may not, or not any more. Resolves
   * when the request has ended and the subscription goes on alone, or has ended.
   */
  async follow(
    request: FollowingRequest,
    name: string,
    way: Way,
    read: () => Promise<{ readonly message: ProgressMessage; readonly isOver: boolean }>,
    mayFollow: () => void = () => undefined,
  ): Promise<void> {
    const { output } = this;
    const { number: tenant } = request.tenant;
    if (output === null) throw new Error("progress has no way out");
    if ((this.counts.get(tenant) ?? 0) >= this.followersPerTenantMax) {
      const why = `The tenant already follows ${this.followersPerTenantMax} jobs, which is the limit. Stop following one.`;
      throw new DbError("rate_limited", why);
    }
    const topic = this.topicOf(tenant, name);
    const follower = new Follower(request.id, way, output, mayFollow, () => this.leave(tenant, name, topic, follower));
    topic.joining++;
    try {
      // What ends from here on is seen in the topic.
      const { message, isOver } = await read();
      request.deadlineMs = Number.POSITIVE_INFINITY;
      const sink = await request.openReply(way.form.contentType, []);
      sink.errorText = way.errorText;
      output.began(request.id);
      if (isOver) {
        sink.end(follower.written(message));
        return;
      }
      let said: ProgressMessage | null = null;
      while (said === null || (topic.last !== null && topic.last !== said)) {
        said = topic.last ?? message;
        await sink.write(follower.written(said));
        request.checkpoint();
      }
      if (topic.final !== null) {
        sink.end(follower.written(topic.final));
        return;
      }
      if (this.isLeft) throw new DbError("subscription_interrupted", PARTITION_LEFT);
      mayFollow();
      const channel = this.join(tenant, topic, follower);
      output.joined(request.id, channel);
      output.listen(request.id, follower);
    } finally {
      topic.joining--;
      this.forgetUnused(tenant, name, topic);
    }
  }

  /** Followers who may not follow any more are told. */
  definitionsChanged(tenant: number): void {
    for (const { channels } of [...(this.topics.get(tenant)?.values() ?? [])]) {
      for (const { followers } of [...channels.values()]) for (const follower of [...followers]) follower.askAgain();
    }
  }

  /** Those of all tenants end, and nobody joins them any more. */
  partitionLeft(): void {
    this.isLeft = true;
    for (const tenant of [...this.topics.keys()]) this.tenantLeft(tenant, PARTITION_LEFT);
  }

  /** The tenant is elsewhere. */
  tenantLeft(tenant: number, why = "The tenant was moved to another partition: follow again."): void {
    const error = new DbError("subscription_interrupted", why);
    for (const [name, { channels }] of [...(this.topics.get(tenant) ?? [])]) {
      for (const { followers } of channels.values()) {
        for (const follower of [...followers]) follower.end(error.status, follower.way.errorMessage(error));
      }
      this.forget(tenant, name);
    }
  }

  private topicOf(tenant: number, name: string): Topic {
    let topics = this.topics.get(tenant);
    if (topics === undefined) {
      topics = new Map();
      this.topics.set(tenant, topics);
    }
    let topic = topics.get(name);
    if (topic === undefined) {
      topic = { last: null, final: null, joining: 0, listeners: new Set(), channels: new Map() };
      topics.set(name, topic);
    }
    return topic;
  }

  private join(tenant: number, { channels }: Topic, follower: Follower): number {
    const { form } = follower.way;
    let channel = channels.get(form);
    if (channel === undefined) {
      channel = { id: this.output!.newChannel(), followers: new Set() };
      channels.set(form, channel);
    }
    channel.followers.add(follower);
    this.counts.set(tenant, (this.counts.get(tenant) ?? 0) + 1);
    return channel.id;
  }

  private leave(tenant: number, name: string, topic: Topic, follower: Follower): void {
    const { form } = follower.way;
    const channel = topic.channels.get(form);
    if (channel === undefined || !channel.followers.delete(follower)) return;
    const left = this.counts.get(tenant)! - 1;
    if (left === 0) this.counts.delete(tenant);
    else this.counts.set(tenant, left);
    if (channel.followers.size === 0) topic.channels.delete(form);
    this.forgetUnused(tenant, name, topic);
  }

  private forgetUnused(tenant: number, name: string, topic: Topic): void {
    const isUsed = topic.last !== null || topic.joining > 0 || topic.listeners.size > 0 || topic.channels.size > 0;
    if (!isUsed && this.topics.get(tenant)?.get(name) === topic) this.forget(tenant, name);
  }

  private forget(tenant: number, name: string): void {
    const topics = this.topics.get(tenant);
    topics?.delete(name);
    if (topics?.size === 0) this.topics.delete(tenant);
  }
}

const PARTITION_LEFT = "The partition gets another owner: follow again.";

class Follower implements Subscriber {
  constructor(
    private readonly id: number,
    readonly way: Way,
    private readonly output: LiveOutput,
    private readonly mayFollow: () => void,
    readonly left: () => void,
  ) {}

  askAgain(): void {
    try {
      this.mayFollow();
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      this.end(error.status, this.way.errorMessage(error));
    }
  }

  written(message: ProgressMessage): Uint8Array {
    return this.way.form.whole(this.way.id, writtenIn(this.way.form, message));
  }

  end(status: number, message: Uint8Array): void {
    this.left();
    this.output.listen(this.id, null);
    this.output.ended(this.id, status, message);
  }
}

function writtenIn(form: ChangeForm, { type, ...fields }: ProgressMessage): Uint8Array {
  return form.shared(type, JSON.stringify(fields), 0);
}
