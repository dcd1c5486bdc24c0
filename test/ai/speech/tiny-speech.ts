/**
 * A model that hears, so small that tests can build it, and yet real: ONNX graphs of the form that Whisper's exports
 * have. It knows three tones. The graph that hears says of each of six stretches of 5 s how loud each tone is; the one
 * that writes says of one stretch after the other when it begins, which tone it has, and when it ends.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onnxModel } from "../onnx-writer.js";
import { sha256 } from "../tiny-bundle.js";
import { wordTokenizer } from "../word-tokenizer.js";

export const TONES = { low: 300, middle: 1000, high: 3000 } as const;
export type Tone = keyof typeof TONES;

const MELS = 80;
const STRETCHES = 6;
const STRETCH_SECONDS = 5;
const WORDS = ["[UNK]", "low", "middle", "high", "[QUIET]", "[END]", "[START]", "[EN]", "[DE]", "[WRITE]", "[NOBODY]"];
const [QUIET, END, START, EN, DE, WRITE, NOBODY] = [4, 5, 6, 7, 8, 9, 10] as const;
const NO_TIMES = WORDS.length;
const FIRST_TIME = NO_TIMES + 1;
const VOCABULARY = FIRST_TIME + 1501;
const POSITIONS = 32;

export interface TinySpeech {
  readonly id?: string;
  /** The graph that writes keeps what it has read. */
  readonly cache?: boolean;
  /** Stretches that it writes of one window; what follows is left to the next. */
  readonly stretches?: number;
  /** Of the manifest. */
  readonly extra?: object;
}

const floats = (dims: readonly number[], values: readonly number[]) => ({ dims, values: Float32Array.from(values) });
const integers = (dims: readonly number[], ...values: number[]) => ({
  dims,
  values: BigInt64Array.from(values, BigInt),
});

/** The band of each tone. Slaney's scale: 45.245 mel up to 8 kHz. */
function ears(): Buffer {
  const mel = (hertz: number) =>
    hertz <= 1000 ? (3 * hertz) / 200 : 15 + (27 * Math.log(hertz / 1000)) / Math.log(6.4);
  const bands = Object.values(TONES).map((hertz) => (mel(hertz) / 45.245) * (MELS + 1) - 1);
  const weights = Array.from({ length: MELS * 3 }, (_, i) => (Math.floor(i / 3) === Math.round(bands[i % 3]!) ? 1 : 0));
  return onnxModel({
    inputs: [{ name: "input_features", dims: ["batch", MELS, 3000] }],
    constants: { bands: floats([MELS, 3], weights) },
    nodes: [
      {
        op: "AveragePool",
        inputs: ["input_features"],
        output: "pooled",
        integers: { kernel_shape: [3000 / STRETCHES], strides: [3000 / STRETCHES] },
      },
      { op: "Transpose", inputs: ["pooled"], output: "stretches", integers: { perm: [0, 2, 1] } },
      { op: "MatMul", inputs: ["stretches", "bands"], output: "last_hidden_state" },
    ],
    output: ["last_hidden_state", STRETCHES, 3],
  });
}

/** What comes behind each place of a text, and which stretch it is about. */
function tables(stretches: number) {
  const next = new Float32Array(POSITIONS * VOCABULARY).fill(-100);
  const select = new Float32Array(POSITIONS * STRETCHES);
  const put = (place: number, token: number, value: number) => {
    next[place * VOCABULARY + token] = value;
  };
  const time = (stretch: number) => FIRST_TIME + stretch * STRETCH_SECONDS * 50;
  // The language is told by the first stretch: what is high is German.
  put(0, EN, 5);
  put(0, DE, 0);
  select[0] = 1;
  put(0, NOBODY, 0);
  for (let stretch = 0; stretch < stretches; stretch++) {
    const place = 2 + 3 * stretch;
    put(place, time(stretch), 100);
    for (const word of [1, 2, 3]) put(place + 1, word, 0);
    put(place + 1, QUIET, -4);
    select[(place + 1) * STRETCHES + stretch] = 1;
    put(place + 2, time(stretch + 1), 100);
  }
  const last = 2 + 3 * stretches;
  // A window that is not written to its end ends with the beginning of what follows.
  if (stretches < STRETCHES) put(last, time(stretches), 100);
  else put(last, END, 100);
  put(last + 1, END, 100);
  const look = new Float32Array(3 * VOCABULARY);
  for (const tone of [0, 1, 2]) look[tone * VOCABULARY + 1 + tone] = 10;
  look[2 * VOCABULARY + DE] = 10;
  return { next, select, look };
}

function mouth(stretches: number, hasCache: boolean): Buffer {
  const { next, select, look } = tables(stretches);
  const [places, heard] = hasCache ? ["all_places", "kept"] : ["new_places", "encoder_hidden_states"];
  const withCache = hasCache ? CACHE : { inputs: [], constants: {}, nodes: [], outputs: [] };
  return onnxModel({
    inputs: ["input_ids", { name: "encoder_hidden_states", dims: ["batch", "stretch", 3] }, ...withCache.inputs],
    constants: {
      next: { dims: [POSITIONS, VOCABULARY], values: next },
      select: { dims: [POSITIONS, STRETCHES], values: select },
      look: { dims: [3, VOCABULARY], values: look },
      one: integers([1, 1], 1),
      axis: integers([], 1),
      ...withCache.constants,
    },
    nodes: [
      { op: "Sub", inputs: ["input_ids", "input_ids"], output: "zeros" },
      { op: "Add", inputs: ["zeros", "one"], output: "ones" },
      { op: "CumSum", inputs: ["ones", "axis"], output: "counted" },
      { op: "Sub", inputs: ["counted", "one"], output: "new_places" },
      ...withCache.nodes,
      { op: "Gather", inputs: ["next", places], output: "following" },
      { op: "Gather", inputs: ["select", places], output: "selected" },
      { op: "MatMul", inputs: ["selected", heard], output: "tones" },
      { op: "MatMul", inputs: ["tones", "look"], output: "words" },
      { op: "Add", inputs: ["following", "words"], output: "logits" },
    ],
    output: ["logits", "tokens", VOCABULARY],
    moreOutputs: withCache.outputs,
  });
}

/**
 * The decoder's part of the cache has a 1 for each token, so that their sum is the place of the next; the encoder's
 * what was heard, which is given anew by the first run alone, as the merged graphs of exports do.
 */
const CACHE = {
  inputs: [
    { name: "use_cache_branch", dims: [1], bool: true },
    { name: "past_key_values.0.decoder.key", dims: ["batch", 1, "past", 1] },
    { name: "past_key_values.0.encoder.key", dims: ["batch", 1, "heard", 3] },
  ],
  constants: {
    axes: integers([2], 1, 3),
    outer: integers([1], 1),
    from: integers([1], 0),
    to: integers([1], STRETCHES),
    along: integers([1], 1),
    whole: floats([1], [1]),
  },
  nodes: [
    { op: "Cast", inputs: ["ones"], output: "marks", integers: { to: 1 } },
    { op: "Unsqueeze", inputs: ["marks", "axes"], output: "new_keys" },
    {
      op: "Concat",
      inputs: ["past_key_values.0.decoder.key", "new_keys"],
      output: "present.0.decoder.key",
      integers: { axis: 2 },
    },
    { op: "ReduceSum", inputs: ["past_key_values.0.decoder.key"], output: "read", integers: { keepdims: 0 } },
    { op: "Cast", inputs: ["read"], output: "before", integers: { to: 7 } },
    { op: "Add", inputs: ["new_places", "before"], output: "all_places" },
    { op: "Squeeze", inputs: ["past_key_values.0.encoder.key", "outer"], output: "heard_before" },
    { op: "Concat", inputs: ["heard_before", "encoder_hidden_states"], output: "both", integers: { axis: 1 } },
    { op: "Slice", inputs: ["both", "from", "to", "along"], output: "kept" },
    { op: "Cast", inputs: ["use_cache_branch"], output: "is_kept", integers: { to: 1 } },
    { op: "Sub", inputs: ["whole", "is_kept"], output: "is_new" },
    { op: "Mul", inputs: ["kept", "is_new"], output: "once" },
    { op: "Unsqueeze", inputs: ["once", "outer"], output: "present.0.encoder.key" },
  ],
  outputs: [
    ["present.0.decoder.key", 1, "all", 1],
    ["present.0.encoder.key", 1, STRETCHES, 3],
  ],
} as const;

/** Into a folder of models. */
export function makeSpeech(root: string, options: TinySpeech = {}): void {
  const { id = "tiny-speech", cache = false, stretches = STRETCHES, extra = {} } = options;
  const directory = join(root, id);
  mkdirSync(directory, { recursive: true });
  const files = {
    "tokenizer.json": Buffer.from(
      JSON.stringify(
        wordTokenizer({ words: WORDS, special: [QUIET, END, START, EN, DE, WRITE, NOBODY], isLowerCase: false }),
      ),
    ),
    "encoder.onnx": ears(),
    "decoder.onnx": mouth(stretches, cache),
  };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(directory, name), bytes);
  const manifest = {
    id,
    kind: "speech",
    revision: "1",
    licence: "Apache-2.0",
    required_capabilities: ["speech"],
    max_length: 64,
    tokenizer: "tokenizer.json",
    onnx: "decoder.onnx",
    generation: { start_token_id: START, eos_token_ids: [END] },
    speech: {
      onnx: "encoder.onnx",
      mels: MELS,
      languages: { en: EN, de: DE },
      transcribe_token_id: WRITE,
      no_timestamps_token_id: NO_TIMES,
      no_speech_token_id: NOBODY,
      suppressed_token_ids: [0],
    },
    files: Object.entries(files).map(([name, bytes]) => ({ name, bytes: bytes.length, sha256: sha256(bytes) })),
    ...extra,
  };
  writeFileSync(join(directory, "manifest.json"), JSON.stringify(manifest));
}

/** Tones one after the other, each of 5 s; null: silence. -1 to 1 for a time in seconds. */
export function melody(tones: readonly (Tone | null)[]): (at: number) => number {
  return (at) => {
    const tone = tones[Math.floor(at / STRETCH_SECONDS)] ?? null;
    return tone === null ? 0 : 0.5 * Math.sin(2 * Math.PI * TONES[tone] * at);
  };
}
