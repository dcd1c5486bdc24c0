/** The models of a folder, with a real inference thread beside. */
import type { Test } from "tap";
import { Models } from "../../src/ai/models.js";
import { startInferenceThread } from "../../src/inference-thread.js";
import { connectInference } from "../../workers/connect-inference.js";

export function modelsAt(t: Test, folder: string): Models {
  const start = () => connectInference((port) => startInferenceThread(port, (error) => t.fail(error.message)));
  const inference = {
    start,
    runThreads: 1,
    idleMs: 1000,
    sessionsMax: 4,
    bytesMax: 1e9,
    waitingMax: 4096,
    generationsMax: 4,
  };
  const models = new Models({ roots: [folder], embeddingModel: "none", warn: () => undefined, inference });
  t.teardown(() => models.close());
  return models;
}
