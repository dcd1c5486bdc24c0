/** From what size a commit is large (large-commit.ts), and how much of it is taken at a time. */
import type { LayeredEngine } from "./layered-engine.js";

/** Sizes that tests make small. */
export interface LargeCommitSizes {
  /** Writes, or bytes of them, from which on a commit is large. */
  readonly operations: number;
  readonly bytes: number;
  /** What goes into the log, and later into the engine, at a time. */
  readonly stepOperations: number;
  readonly stepBytes: number;
}

export const LARGE_COMMIT_SIZES: LargeCommitSizes = {
  operations: 1024,
  bytes: 1024 * 1024,
  stepOperations: 256,
  stepBytes: 128 * 1024,
};

/** Those for commits of the tenant whose key it is: smaller where each operation takes the engine longer. */
export function sizesFor(
  key: Uint8Array | undefined,
  sizes: LargeCommitSizes,
  layers: Pick<LayeredEngine, "workOf"> | null,
): LargeCommitSizes {
  const work = key === undefined ? 1 : (layers?.workOf(key) ?? 1);
  if (work === 1) return sizes;
  const less = (size: number): number => Math.max(1, Math.floor(size / work));
  return {
    operations: less(sizes.operations),
    bytes: less(sizes.bytes),
    stepOperations: less(sizes.stepOperations),
    stepBytes: less(sizes.stepBytes),
  };
}
