/**
 * A connection whose socket the gateway has lent to the actor's thread: its client's messages become requests here, and
 * their answers are written here, so none of them crosses to another thread. One request at a time. The gateway keeps
 * its own descriptor of the same socket, without reading or writing, until this one is given back. Made and owned by
 * wire-sessions.ts; docs/decisions/postgres-sockets-on-the-actors-thread.md.
 */
import { writeSync } from "node:fs";
import { Socket } from "node:net";
// Node looks the global of this name up again at each use.
import { performance } from "node:perf_hooks";
import { errorJson } from "../../actor/reply.js";
import type { OwnRequests, Request } from "../../actor/request.js";
import { WIRE } from "../../protocol/endpoints.js";
import { DbError, ERRORS } from "../../protocol/errors.js";
import {
  REPLY_BROKEN,
  REPLY_DISCARD,
  REPLY_MORE,
  REPLY_MOVED,
  REPLY_TAKEN,
  REQUEST_READ_ONLY,
} from "../../protocol/frames.js";
import { cancelFrame, type FrameOrigin, OwnFrame, takenFrame } from "../../protocol/own-frame.js";
import { kindOfMessages, type PostgresKind } from "../../protocol/postgres/message-kinds.js";
import { MessageGroups } from "../../protocol/postgres/message-queue.js";
import { UNSENT_BYTES, UnaskedMessages } from "../../protocol/postgres/unasked-messages.js";
import type { RequestCounts } from "../../protocol/request-counts.js";
import type { LiveOutput } from "../feed/contract.js";

const READ_BYTES = 64 * 1024;
/** Between two tries while the tenant has too many requests. */
const RETRY_MS = 10;
/** Statements bound their time by themselves. */
const DEADLINE_MS = 20 * 86_400_000;
const NUMBER_BYTES = 4;
const MESSAGES_CODE = WIRE.find(({ name }) => name === "postgres.messages")!.code;
const NOTHING = Buffer.alloc(0);
const RATE_LIMITED = ERRORS.rate_limited;

/** The first byte of what is given back. */
const [IS_THERE, HAS_GONE] = [0, 1];

/** Of all lent sockets: what is read is copied before the next one is. */
const readInto = Buffer.allocUnsafeSlow(READ_BYTES);

export interface LentHost {
  readonly output: LiveOutput;
  readonly counts: RequestCounts<PostgresKind>;
  over(): void;
}

export class LentSocket {
  private readonly socket: Socket;
  private readonly groups = new MessageGroups(() => this.next(true));
  private readonly own: OwnRequests;
  private readonly id: number;
  private readonly origin: FrameOrigin;
  private count = 0;
  private isBusy = false;
  private isOver = false;
  private kind: PostgresKind = "extended";
  private askedMs = 0;
  private asked: Buffer = NOTHING;
  private retry: NodeJS.Timeout | undefined;
  private untaken = 0;
  /** The gateway wants it back; with an error: the connection ends with it. */
  private wanted: DbError | "back" | null = null;
  private readonly unasked = new UnaskedMessages(
    () => this.isBusy,
    (bytes) => this.write(bytes),
  );

  constructor(
    private readonly request: Request,
    /** The session's. */
    private readonly number: number,
    private readonly descriptor: number,
    private readonly host: LentHost,
  ) {
    this.id = request.id;
    this.own = request.own!;
    const { id, partition, account: tenant, head, readOnly } = request;
    const flags = readOnly ? REQUEST_READ_ONLY : 0;
    this.origin = { ...{ id, code: MESSAGES_CODE, flags, partition: partition.number }, tenant, head };
    this.socket = new Socket({
      fd: descriptor,
      readable: true,
      writable: true,
      onread: { buffer: readInto, callback: (length, bytes) => this.received(bytes, length) },
    } as ConstructorParameters<typeof Socket>[0]);
    this.socket.on("drain", () => this.drained());
    this.socket.on("error", () => this.gone());
    this.socket.on("end", () => this.gone());
    this.socket.on("close", () => this.gone());
  }

  /** `read`: what the gateway has read of it and nobody has answered. */
  begin(read: Buffer): void {
    this.own.takers.set(this.id, (status, flags, _headers, body) => this.replied(status, flags, body));
    this.groups.queue.push(Buffer.from(read));
    this.socket.resume();
    this.next(false);
  }

  // From the client

  private received(bytes: Uint8Array, length: number): boolean {
    const { queue } = this.groups;
    queue.push(Buffer.from(bytes.subarray(0, length)));
    this.next(false, true);
    // Not read on until room is made.
    return !queue.isFull;
  }

  /** `isRead`: the loop has called because the client has sent something. */
  private next(all: boolean, isRead = false): void {
    if (this.isBusy || this.isOver) return;
    if (this.wanted !== null) {
      this.giveBack(IS_THERE);
      return;
    }
    let group: ReturnType<MessageGroups["next"]>;
    try {
      group = this.groups.next(all);
    } catch (error) {
      this.fail(error as DbError);
      return;
    }
    if (!this.groups.queue.isFull) this.socket.resume();
    if (group === null) return;
    if (group.ends) this.giveBack(HAS_GONE);
    else this.ask(group.bytes, isRead);
  }

  private ask(messages: Buffer, isRead: boolean): void {
    this.isBusy = true;
    this.kind = kindOfMessages(messages);
    this.askedMs = performance.now();
    this.asked = messages;
    this.send(messages, isRead);
  }

  private send(messages: Buffer, isRead = false): void {
    const { request, origin, number } = this;
    const body = Buffer.allocUnsafe(NUMBER_BYTES + messages.length);
    body.writeUInt32LE(number);
    body.set(messages, NUMBER_BYTES);
    const requestId = `${request.requestId}.${++this.count}`;
    const frame = new OwnFrame(origin, requestId, Date.now() + DEADLINE_MS, body);
    if (isRead) this.own.acceptRead(frame);
    else this.own.accept(frame);
  }

  // From the actor

  private replied(status: number, flags: number, body: Uint8Array): void {
    if ((flags & REPLY_TAKEN) !== 0) return;
    if ((flags & REPLY_MORE) !== 0) {
      this.piece(body);
      return;
    }
    if (status === RATE_LIMITED.status && !this.isOver && isRateLimited(body)) {
      this.retry = setTimeout(() => this.send(this.asked), RETRY_MS).unref();
      return;
    }
    this.isBusy = false;
    this.asked = NOTHING;
    const isAnswer = status === 200 && (flags & (REPLY_BROKEN | REPLY_MOVED | REPLY_DISCARD)) === 0;
    this.host.counts.count(this.kind, isAnswer ? "answered" : "lost", performance.now() - this.askedMs);
    if (this.isOver) return;
    if (isAnswer) {
      if (body.length > 0) this.write(body);
      this.unasked.send();
      this.next(false);
    } else if ((flags & REPLY_MOVED) !== 0) {
      this.fail(new DbError("partition_unavailable", "The tenant was moved. Connect again."));
    } else if ((flags & REPLY_BROKEN) !== 0) this.fail(new DbError("internal_error"));
    else this.end(status, Buffer.from(body));
  }

  private piece(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.untaken += bytes.length;
    this.write(bytes);
    if (this.socket.writableLength < UNSENT_BYTES) this.drained();
  }

  /** The client can take more of the answer. */
  private drained(): void {
    if (this.untaken === 0) return;
    const taken = takenFrame(this.origin, this.untaken);
    this.untaken = 0;
    this.own.accept(taken);
  }

  private write(bytes: Uint8Array): void {
    const { socket } = this;
    if (this.isOver || socket.destroyed) return;
    const written = socket.writableLength === 0 ? this.writeNow(bytes) : 0;
    if (written < bytes.length) socket.write(Buffer.from(bytes.subarray(written)));
  }

  /** By the system call, without a copy and the stream's way to it. Answers how many bytes have left. */
  private writeNow(bytes: Uint8Array): number {
    try {
      return writeSync(this.descriptor, bytes);
    } catch {
      // It takes no more, or the client has gone: the stream waits, or tells.
      return 0;
    }
  }

  /** What others notify. */
  pushed(messages: Uint8Array): void {
    this.unasked.add([messages]);
  }

  // The end

  /** When what runs has ended. */
  recall(): void {
    this.wanted ??= "back";
    this.next(false);
  }

  /** The connection ends when what runs has ended, with the first error that says why. */
  endWith(error: DbError): void {
    if (!(this.wanted instanceof DbError)) this.wanted = error;
    this.next(false);
  }

  /** The gateway's connection is closed: nobody waits for anything. */
  left(): void {
    this.stop();
    this.socket.destroy();
  }

  private gone(): void {
    if (this.isOver) return;
    this.end(200, Buffer.from([HAS_GONE]));
    if (this.isBusy) this.own.accept(cancelFrame(this.origin));
  }

  private giveBack(state: number): void {
    if (this.wanted instanceof DbError) this.fail(this.wanted);
    else this.end(200, Buffer.concat([Buffer.from([state]), this.groups.queue.rest()]));
  }

  private fail(error: DbError): void {
    this.end(error.status, Buffer.from(errorJson(error, this.request.requestId)));
  }

  /** The gateway goes on with the connection: it gets `body` once all that was written has left. */
  private end(status: number, body: Buffer): void {
    this.stop();
    const { socket, id } = this;
    const { output } = this.host;
    output.listen(id, null);
    const tell = (): void => {
      socket.removeAllListeners().on("error", () => undefined);
      socket.destroy();
      output.ended(id, status, body);
    };
    socket.pause();
    if (socket.destroyed || socket.writableLength === 0) tell();
    else socket.write(NOTHING, tell);
  }

  private stop(): void {
    this.isOver = true;
    clearTimeout(this.retry);
    this.groups.stop();
    this.own.takers.delete(this.id);
    this.host.over();
  }
}

/** The request has not begun. */
function isRateLimited(body: Uint8Array): boolean {
  const { error } = JSON.parse(Buffer.from(body).toString()) as { readonly error: { readonly code: string } };
  return error.code === "rate_limited";
}
