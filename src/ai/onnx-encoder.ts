/**
 * Runs an embedding model by ONNX Runtime. Its `run` blocks the calling thread whatever the promise says, so it
 * belongs in an inference thread (workers/inference.ts), which owns it. Texts of about the same length share a run.
 */
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { readBundleFile } from "./bundle.js";
import { BundleError, type Manifest } from "./manifest.js";
import { openSession } from "./onnx-session.js";
import type { BatchOutput, BatchRunner } from "./runner.js";
import { TextTokenizer } from "./text-tokenizer.js";

/** Tokens, padding included, of one run: no more, since a thread at a run hears nothing. */
const RUN_TOKENS_MAX = 8192;
/** A text joins a run whose longest has at most this many times its tokens. */
const PADDING_MAX = 2;

const INPUTS = /^(input_ids|attention_mask|token_type_ids)$/;

/** Throws BundleError. */
export async function loadOnnxEncoder(directory: string, manifest: Manifest, threads: number): Promise<OnnxEncoder> {
  const { dimensions, tokenizer: file, max_length } = manifest;
  if (dimensions === undefined) throw new BundleError("the bundle has no ONNX encoder");
  const { session, bytes } = await openSession(directory, manifest, threads, INPUTS);
  try {
    const tokenizer = new TextTokenizer(readBundleFile(directory, manifest, file).toString(), max_length);
    return new OnnxEncoder(session, tokenizer, manifest, dimensions, bytes);
  } catch (error) {
    await session.release();
    throw error;
  }
}

export class OnnxEncoder implements BatchRunner<string> {
  readonly form = "batch";

  constructor(
    private readonly session: InferenceSession,
    private readonly tokenizer: TextTokenizer,
    private readonly manifest: Manifest,
    private readonly dimensions: number,
    readonly bytes: number,
  ) {}

  /** A vector of length 1 per text. */
  async run(texts: readonly string[]): Promise<BatchOutput> {
    const { tokenizer, dimensions, manifest } = this;
    const special = manifest.special_tokens === true;
    const ids = texts.map((text) => tokenizer.ids(text, special));
    const vectors = new Float32Array(texts.length * dimensions);
    for (const run of runsOf(ids)) await this.encode(run, ids, vectors);
    return { numbers: vectors, tokens: ids.reduce((sum, { length }) => sum + length, 0) };
  }

  release(): Promise<void> {
    return this.session.release();
  }

  private async encode(
    run: readonly number[],
    ids: readonly (readonly number[])[],
    vectors: Float32Array,
  ): Promise<void> {
    const { session, dimensions } = this;
    const length = Math.max(1, ids[run[0]!]!.length);
    const shape = [run.length, length];
    const inputIds = new BigInt64Array(run.length * length);
    const mask = new BigInt64Array(run.length * length);
    for (const [row, text] of run.entries()) {
      const own = ids[text]!.length > 0 ? ids[text]! : [this.manifest.unknown ?? 0];
      for (const [i, id] of own.entries()) {
        inputIds[row * length + i] = BigInt(id);
        mask[row * length + i] = 1n;
      }
    }
    const tensors: Readonly<Record<string, () => Tensor>> = {
      input_ids: () => new Tensor("int64", inputIds, shape),
      attention_mask: () => new Tensor("int64", mask, shape),
      token_type_ids: () => new Tensor("int64", new BigInt64Array(run.length * length), shape),
    };
    const outputs = await session.run(Object.fromEntries(session.inputNames.map((name) => [name, tensors[name]!()])));
    const output = outputs.sentence_embedding ?? outputs.text_embeds ?? outputs[session.outputNames[0]!]!;
    const perText = output.dims.length === 2 ? 1 : length;
    if (output.type !== "float32" || output.size !== run.length * perText * dimensions) {
      throw new BundleError(`the model gives ${output.type} [${output.dims}], not ${dimensions} numbers per text`);
    }
    const pooled = this.manifest.pooling === "cls" ? 1 : perText;
    for (const [row, text] of run.entries()) {
      const rows = (output.data as Float32Array).subarray(row * perText * dimensions);
      const used = Math.min(pooled, Math.max(1, ids[text]!.length));
      meanInto(vectors.subarray(text * dimensions, (text + 1) * dimensions), rows, used);
    }
  }
}

/** Numbers of texts, those of a run together; the first of each is its longest. */
function runsOf(ids: readonly (readonly number[])[]): number[][] {
  const order = ids.map((_, text) => text).sort((a, b) => ids[b]!.length - ids[a]!.length);
  const runs: number[][] = [];
  let longest = 0;
  for (const text of order) {
    const { length } = ids[text]!;
    const last = runs.at(-1);
    const fits = last !== undefined && (last.length + 1) * longest <= RUN_TOKENS_MAX && length * PADDING_MAX >= longest;
    if (fits) last.push(text);
    else {
      runs.push([text]);
      longest = length;
    }
  }
  return runs;
}

/** The normalised mean of the first `count` rows. */
function meanInto(out: Float32Array, rows: Float32Array, count: number): void {
  const { length } = out;
  let square = 0;
  for (let i = 0; i < length; i++) {
    let sum = 0;
    for (let row = 0; row < count; row++) sum += rows[row * length + i]!;
    out[i] = sum;
    square += sum * sum;
  }
  const scale = square === 0 ? 0 : 1 / Math.sqrt(square);
  for (let i = 0; i < length; i++) out[i] = out[i]! * scale;
}
