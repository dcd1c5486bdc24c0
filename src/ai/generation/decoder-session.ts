/**
 * A decoder's graph in the usual layout of small instruct models: input_ids, attention_mask, position_ids and
 * past_key_values.{i}.key/value of [batch, heads, past, numbers] give logits and present.{i}.key/value. Made and owned
 * by decoder.ts.
 */
import { type InferenceSession, Tensor } from "onnxruntime-node";
import { BundleError, type Manifest } from "../manifest.js";
import { openSession } from "../onnx-session.js";

const INPUTS = /^(input_ids|attention_mask|position_ids|num_logits_to_keep|past_key_values\.\d+\.(key|value))$/;

type CacheArray = Float32Array | Uint16Array;

/** Keys and values of a batch: one tensor per layer and part, in the order of the graph's inputs. */
export interface Cache {
  readonly rows: number;
  /** Tokens per row, those that only fill it up at its left included. */
  readonly length: number;
  readonly arrays: readonly CacheArray[];
}

/** A row of a cache that goes on in another: its last `length` tokens. */
export interface CacheRow {
  readonly cache: Cache;
  readonly row: number;
  readonly length: number;
}

export interface Step {
  /** One list per row, all of the same length. */
  readonly ids: readonly (readonly number[])[];
  /** Of each row in the cache; what is before was filled up. */
  readonly lengths: readonly number[];
  readonly cache: Cache;
}

export class DecoderSession {
  private constructor(
    private readonly session: InferenceSession,
    readonly bytes: number,
    private readonly pastNames: readonly string[],
    private readonly heads: number,
    private readonly numbers: number,
    private readonly half: boolean,
  ) {}

  /** Throws BundleError. */
  static async load(directory: string, manifest: Manifest, threads: number): Promise<DecoderSession> {
    const { session, bytes } = await openSession(directory, manifest, threads, INPUTS);
    const pasts = session.inputMetadata.filter(({ name }) => name.startsWith("past_key_values."));
    const [first] = pasts;
    const missing = pasts.map(({ name }) => presentOf(name)).find((name) => !session.outputNames.includes(name));
    if (first === undefined || !first.isTensor || missing !== undefined || !session.outputNames.includes("logits")) {
      await session.release();
      const lack = first === undefined ? "no past_key_values" : `no ${missing ?? "logits"}`;
      throw new BundleError(`${manifest.onnx} is no decoder with a cache: it has ${lack}`);
    }
    const { kv_heads: heads = first.shape[1], head_dimensions: numbers = first.shape[3] } = manifest.generation ?? {};
    if (typeof heads !== "number" || typeof numbers !== "number") {
      await session.release();
      throw new BundleError(`${manifest.onnx} does not say how large its cache is, and neither does the manifest`);
    }
    const names = pasts.map(({ name }) => name);
    return new DecoderSession(session, bytes, names, heads, numbers, first.type === "float16");
  }

  /** Of a cache, per token and row. */
  get bytesPerToken(): number {
    return this.pastNames.length * this.heads * this.numbers * (this.half ? 2 : 4);
  }

  empty(): Cache {
    return { rows: 1, length: 0, arrays: this.pastNames.map(() => this.array(0)) };
  }

  /** A cache of these rows, as long as the longest, the others filled up at their left. */
  gather(rows: readonly CacheRow[]): Cache {
    const [only] = rows;
    if (rows.length === 1 && only!.cache.rows === 1 && only!.cache.length === only!.length) return only!.cache;
    const length = Math.max(...rows.map((row) => row.length));
    const { heads, numbers } = this;
    const arrays = this.pastNames.map((_, part) => {
      const out = this.array(rows.length * heads * length * numbers);
      rows.forEach(({ cache, row, length: own }, place) => {
        for (let head = 0; head < heads; head++) {
          const end = (row * heads + head + 1) * cache.length * numbers;
          const to = (place * heads + head + 1) * length * numbers;
          out.set(cache.arrays[part]!.subarray(end - own * numbers, end), to - own * numbers);
        }
      });
      return out;
    });
    return { rows: rows.length, length, arrays };
  }

  /** One run. Logits of each row's last token, and the cache with the step's tokens. */
  async run({
    ids,
    lengths,
    cache,
  }: Step): Promise<{ readonly logits: readonly Float32Array[]; readonly cache: Cache }> {
    const rows = ids.length;
    const tokens = ids[0]!.length;
    const total = cache.length + tokens;
    const inputs = new BigInt64Array(rows * tokens);
    const positions = new BigInt64Array(rows * tokens);
    const mask = new BigInt64Array(rows * total).fill(1n);
    for (let row = 0; row < rows; row++) {
      const filled = cache.length - lengths[row]!;
      mask.fill(0n, row * total, row * total + filled);
      for (let i = 0; i < tokens; i++) {
        inputs[row * tokens + i] = BigInt(ids[row]![i]!);
        positions[row * tokens + i] = BigInt(lengths[row]! + i);
      }
    }
    const given: Record<string, Tensor> = {
      input_ids: new Tensor("int64", inputs, [rows, tokens]),
      attention_mask: new Tensor("int64", mask, [rows, total]),
      position_ids: new Tensor("int64", positions, [rows, tokens]),
      num_logits_to_keep: new Tensor("int64", BigInt64Array.of(1n), []),
    };
    const feeds: Record<string, Tensor> = {};
    const pastShape = [rows, this.heads, cache.length, this.numbers];
    this.pastNames.forEach((name, part) => {
      feeds[name] = new Tensor(
        this.half ? "float16" : "float32",
        cache.arrays[part] as Float32Array,
        pastShape,
      ) as Tensor;
    });
    for (const name of this.session.inputNames) if (name in given) feeds[name] = given[name]!;
    const outputs = await this.session.run(feeds);
    const arrays = this.pastNames.map((name) => outputs[presentOf(name)]!.data as CacheArray);
    return { logits: lastLogits(outputs.logits!, rows), cache: { rows, length: total, arrays } };
  }

  release(): Promise<void> {
    return this.session.release();
  }

  private array(length: number): CacheArray {
    return this.half ? new Uint16Array(length) : new Float32Array(length);
  }
}

function presentOf(past: string): string {
  return past.replace("past_key_values.", "present.");
}

/** Each row's last token's. */
function lastLogits(logits: Tensor, rows: number): Float32Array[] {
  const [, tokens, vocabulary] = logits.dims as [number, number, number];
  return Array.from({ length: rows }, (_, row) => {
    const start = (row * tokens + tokens - 1) * vocabulary;
    const { data } = logits;
    if (data instanceof Float32Array) return data.subarray(start, start + vocabulary);
    return singles((data as Uint16Array).subarray(start, start + vocabulary));
  });
}

/** IEEE 754 half precision as single. */
function singles(halves: Uint16Array): Float32Array {
  return Float32Array.from(halves, (bits) => {
    const sign = (bits & 0x8000) === 0 ? 1 : -1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
}
