/**
 * Entry of an inference thread: runs models for one actor, which owns it (src/ai/inference-lane.ts). ONNX Runtime computes
 * on the thread that calls it, so a run here stops nothing but this thread. Sessions are made when they are first wanted
 * and released when nobody asks for a while; the thread ends only with none at work, since ONNX Runtime aborts the
 * process otherwise.
 */
import { type MessagePort, parentPort } from "node:worker_threads";
import { findBundle } from "../src/ai/bundle.js";
import type { FromInference, InferenceSettings, ToInference } from "../src/ai/inference-messages.js";
import { BundleError } from "../src/ai/manifest.js";
import { OnnxEncoder } from "../src/ai/onnx-encoder.js";

interface Loaded {
  readonly encoder: OnnxEncoder;
  usedMs: number;
}

let settings: InferenceSettings = { runThreads: 1, idleMs: 60_000 };
const encoders = new Map<string, Loaded>();
/** Work is done in order, one piece at a time. */
let last: Promise<void> = Promise.resolve();
let sweeper: NodeJS.Timeout | null = null;

async function load(directory: string): Promise<OnnxEncoder> {
  const found = findBundle(directory);
  if (found === null) throw new BundleError("its manifest is missing");
  if (found.manifest === null) throw new BundleError(found.problem ?? "its manifest cannot be read");
  return OnnxEncoder.load(directory, found.manifest, settings.runThreads);
}

async function embed(port: MessagePort, directory: string, texts: readonly string[]): Promise<void> {
  const say = (message: FromInference, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
  try {
    let loaded = encoders.get(directory);
    if (loaded === undefined) {
      loaded = { encoder: await load(directory), usedMs: 0 };
      encoders.set(directory, loaded);
    }
    loaded.usedMs = performance.now();
    const { vectors, tokens } = await loaded.encoder.encode(texts);
    say({ kind: "embedded", vectors, tokens }, [vectors.buffer as ArrayBuffer]);
  } catch (error) {
    say({ kind: "failed", message: (error as Error).message, unusable: error instanceof BundleError });
  }
}

async function release(isIdle: (loaded: Loaded) => boolean): Promise<void> {
  for (const [directory, loaded] of encoders) {
    if (!isIdle(loaded)) continue;
    encoders.delete(directory);
    await loaded.encoder.release();
  }
}

/** Nothing is under way any more when the port closes and the thread ends. */
function end(port: MessagePort): void {
  if (sweeper !== null) clearInterval(sweeper);
  last = last.then(() => release(() => true)).then(() => port.close());
}

function heard(port: MessagePort, message: ToInference): void {
  switch (message.kind) {
    case "settings": {
      settings = message.settings;
      const sweep = () => release(({ usedMs }) => performance.now() - usedMs > settings.idleMs);
      sweeper = setInterval(() => {
        last = last.then(sweep);
      }, settings.idleMs / 2).unref();
      break;
    }
    case "embed":
      last = last.then(() => embed(port, message.directory, message.texts));
      break;
    case "close":
      end(port);
      break;
  }
}

parentPort!.once("message", (port: MessagePort) => {
  port.on("message", (message: ToInference) => heard(port, message));
  // The actor has ended.
  port.on("close", () => end(port));
});
