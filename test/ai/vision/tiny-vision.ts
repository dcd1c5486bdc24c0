/**
 * Models that see, so small that tests can build them, and yet real: ONNX graphs of the form that large ones have. They
 * know colours. The dual encoder puts words and images by their colours into one space; the captioner says which colour
 * an image mostly has.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onnxModel } from "../onnx-writer.js";
import { sha256 } from "../tiny-bundle.js";
import { wordTokenizer } from "../word-tokenizer.js";

export const SIZE = 8;
export const DIMENSIONS = 4;
const WORDS = ["[UNK]", "[START]", "[END]", "red", "green", "blue", "picture", "and"];
const START = 1;
const END = 2;

const floats = (dims: readonly number[], values: readonly number[]) => ({ dims, values: Float32Array.from(values) });
const pixels = { name: "pixel_values", dims: ["batch", 3, SIZE, SIZE] };
const image = { size: SIZE, fit: "crop", mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] };

/** Each of 3 channels, the mean of 2 × 2 pixels. */
const kernel = floats(
  [3, 3, 2, 2],
  Array.from({ length: 36 }, (_, i) => (Math.floor(i / 12) === Math.floor((i % 12) / 4) ? 0.25 : 0)),
);
const convolution = {
  op: "Conv",
  inputs: ["pixel_values", "kernel"],
  output: "patches",
  integers: { kernel_shape: [2, 2], strides: [2, 2] },
};

/** From channels to the common space; the last number is the brightness. */
const PROJECTION = [1, -0.5, -0.5, 0.2, -0.5, 1, -0.5, 0.2, -0.5, -0.5, 1, 0.2];

function imageTower(): Buffer {
  return onnxModel({
    inputs: [pixels],
    constants: { kernel, projection: floats([3, DIMENSIONS], PROJECTION) },
    nodes: [
      convolution,
      { op: "GlobalAveragePool", inputs: ["patches"], output: "pooled" },
      { op: "Flatten", inputs: ["pooled"], output: "channels" },
      { op: "MatMul", inputs: ["channels", "projection"], output: "image_embeds" },
    ],
    output: ["image_embeds", DIMENSIONS],
  });
}

/** Words are channels first, as pixels are. */
function textTower(): Buffer {
  const rows = WORDS.map((word) =>
    ["red", "green", "blue"].map((colour) => (word === colour ? 1 : WORDS.indexOf(word) < 3 ? 0 : -0.1)),
  );
  return onnxModel({
    inputs: ["input_ids"],
    constants: {
      table: floats([WORDS.length, 3], rows.flat()),
      projection: floats([3, DIMENSIONS], PROJECTION),
    },
    nodes: [
      { op: "Gather", inputs: ["table", "input_ids"], output: "embedded" },
      { op: "MatMul", inputs: ["embedded", "projection"], output: "text_embeds" },
    ],
    output: ["text_embeds", "tokens", DIMENSIONS],
  });
}

function eyes(): Buffer {
  return onnxModel({
    inputs: [pixels],
    constants: { kernel, shape: { dims: [3], values: BigInt64Array.of(0n, 3n, -1n) } },
    nodes: [
      convolution,
      { op: "Reshape", inputs: ["patches", "shape"], output: "flat" },
      { op: "Transpose", inputs: ["flat"], output: "last_hidden_state", integers: { perm: [0, 2, 1] } },
    ],
    output: ["last_hidden_state", "patch", 3],
  });
}

/** Behind [START] a colour, by the image; behind that "picture"; behind that the end. */
function mouth(): Buffer {
  const next = new Float32Array(WORDS.length * WORDS.length);
  const follow = (word: number, by: number) => {
    next[word * WORDS.length + by] = 100;
  };
  for (const colour of ["red", "green", "blue"]) follow(WORDS.indexOf(colour), WORDS.indexOf("picture"));
  follow(WORDS.indexOf("picture"), END);
  const look = Array.from({ length: 3 * WORDS.length }, (_, i) =>
    i % WORDS.length === WORDS.indexOf(["red", "green", "blue"][Math.floor(i / WORDS.length)]!) ? 10 : 0,
  );
  for (const other of ["[UNK]", "[START]", "[END]", "picture", "and"])
    next[START * WORDS.length + WORDS.indexOf(other)] = -100;
  return onnxModel({
    inputs: ["input_ids", { name: "encoder_hidden_states", dims: ["batch", "patch", 3] }],
    constants: { next: { dims: [WORDS.length, WORDS.length], values: next }, look: floats([3, WORDS.length], look) },
    nodes: [
      { op: "Gather", inputs: ["next", "input_ids"], output: "following" },
      { op: "ReduceMean", inputs: ["encoder_hidden_states"], output: "seen", integers: { axes: [1], keepdims: 1 } },
      { op: "MatMul", inputs: ["seen", "look"], output: "colours" },
      { op: "Add", inputs: ["following", "colours"], output: "logits" },
    ],
    output: ["logits", "tokens", WORDS.length],
  });
}

function bundle(directory: string, manifest: object, graphs: Readonly<Record<string, Buffer>>): void {
  const files = new Map(
    Object.entries({
      ...graphs,
      "tokenizer.json": Buffer.from(JSON.stringify(wordTokenizer({ words: WORDS, special: [START, END] }))),
    }),
  );
  mkdirSync(directory, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes);
  const listed = [...files].map(([name, bytes]) => ({ name, bytes: bytes.length, sha256: sha256(bytes) }));
  const usual = { revision: "1", licence: "Apache-2.0", max_length: 16, tokenizer: "tokenizer.json", files: listed };
  writeFileSync(join(directory, "manifest.json"), JSON.stringify({ ...usual, ...manifest }));
}

/** `extra`: of the manifest. */
export function makeDualEncoder(root: string, id = "tiny-clip", extra: object = {}): void {
  const kind = "dual_encoder";
  const manifest = {
    id,
    kind,
    required_capabilities: [kind],
    dimensions: DIMENSIONS,
    onnx: "text.onnx",
    image: { onnx: "image.onnx", ...image },
    ...extra,
  };
  bundle(join(root, id), manifest, { "text.onnx": textTower(), "image.onnx": imageTower() });
}

export function makeCaptioner(root: string, id = "tiny-captions", extra: object = {}): void {
  const kind = "vision";
  const manifest = {
    id,
    kind,
    required_capabilities: [kind],
    onnx: "mouth.onnx",
    image: { onnx: "eyes.onnx", ...image },
    generation: { start_token_id: START, eos_token_ids: [END] },
    ...extra,
  };
  bundle(join(root, id), manifest, { "mouth.onnx": mouth(), "eyes.onnx": eyes() });
}
