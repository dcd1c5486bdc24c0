/** Whether two systems gave the same answer: numbers by value within a tolerance, everything else by its text. */
import type { Cell } from "./side.js";

type Rows = readonly (readonly Cell[])[];

/** Null, or what is different. Rows that the query leaves unordered may come in any order. */
export function difference(ours: Rows, theirs: Rows, tolerance: number): string | null {
  if (ours.length !== theirs.length) return `${ours.length} rows instead of ${theirs.length}`;
  const inOrder = firstDifference(ours, theirs, tolerance);
  if (inOrder === null) return null;
  return firstDifference(sorted(ours), sorted(theirs), tolerance) === null ? null : inOrder;
}

function firstDifference(ours: Rows, theirs: Rows, tolerance: number): string | null {
  for (let r = 0; r < ours.length; r++) {
    const same =
      ours[r]!.length === theirs[r]!.length && ours[r]!.every((cell, c) => equal(cell, theirs[r]![c]!, tolerance));
    if (!same) return `row ${r + 1}: ${JSON.stringify(ours[r])} instead of ${JSON.stringify(theirs[r])}`;
  }
  return null;
}

function equal(a: Cell, b: Cell, tolerance: number): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.trim() === "" || b.trim() === "") return false;
  const [x, y] = [Number(a), Number(b)];
  return Math.abs(x - y) <= tolerance * Math.max(1, Math.abs(x), Math.abs(y));
}

function sorted(rows: Rows): Rows {
  return rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
