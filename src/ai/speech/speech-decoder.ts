/**
 * The graph that writes what an encoder heard, a token after the other: input_ids and encoder_hidden_states to logits.
 * One that has a cache (the "merged" form of Hugging Face's Optimum: use_cache_branch,
 * past_key_values.{i}.{decoder,encoder}.* to present.*) reads each token once; without one a text is read anew for each
 * token. Made and owned by transcriber.ts.
 */
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { BundleError, type Manifest } from "../manifest.js";
import { openSession } from "../onnx-session.js";

const INPUTS =
  /^(input_ids|encoder_hidden_states|encoder_attention_mask|attention_mask|use_cache_branch|past_key_values\.\d+\.(decoder|encoder)\.(key|value))$/;
const PAST = "past_key_values.";

/** A text that is being written about a window of sound. */
export interface Writing {
  /** What the encoder heard. */
  readonly heard: Tensor;
  /** All of it so far. */
  readonly ids: number[];
  /** By the names of the graph's inputs; empty where there is no cache or nothing was read. */
  readonly cache: Map<string, Tensor>;
}

/** Logits of each token that was read by one run, in their order. */
export interface Logits {
  readonly rows: number;
  row(at: number): Float32Array;
}

export class SpeechDecoder {
  private readonly pasts: readonly InferenceSession.TensorValueMetadata[];

  private constructor(
    private readonly session: InferenceSession,
    readonly bytes: number,
  ) {
    this.pasts = session.inputMetadata.filter((input) => input.isTensor && input.name.startsWith(PAST)) as never;
  }

  /** Throws BundleError. */
  static async load(directory: string, manifest: Manifest, threads: number): Promise<SpeechDecoder> {
    const { session, bytes } = await openSession(directory, manifest, threads, INPUTS);
    const decoder = new SpeechDecoder(session, bytes);
    const unlike = decoder.pasts.find(
      ({ name, shape, type }) =>
        type !== "float32" ||
        typeof shape[1] !== "number" ||
        typeof shape[3] !== "number" ||
        !hasPresent(session, name),
    );
    if (unlike === undefined) return decoder;
    await session.release();
    throw new BundleError(`${manifest.onnx} has a cache (${unlike.name}) of another form than is supported`);
  }

  begin(heard: Tensor): Writing {
    return { heard, ids: [], cache: new Map() };
  }

  /** Reads these tokens, too. */
  async read(writing: Writing, ids: readonly number[]): Promise<Logits> {
    const { session } = this;
    writing.ids.push(...ids);
    const isKept = this.pasts.length > 0 && writing.cache.size > 0;
    const given = isKept ? ids : writing.ids;
    const outputs = await session.run(this.inputsOf(writing, given, isKept));
    if (this.pasts.length > 0) this.keep(writing, outputs, isKept);
    const output = outputs.logits ?? outputs[session.outputNames[0]!]!;
    if (output.type !== "float32" || output.dims.length !== 3 || output.dims[1] !== given.length) {
      throw new BundleError(`the model gives ${output.type} [${output.dims}], not logits per token`);
    }
    const width = output.dims[2]!;
    const all = output.data as Float32Array;
    const skipped = given.length - ids.length;
    // A copy: who chooses a token changes them.
    const row = (at: number) => all.slice((skipped + at) * width, (skipped + at + 1) * width);
    return { rows: ids.length, row };
  }

  release(): Promise<void> {
    return this.session.release();
  }

  private inputsOf({ heard, ids, cache }: Writing, given: readonly number[], isKept: boolean): Record<string, Tensor> {
    const ones = (count: number) => new Tensor("int64", new BigInt64Array(count).fill(1n), [1, count]);
    const tensors: Readonly<Record<string, () => Tensor>> = {
      input_ids: () => new Tensor("int64", BigInt64Array.from(given, BigInt), [1, given.length]),
      attention_mask: () => ones(ids.length),
      encoder_hidden_states: () => heard,
      encoder_attention_mask: () => ones(heard.dims[1]!),
      use_cache_branch: () => new Tensor("bool", Uint8Array.of(isKept ? 1 : 0), [1]),
    };
    const shapes = new Map(this.pasts.map(({ name, shape }) => [name, shape]));
    const nothing = (name: string) => {
      const [, heads, , numbers] = shapes.get(name)!;
      return new Tensor("float32", new Float32Array(), [1, heads as number, 0, numbers as number]);
    };
    const named = (name: string) => tensors[name]?.() ?? cache.get(name) ?? nothing(name);
    return Object.fromEntries(this.session.inputNames.map((name) => [name, named(name)]));
  }

  /** What the encoder's part of the cache is, the first run says alone. */
  private keep({ cache }: Writing, outputs: InferenceSession.OnnxValueMapType, isKept: boolean): void {
    for (const { name } of this.pasts) {
      if (isKept && name.includes(".encoder.")) continue;
      cache.set(name, outputs[presentOf(name)] as Tensor);
    }
  }
}

function presentOf(past: string): string {
  return past.replace(PAST, "present.");
}

function hasPresent({ outputNames }: InferenceSession, past: string): boolean {
  return outputNames.includes(presentOf(past));
}
