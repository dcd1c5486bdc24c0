/**
 * LISTEN and NOTIFY among the sessions of one tenant: what was notified is kept with the transaction, and told to
 * listeners when the transaction has committed. Owned by wire-sessions.ts.
 */
import { BACK } from "../../protocol/postgres/message-types.js";
import { MessageWriter } from "../../protocol/postgres/message-writer.js";

/** A session that may listen. */
export interface Listener {
  readonly channels: ReadonlySet<string>;
  /** Tells its client, whatever that does at the moment. */
  told(notification: Told): void;
}

/** Adds to what a transaction has notified. Gives what takes it back. */
export function noteNotification(notified: Notification[], notification: Notification): () => void {
  notified.push(notification);
  return () => {
    const at = notified.indexOf(notification);
    if (at >= 0) notified.splice(at, 1);
  };
}

/** A notification that is on its way. */
export interface Told {
  /** The number of the session that has sent it; null: a request of HTTP. */
  readonly sender: number | null;
  readonly payload: string;
  /** The protocol's message. */
  readonly message: Uint8Array;
}

export interface Notification {
  readonly channel: string;
  readonly payload: string;
}

export class Notifications {
  private readonly listeners = new Set<Listener>();

  add(listener: Listener): void {
    this.listeners.add(listener);
  }

  remove(listener: Listener): void {
    this.listeners.delete(listener);
  }

  /** Tells everybody who listens but `except`. `sender`: the number of the session; null: a request of HTTP. */
  tell(sender: number | null, all: readonly Notification[], except: Listener | null = null): void {
    for (const { channel, payload } of once(all)) {
      const told: Told = { sender, payload, message: messageOf(sender ?? 0, channel, payload) };
      for (const listener of this.listeners) {
        if (listener !== except && listener.channels.has(channel)) listener.told(told);
      }
    }
  }
}

/** What the session tells its own client of what it has notified itself. */
export function messagesToOneself(self: Listener, number: number, all: readonly Notification[]): readonly Uint8Array[] {
  const heard = once(all).filter(({ channel }) => self.channels.has(channel));
  return heard.map(({ channel, payload }) => messageOf(number, channel, payload));
}

/** Equal ones of a transaction are told once. */
function once(all: readonly Notification[]): readonly Notification[] {
  return [...new Map(all.map((each) => [`${each.channel}\0${each.payload}`, each])).values()];
}

function messageOf(sender: number, channel: string, payload: string): Uint8Array {
  const writer = new MessageWriter();
  writer.begin(BACK.notificationResponse);
  writer.uint32(sender);
  writer.cstring(channel);
  writer.cstring(payload);
  writer.end();
  return writer.take();
}
