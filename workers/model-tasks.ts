/**
 * Training and prediction for an actor: trainings on threads of their own whose priority is lower than all others', so
 * that they take what processor time is left; predictions on one more. Called by workers/actor.ts.
 */
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { TrainMessage } from "../src/automl/contract.js";
import type { ModelTasks, Told } from "../src/automl/model-tasks.js";
import { buffersOf } from "../src/automl/packed-columns.js";
import { DbError } from "../src/protocol/errors.js";
import { Slots } from "./slots.js";
import { type TaskPool, taskPool } from "./task-pool.js";

/** On Linux the thread's alone; 19 is the most. */
const NICE = 10;
/** Predictions that may wait, of all tenants of the actor. */
const PREDICTIONS_WAITING_MAX = 256;

export interface ModelPools {
  readonly models: ModelTasks;
  /** Ends what runs. */
  end(): Promise<void>;
}

export function modelTasks(threads: number): ModelPools {
  const slots = new Slots(threads);
  const training = taskPool({ name: "training", threads, waitingMax: threads, niceIncrement: NICE });
  const predicting = taskPool({ name: "prediction", threads: 1, waitingMax: PREDICTIONS_WAITING_MAX });
  return {
    models: {
      trainingSlot: (signal) => slots.take(signal),
      train: (job) => train(training, job),
      predict: async (model, columns, explain) =>
        known(await predicting.run("predictPacked", { model, columns, explain }, buffersOf(columns))),
      evaluate: async (model, columns) =>
        known(await predicting.run("evaluatePacked", { model, columns }, buffersOf(columns))),
      forecast: async (model, steps) => known(await predicting.run("forecastPacked", { model, steps: steps ?? null })),
    },
    end: async () => {
      await Promise.all([training.end(), predicting.end()]);
    },
  };
}

type TrainJob = Parameters<ModelTasks["train"]>[0];

async function train(pool: TaskPool, { spec, columns, checkpoints, signal, hear }: TrainJob) {
  const { port1, port2 } = new MessageChannel();
  const stopped = new SharedArrayBuffer(4);
  const stop = (): void => void Atomics.store(new Int32Array(stopped), 0, 1);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  port1.on("message", (message: TrainMessage) => hear(message));
  try {
    const job = { spec, columns: columns.length, checkpoints, stopped, port: port2 };
    const [trained] = await Promise.all([pool.run("trainPacked", job, [port2]), post(port1, columns)]);
    return known(trained);
  } finally {
    signal.removeEventListener("abort", stop);
    port1.close();
  }
}

/** One at a time, since a message takes its time by the number of its buffers. */
async function post(port: MessagePort, columns: TrainJob["columns"]): Promise<void> {
  for (const column of columns) {
    port.postMessage(column, buffersOf([column]));
    await new Promise(setImmediate);
  }
}

/** Errors lose their class on the way. */
function known<T>({ result, error }: Told<T>): T {
  if (error === null) return result as T;
  throw new DbError(error.code, error.message, error.details);
}
