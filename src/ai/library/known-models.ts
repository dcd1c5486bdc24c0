/**
 * Models on public hubs that this server can run, by the names that clients use. A hub knows repositories and files,
 * not bundles; this table says which files make one. Facts that a repository states about itself (labels, dimensions,
 * sizes, digests) are read from it, never written here. Called by hub-source.ts and model-library.ts; constant.
 */

/** One form of a model, by its tag. */
export interface HubFiles {
  readonly repository: string;
  readonly revision: string;
  /** The graph; of a model that sees or hears, the one that reads or writes texts. */
  readonly onnx: string;
  /** Of a model that sees: the graph that reads pixels. */
  readonly image?: string;
  /** Of a model that hears: the graph that reads a sound's energy in mel bands. */
  readonly sound?: string;
  /** Weights that the graph has outside of itself. */
  readonly data?: readonly string[];
}

export interface KnownModel {
  /** Of the bundle. */
  readonly name: string;
  readonly alias?: string;
  readonly kind: "embedding" | "nli" | "generation" | "dual_encoder" | "vision" | "speech";
  readonly licence: string;
  /** Tokens that the model was made to read. */
  readonly tokensMax: number;
  /** Of an embedding. */
  readonly pooling?: "mean" | "cls";
  readonly tags: Readonly<Record<string, HubFiles>>;
}

const FULL = "onnx/model.onnx";
/** Weights in 8 bits: a quarter of the size. */
const INT8 = "onnx/model_quantized.onnx";

/** The usual layout of exports for ONNX Runtime: the whole graph and a quantized one. `latest`: which of them. */
function exported(repository: string, latest: "fp32" | "int8"): Readonly<Record<string, HubFiles>> {
  const fp32 = { repository, revision: "main", onnx: FULL };
  const int8 = { repository, revision: "main", onnx: INT8 };
  return { latest: latest === "fp32" ? fp32 : int8, fp32, int8 };
}

const EMBEDDINGS: readonly KnownModel[] = [
  {
    name: "all-minilm-l6-v2",
    alias: "all-minilm",
    kind: "embedding",
    licence: "Apache-2.0",
    tokensMax: 256,
    pooling: "mean",
    tags: exported("Xenova/all-MiniLM-L6-v2", "fp32"),
  },
  {
    name: "all-minilm-l12-v2",
    kind: "embedding",
    licence: "Apache-2.0",
    tokensMax: 128,
    pooling: "mean",
    tags: exported("Xenova/all-MiniLM-L12-v2", "fp32"),
  },
  {
    name: "all-mpnet-base-v2",
    kind: "embedding",
    licence: "Apache-2.0",
    tokensMax: 384,
    pooling: "mean",
    tags: exported("Xenova/all-mpnet-base-v2", "fp32"),
  },
  {
    name: "bge-small-en-v1.5",
    kind: "embedding",
    licence: "MIT",
    tokensMax: 512,
    pooling: "cls",
    tags: exported("Xenova/bge-small-en-v1.5", "fp32"),
  },
  {
    name: "bge-base-en-v1.5",
    kind: "embedding",
    licence: "MIT",
    tokensMax: 512,
    pooling: "cls",
    tags: exported("Xenova/bge-base-en-v1.5", "fp32"),
  },
  {
    name: "gte-small",
    kind: "embedding",
    licence: "MIT",
    tokensMax: 512,
    pooling: "mean",
    tags: exported("Xenova/gte-small", "fp32"),
  },
  {
    name: "multilingual-e5-small",
    kind: "embedding",
    licence: "MIT",
    tokensMax: 512,
    pooling: "mean",
    tags: exported("Xenova/multilingual-e5-small", "fp32"),
  },
  {
    name: "paraphrase-multilingual-minilm-l12-v2",
    kind: "embedding",
    licence: "Apache-2.0",
    tokensMax: 128,
    pooling: "mean",
    tags: exported("Xenova/paraphrase-multilingual-MiniLM-L12-v2", "fp32"),
  },
];

/** Cross-encoders: nli-default and nli-small are one artefact of 576 MB, nli-xsmall has 284 MB. */
const NLI: readonly KnownModel[] = [
  {
    name: "nli-small",
    alias: "nli-default",
    kind: "nli",
    licence: "Apache-2.0",
    tokensMax: 512,
    tags: exported("Xenova/nli-deberta-v3-small", "fp32"),
  },
  {
    name: "nli-xsmall",
    kind: "nli",
    licence: "Apache-2.0",
    tokensMax: 512,
    tags: exported("Xenova/nli-deberta-v3-xsmall", "fp32"),
  },
];

const GENERATION: readonly KnownModel[] = [
  {
    name: "smollm2-135m-instruct",
    kind: "generation",
    licence: "Apache-2.0",
    tokensMax: 8192,
    tags: exported("HuggingFaceTB/SmolLM2-135M-Instruct", "int8"),
  },
  {
    name: "smollm2-360m-instruct",
    kind: "generation",
    licence: "Apache-2.0",
    tokensMax: 8192,
    tags: exported("HuggingFaceTB/SmolLM2-360M-Instruct", "int8"),
  },
  {
    name: "qwen2.5-0.5b-instruct",
    kind: "generation",
    licence: "Apache-2.0",
    tokensMax: 32_768,
    tags: exported("onnx-community/Qwen2.5-0.5B-Instruct", "int8"),
  },
];

/** A graph for texts and one for images, as exports for ONNX Runtime name them. */
function inTwo(repository: string, text: string, image: string): Readonly<Record<string, HubFiles>> {
  const form = (ending: string) => ({
    repository,
    revision: "main",
    onnx: `onnx/${text}${ending}.onnx`,
    image: `onnx/${image}${ending}.onnx`,
  });
  return { latest: form(""), fp32: form(""), int8: form("_quantized") };
}

/** Texts and images in one space. */
const DUAL_ENCODERS: readonly KnownModel[] = [
  {
    name: "clip-vit-base-patch32",
    alias: "clip",
    kind: "dual_encoder",
    licence: "MIT",
    tokensMax: 77,
    tags: inTwo("Xenova/clip-vit-base-patch32", "text_model", "vision_model"),
  },
];

/** Images in words. */
const VISION: readonly KnownModel[] = [
  {
    name: "vit-gpt2-image-captioning",
    kind: "vision",
    licence: "Apache-2.0",
    tokensMax: 64,
    tags: inTwo("Xenova/vit-gpt2-image-captioning", "decoder_model", "encoder_model"),
  },
];

/** What is said, in writing: a graph that hears, and one with a cache that writes. */
function whisper(size: string): KnownModel {
  const repository = `onnx-community/whisper-${size}`;
  const form = (ending: string) => ({
    repository,
    revision: "main",
    onnx: `onnx/decoder_model_merged${ending}.onnx`,
    sound: `onnx/encoder_model${ending}.onnx`,
  });
  const tags = { latest: form(""), fp32: form(""), int8: form("_quantized") };
  return { name: `whisper-${size}`, kind: "speech", licence: "Apache-2.0", tokensMax: 448, tags };
}

const SPEECH: readonly KnownModel[] = [whisper("tiny"), whisper("base")];

export const KNOWN_MODELS: readonly KnownModel[] = [
  ...EMBEDDINGS,
  ...NLI,
  ...GENERATION,
  ...DUAL_ENCODERS,
  ...VISION,
  ...SPEECH,
];

/** Who published what an export of another's repository was made of, in lower case. */
const ORIGINALS: Readonly<Record<string, string>> = {
  "sentence-transformers/all-minilm-l6-v2": "all-minilm-l6-v2",
  "sentence-transformers/all-minilm-l12-v2": "all-minilm-l12-v2",
  "sentence-transformers/all-mpnet-base-v2": "all-mpnet-base-v2",
  "sentence-transformers/paraphrase-multilingual-minilm-l12-v2": "paraphrase-multilingual-minilm-l12-v2",
  "baai/bge-small-en-v1.5": "bge-small-en-v1.5",
  "baai/bge-base-en-v1.5": "bge-base-en-v1.5",
  "thenlper/gte-small": "gte-small",
  "intfloat/multilingual-e5-small": "multilingual-e5-small",
  "cross-encoder/nli-deberta-v3-small": "nli-small",
  "cross-encoder/nli-deberta-v3-xsmall": "nli-xsmall",
  "qwen/qwen2.5-0.5b-instruct": "qwen2.5-0.5b-instruct",
  "openai/clip-vit-base-patch32": "clip-vit-base-patch32",
  "nlpconnect/vit-gpt2-image-captioning": "vit-gpt2-image-captioning",
  "openai/whisper-tiny": "whisper-tiny",
  "openai/whisper-base": "whisper-base",
};

/**
 * The name of the model that a repository of a hub (`org/name`) has, or that its files were made of; null: none is
 * known.
 */
export function modelOfRepository(repository: string): string | null {
  const wanted = repository.toLowerCase();
  const isIt = (one: KnownModel) => Object.values(one.tags).some((tag) => tag.repository.toLowerCase() === wanted);
  if (Object.hasOwn(ORIGINALS, wanted)) return ORIGINALS[wanted]!;
  return KNOWN_MODELS.find(isIt)?.name ?? null;
}

/** By name or alias; null: not one of them. */
export function knownModel(name: string): KnownModel | null {
  return KNOWN_MODELS.find((one) => one.name === name || one.alias === name) ?? null;
}
