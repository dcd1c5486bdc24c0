/**
 * Large messages between processes, as several small ones: a channel takes or gives a message in one go, during which
 * its thread does nothing else. Texts and bytes of some length leave their message, travel before it in slices, and are
 * put back. Called by both ends of workers/compute-processes.ts.
 */

/** What one message carries of texts and bytes: writing or reading it takes under a millisecond. */
const SLICE_LENGTH = 512 * 1024;
/** Shorter texts and bytes stay where they are. */
const LONG = 4096;

type Long = string | Uint8Array;

/** Takes the place of the text or bytes with that number. */
interface Place {
  readonly longAt: number;
}

/**
 * Slices, by the number of the value that they belong to; or the message without the slices that were sent before it.
 */
export type SmallMessage = { readonly slices: readonly (readonly [number, Long])[] } | { readonly rest: unknown };

/** The message as small ones, the rest last. Objects must be plain ones without a field `longAt`. */
export function* smallMessages(message: unknown): Generator<SmallMessage> {
  const taken: Long[] = [];
  const rest = withoutLong(message, taken);
  let slices: [number, Long][] = [];
  let length = 0;
  for (const [number, long] of taken.entries()) {
    for (let from = 0; from < long.length; ) {
      const to = Math.min(long.length, from + SLICE_LENGTH - length);
      slices.push([number, typeof long === "string" ? long.slice(from, to) : long.subarray(from, to)]);
      length += to - from;
      from = to;
      if (length < SLICE_LENGTH) continue;
      yield { slices };
      slices = [];
      length = 0;
    }
  }
  if (slices.length > 0) yield { slices };
  yield { rest };
}

/** Puts messages together again, one after the other. */
export class Assembly {
  private taken: Long[][] = [];

  /** The message once its rest has come, else undefined. */
  take(small: SmallMessage): unknown {
    if ("rest" in small) {
      const whole = this.taken.map(joined);
      this.taken = [];
      return withLong(small.rest, whole);
    }
    for (const [number, slice] of small.slices) {
      this.taken[number] ??= [];
      this.taken[number].push(slice);
    }
    return undefined;
  }
}

function withoutLong(value: unknown, taken: Long[]): unknown {
  if (typeof value === "string" || value instanceof Uint8Array) {
    if (value.length <= LONG) return value;
    taken.push(value);
    return { longAt: taken.length - 1 } satisfies Place;
  }
  return mapped(value, (item) => withoutLong(item, taken));
}

function withLong(value: unknown, whole: readonly Long[]): unknown {
  if (isPlace(value)) return whole[value.longAt];
  return mapped(value, (item) => withLong(item, whole));
}

function isPlace(value: unknown): value is Place {
  return typeof value === "object" && value !== null && "longAt" in value;
}

/** A list or a plain object with other items; everything else as it is. */
function mapped(value: unknown, map: (item: unknown) => unknown): unknown {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(map);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(item)]));
}

function joined(slices: readonly Long[]): Long {
  return typeof slices[0] === "string" ? slices.join("") : Buffer.concat(slices as Uint8Array[]);
}
