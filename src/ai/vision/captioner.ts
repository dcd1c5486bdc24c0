/**
 * Runs a model that describes images by ONNX Runtime, in an inference thread (runners.ts): a bundle of kind `vision`
 * has a graph that makes vectors of an image's patches and one that writes a text while it looks at them. Vinyals et
 * al., "Show and tell", CVPR 2015; Li et al., "TrOCR", AAAI 2023 (the form of Hugging Face's VisionEncoderDecoder).
 * Texts are short, so each token reads the text again and no cache is kept.
 */
import { Tokenizer } from "@huggingface/tokenizers";
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { readBundleFile } from "../bundle.js";
import { Sampler } from "../generation/sampler.js";
import { TextOutput } from "../generation/text-output.js";
import type { GenerationEnd, GenerationRequest } from "../inference-messages.js";
import { BundleError, type Manifest } from "../manifest.js";
import { openSession } from "../onnx-session.js";
import type { StreamRunner } from "../runner.js";
import { type ImageFacts, imageFactsOf, PIXEL_INPUTS, pixelTensor } from "./pixels.js";

const INPUTS = /^(input_ids|attention_mask|encoder_hidden_states|encoder_attention_mask)$/;

/** Throws BundleError. */
export async function loadCaptioner(directory: string, manifest: Manifest, threads: number): Promise<Captioner> {
  const facts = imageFactsOf(manifest);
  const { start_token_id: start, eos_token_ids: ends = [] } = manifest.generation ?? {};
  if (start === undefined || ends.length === 0) {
    throw new BundleError("manifest.json: generation needs start_token_id and eos_token_ids");
  }
  const eyes = await openSession(directory, manifest, threads, PIXEL_INPUTS, facts.onnx);
  try {
    const mouth = await openSession(directory, manifest, threads, INPUTS);
    const tokenizer = new Tokenizer(JSON.parse(readBundleFile(directory, manifest, manifest.tokenizer).toString()), {});
    return new Captioner(eyes.session, mouth.session, tokenizer, manifest, facts, eyes.bytes + mouth.bytes);
  } catch (error) {
    await eyes.session.release();
    throw error instanceof BundleError
      ? error
      : new BundleError(`the tokenizer cannot be used: ${(error as Error).message}`);
  }
}

export class Captioner implements StreamRunner {
  readonly form = "stream";
  private readonly start: number;
  private readonly ends: ReadonlySet<number>;

  constructor(
    private readonly eyes: InferenceSession,
    private readonly mouth: InferenceSession,
    private readonly tokenizer: Tokenizer,
    private readonly manifest: Manifest,
    private readonly facts: ImageFacts,
    readonly bytes: number,
  ) {
    this.start = manifest.generation!.start_token_id!;
    this.ends = new Set(manifest.generation!.eos_token_ids);
  }

  async run(request: GenerationRequest, say: (text: string) => void, signal: AbortSignal): Promise<GenerationEnd> {
    if (request.image === undefined) throw new Error("the model describes images, and was given none");
    const { eyes, tokenizer } = this;
    const seen = await eyes.run({ [eyes.inputNames[0]!]: pixelTensor([request.image], this.facts) });
    const patches = seen.last_hidden_state ?? seen[eyes.outputNames[0]!]!;
    const ids = [this.start, ...this.promptOf(request)];
    const inputTokens = ids.length;
    const { temperature, topP, topK = 0, seed } = request;
    const sampler = new Sampler({ temperature, topP, topK, seed });
    const decode = (some: readonly number[]) =>
      some.length === 0
        ? ""
        : tokenizer.decode([...some], { skip_special_tokens: true, clean_up_tokenization_spaces: false });
    const output = new TextOutput(decode, request.stop);
    const tokensMax = Math.min(request.tokensMax, this.manifest.max_length - ids.length);
    let reason: GenerationEnd["reason"] = "length";
    let written = 0;
    while (written < tokensMax) {
      // Messages are heard, and other models get their turns.
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return { reason: "cancelled", inputTokens, outputTokens: written };
      const next = sampler.next(await this.logits(ids, patches));
      written++;
      if (this.ends.has(next)) {
        reason = "stop";
        break;
      }
      ids.push(next);
      const text = output.add(next);
      if (text !== "") say(text);
      if (output.isStopped) {
        reason = "stop";
        break;
      }
    }
    const rest = output.end();
    if (rest !== "") say(rest);
    return { reason, inputTokens, outputTokens: written };
  }

  async release(): Promise<void> {
    await this.eyes.release();
    await this.mouth.release();
  }

  private promptOf({ messages }: GenerationRequest): readonly number[] {
    if (this.manifest.generation?.reads_prompt !== true) return [];
    const text = messages.map(({ content }) => content).join("\n");
    const ids = this.tokenizer.encode(text, { add_special_tokens: false }).ids;
    return ids.slice(0, Math.floor(this.manifest.max_length / 2));
  }

  /** Of the token that comes after these. */
  private async logits(ids: readonly number[], patches: Tensor): Promise<Float32Array> {
    const { mouth } = this;
    const shape = [1, ids.length];
    const tensors: Readonly<Record<string, () => Tensor>> = {
      input_ids: () => new Tensor("int64", BigInt64Array.from(ids, BigInt), shape),
      attention_mask: () => new Tensor("int64", new BigInt64Array(ids.length).fill(1n), shape),
      encoder_hidden_states: () => patches,
      encoder_attention_mask: () =>
        new Tensor("int64", new BigInt64Array(patches.dims[1]!).fill(1n), patches.dims.slice(0, 2)),
    };
    const outputs = await mouth.run(Object.fromEntries(mouth.inputNames.map((name) => [name, tensors[name]!()])));
    const output = outputs.logits ?? outputs[mouth.outputNames[0]!]!;
    if (output.type !== "float32" || output.dims.length !== 3 || output.dims[1] !== ids.length) {
      throw new BundleError(`the model gives ${output.type} [${output.dims}], not logits per token`);
    }
    const width = output.dims[2]!;
    return (output.data as Float32Array).subarray((ids.length - 1) * width);
  }
}
