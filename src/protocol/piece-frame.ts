/**
 * Long pieces of bodies, each in a frame of its own, whose memory the actor gives back (free-buffer.ts).
 *
 * uWebSockets.js reads a socket until it holds less than one of its reads, even one that has been paused meanwhile, and
 * Linux keeps up to tens of megabytes for a paused socket. All of that arrives in one turn of the gateway. Into memory
 * that is new to the process it takes several times as long, because the kernel clears it page by page. Then a client
 * on the same machine sends as fast as the gateway reads, and everybody else waits. So memory is made ahead, too, once
 * the first whole read has come: one frame in a turn.
 */
import { PIECE_CODE, REQUEST_HAS_BODY, REQUEST_HEADER_BYTES, REQUEST_LAST_PIECE } from "./frames.js";

/** What uWebSockets.js reads at a time (LIBUS_RECV_BUFFER_LENGTH): of many reads all but the last one are so long. */
const READ_BYTES = 512 * 1024;
export const SPARE_FRAME_BYTES = REQUEST_HEADER_BYTES + READ_BYTES;
/** 32 MiB: what Linux keeps for a socket. */
const SPARES_MAX = 64;
/** They go when none was asked for in such a time. */
const IDLE_MS = 60_000;

const spares: ArrayBuffer[] = [];
/** Frames that were taken and not given back yet. */
let taken = 0;
let wasUsed = false;
let isMaking = false;
let watch: NodeJS.Timeout | null = null;

/** As `RequestWriter.piece`, by itself: a long piece is copied once this way, and not with each turn's frames. */
export function pieceFrame(id: number, body: Uint8Array, isLast: boolean): ArrayBuffer {
  const memory = newMemory(REQUEST_HEADER_BYTES + body.length);
  new Uint8Array(memory).set(body, REQUEST_HEADER_BYTES);
  writeHead(memory, id, isLast);
  return memory;
}

function writeHead(memory: ArrayBuffer, id: number, isLast: boolean): void {
  const frame = Buffer.from(memory);
  frame.fill(0, 0, REQUEST_HEADER_BYTES);
  frame.writeUInt32LE(frame.length, 0);
  frame.writeUInt32LE(id, 4);
  frame.writeUInt16LE(PIECE_CODE, 8);
  frame[10] = REQUEST_HAS_BODY | (isLast ? REQUEST_LAST_PIECE : 0);
}

/**
 * Puts the pieces of one body that come in one turn together: chunks of a body without a length come one by one. Frames
 * of READ_BYTES are posted at once. The caller ends the turn with `end`, and calls it before a piece of another body.
 */
export class GatheredPieces {
  private memory: ArrayBuffer | null = null;
  private id = 0;
  private used = 0;

  constructor(private readonly post: (frame: ArrayBuffer) => void) {}

  /** Bytes of this body are waiting for more. */
  holds(id: number): boolean {
    return this.used > 0 && this.id === id;
  }

  /** The piece is copied. */
  add(id: number, piece: Uint8Array, isLast: boolean): void {
    this.id = id;
    for (let at = 0; at < piece.length; ) {
      this.memory ??= spares.pop() ?? newMemory(SPARE_FRAME_BYTES);
      const some = piece.subarray(at, at + READ_BYTES - this.used);
      new Uint8Array(this.memory).set(some, REQUEST_HEADER_BYTES + this.used);
      this.used += some.length;
      at += some.length;
      if (this.used === READ_BYTES) this.postWhole(isLast && at === piece.length);
      else if (isLast) this.postRest(true);
    }
    if (isLast && piece.length === 0) this.postRest(true);
  }

  /** What is there leaves. */
  end(): void {
    if (this.used > 0) this.postRest(false);
  }

  /** What is there is nobody's. */
  drop(): void {
    this.used = 0;
  }

  private postWhole(isLast: boolean): void {
    const memory = this.memory!;
    this.memory = null;
    this.used = 0;
    writeHead(memory, this.id, isLast);
    noteTaken();
    this.post(memory);
  }

  private postRest(isLast: boolean): void {
    const body = this.memory === null ? EMPTY : new Uint8Array(this.memory, REQUEST_HEADER_BYTES, this.used);
    this.used = 0;
    this.post(pieceFrame(this.id, body, isLast));
  }
}

const EMPTY = new Uint8Array(0);

/** The memory of a frame of SPARE_FRAME_BYTES that nobody reads any more. */
export function keepSpareFrame(memory: ArrayBuffer): void {
  taken = Math.max(0, taken - 1);
  if (spares.length < SPARES_MAX) spares.push(memory);
}

const newMemory = (bytes: number): ArrayBuffer => Buffer.allocUnsafeSlow(bytes).buffer;

function noteTaken(): void {
  taken++;
  wasUsed = true;
  watch ??= setInterval(forgetIdle, IDLE_MS).unref();
  if (!isMaking) makeLater();
}

function makeLater(): void {
  isMaking = taken + spares.length < SPARES_MAX;
  if (isMaking) setImmediate(makeOne);
}

/** Zeros are written so that the kernel gives the memory now. */
function makeOne(): void {
  const memory = newMemory(SPARE_FRAME_BYTES);
  new Uint8Array(memory).fill(0);
  spares.push(memory);
  makeLater();
}

/** Some are never given back: who unzips a body keeps its pieces. */
function forgetIdle(): void {
  if (wasUsed) {
    wasUsed = false;
    return;
  }
  spares.length = 0;
  taken = 0;
  clearInterval(watch!);
  watch = null;
}
