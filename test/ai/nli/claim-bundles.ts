/**
 * Small real bundles of kind nli, made by the tests: a SentencePiece tokenizer as DeBERTa-v3 has one, and a graph whose
 * outputs are sums of a table's rows, one per token, each divided by the token's place in the pair. So every token, its
 * place and the mask matter, and the tests can compute what has to come out.
 */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../../../src/ai/manifest.js";
import { NLI_LABELS, type NliScores } from "../../../src/ai/nli/labels.js";
import { PairTokenizer } from "../../../src/ai/nli/pair-tokenizer.js";
import { type OnnxNode, onnxModel } from "../onnx-writer.js";

export const FIXTURES = fileURLToPath(new URL("../../../../test/ai/nli/fixtures/", import.meta.url));
export const UNIGRAM_TOKENIZER = readFileSync(join(FIXTURES, "unigram-tokenizer.json"), "utf8");
const PIECES = (JSON.parse(UNIGRAM_TOKENIZER) as { model: { vocab: [string, number][] } }).model.vocab.map(([p]) => p);
/** The pieces and [MASK]. */
const ROWS = PIECES.length + 1;

/** Words that tell: contradiction, entailment, neutral. */
export const CONTRADICTING = "not";
export const ENTAILING = "same";
const MEANINGS: Readonly<Record<string, NliScores>> = { "▁not": [30, 0, 0], "▁same": [0, 30, 0] };

export interface ClaimBundleOptions {
  readonly id?: string;
  readonly alias?: string;
  /** In the order of the graph's outputs. */
  readonly labels?: readonly string[];
  /** The graph wants token_type_ids, and counts tokens of the second text thrice. */
  readonly types?: boolean;
  readonly window?: number;
  readonly edit?: (manifest: Manifest) => object;
}

export const LABELS = ["Neutral", "CONTRADICTION", "entailment"];

const folder = mkdtempSync(join(tmpdir(), "tessera-claims-"));
// Files that share a process share this folder.
process.once("exit", () => rmSync(folder, { recursive: true }));
let roots = 0;

/** An empty folder for bundles. */
export function emptyRoot(): string {
  const root = join(folder, String(++roots));
  mkdirSync(root);
  return root;
}

/** Writes a bundle into the root; gives its folder. */
export function addClaimBundle(root: string, options: ClaimBundleOptions = {}): string {
  const {
    id = "tiny-nli",
    alias,
    labels = LABELS,
    types = false,
    window = 512,
    edit = (manifest) => manifest,
  } = options;
  const directory = join(root, id);
  mkdirSync(directory);
  const files = { "model.onnx": graphOf(labels, types), "tokenizer.json": Buffer.from(UNIGRAM_TOKENIZER) };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(directory, name), bytes);
  const manifest: Manifest = {
    id,
    ...(alias === undefined ? {} : { alias }),
    kind: "nli",
    revision: "1",
    repository: "tests/tiny-nli",
    licence: "Apache-2.0",
    required_capabilities: ["nli"],
    max_length: window,
    labels: [...labels],
    tokenizer: "tokenizer.json",
    onnx: "model.onnx",
    files: Object.entries(files).map(([name, bytes]) => ({
      name,
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    })),
  };
  writeFileSync(join(directory, "manifest.json"), JSON.stringify(edit(manifest)));
  return directory;
}

/** SHA-256 of the bundle's manifest. */
export const digestOf = (directory: string): string =>
  createHash("sha256")
    .update(readFileSync(join(directory, "manifest.json")))
    .digest("hex");

/** What the bundle's graph computes of a pair, computed here: softmax of contradiction, entailment, neutral. */
export function expectedScores(premise: string, hypothesis: string, { types = false, window = 512 } = {}): NliScores {
  const [pair] = new PairTokenizer(UNIGRAM_TOKENIZER, window).encode([{ premise, hypothesis }]);
  const logits = [0, 0, 0];
  for (const [i, id] of pair!.ids.entries()) {
    const weight = (types && pair!.types[i] === 1 ? 3 : 1) / (i + 1);
    for (const label of logits.keys()) logits[label]! += weight * meaningOf(id)[label]!;
  }
  const powers = logits.map(Math.exp);
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum) as unknown as NliScores;
}

/** What the words of MEANINGS say, and for all tokens something small and fixed. */
function meaningOf(id: number): NliScores {
  const meaning = MEANINGS[PIECES[id] ?? ""] ?? [0, 0, 0];
  return meaning.map((value, label) => value + Math.sin(id * 3 + label)) as unknown as NliScores;
}

function graphOf(labels: readonly string[], types: boolean): Buffer {
  const table = new Float32Array(ROWS * labels.length);
  for (let id = 0; id < ROWS; id++) {
    for (const [place, label] of labels.entries()) {
      const known = (NLI_LABELS as readonly string[]).indexOf(label.trim().toLowerCase());
      table[id * labels.length + place] = meaningOf(id)[known] ?? 0;
    }
  }
  const nodes: OnnxNode[] = [
    { op: "Gather", inputs: ["table", "input_ids"], output: "rows" },
    { op: "Cast", inputs: ["attention_mask"], output: "mask", integers: { to: 1 } },
    { op: "CumSum", inputs: ["mask", "one"], output: "places" },
    { op: "Div", inputs: ["mask", "places"], output: "weights" },
    ...(types ? TYPE_NODES : []),
    { op: "Unsqueeze", inputs: [types ? "typed" : "weights", "two"], output: "factors" },
    { op: "Mul", inputs: ["rows", "factors"], output: "weighted" },
    { op: "ReduceSum", inputs: ["weighted", "ones"], output: "logits", integers: { keepdims: 0 } },
  ];
  return onnxModel({
    inputs: ["input_ids", "attention_mask", ...(types ? ["token_type_ids"] : [])],
    constants: {
      table: { dims: [ROWS, labels.length], values: table },
      one: { dims: [], values: BigInt64Array.of(1n) },
      ones: { dims: [1], values: BigInt64Array.of(1n) },
      two: { dims: [1], values: BigInt64Array.of(2n) },
      ...(types ? TYPE_CONSTANTS : {}),
    },
    nodes,
    output: ["logits", labels.length],
  });
}

const TYPE_CONSTANTS = {
  twice: { dims: [], values: Float32Array.of(2) },
  once: { dims: [], values: Float32Array.of(1) },
};
const TYPE_NODES: readonly OnnxNode[] = [
  { op: "Cast", inputs: ["token_type_ids"], output: "types", integers: { to: 1 } },
  { op: "Mul", inputs: ["types", "twice"], output: "more" },
  { op: "Add", inputs: ["more", "once"], output: "typeFactors" },
  { op: "Mul", inputs: ["weights", "typeFactors"], output: "typed" },
];
