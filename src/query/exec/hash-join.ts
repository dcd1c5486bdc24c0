/**
 * An equi-join: the right side goes into a hash table by its keys, each left row looks its key up. Rows with the same
 * key are chained in the order in which they came. NULL keys match nothing; those rows only matter to outer joins.
 */
import type { Value } from "../../protocol/values.js";
import type { HashKey } from "../expr/compare.js";
import type { Batch } from "../expr/expr.js";
import type { HashJoinPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import { JoinOperator, type JoinProgram, type JoinRowsType, type Matcher } from "./join-rows.js";
import type { Open, Operator } from "./operator.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { compileAll, compileCondition, type EvaluateAll, slotsOf } from "./slots.js";
import type { JoinSpill } from "./spill/spilled-join.js";
import { canSpill } from "./spill/spilled-rows.js";
import { bytesOf } from "./value-bytes.js";

interface HashProgram {
  readonly leftKeys: readonly EvaluateAll[];
  readonly rightKeys: readonly EvaluateAll[];
  readonly leftKeyOf: RowKeyOf;
  readonly rightKeyOf: RowKeyOf;
}

export function compileHashJoin(plan: HashJoinPlan, left: Open, right: Open): Open {
  if (plan.buildsLeft === true) return compileJoin(turned(plan), `right ${plan.type}` as JoinRowsType, right, left);
  return compileJoin(plan, plan.type, left, right);
}

/** A semi or anti join with its sides exchanged: the rows that are asked for are then the right ones. */
function turned(plan: HashJoinPlan): HashJoinPlan {
  const { left, right, leftKeys, rightKeys } = plan;
  return { ...plan, left: right, right: left, leftKeys: rightKeys, rightKeys: leftKeys };
}

function compileJoin(plan: HashJoinPlan, type: JoinRowsType, left: Open, right: Open): Open {
  const program: JoinProgram = {
    type,
    leftWidth: plan.left.columns.length,
    rightWidth: plan.right.columns.length,
    condition: compileCondition(plan.residual, slotsOf([...plan.left.columns, ...plan.right.columns])),
  };
  const leftSlot = slotsOf(plan.left.columns);
  const rightSlot = slotsOf(plan.right.columns);
  const hash: HashProgram = {
    leftKeys: plan.leftKeys.map((key) => compileAll(key, leftSlot)),
    rightKeys: plan.rightKeys.map((key) => compileAll(key, rightSlot)),
    leftKeyOf: rowKeyOf(plan.leftKeys.map((key) => key.type)),
    rightKeyOf: rowKeyOf(plan.rightKeys.map((key) => key.type)),
  };
  const open = (from: Operator, to: Operator, context: ExecContext, depth: number): Operator => {
    const rows = new RowBuffer(plan.right.columns, context);
    return new JoinOperator(program, from, to, rows, new HashMatcher(hash, context), context, spill, depth);
  };
  const spill = spillOf(plan, hash, open);
  return (context) => open(left(context), right(context), context, 0);
}

/** Null when the join must stay in memory: somebody relies on the left rows' order, or a column cannot be stored. */
function spillOf(plan: HashJoinPlan, hash: HashProgram, open: JoinSpill["open"]): JoinSpill | null {
  const leftTypes = plan.left.columns.map((column) => column.type);
  const rightTypes = plan.right.columns.map((column) => column.type);
  if (plan.keepsLeftOrder === true || !canSpill([...leftTypes, ...rightTypes])) return null;
  const keysOf = (keys: readonly EvaluateAll[], keyOf: RowKeyOf) => (batch: Batch, context: ExecContext) => {
    const values = keys.map((key) => key(batch, context, []));
    return (row: number) => keyOf(values, row);
  };
  return {
    leftTypes,
    rightTypes,
    leftKeys: keysOf(hash.leftKeys, hash.leftKeyOf),
    rightKeys: keysOf(hash.rightKeys, hash.rightKeyOf),
    open,
  };
}

class HashMatcher implements Matcher {
  /** First row of each key's chain. */
  private readonly heads = new Map<HashKey | null, number>();
  /** Per right row: the next one of its chain, or −1. */
  private readonly nexts: number[] = [];
  /** Per head: the last row of its chain. */
  private readonly tails: number[] = [];
  private readonly scratch: Value[][];
  private probeKeys: readonly ArrayLike<Value>[] = [];
  bytes = 0;

  constructor(
    private readonly program: HashProgram,
    private readonly context: ExecContext,
  ) {
    this.scratch = emptyColumns(program.leftKeys.length);
  }

  build(batch: Batch, first: number): void {
    const { heads, nexts, tails, context } = this;
    const keys = this.program.rightKeys.map((key, i) => key(batch, context, this.scratch[i]!));
    const { rightKeyOf } = this.program;
    let bytes = 0;
    for (let i = 0; i < batch.length; i++) {
      const row = first + i;
      nexts.push(-1);
      tails.push(row);
      if (hasNull(keys, i)) continue;
      const key = rightKeyOf(keys, i);
      const head = heads.get(key);
      if (head === undefined) {
        heads.set(key, row);
        bytes += SET_ENTRY_BYTES + bytesOf(key);
      } else {
        nexts[tails[head]!] = row;
        tails[head] = row;
      }
    }
    this.bytes += bytes;
    context.statement.reserve(bytes);
  }

  probe(batch: Batch): void {
    this.probeKeys = this.program.leftKeys.map((key, i) => key(batch, this.context, this.scratch[i]!));
  }

  first(row: number): number {
    if (hasNull(this.probeKeys, row)) return -1;
    return this.heads.get(this.program.leftKeyOf(this.probeKeys, row)) ?? -1;
  }

  following(candidate: number): number {
    return this.nexts[candidate]!;
  }

  release(): void {
    this.heads.clear();
    this.nexts.length = 0;
    this.tails.length = 0;
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }
}

function hasNull(keys: readonly ArrayLike<Value>[], row: number): boolean {
  for (let i = 0; i < keys.length; i++) if (keys[i]![row] === null) return true;
  return false;
}
