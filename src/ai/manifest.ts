/**
 * A bundle's description of itself: `manifest.json` in its folder. Read by bundle.ts. models/README.md explains the
 * form to authors of bundles.
 */
import Type from "typebox";
import { Errors } from "typebox/value";
import { jsonFaultOf } from "../protocol/json-fault.js";
import { faultOf, fieldName } from "../protocol/schema-fault.js";

/** A plain name within the bundle's folder. */
const FileName = Type.String({ pattern: "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}$" });
const Name = Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,99}$" });
const Positive = (maximum: number) => Type.Integer({ minimum: 1, maximum });

const Channels = Type.Array(Type.Number({ minimum: -10, maximum: 10 }), { minItems: 3, maxItems: 3 });

const GIB = 1024 ** 3;
const DIMENSIONS_MAX = 16_000;
const TOKENS_MAX = 1_000_000;

const Token = Type.Integer({ minimum: 0, maximum: 10_000_000 });

const ManifestSchema = Type.Object({
  id: Name,
  /** Another name that it answers to. */
  alias: Type.Optional(Name),
  kind: Type.Enum(["embedding", "nli", "generation", "dual_encoder", "vision", "speech"]),
  revision: Type.String({ minLength: 1, maxLength: 100 }),
  licence: Type.String({ minLength: 1, maxLength: 100 }),
  /** Where it was published. */
  repository: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  /** What a server must be able to do to run it; one that lacks any refuses the bundle. */
  required_capabilities: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 }),
  /** Of an embedding. */
  dimensions: Type.Optional(Positive(DIMENSIONS_MAX)),
  /** Tokens that the model reads; the rest of a text is cut. */
  max_length: Positive(TOKENS_MAX),
  /** What the outputs of a classifier mean, in their order. */
  labels: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1000 })),
  /**
   * Of a classifier of claims that knows little: what texts share by their words decides where it cannot
   * (src/ai/nli/weigh-scores.ts).
   */
  judged_by_words: Type.Optional(Type.Boolean()),
  /**
   * Of a decoder that is too small to answer from texts: where a chat has passages they are quoted, and it is not
   * asked.
   */
  quotes_passages: Type.Optional(Type.Boolean()),
  tokenizer: FileName,
  /** Beside the tokenizer, with the chat template: tokenizer_config.json unless said. */
  tokenizer_config: Type.Optional(FileName),
  /** Of a model that generates text. */
  generation: Type.Optional(
    Type.Object({
      layers: Type.Optional(Positive(10_000)),
      kv_heads: Type.Optional(Positive(10_000)),
      head_dimensions: Type.Optional(Positive(100_000)),
      vocabulary: Type.Optional(Positive(10_000_000)),
      /** A text begins with this one, where the model reads no chat. */
      start_token_id: Type.Optional(Type.Integer({ minimum: 0 })),
      /** The model goes on from a text that it is given; otherwise it reads none. */
      reads_prompt: Type.Optional(Type.Boolean()),
      /** A text ends with any of these. */
      eos_token_ids: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 100 })),
      /** For requests that do not say. */
      defaults: Type.Optional(
        Type.Object({
          temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 5 })),
          top_p: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
          max_tokens: Type.Optional(Positive(TOKENS_MAX)),
        }),
      ),
    }),
  ),
  /** Of a model that sees. */
  image: Type.Optional(
    Type.Object({
      /** The graph that reads pixels: pixel_values [images, 3, size, size] to a vector per image, or one per patch. */
      onnx: FileName,
      /** Pixels of each side that it reads. */
      size: Positive(2048),
      /** How an image of another shape becomes a square: cut at its edges (unless said), or drawn out of shape. */
      fit: Type.Optional(Type.Enum(["crop", "stretch"])),
      /** Of red, green and blue as 0 to 1: what is taken off, and what the rest is divided by. */
      mean: Channels,
      std: Channels,
    }),
  ),
  /** For a model that transcribes speech. */
  speech: Type.Optional(
    Type.Object({
      /** The graph that hears: input_features [1, mels, 3000] to a vector per stretch of time. */
      onnx: FileName,
      /** Bands of energy that it hears. */
      mels: Positive(1000),
      /** Of a model of several languages: the token of each, by its code. */
      languages: Type.Optional(Type.Record(Type.String({ pattern: "^[a-z]{2,8}$" }), Token, { minProperties: 1 })),
      /** Behind the language, where the model has several tasks. */
      transcribe_token_id: Type.Optional(Token),
      /** The tokens behind it are times, in steps of 0.02 s; absent: the model says no times. */
      no_timestamps_token_id: Type.Optional(Token),
      /** Likely at the start of a text where nobody speaks. */
      no_speech_token_id: Type.Optional(Token),
      /** Never said, and not said first. */
      suppressed_token_ids: Type.Optional(Type.Array(Token, { maxItems: 10_000 })),
      first_suppressed_token_ids: Type.Optional(Type.Array(Token, { maxItems: 10_000 })),
      /** Of one window of 30 s; half of max_length unless said. */
      window_tokens_max: Type.Optional(Positive(TOKENS_MAX)),
    }),
  ),
  /** The token for a text without any; by default 0. */
  unknown: Type.Optional(Type.Integer({ minimum: 0 })),
  /** The model wants its tokenizer's special tokens around a text. */
  special_tokens: Type.Optional(Type.Boolean()),
  /** The graph: input_ids, attention_mask and perhaps token_type_ids, to a vector per text or per token. */
  onnx: Type.Optional(FileName),
  /** How a text's vector is made from its tokens' vectors; by default their mean. */
  pooling: Type.Optional(Type.Enum(["mean", "cls"])),
  /** Of an encoder that is a mean of token vectors: the table, int8 rows and after them a float32 scale for each. */
  static: Type.Optional(
    Type.Object({
      table: FileName,
      rows: Positive(10_000_000),
    }),
  ),
  files: Type.Array(
    Type.Object({
      name: FileName,
      bytes: Type.Integer({ minimum: 0, maximum: 64 * GIB }),
      sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    }),
    { minItems: 1, maxItems: 1000 },
  ),
});

export type Manifest = Type.Static<typeof ManifestSchema>;

/** A bundle that cannot be used, and why. */
export class BundleError extends Error {
  override readonly name = "BundleError";
}

/** Capabilities that bundles may require. */
const CAPABILITIES: ReadonlySet<string> = new Set([
  "embedding",
  "nli",
  "generation",
  "dual_encoder",
  "vision",
  "speech",
]);

const SEEING: ReadonlySet<string> = new Set(["dual_encoder", "vision"]);

/** Throws BundleError for what is no manifest, or one of a model that this server cannot run. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BundleError(`manifest.json is not valid JSON: ${jsonFaultOf(text)}`);
  }
  const errors = Errors(ManifestSchema, value);
  if (errors.length > 0) {
    const { path, names, says } = faultOf(ManifestSchema, value, errors);
    throw new BundleError(`manifest.json: ${fieldName([...path, ...names.slice(0, 1)]) || "it"} ${says}`);
  }
  const manifest = value as Manifest;
  const missing = manifest.required_capabilities.filter((capability) => !CAPABILITIES.has(capability));
  if (missing.length > 0) throw new BundleError(`the model requires what this server lacks: ${missing.join(", ")}`);
  const names = new Set(manifest.files.map(({ name }) => name));
  for (const name of [
    manifest.tokenizer,
    manifest.onnx,
    manifest.static?.table,
    manifest.image?.onnx,
    manifest.speech?.onnx,
  ]) {
    if (name !== undefined && !names.has(name)) throw new BundleError(`manifest.json: files does not list ${name}`);
  }
  if (SEEING.has(manifest.kind) && manifest.image === undefined) {
    throw new BundleError(`manifest.json: a model of the kind ${manifest.kind} needs image`);
  }
  if (manifest.kind === "speech" && manifest.speech === undefined) {
    throw new BundleError("manifest.json: a model of the kind speech needs speech");
  }
  return manifest;
}
