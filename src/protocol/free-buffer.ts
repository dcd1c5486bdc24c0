/**
 * Gives a buffer's memory back at once. Buffers from another thread live outside V8's heap and count towards its next
 * collection. Thousands of them a second cause a full one every few moments, in steps of milliseconds, on a thread that
 * serves everybody.
 */
import { MessageChannel } from "node:worker_threads";

/** What is moved to a port that has been closed is gone. */
const { port1: nowhere } = new MessageChannel();
nowhere.close();

let wanted: { readonly bytes: number; readonly take: (buffer: ArrayBuffer) => void } | null = null;

/** Buffers of that size are taken instead: somebody uses them again. Set once, when the thread starts. */
export function takeFreed(bytes: number, take: (buffer: ArrayBuffer) => void): void {
  wanted = { bytes, take };
}

/** The buffer is detached: views of it have no bytes any more. */
export function freeBuffer(buffer: ArrayBuffer): void {
  if (wanted !== null && buffer.byteLength === wanted.bytes) wanted.take(buffer);
  else nowhere.postMessage(null, [buffer]);
}
