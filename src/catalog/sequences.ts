/**
 * Values of sequences. They are outside of transactions, as PostgreSQL's are: a value that was handed out is not
 * handed out again even if its transaction rolls back, and two open transactions never wait for or fail each other.
 * One allocator per actor, owned by it. It reserves blocks of values in small transactions of its own, so after a
 * restart the rest of a block is skipped.
 */
import { sqlError } from "../protocol/errors.js";
import { sequenceKey } from "../storage/keys.js";
import type { Transaction } from "../storage/store.js";
import type { SequenceDef } from "./sequence.js";

export interface Sequences {
  /** Throws 2200H past the sequence's end. */
  next(tenantNumber: number, sequence: SequenceDef): number;
}

/** Values reserved at once. */
const BLOCK_VALUES = 32;

interface Block {
  next: number;
  /** Values left in the block. */
  left: number;
}

/** `next`: the first value that is not reserved; null: the end was passed. */
interface State {
  readonly createdAt: number;
  readonly next: number | null;
}

/** @param begin a read-write transaction on the newest committed state. */
export function createSequences(begin: () => Transaction): Sequences {
  const blocks = new Map<string, Block>();
  return {
    next(tenantNumber, sequence) {
      const name = `${tenantNumber}/${sequence.id}/${sequence.createdAt}`;
      let block = blocks.get(name);
      if (block === undefined || block.left === 0) {
        block = reserve(begin, tenantNumber, sequence);
        blocks.set(name, block);
      }
      const value = block.next;
      block.next += sequence.increment;
      block.left--;
      return value;
    },
  };
}

function reserve(begin: () => Transaction, tenantNumber: number, sequence: SequenceDef): Block {
  const tx = begin();
  try {
    const key = sequenceKey(tenantNumber, sequence.id);
    const next = unreserved(tx.get(key), sequence);
    const { increment, min, max } = sequence;
    const room = Math.floor((increment > 0 ? max - next : min - next) / increment) + 1;
    const left = Math.min(BLOCK_VALUES, room);
    const state: State = { createdAt: sequence.createdAt, next: left < room ? next + left * increment : null };
    tx.put(key, Buffer.from(JSON.stringify(state)));
    tx.commit();
    return { next, left };
  } catch (error) {
    tx.rollback();
    throw error;
  }
}

function unreserved(stored: Uint8Array | undefined, sequence: SequenceDef): number {
  const state = stored === undefined ? null : (JSON.parse(Buffer.from(stored).toString()) as State);
  if (state === null || state.createdAt !== sequence.createdAt) return sequence.start;
  if (state.next !== null) return state.next;
  if (sequence.cycle) return sequence.increment > 0 ? sequence.min : sequence.max;
  const end = sequence.increment > 0 ? "maximum" : "minimum";
  const bound = sequence.increment > 0 ? sequence.max : sequence.min;
  throw sqlError("2200H", `nextval: reached ${end} value of sequence "${sequence.name}" (${bound})`);
}
