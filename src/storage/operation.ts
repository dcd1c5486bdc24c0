/** The unit of what commits change. Everything in storage that writes passes lists of them on. */

/** One change: a put, or a delete when `value` is null. */
export interface Operation {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

/** Bytes of key and value. */
export function sizeOf({ key, value }: Operation): number {
  return key.length + (value === null ? 0 : value.length);
}
