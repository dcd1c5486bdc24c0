/** Definitions of sequences, stored like tables. */

export interface SequenceDef {
  /** Unique within the tenant; names the sequence's state. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly start: number;
  readonly increment: number;
  readonly min: number;
  readonly max: number;
  readonly cycle: boolean;
  /** The column that it numbers; it is dropped with it. */
  readonly ownedBy: { readonly tableId: number; readonly columnId: number } | null;
  /** Microseconds since the epoch; tells a sequence from an earlier one of the same id whose creation was undone. */
  readonly createdAt: number;
}

export interface SequenceOptions {
  readonly start: number | null;
  readonly increment: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly cycle: boolean;
}

export const PLAIN_SEQUENCE: SequenceOptions = { start: null, increment: 1, min: null, max: null, cycle: false };
