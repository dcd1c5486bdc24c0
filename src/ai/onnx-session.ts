/**
 * Makes a session of ONNX Runtime from a bundle's files. Called by the runners, in inference threads only, because a
 * run blocks the thread that calls it.
 */
import { InferenceSession } from "onnxruntime-node";
import { readBundleFile } from "./bundle.js";
import { BundleError, type Manifest } from "./manifest.js";

/** Files beside the graph that are no weights of it. */
const NO_WEIGHTS = /[.](json|txt|md|jinja|model)$/;

export interface OpenSession {
  readonly session: InferenceSession;
  /** Of the graph and its weights. */
  readonly bytes: number;
}

/**
 * `threads`: that one run may use. `inputs`: what the caller can give; a pattern, where names are numbered. Throws
 * BundleError, also when the graph wants anything else. `onnx`: one of the bundle's graphs; the main one unless said.
 */
export async function openSession(
  directory: string,
  manifest: Manifest,
  threads: number,
  inputs: RegExp,
  onnx: string | undefined = manifest.onnx,
): Promise<OpenSession> {
  if (onnx === undefined) throw new BundleError("the bundle has no ONNX graph");
  const graph = readBundleFile(directory, manifest, onnx);
  const graphs: ReadonlySet<string | undefined> = new Set([
    onnx,
    manifest.onnx,
    manifest.image?.onnx,
    manifest.speech?.onnx,
  ]);
  const weights = manifest.files.map(({ name }) => name).filter((name) => !graphs.has(name) && !NO_WEIGHTS.test(name));
  const externalData = weights.map((path) => ({ path, data: readBundleFile(directory, manifest, path) }));
  let session: InferenceSession;
  try {
    session = await InferenceSession.create(graph, { externalData, intraOpNumThreads: threads, logSeverityLevel: 3 });
  } catch (error) {
    throw new BundleError(`${onnx} cannot be loaded: ${(error as Error).message}`);
  }
  const unknown = session.inputNames.filter((name) => !inputs.test(name));
  if (unknown.length > 0) {
    await session.release();
    throw new BundleError(`${onnx} needs inputs that a model of this kind does not provide: ${unknown.join(", ")}`);
  }
  return { session, bytes: externalData.reduce((sum, { data }) => sum + data.length, graph.length) };
}
