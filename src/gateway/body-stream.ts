/**
 * A request's body on its way to the actor, piece by piece. The socket is paused while the actor has not taken
 * STREAM_WINDOW_BYTES of it, so the gateway never holds more than that, whatever the client sends. Made by a request
 * (exchange.ts) whose endpoint streams its body; owned by it.
 */
import type { HttpResponse } from "uWebSockets.js";
import { STREAM_WINDOW_BYTES } from "../protocol/frames.js";
import type { ActorLink } from "./actor-link.js";

export class BodyStream {
  /** What came before the request was sent to its actor: at most what the socket held when it was paused. */
  private early: { readonly piece: Uint8Array; readonly isLast: boolean }[] = [];
  private link: ActorLink | null = null;
  private id = 0;
  private untaken = 0;
  private paused = false;
  private hasEnded = false;
  /** Bytes so far. */
  received = 0;

  constructor(private readonly res: HttpResponse) {}

  /** All of the body has arrived. */
  get ended(): boolean {
    return this.hasEnded;
  }

  /** The request has its place in the actor's mailbox, under that id. */
  start(link: ActorLink, id: number): void {
    this.link = link;
    this.id = id;
    for (const { piece, isLast } of this.early) link.sendPiece(id, piece, isLast);
    this.early = [];
    this.balance();
  }

  /** `piece` is only valid during the call. */
  arrived(piece: Uint8Array, isLast: boolean): void {
    this.hasEnded = isLast;
    this.received += piece.length;
    this.untaken += piece.length;
    if (this.link === null) this.early.push({ piece: new Uint8Array(piece), isLast });
    else this.link.sendPiece(this.id, piece, isLast);
    this.balance();
  }

  /** The actor has processed this many further bytes. */
  taken(bytes: number): void {
    this.untaken -= bytes;
    this.balance();
  }

  /** Nobody wants the rest: the socket is read on, and what comes is dropped. */
  release(): void {
    this.link = null;
    this.early = [];
    this.untaken = 0;
    this.resume();
  }

  /** The client has gone, and the socket with it. */
  lost(): void {
    this.link = null;
    this.early = [];
    this.paused = false;
  }

  private balance(): void {
    if (this.hasEnded) return;
    const full = this.link === null || this.untaken >= STREAM_WINDOW_BYTES;
    if (full && !this.paused) {
      this.paused = true;
      this.res.pause();
      // When the handler of some bytes returns, uWebSockets.js gives the client ten seconds for the next ones.
      setImmediate(() => {
        if (this.paused) this.res.pause();
      });
    } else if (!full && this.untaken <= STREAM_WINDOW_BYTES / 2) this.resume();
  }

  private resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.res.resume();
  }
}
