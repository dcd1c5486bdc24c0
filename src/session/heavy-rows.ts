/**
 * Writes rows with large values with turns in between: row by row, and a value of many parts in pieces before its row.
 * Called by run-program.ts for each batch; most batches are small, and are written at once.
 */

import { RESULT_BYTES_MAX } from "../protocol/limits.js";
import { resultTooLarge } from "../protocol/size-errors.js";
import type { Turns } from "../protocol/turns.js";
import type { StatementState } from "../query/exec/context.js";
import { Chunk, type Selection, valuesOfBatch } from "../query/exec/segments/chunk.js";
import type { TextColumn } from "../query/exec/segments/text-column.js";
import type { Batch } from "../query/expr/expr.js";
import type { OutputColumn } from "../query/plan/plan.js";
import { flattened, jsonPieces } from "../values/json-value-pieces.js";
import { costLeft } from "../values/value-cost.js";
import type { Value } from "../values/values.js";
import { WrittenJson } from "../values/written-json.js";
import type { Rows } from "./sql-result.js";

/** Parts of a batch, and of one value, that are written at once. */
const BATCH_PARTS = 16 * 1024;
const VALUE_PARTS = 4096;
/** Of a text that costs as much as one part, and those that the rest of writing any text costs as much as. */
const PART_BYTES = 64;
const TEXT_BYTES = 8;

export function isHeavy(batch: Batch, count: number, heavy: readonly number[]): boolean {
  if (batch instanceof Chunk) return isHeavyChunk(batch, count, heavy);
  const { columns } = batch;
  let left = BATCH_PARTS;
  for (const c of heavy) {
    const values = columns[c]!;
    for (let r = 0; r < count; r++) {
      left = costLeft(values[r], left);
      if (left < 0) return true;
    }
  }
  return false;
}

/** What a chunk holds as numbers and texts is written without making values, so each row of it costs less. */
function isHeavyChunk(chunk: Chunk, count: number, heavy: readonly number[]): boolean {
  let left = BATCH_PARTS;
  for (const c of heavy) {
    const column = chunk.vectors[c]!;
    if (column.kind === "number") continue;
    if (column.kind === "text")
      left -= (textBytes(column, chunk.selections[c]!, count) + count * TEXT_BYTES) / PART_BYTES;
    else for (let r = 0; r < count && left >= 0; r++) left = costLeft(chunk.value(c, r), left);
    if (left < 0) return true;
  }
  return false;
}

function textBytes({ offsets }: TextColumn, { rows, from }: Selection, count: number): number {
  if (rows === null) return offsets[from + count]! - offsets[from]!;
  let bytes = 0;
  for (let r = 0; r < count; r++) bytes += offsets[rows[r]! + 1]! - offsets[rows[r]!]!;
  return bytes;
}

/** Gives the batch's first rows to `rows`. Their estimated bytes count as memory of the statement. */
export async function appendInTurns(
  rows: Rows,
  batch: Batch,
  count: number,
  turns: Turns,
  statement: StatementState,
): Promise<void> {
  const { heavy, outputs, writesJson } = rows.weight!;
  const { columns } = valuesOfBatch(batch);
  for (let r = 0; r < count; r++) {
    const row: (Value | null)[][] = columns.map((values) => [values[r] ?? null]);
    for (const c of writesJson ? heavy : []) {
      const value = row[c]![0] ?? null;
      if (value === null || costLeft(value, VALUE_PARTS) >= 0) continue;
      row[c] = [(await written(outputs[c]!, value, turns)) as unknown as Value];
    }
    statement.reserve(rows.append({ columns: row as Value[][], length: 1 }, 1));
    const room = rows.room?.();
    if (room !== undefined) {
      statement.hasSent = true;
      await room;
    }
    if (turns.shouldYield()) await turns.yieldTurn();
  }
}

async function written({ type }: OutputColumn, value: Value, turns: Turns): Promise<WrittenJson> {
  const pieces: string[] = [];
  let length = 0;
  for (const piece of jsonPieces(type, value)) {
    pieces.push(flattened(piece));
    length += piece.length;
    if (length > RESULT_BYTES_MAX) throw resultTooLarge();
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  return new WrittenJson(pieces, length);
}
