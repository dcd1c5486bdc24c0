/**
 * Values of sequences. As in PostgreSQL they are outside transactions: a value that was given out is never given out
 * again, even if its transaction rolls back, and two open transactions never wait for each other. One allocator per
 * actor, owned by it. It reserves blocks of values in small transactions of its own, so a restart skips the rest of a
 * block.
 */
import { sqlError } from "../protocol/errors.js";
import { sequenceKey } from "../storage/keys.js";
import type { Transaction } from "../storage/store.js";
import { type SequenceDef, type SequenceNumber, type SequencePosition, sequenceNumber } from "./sequence.js";

export interface Sequences {
  /** Throws 2200H past the sequence's end. */
  next(tenantNumber: number, sequence: SequenceDef): SequenceNumber;
  /** setval. Throws 22003 outside of the sequence's bounds. */
  set(tenantNumber: number, sequence: SequenceDef, position: SequencePosition): void;
  /** The last value and whether it was handed out. */
  position(tenantNumber: number, sequence: SequenceDef): SequencePosition;
  /** Gives the rest of the tenant's reserved blocks back and forgets them: the stored states are exact then. */
  release(tenantNumber: number): void;
  /** Forgets what is in memory of the tenant. */
  forget(tenantNumber: number): void;
}

/** Values reserved at once, unless CACHE says more. */
const BLOCK_VALUES = 32;
const BLOCK_VALUES_MAX = 10_000;

interface Block {
  last: SequenceNumber;
  called: boolean;
  /** Values left in the block. */
  left: number;
}

/** `last`: the last value that is reserved, or with `called` false the next one. Numbers as decimal text. */
interface State {
  readonly createdAt: number;
  readonly last: string;
  readonly called: boolean;
}

/** States of the form that has the next value (null: the end was passed) instead of the last. */
interface OldState {
  readonly createdAt: number;
  readonly next: number | null;
}

/** @param begin a read-write transaction on the newest committed state. */
export function createSequences(begin: () => Transaction): Sequences {
  /** By tenant, then by id and time of creation. */
  const tenants = new Map<number, Map<string, Block>>();
  const blocksOf = (tenantNumber: number): Map<string, Block> => {
    let blocks = tenants.get(tenantNumber);
    if (blocks === undefined) {
      blocks = new Map();
      tenants.set(tenantNumber, blocks);
    }
    return blocks;
  };
  return {
    next(tenantNumber, sequence) {
      const blocks = blocksOf(tenantNumber);
      const name = nameOf(sequence);
      let block = blocks.get(name);
      if (block === undefined || block.left === 0) {
        block = reserve(begin, tenantNumber, sequence, block);
        blocks.set(name, block);
      }
      if (block.called) block.last = sum(block.last, sequence.increment);
      block.called = true;
      block.left--;
      return block.last;
    },
    set(tenantNumber, sequence, { last, called }) {
      const value = BigInt(last);
      if (value < BigInt(sequence.min) || value > BigInt(sequence.max)) {
        const { name, min, max } = sequence;
        throw sqlError("22003", `setval: value ${value} is out of bounds for sequence "${name}" (${min}..${max})`);
      }
      alone(begin, (tx) => store(tx, tenantNumber, sequence, value, called));
      blocksOf(tenantNumber).set(nameOf(sequence), { last: sequenceNumber(value), called, left: 0 });
    },
    position(tenantNumber, sequence) {
      const block = tenants.get(tenantNumber)?.get(nameOf(sequence));
      if (block !== undefined) return { last: block.last, called: block.called };
      const { last, called } = alone(begin, (tx) => stateOf(tx.get(sequenceKey(tenantNumber, sequence.id)), sequence));
      return { last: sequenceNumber(last), called };
    },
    release(tenantNumber) {
      const blocks = tenants.get(tenantNumber);
      if (blocks === undefined) return;
      alone(begin, (tx) => {
        for (const [name, block] of blocks) giveBack(tx, tenantNumber, name, block);
      });
      tenants.delete(tenantNumber);
    },
    forget(tenantNumber) {
      tenants.delete(tenantNumber);
    },
  };
}

const names = new WeakMap<SequenceDef, string>();

function nameOf(sequence: SequenceDef): string {
  let name = names.get(sequence);
  if (name === undefined) {
    name = `${sequence.id}/${sequence.createdAt}`;
    names.set(sequence, name);
  }
  return name;
}

/** As a number where it is one exactly. */
function sum(last: SequenceNumber, increment: SequenceNumber): SequenceNumber {
  if (typeof last === "number" && typeof increment === "number") {
    const next = last + increment;
    if (Number.isSafeInteger(next)) return next;
  }
  return sequenceNumber(BigInt(last) + BigInt(increment));
}

/** Stores where the sequence stands instead of where its block ends, if it is still the one that the block is of. */
function giveBack(tx: Transaction, tenantNumber: number, name: string, { last, called }: Block): void {
  const [id, createdAt] = name.split("/").map(Number) as [number, number];
  const key = sequenceKey(tenantNumber, id);
  const stored = tx.get(key);
  if (stored === undefined) return;
  if ((JSON.parse(Buffer.from(stored).toString()) as State | OldState).createdAt !== createdAt) return;
  const state: State = { createdAt, last: String(last), called };
  tx.put(key, Buffer.from(JSON.stringify(state)));
}

/** Runs `work` in a transaction of its own. */
function alone<T>(begin: () => Transaction, work: (tx: Transaction) => T): T {
  const tx = begin();
  try {
    const result = work(tx);
    if (tx.dirty) tx.commit();
    else tx.rollback();
    return result;
  } catch (error) {
    tx.rollback();
    throw error;
  }
}

function store(tx: Transaction, tenantNumber: number, sequence: SequenceDef, last: bigint, called: boolean): void {
  const state: State = { createdAt: sequence.createdAt, last: String(last), called };
  tx.put(sequenceKey(tenantNumber, sequence.id), Buffer.from(JSON.stringify(state)));
}

/** `before`: the used-up block, which knows exactly where the values stand. */
function reserve(
  begin: () => Transaction,
  tenantNumber: number,
  sequence: SequenceDef,
  before: Block | undefined,
): Block {
  return alone(begin, (tx) => {
    const stored = tx.get(sequenceKey(tenantNumber, sequence.id));
    const { last, called } =
      before === undefined ? stateOf(stored, sequence) : { last: BigInt(before.last), called: before.called };
    const increment = BigInt(sequence.increment);
    const first = called ? following(last, sequence) : last;
    const end = BigInt(increment > 0n ? sequence.max : sequence.min);
    const room = (end - first) / increment + 1n;
    const wanted = BigInt(Math.min(BLOCK_VALUES_MAX, Math.max(BLOCK_VALUES, Number(sequence.cache))));
    const left = Number(room < wanted ? room : wanted);
    store(tx, tenantNumber, sequence, first + BigInt(left - 1) * increment, true);
    return { last: sequenceNumber(first), called: false, left };
  });
}

/** Throws 2200H. */
function following(last: bigint, sequence: SequenceDef): bigint {
  const rising = sequence.increment > 0;
  const next = last + BigInt(sequence.increment);
  if (rising ? next <= BigInt(sequence.max) : next >= BigInt(sequence.min)) return next;
  if (sequence.cycle) return BigInt(rising ? sequence.min : sequence.max);
  const bound = rising ? `maximum value of sequence "${sequence.name}" (${sequence.max})` : null;
  throw sqlError(
    "2200H",
    `nextval: reached ${bound ?? `minimum value of sequence "${sequence.name}" (${sequence.min})`}`,
  );
}

function stateOf(stored: Uint8Array | undefined, sequence: SequenceDef): { last: bigint; called: boolean } {
  const state = stored === undefined ? null : (JSON.parse(Buffer.from(stored).toString()) as State | OldState);
  if (state === null || state.createdAt !== sequence.createdAt) {
    const { last, called } = sequence.from ?? { last: sequence.start, called: false };
    return { last: BigInt(last), called };
  }
  if ("last" in state) return { last: BigInt(state.last), called: state.called };
  if (state.next !== null) return { last: BigInt(state.next), called: false };
  return { last: BigInt(sequence.increment > 0 ? sequence.max : sequence.min), called: true };
}
