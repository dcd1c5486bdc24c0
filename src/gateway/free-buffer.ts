/**
 * Gives a buffer's memory back at once. Buffers from another thread live outside V8's heap and count towards its next
 * full collection. Thousands of them a second cause one every few moments, over the whole heap, on the thread that
 * serves everybody.
 */
import { MessageChannel } from "node:worker_threads";

const { port1: nowhere } = new MessageChannel();
nowhere.close();

/** The buffer is detached: views of it have no bytes any more. */
export function freeBuffer(buffer: ArrayBuffer): void {
  nowhere.postMessage(null, [buffer]);
}
