/**
 * Runs a dual encoder by ONNX Runtime, in an inference thread (runners.ts): a bundle of kind `dual_encoder` has a graph
 * for texts and one for images, whose vectors are in one space, so that a text's are near those of the images that it
 * describes. Radford et al., "Learning transferable visual models from natural language supervision" (CLIP), ICML 2021;
 * models of the same form (SigLIP, …) will do.
 */
import type { InferenceSession } from "onnxruntime-node";
import type { ImageItem } from "../inference-messages.js";
import { BundleError, type Manifest } from "../manifest.js";
import { loadOnnxEncoder, type OnnxEncoder } from "../onnx-encoder.js";
import { openSession } from "../onnx-session.js";
import type { BatchOutput, BatchRunner } from "../runner.js";
import { type ImageFacts, imageFactsOf, PIXEL_INPUTS, pixelTensor } from "./pixels.js";

/** Images of one run: a thread at a run hears nothing. */
const RUN_IMAGES_MAX = 8;

/** Throws BundleError, also when a graph does not give vectors of the manifest's dimensions. */
export async function loadDualEncoder(directory: string, manifest: Manifest, threads: number): Promise<DualEncoder> {
  const facts = imageFactsOf(manifest);
  const texts = await loadOnnxEncoder(directory, manifest, threads);
  try {
    const { session, bytes } = await openSession(directory, manifest, threads, PIXEL_INPUTS, facts.onnx);
    const encoder = new DualEncoder(texts, session, facts, manifest.dimensions!, texts.bytes + bytes);
    await encoder.tryOut();
    return encoder;
  } catch (error) {
    await texts.release();
    throw error;
  }
}

export class DualEncoder implements BatchRunner<string | ImageItem> {
  readonly form = "batch";

  constructor(
    private readonly texts: OnnxEncoder,
    private readonly images: InferenceSession,
    private readonly facts: ImageFacts,
    private readonly dimensions: number,
    readonly bytes: number,
  ) {}

  /** A vector of length 1 per item. */
  async run(items: readonly (string | ImageItem)[]): Promise<BatchOutput> {
    const { dimensions } = this;
    const numbers = new Float32Array(items.length * dimensions);
    const place = (vectors: Float32Array, places: readonly number[]) => {
      for (const [i, at] of places.entries()) {
        numbers.set(vectors.subarray(i * dimensions, (i + 1) * dimensions), at * dimensions);
      }
    };
    const textPlaces = [...items.keys()].filter((i) => typeof items[i] === "string");
    let tokens = 0;
    if (textPlaces.length > 0) {
      const output = await this.texts.run(textPlaces.map((i) => items[i] as string));
      place(output.numbers, textPlaces);
      tokens = output.tokens;
    }
    const imagePlaces = [...items.keys()].filter((i) => typeof items[i] !== "string");
    for (let from = 0; from < imagePlaces.length; from += RUN_IMAGES_MAX) {
      const some = imagePlaces.slice(from, from + RUN_IMAGES_MAX);
      place(await this.encode(some.map((i) => items[i] as ImageItem)), some);
    }
    return { numbers, tokens };
  }

  async release(): Promise<void> {
    await this.texts.release();
    await this.images.release();
  }

  /** Throws BundleError if a graph cannot be run, so that loading reports it. */
  async tryOut(): Promise<void> {
    const { size } = this.facts;
    try {
      await this.run(["a", { width: size, height: size, rgb: new Uint8Array(size * size * 3) }]);
    } catch (error) {
      if (error instanceof BundleError) throw error;
      throw new BundleError(`the model cannot be run: ${(error as Error).message}`);
    }
  }

  private async encode(images: readonly ImageItem[]): Promise<Float32Array> {
    const { images: session, dimensions } = this;
    const outputs = await session.run({ [session.inputNames[0]!]: pixelTensor(images, this.facts) });
    const output = outputs.image_embeds ?? outputs[session.outputNames[0]!]!;
    if (output.type !== "float32" || output.size !== images.length * dimensions) {
      throw new BundleError(`the model gives ${output.type} [${output.dims}], not ${dimensions} numbers per image`);
    }
    const vectors = Float32Array.from(output.data as Float32Array);
    for (let i = 0; i < images.length; i++) toLengthOne(vectors.subarray(i * dimensions, (i + 1) * dimensions));
    return vectors;
  }
}

function toLengthOne(vector: Float32Array): void {
  let square = 0;
  for (const x of vector) square += x * x;
  const scale = square === 0 ? 0 : 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! * scale;
}
