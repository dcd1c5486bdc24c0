/**
 * Gives a buffer's memory back at once. Buffers from another thread live outside V8's heap and count towards its next
 * collection. Thousands of them a second cause a full one every few moments, in steps of milliseconds, on a thread that
 * serves everybody.
 */
import { MessageChannel } from "node:worker_threads";

/** What is moved to a port that has been closed is gone. */
const { port1: nowhere } = new MessageChannel();
nowhere.close();

/** The buffer is detached: views of it have no bytes any more. */
export function freeBuffer(buffer: ArrayBuffer): void {
  nowhere.postMessage(null, [buffer]);
}
