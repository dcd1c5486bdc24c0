/**
 * Lends a connection's socket to the actor's thread that has its session (features/postgres/lent-socket.ts), and takes
 * it back. Both threads have a descriptor of the same socket; only one of them reads and writes it. Owned by
 * connection.ts; docs/decisions/postgres-sockets-on-the-actors-thread.md.
 */
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { Caller } from "../gateway/admission.js";
import type { Services } from "../gateway/services.js";
import type { DbError } from "../protocol/errors.js";
import { duplicate } from "./duplicate-descriptor.js";
import { type Heard, NOBODY, WireCall } from "./wire-call.js";
import { asDbError } from "./wire-request.js";

const DESCRIPTOR_BYTES = 4;
/** Each has two descriptors. With many more busy connections, what the gateway gets in one turn crosses together. */
const LENT_PER_ACTOR_MAX = 32;
/** Until it is tried again to have it back. */
const RETRY_MS = 100;
/** The first byte of what comes back: the client has gone. */
const HAS_GONE = 1;
const NOTHING = Buffer.alloc(0);

/** What Node's sockets have and do not declare. */
interface Handle {
  readonly fd: number;
  reading: boolean;
  readStart(): void;
  readStop(): void;
}

export interface Lender {
  /** `read`: what the actor has read and not answered. */
  returned(read: Buffer): void;
  /** There is no session any more. */
  failed(error: DbError): void;
  /** The client has left. */
  close(): void;
}

export class Lending {
  private call: WireCall | null = null;

  constructor(
    private readonly services: Services,
    private readonly lender: Lender,
  ) {}

  get isLent(): boolean {
    return this.call !== null;
  }

  /**
   * A few connections are lent. Encryption and rate limits are the gateway's, another node's actor cannot have the
   * socket, and what was written has to leave first.
   */
  mayBe(socket: Socket, { identity, partition }: Caller): boolean {
    const { config, pool, wire } = this.services;
    if (wire.lent >= LENT_PER_ACTOR_MAX * pool.size) return false;
    if (socket.constructor !== Socket || socket.destroyed || socket.isPaused() || socket.writableLength > 0)
      return false;
    if (identity.rateLimit !== null || config.postgres.defaultRateLimit) return false;
    return pool.isHere(partition);
  }

  /**
   * The second descriptor is the actor's once it has begun, and is closed here where it refuses.
   * `read`: what was read and not answered; the caller keeps it where the answer is false: the socket stays here.
   */
  begin(socket: Socket, caller: Caller, session: number, read: Buffer): boolean {
    const handle = handleOf(socket);
    const descriptor = handle === null ? null : duplicate(handle.fd);
    if (descriptor === null) return false;
    const body = Buffer.allocUnsafe(DESCRIPTOR_BYTES + read.length);
    body.writeUInt32LE(descriptor);
    body.set(read, DESCRIPTOR_BYTES);
    let isActors = false;
    const heard: Heard = {
      ...NOBODY,
      began: () => {
        isActors = true;
      },
      done: (given) => this.ended(socket, given),
      failed: (error, by) => {
        // An actor that was lost may have had it and closed it: its number may be another's by now.
        if (!isActors && by === "reply") closeSync(descriptor);
        this.lost(error);
      },
    };
    const call = new WireCall(this.services, caller, "postgres", "lend", session, heard);
    try {
      if (call.begin(body)) {
        handle!.readStop();
        handle!.reading = false;
        this.call = call;
        this.services.wire.lent++;
        return true;
      }
    } catch {
      // The partition is not there, as the next request will say.
    }
    closeSync(descriptor);
    return false;
  }

  private ended(socket: Socket, given: Buffer): void {
    this.over();
    if (given[0] === HAS_GONE) {
      this.lender.close();
      return;
    }
    const handle = handleOf(socket);
    if (handle !== null) {
      handle.reading = true;
      handle.readStart();
    }
    this.lender.returned(Buffer.from(given.subarray(1)));
  }

  private lost(error: DbError): void {
    this.over();
    this.lender.failed(error);
  }

  /** It comes back when what runs has ended. A partition that has too much to do is asked later. */
  recall(caller: Caller, session: number): void {
    if (!this.isLent) return;
    try {
      if (new WireCall(this.services, caller, "postgres", "recall", session, NOBODY).begin(NOTHING)) return;
      setTimeout(() => this.recall(caller, session), RETRY_MS).unref();
    } catch (error) {
      this.call?.cancel();
      this.lost(asDbError(error));
    }
  }

  /** The connection is closed. */
  cancel(): void {
    this.call?.cancel();
    this.over();
  }

  private over(): void {
    if (this.call !== null) this.services.wire.lent--;
    this.call = null;
  }
}

function handleOf(socket: Socket): Handle | null {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Handle };
  return handle !== undefined && handle !== null && handle.fd >= 0 ? handle : null;
}
