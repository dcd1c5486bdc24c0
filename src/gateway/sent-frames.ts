/**
 * Copies of the requests that an actor is working on, so that they can be sent to its next thread if this one has to
 * be ended. Requests of one turn of the gateway's loop are kept together, as they are sent; large ones are kept
 * singly, up to a bound. Owned by actor-link.ts.
 */
import { eachFrame } from "../protocol/frames.js";

/** Up to this many bytes, the frames of one turn are kept as they were sent. */
const KEPT_TURN_BYTES_MAX = 1024 * 1024;
/** Larger frames of a larger turn are kept one by one, */
const SMALL_FRAME_BYTES_MAX = 256 * 1024;
/** up to so many bytes of one actor; what is more cannot be sent again. */
const LARGE_FRAMES_BYTES_MAX = 64 * 1024 * 1024;

/** The frames of one turn, or a large one. */
export interface SentFrames {
  frames: ArrayBuffer | null;
  readonly isLarge: boolean;
}

/** Of a request in flight. */
export interface Keeping {
  /** Null: it is not kept. */
  keptIn: SentFrames | null;
}

export class SentFramesKeeper {
  private largeBytes = 0;

  /** `frames` are about to be sent; those requests of `turn` that are among them are found by `requestOf`. */
  keep(turn: SentFrames, frames: ArrayBuffer, requestOf: (id: number) => Keeping | undefined): void {
    if (frames.byteLength <= KEPT_TURN_BYTES_MAX) {
      turn.frames = frames.slice(0);
      return;
    }
    const small: Uint8Array[] = [];
    eachFrame(frames, (id, start, end) => {
      if (end - start <= SMALL_FRAME_BYTES_MAX) small.push(new Uint8Array(frames, start, end - start));
      else this.keepLarge(turn, frames.slice(start, end), requestOf(id));
    });
    turn.frames = new Uint8Array(Buffer.concat(small)).buffer;
  }

  private keepLarge(turn: SentFrames, frames: ArrayBuffer, request: Keeping | undefined): void {
    // Pieces of a body that is streamed are of no use by themselves.
    if (request?.keptIn !== turn || this.largeBytes + frames.byteLength > LARGE_FRAMES_BYTES_MAX) return;
    this.largeBytes += frames.byteLength;
    request.keptIn = { frames, isLarge: true };
  }

  /** It has ended, or cannot be sent again. */
  release(request: Keeping): void {
    const { keptIn } = request;
    if (keptIn?.isLarge) this.largeBytes -= keptIn.frames!.byteLength;
    request.keptIn = null;
  }
}

/** Frames by their ids, of the buffers that were looked at. */
export type FramesById = Map<ArrayBuffer, Map<number, Uint8Array>>;

/** Null: it is not kept. */
export function findFrame(known: FramesById, id: number, { keptIn }: Keeping): Uint8Array | null {
  const frames = keptIn?.frames ?? null;
  if (frames === null) return null;
  let byId = known.get(frames);
  if (byId === undefined) {
    const found = new Map<number, Uint8Array>();
    eachFrame(frames, (frameId, start, end) => {
      // Later ones of an id are about the first.
      if (!found.has(frameId)) found.set(frameId, new Uint8Array(frames, start, end - start));
    });
    known.set(frames, found);
    byId = found;
  }
  return byId.get(id) ?? null;
}
