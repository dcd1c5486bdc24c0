/** Training as a task thread runs it: hooks become messages on a port and a word that others set. No state. */
import type { TrainedModel, TrainMessage, TrainRequest } from "./contract.js";
import { trainJob } from "./train-job.js";

/** Blocks its thread. Throws `invalid_request` for a job that cannot be trained, `cancelled` when it was stopped. */
export function train({ job, port, stopped, checkpoints = [] }: TrainRequest): TrainedModel {
  const post = (message: TrainMessage) => port?.postMessage(message);
  return trainJob(job, {
    progress: (progress) => post({ kind: "progress", ...progress }),
    checkpoint: (bytes) => post({ kind: "checkpoint", bytes }),
    checkpoints,
    ...(stopped === undefined ? {} : { stopped: new Int32Array(stopped) }),
  });
}
