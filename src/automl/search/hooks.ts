/** The callbacks of a running training: they report its progress and tell it to stop. Made by train.ts. */
import { DbError } from "../../protocol/errors.js";
import type { TrainProgress } from "../contract.js";

export interface Hooks {
  readonly progress?: (progress: TrainProgress) => void;
  /** Finished work, to be given back as `checkpoints` when the same job runs again. */
  readonly checkpoint?: (bytes: Uint8Array) => void;
  readonly checkpoints?: readonly Uint8Array[];
  /** The first word is not 0 any more when training is to end. */
  readonly stopped?: Int32Array;
  /** Milliseconds; for tests. */
  readonly now?: () => number;
}

export function stopCheck({ stopped }: Hooks): () => void {
  return () => {
    if (stopped !== undefined && Atomics.load(stopped, 0) !== 0)
      throw new DbError("cancelled", "The training was stopped.");
  };
}
