/**
 * Gives memory back at once. V8 gives back what is beside its heap when it collects garbage, and it collects, in steps
 * of milliseconds, when there is much of it: which is so in a long stream of pieces that leave nothing else behind.
 */
import { MessageChannel } from "node:worker_threads";

/** What is moved to a port that has been closed is gone. */
const { port1: nowhere } = new MessageChannel();
nowhere.close();

/** Nobody may look at it afterwards: all views of it become empty. */
export function freeMemory(memory: ArrayBuffer): void {
  nowhere.postMessage(null, [memory]);
}
