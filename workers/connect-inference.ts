/**
 * An actor's end of its inference thread: a port, which closes when that thread ends, as the thread's own end does when
 * the actor's does. Called by workers/actor.ts and by tests.
 */
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { FromInference, InferenceThread, ToInference } from "../src/ai/inference-messages.js";

/** `ask` has the thread started with the other end of the port. */
export function connectInference(ask: (port: MessagePort) => void): InferenceThread {
  const { port1, port2 } = new MessageChannel();
  const thread: InferenceThread = {
    post: (message: ToInference) => port1.postMessage(message),
    onMessage: () => undefined,
    onEnd: () => undefined,
  };
  port1.on("message", (message: FromInference) => thread.onMessage(message));
  port1.on("close", () => thread.onEnd());
  ask(port2);
  return thread;
}
