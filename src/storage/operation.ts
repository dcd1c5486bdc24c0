/** One change of a commit: a key that is put or deleted. All writers in storage exchange lists of these. */

/** Which commit it was, and when. */
export interface CommitStamp {
  readonly sequence: number;
  /** Microseconds since the epoch. */
  readonly micros: number;
  /** False: its keys are all different, though the engine gets it in parts. */
  readonly mayRepeat?: boolean;
}

/** Operations that are in the log ahead of the commit that they belong to. Made by `CommitLog.beginParts`. */
export interface CommitParts {
  readonly id: number;
  /** The number of operations so far. */
  operations: number;
}

/** One change: a put, or a delete when `value` is null. */
export interface Operation {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
  /** The key as text (ordered-map.ts), where it is known. */
  readonly text?: string;
  /** Of which commit it is, where the engine keeps what was before (layered-engine.ts). */
  readonly commit?: CommitStamp;
}

/** Bytes of key and value. */
export function sizeOf({ key, value }: Operation): number {
  return key.length + (value === null ? 0 : value.length);
}

/** The operations of each commit, in order. */
export function* commitsOf(operations: readonly Operation[]): Iterable<readonly Operation[]> {
  for (let from = 0; from < operations.length; ) {
    const sequence = operations[from]!.commit?.sequence;
    let to = from + 1;
    while (to < operations.length && operations[to]!.commit?.sequence === sequence) to++;
    yield operations.slice(from, to);
    from = to;
  }
}

/** Those whose keys begin with none of the prefixes. */
export function without(operations: Operation[], prefixes: readonly Buffer[]): Operation[] {
  if (prefixes.length === 0) return operations;
  return operations.filter(({ key }) => !prefixes.some((prefix) => prefix.equals(key.subarray(0, prefix.length))));
}
