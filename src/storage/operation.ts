/** The unit of what commits change. Everything in storage that writes passes lists of them on. */

/** One change: a put, or a delete when `value` is null. */
export interface Operation {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}
