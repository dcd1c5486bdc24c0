/** DISTINCT and DISTINCT ON: the first row of each key, in the input's order, as soon as it comes. */
import type { SqlType, Value } from "../../values/values.js";
import type { HashKey } from "../expr/compare.js";
import type { Batch, Expr } from "../expr/expr.js";
import { columnExpr } from "../plan/column-expr.js";
import type { DistinctPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { haveGroupKeys } from "./group-keys.js";
import { KeyGroups } from "./key-groups.js";
import { type Open, type Operator, type Pulled, pull } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { Chunk, chunkOf, valuesOfBatch } from "./segments/chunk.js";
import { columnSlots, compileAll, type EvaluateAll, slotsOf, slotsRead } from "./slots.js";
import { rowsOfThread } from "./threads/merge-state.js";
import { FromThread } from "./threads/read-threads.js";
import { type SentPlanOf, sentPlanOf } from "./threads/sent-read.js";
import { bytesOf } from "./value-bytes.js";

/** Estimated bytes of an entry of a Set beside the key's own. */
export const SET_ENTRY_BYTES = 40;

interface DistinctProgram {
  readonly sent: SentPlanOf;
  readonly keys: readonly EvaluateAll[];
  readonly types: readonly SqlType[];
  readonly keyOf: RowKeyOf;
  /** The slots of the keys if they are columns, else null. */
  readonly keyColumns: readonly number[] | null;
  /** Slots that the keys read. */
  readonly keySlots: readonly number[];
  readonly width: number;
}

export function compileDistinct(plan: DistinctPlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const on: readonly Expr[] = plan.on ?? plan.input.columns.map(columnExpr);
  const types = on.map((expr) => expr.type);
  const program: DistinctProgram = {
    sent: sentPlanOf(plan),
    keys: on.map((expr) => compileAll(expr, slotOf)),
    types,
    keyOf: rowKeyOf(types),
    keyColumns: columnSlots(on, slotOf),
    keySlots: slotsRead(on, slotOf),
    width: plan.input.columns.length,
  };
  return (context) => new DistinctOperator(program, input(context), context);
}

class DistinctOperator implements Operator {
  /** Keys that came: these, or, as long as typed arrays hold all of them, those. */
  private readonly seen = new Set<HashKey | null>();
  private groups: KeyGroups | null;
  private numbers = new Int32Array(0);
  private readonly scratch: Value[][];
  private readonly columns: Value[][];
  private handsOutChunks = false;
  private bytes = 0;

  constructor(
    private readonly program: DistinctProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    const { types } = program;
    this.groups =
      types.length > 0 && haveGroupKeys(types) ? new KeyGroups(types, context.statement.memoryBytesMax) : null;
    this.scratch = emptyColumns(program.keys.length);
    this.columns = emptyColumns(program.width);
    if (this.groups === null) return;
    input.acceptChunks?.();
    input.acceptThreads?.({ plan: program.sent, rowsMax: null, wants: () => true });
  }

  acceptChunks(): void {
    this.handsOutChunks = true;
  }

  next(): Pulled {
    return pull(this.input, this.step);
  }

  private readonly step = (batch: Batch | null): Batch | null | undefined => {
    if (batch === null) return null;
    if (batch instanceof FromThread) return this.distinct(rowsOfThread(batch));
    return this.distinct(batch instanceof Chunk ? batch : valuesOfBatch(batch));
  };

  private distinct(rows: Batch): Batch | undefined {
    const groups = this.loaded(rows);
    if (groups === null) return this.byValues(valuesOfBatch(rows));
    if (this.numbers.length < rows.length) this.numbers = new Int32Array(rows.length);
    this.reserve(groups.assign(rows.length, this.numbers));
    if (groups.madeCount === 0) return undefined;
    if (groups.madeCount === rows.length) return this.handsOutChunks ? rows : valuesOfBatch(rows);
    const made = chunkOf(rows).pick(groups.made, groups.madeCount);
    return this.handsOutChunks ? made : valuesOfBatch(made);
  }

  /** The rows' keys in typed arrays; null when one of them has no place there. */
  private loaded(rows: Batch): KeyGroups | null {
    const { groups, context } = this;
    const { keys, keyColumns, keySlots, keyOf, types } = this.program;
    if (groups === null) return null;
    if (rows instanceof Chunk && keyColumns !== null && groups.loadChunk(rows, keyColumns)) return groups;
    const read = rows instanceof Chunk ? rows.only(keySlots) : rows;
    const values = keys.map((key, i) => key(read, context, this.scratch[i]!));
    if (groups.load(values, rows.length)) return groups;
    const columns = types.map((_, k) => groups.valuesOf(k, 0, groups.count));
    for (let group = 0; group < groups.count; group++) this.add(keyOf(columns, group));
    this.groups = null;
    return null;
  }

  private byValues(batch: Batch): Batch | undefined {
    const { columns, context } = this;
    const { keyOf } = this.program;
    const keys = this.program.keys.map((key, i) => key(batch, context, this.scratch[i]!));
    let kept = 0;
    for (let row = 0; row < batch.length; row++) {
      const key = keyOf(keys, row);
      if (this.seen.has(key)) continue;
      this.add(key);
      for (let c = 0; c < columns.length; c++) columns[c]![kept] = batch.columns[c]![row]!;
      kept++;
    }
    return kept === 0 ? undefined : { columns, length: kept };
  }

  private add(key: HashKey | null): void {
    this.seen.add(key);
    this.reserve(SET_ENTRY_BYTES + bytesOf(key));
  }

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }

  close(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
    this.input.close();
  }
}
