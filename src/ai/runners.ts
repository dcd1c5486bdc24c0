/**
 * The runner for each kind of bundle. Called by runner-pool.ts; each is loaded with the first bundle of its kind.
 */
import { BundleError, type Manifest } from "./manifest.js";
import type { LoadRunner, Runner } from "./runner.js";

const LOADERS: Readonly<Partial<Record<Manifest["kind"], () => Promise<LoadRunner>>>> = {
  generation: async () => (await import("./generation/decoder.js")).loadDecoder,
  embedding: async () => (await import("./onnx-encoder.js")).loadOnnxEncoder,
  dual_encoder: async () => (await import("./vision/dual-encoder.js")).loadDualEncoder,
  vision: async () => (await import("./vision/captioner.js")).loadCaptioner,
  speech: async () => (await import("./speech/transcriber.js")).loadTranscriber,
  nli: async () => (await import("./nli/cross-encoder.js")).loadCrossEncoder,
};

/** Throws BundleError. */
export async function loadRunner(directory: string, manifest: Manifest, threads: number): Promise<Runner> {
  const loader = LOADERS[manifest.kind];
  if (loader === undefined) throw new BundleError(`this server does not run models of the kind ${manifest.kind}`);
  const load = await loader();
  return load(directory, manifest, threads);
}
