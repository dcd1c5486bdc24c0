/**
 * Runs one bundle in an inference thread (runner-pool.ts loads and releases it, workers/inference.ts gives it work).
 * ONNX Runtime computes on the thread that calls it, whatever its promise says. Between two of its runs the thread
 * handles messages and others get their turn. So a runner with long work does it in several runs.
 */
import type { BatchItem, GenerationEnd, GenerationRequest } from "./inference-messages.js";
import type { Manifest } from "./manifest.js";

/** As many numbers for each item, one item's after the other's. */
export interface BatchOutput {
  readonly numbers: Float32Array;
  /** That were read, without padding. */
  readonly tokens: number;
}

/** Gives numbers for each of some items (a vector per text, a probability per label for each pair), many in one run. */
export interface BatchRunner<Item extends BatchItem = BatchItem> {
  readonly form: "batch";
  /** Memory that it holds, about. */
  readonly bytes: number;
  /** Never called while another call is under way. Throws BundleError if the bundle does not match its manifest. */
  run(items: readonly Item[]): Promise<BatchOutput>;
  /** Not while a run is under way. */
  release(): Promise<void>;
}

/** Gives a text piece by piece. */
export interface StreamRunner {
  readonly form: "stream";
  readonly bytes: number;
  /**
   * Several calls may be under way. `say` hands out a piece of text; once `signal` fires the run ends soon, with
   * `cancelled`.
   */
  run(request: GenerationRequest, say: (text: string) => void, signal: AbortSignal): Promise<GenerationEnd>;
  release(): Promise<void>;
}

export type Runner = BatchRunner | StreamRunner;

/** `threads`: that one run may use. Reads files by readBundleFile only, so they are checked. Throws BundleError. */
export type LoadRunner = (directory: string, manifest: Manifest, threads: number) => Promise<Runner>;
