/** Puts batches of rows together, so that a record batch has more rows than a step of a statement gives. Pure. */
import type { ColumnarBatch, ColumnarData } from "./contract.js";

export function joinBatches(batches: readonly ColumnarBatch[]): ColumnarBatch {
  const [first] = batches;
  if (batches.length === 1) return first!;
  const columns = first!.columns.map((_column, c) => joined(batches.map((batch) => batch.columns[c]!)));
  return { rows: batches.reduce((sum, { rows }) => sum + rows, 0), columns };
}

function joined(parts: readonly ColumnarData[]): ColumnarData {
  const [first] = parts;
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  return {
    rows,
    nulls: parts.every(({ nulls }) => nulls === null) ? null : joinedNulls(parts, rows),
    ...(first!.data !== undefined && { data: joinedData(parts.map(({ data }) => data!)) }),
    ...(first!.offsets !== undefined && { offsets: joinedOffsets(parts, rows) }),
    ...(first!.children !== undefined && {
      children: first!.children.map((_child, i) => joined(parts.map(({ children }) => children![i]!))),
    }),
  };
}

function joinedNulls(parts: readonly ColumnarData[], rows: number): Uint8Array {
  const all = new Uint8Array(rows);
  let at = 0;
  for (const { nulls, rows: count } of parts) {
    if (nulls !== null) all.set(nulls, at);
    at += count;
  }
  return all;
}

type Numbers = NonNullable<ColumnarData["data"]>;

function joinedData(parts: readonly Numbers[]): Numbers {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const all = new (parts[0]!.constructor as new (length: number) => Numbers)(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function joinedOffsets(parts: readonly ColumnarData[], rows: number): Int32Array {
  const all = new Int32Array(rows + 1);
  let row = 0;
  let before = 0;
  for (const { offsets, rows: count } of parts) {
    for (let r = 1; r <= count; r++) all[row + r] = before + offsets![r]!;
    row += count;
    before += offsets![count]!;
  }
  return all;
}
