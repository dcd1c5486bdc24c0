/** The answer of a request, before the envelope is put around it (actor/reply.ts). */

/** What a handler answers. `json` is the payload as finished JSON text, `plain` as a value; one of the two is there. */
export interface Answer<T = unknown> {
  readonly json?: string;
  readonly plain?: T;
  /** The answer of an endpoint of the method WIRE. */
  readonly bytes?: Uint8Array;
  /**
   * The payload as MessagePack, packed ahead because it is large; `members`: of an object its members without a header.
   */
  readonly packed?: { readonly bytes: readonly Uint8Array[]; readonly members: PackedMembers | null };
  /** Overrides the endpoint's own success status. */
  readonly status?: number;
  /** The newest commit that it has seen; absent: it may have seen all of its tenant's. */
  readonly seen?: number;
  /** Further headers, "name: value" lines joined by "\n". */
  readonly headers?: string;
}

export interface PackedMembers {
  readonly count: number;
  readonly bytes: readonly Uint8Array[];
}

/** One that is JSON text already, or a stream: there is no value for the compiler to check. */
export type TextAnswer = Answer<never>;

/** What a handler answers that has sent its reply as a stream. */
export const STREAMED: Answer<never> = Object.freeze({});
