/**
 * Training and prediction on threads of their own (workers/model-tasks.ts): a training waits for a free one before its
 * data are read, and predictions do not wait behind trainings, nor signing in behind either.
 */

import type { ErrorCode, ErrorDetails } from "../protocol/errors.js";
import type { Forecast, Predictions, TrainedModel, TrainJob, TrainMessage } from "./contract.js";
import type { PackedColumn } from "./packed-columns.js";

export interface Training {
  readonly spec: Omit<TrainJob, "columns">;
  /** Their buffers are moved. */
  readonly columns: readonly PackedColumn[];
  readonly checkpoints: readonly Uint8Array[];
  /** Rejects with `cancelled` soon after it fires. */
  readonly signal: AbortSignal;
  /** Told of progress, and of checkpoints to be kept. */
  readonly hear: (message: TrainMessage) => void;
}

/** A model as it is passed to a task thread; threads keep the latest ones by their digests. */
export interface ModelBytes {
  readonly digest: string;
  /** On shared memory, so that nothing is copied. */
  readonly bytes: Uint8Array;
}

export interface ModelTasks {
  /** Resolves when a training may begin; call what it answers when it has ended. Rejects when `signal` fires before. */
  trainingSlot(signal: AbortSignal): Promise<() => void>;
  /** Rejects with the training's own DbError. */
  train(training: Training): Promise<TrainedModel>;
  /** Each rejects with the model's own DbError. */
  predict(model: ModelBytes, columns: readonly PackedColumn[], explain: boolean): Promise<Predictions>;
  evaluate(model: ModelBytes, columns: readonly PackedColumn[]): Promise<Readonly<Record<string, number>>>;
  forecast(model: ModelBytes, steps: number | undefined): Promise<Forecast>;
}

/** What a task answers whose errors are for the client: they lose their class on the way. */
export interface Told<T> {
  readonly result: T | null;
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails } | null;
}
