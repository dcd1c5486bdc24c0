/** An inference thread (workers/inference.ts). Started by serve.ts when an actor asks for one. */
import { type MessagePort, Worker } from "node:worker_threads";
import { threadEntry } from "./protocol/places.js";

/** `port`: to its actor. `failed`: it threw, and has ended. */
export function startInferenceThread(port: MessagePort, failed: (error: Error) => void): void {
  const worker = new Worker(threadEntry("inference"));
  worker.on("error", failed);
  worker.postMessage(port, [port]);
}
