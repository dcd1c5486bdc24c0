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
  const memory = memoryOf(REQUEST_HEADER_BYTES + body.length);
  const frame = Buffer.from(memory);
  frame.fill(0, 0, REQUEST_HEADER_BYTES);
  frame.writeUInt32LE(frame.length, 0);
  frame.writeUInt32LE(id, 4);
  frame.writeUInt16LE(PIECE_CODE, 8);
  frame[10] = REQUEST_HAS_BODY | (isLast ? REQUEST_LAST_PIECE : 0);
  frame.set(body, REQUEST_HEADER_BYTES);
  return memory;
}

/** The memory of a frame of SPARE_FRAME_BYTES that nobody reads any more. */
export function keepSpareFrame(memory: ArrayBuffer): void {
  taken = Math.max(0, taken - 1);
  if (spares.length < SPARES_MAX) spares.push(memory);
}

function memoryOf(bytes: number): ArrayBuffer {
  if (bytes !== SPARE_FRAME_BYTES) return Buffer.allocUnsafeSlow(bytes).buffer;
  wasUsed = true;
  watch ??= setInterval(forgetIdle, IDLE_MS).unref();
  if (!isMaking) makeLater();
  taken++;
  return spares.pop() ?? Buffer.allocUnsafeSlow(bytes).buffer;
}

function makeLater(): void {
  isMaking = taken + spares.length < SPARES_MAX;
  if (isMaking) setImmediate(makeOne);
}

/** Zeros are written so that the kernel gives the memory now. */
function makeOne(): void {
  spares.push(Buffer.alloc(SPARE_FRAME_BYTES).fill(0).buffer as ArrayBuffer);
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
