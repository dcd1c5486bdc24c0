/** What a scan's conditions become in one segment: kernels, and conditions that are asked row by row. */
import type { ExecContext } from "../context.js";
import type { Column } from "./column.js";
import type { Kernel } from "./kernel.js";
import type { WantedKeys } from "./key-set.js";
import { answersKernel, computedKernel, pairKernel } from "./row-kernels.js";
import type { Conjunct } from "./segment-scan-program.js";
import { containing } from "./text-kernels.js";
import { addTest, entriesKernel, type NumberTest, numberKernel } from "./vector-filter.js";

export interface SegmentFilter {
  readonly kernels: readonly Kernel[];
  readonly rest: readonly Conjunct[];
}

/** Null: no row passes. `wanted` keys come first: they leave most rows out. */
export function segmentFilterOf(
  conjuncts: readonly Conjunct[],
  wanted: readonly WantedKeys[],
  vectors: readonly Column[],
  context: ExecContext,
): SegmentFilter | null {
  const kernels: Kernel[] = [];
  for (const { slot, keys } of wanted) {
    const kernel = keys.kernel(vectors[slot]!);
    if (kernel === "none") return null;
    if (kernel !== null) kernels.push(kernel);
  }
  const later: Kernel[] = [];
  const rest: Conjunct[] = [];
  const tests = new Map<number, NumberTest[]>();
  for (const conjunct of conjuncts) {
    const { test, slot } = conjunct;
    const vector = vectors[slot];
    const kernel = test === null || vector === undefined ? null : entriesKernel(test, vector, context);
    if (kernel === "none") return null;
    if (kernel === "all") continue;
    if (kernel !== null) {
      kernels.push(kernel);
      continue;
    }
    if (test?.parts != null && vector?.kind === "encoded") {
      for (const part of test.parts(context)) kernels.push(containing(vector.payloads, part, false));
    }
    const number = test !== null && vector?.kind === "number" ? (test.bounds?.(vector, context) ?? null) : null;
    if (number === null) {
      const last = lastKernel(conjunct, vectors, context);
      if (last !== null) later.push(last);
      else if (!conjunct.isImplied) rest.push(conjunct);
    } else addTest(tests, slot, number);
  }
  for (const [slot, list] of tests) {
    for (const test of list) {
      const vector = vectors[slot]!;
      if (vector.kind !== "number") continue;
      const kernel = numberKernel(vector, test);
      if (kernel === "none") return null;
      if (kernel !== "all") kernels.push(kernel);
    }
  }
  return { kernels: [...kernels, ...later], rest };
}

/** A kernel that is slower than the others; null: the predicate is asked row by row. */
function lastKernel(
  { pair, computed, slots, predicate }: Conjunct,
  vectors: readonly Column[],
  context: ExecContext,
): Kernel | null {
  if (pair !== null) return pairKernel(pair, vectors);
  const kernel = computed === null ? null : computedKernel(computed, vectors);
  if (kernel !== null) return kernel;
  return slots.length === 1 ? answersKernel(vectors[slots[0]!]!, slots[0]!, predicate, context) : null;
}
