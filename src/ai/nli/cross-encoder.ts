/**
 * Runs a cross-encoder by ONNX Runtime, in an inference thread (runners.ts). A bundle of kind `nli` classifies how a
 * premise relates to a hypothesis. Any model of that form works, whatever its tokenizer, the order of its labels and
 * the inputs of its graph. Pairs of about the same length share a run.
 */
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { NLI_WINDOW_TOKENS } from "../../protocol/limits.js";
import { readBundleFile } from "../bundle.js";
import type { TextPair } from "../inference-messages.js";
import { BundleError, type Manifest } from "../manifest.js";
import { openSession } from "../onnx-session.js";
import type { BatchOutput, BatchRunner } from "../runner.js";
import { labelPlaces, NLI_LABELS } from "./labels.js";
import { type EncodedPair, PairTokenizer } from "./pair-tokenizer.js";

/**
 * Tokens, padding included, of one run: eight pairs that fill a window of 512. Attention takes memory by their squares.
 */
const RUN_TOKENS_MAX = 4096;
/** A pair joins a run whose longest has at most this many times its tokens. */
const PADDING_MAX = 1.5;

const INPUTS = /^(input_ids|attention_mask|token_type_ids)$/;

/** Throws BundleError, also if the graph cannot be run: loading reports that, not the first request. */
export async function loadCrossEncoder(directory: string, manifest: Manifest, threads: number): Promise<CrossEncoder> {
  const places = labelPlaces(manifest.labels);
  if (manifest.judged_by_words === true && places.length === NLI_LABELS.length) {
    throw new BundleError("the manifest has judged_by_words, which needs a model with the label unrelated");
  }
  const { session, bytes } = await openSession(directory, manifest, threads, INPUTS);
  try {
    const json = readBundleFile(directory, manifest, manifest.tokenizer).toString();
    const encoder = new CrossEncoder(
      session,
      new PairTokenizer(json, Math.min(manifest.max_length, NLI_WINDOW_TOKENS)),
      places,
      bytes,
    );
    await encoder.tryOut();
    return encoder;
  } catch (error) {
    await session.release();
    throw error;
  }
}

export class CrossEncoder implements BatchRunner<TextPair> {
  readonly form = "batch";

  constructor(
    private readonly session: InferenceSession,
    private readonly tokenizer: PairTokenizer,
    /** Where the outputs have contradiction, entailment, neutral and, if the bundle tells it, unrelated. */
    private readonly places: readonly number[],
    readonly bytes: number,
  ) {}

  /** How many outputs a pair has: three or four. */
  get width(): number {
    return this.places.length;
  }

  /** The model's outputs (logits) of each pair, in the order of labels.ts. */
  async run(pairs: readonly TextPair[]): Promise<BatchOutput> {
    const encoded = this.tokenizer.encode(pairs);
    const numbers = new Float32Array(pairs.length * this.width);
    for (const run of runsOf(encoded)) await this.encode(run, encoded, numbers);
    return { numbers, tokens: encoded.reduce((sum, { ids }) => sum + ids.length, 0) };
  }

  release(): Promise<void> {
    return this.session.release();
  }

  /** Throws BundleError when the model does not give a number for each label. */
  async tryOut(): Promise<void> {
    let output: BatchOutput;
    try {
      output = await this.run([{ premise: "a", hypothesis: "b" }]);
    } catch (error) {
      if (error instanceof BundleError) throw error;
      throw new BundleError(`the model cannot be run: ${(error as Error).message}`);
    }
    if (!output.numbers.every(Number.isFinite)) throw new BundleError(`the model gives ${output.numbers.join(", ")}`);
  }

  private async encode(run: readonly number[], pairs: readonly EncodedPair[], numbers: Float32Array): Promise<void> {
    const { session, places } = this;
    const { length } = pairs[run[0]!]!.ids;
    const shape = [run.length, length];
    // Behind the shorter ones stand zeros, which the mask hides, whatever token that is.
    const ids = new BigInt64Array(run.length * length);
    const mask = new BigInt64Array(run.length * length);
    const types = new BigInt64Array(run.length * length);
    for (const [row, pair] of run.entries()) {
      const { ids: own, types: ownTypes } = pairs[pair]!;
      for (let i = 0; i < own.length; i++) {
        ids[row * length + i] = BigInt(own[i]!);
        mask[row * length + i] = 1n;
        types[row * length + i] = BigInt(ownTypes[i]!);
      }
    }
    const tensors: Readonly<Record<string, () => Tensor>> = {
      input_ids: () => new Tensor("int64", ids, shape),
      attention_mask: () => new Tensor("int64", mask, shape),
      token_type_ids: () => new Tensor("int64", types, shape),
    };
    const outputs = await session.run(Object.fromEntries(session.inputNames.map((name) => [name, tensors[name]!()])));
    const output = outputs.logits ?? outputs[session.outputNames[0]!]!;
    const { width } = this;
    if (output.type !== "float32" || output.size !== run.length * width) {
      throw new BundleError(`the model gives ${output.type} [${output.dims}], not ${width} numbers per pair`);
    }
    const logits = output.data as Float32Array;
    for (const [row, pair] of run.entries()) {
      for (const [label, place] of places.entries()) numbers[pair * width + label] = logits[row * width + place]!;
    }
  }
}

/** Numbers of pairs, those of a run together; the first of each is its longest. */
function runsOf(pairs: readonly EncodedPair[]): number[][] {
  const order = pairs.map((_, pair) => pair).sort((a, b) => pairs[b]!.ids.length - pairs[a]!.ids.length);
  const runs: number[][] = [];
  let longest = 0;
  for (const pair of order) {
    const { length } = pairs[pair]!.ids;
    const last = runs.at(-1);
    const fits = last !== undefined && (last.length + 1) * longest <= RUN_TOKENS_MAX && length * PADDING_MAX >= longest;
    if (fits) last.push(pair);
    else {
      runs.push([pair]);
      longest = length;
    }
  }
  return runs;
}
