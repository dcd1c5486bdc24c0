/**
 * Builds the manifest of a bundle whose files came from a hub, from known-models.ts and from the files themselves.
 * Equal files give equal manifests. Called by hub-source.ts.
 */
import { readFile } from "node:fs/promises";
import { BundleError } from "../manifest.js";
import type { HubFiles, KnownModel } from "./known-models.js";
import type { StoredFile } from "./model-source.js";

export interface HubBundle {
  readonly known: KnownModel;
  readonly form: HubFiles;
  /** The commit, where the hub says it. */
  readonly revision: string;
  readonly files: readonly StoredFile[];
}

/** The parts of config.json, tokenizer_config.json and generation_config.json that are of interest. */
type Config = Readonly<Record<string, unknown>>;

const CONFIG_BYTES_MAX = 4 * 1024 * 1024;

/** The part after the folders: bundles have none. */
export function bundleName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Throws BundleError when the files do not say what they must. */
export async function hubManifest({ known, form, revision, files }: HubBundle): Promise<string> {
  const config = await readJson(files, "config.json");
  if (config === null) throw new BundleError("config.json is missing");
  const { name, alias, kind, licence } = known;
  const manifest = {
    id: name,
    ...(alias === undefined ? {} : { alias }),
    kind,
    revision,
    repository: form.repository,
    licence,
    required_capabilities: [kind],
    max_length: Math.min(known.tokensMax, positive(config, "max_position_embeddings") ?? known.tokensMax),
    tokenizer: "tokenizer.json",
    onnx: bundleName(form.onnx),
    ...(form.image !== undefined && { image: await ofImages(bundleName(form.image), files) }),
    ...(form.sound !== undefined && (await ofSpeech(bundleName(form.sound), config, files))),
    ...(await ofKind(known, config, files)),
    files: files.map((file) => ({ name: file.name, bytes: file.bytes, sha256: file.sha256 })),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

async function ofKind(known: KnownModel, config: Config, files: readonly StoredFile[]): Promise<object> {
  switch (known.kind) {
    case "embedding": {
      const dimensions = positive(config, "hidden_size") ?? positive(config, "dim");
      if (dimensions === null) throw new BundleError("config.json does not say hidden_size");
      return { dimensions, special_tokens: true, pooling: known.pooling };
    }
    case "nli":
      return { labels: labelsOf(config) };
    case "generation":
      return ofGeneration(config, files);
    case "dual_encoder": {
      const dimensions = positive(config, "projection_dim");
      if (dimensions === null) throw new BundleError("config.json does not say projection_dim");
      return { dimensions, special_tokens: true };
    }
    case "vision": {
      const { decoder_start_token_id: start, eos_token_id: end } = config;
      if (!Number.isInteger(start) || !Number.isInteger(end)) {
        throw new BundleError("config.json does not say decoder_start_token_id and eos_token_id");
      }
      return { generation: { start_token_id: start, eos_token_ids: [end] } };
    }
    case "speech":
      return {};
  }
}

/** As Whisper's generation_config.json says: which tokens are languages, tasks and times, and which are never said. */
async function ofSpeech(onnx: string, config: Config, files: readonly StoredFile[]): Promise<object> {
  const rules = (await readJson(files, "generation_config.json")) ?? {};
  const whole = (name: string) => positive(rules, name) ?? positive(config, name);
  const [start, end, mels] = [whole("decoder_start_token_id"), whole("eos_token_id"), positive(config, "num_mel_bins")];
  if (start === null || end === null || mels === null) {
    throw new BundleError("config.json does not say decoder_start_token_id, eos_token_id and num_mel_bins");
  }
  const noTimes = positive(rules, "no_timestamps_token_id");
  const tokens = (name: string) => {
    const list = rules[name] ?? config[name];
    return Array.isArray(list) ? list.filter((id) => Number.isInteger(id) && id >= 0) : null;
  };
  const tasks = rules.task_to_id as Config | undefined;
  const speech = {
    onnx,
    mels,
    languages: languagesOf(rules.lang_to_id),
    transcribe_token_id: tasks === undefined ? null : positive(tasks, "transcribe"),
    no_timestamps_token_id: noTimes,
    // It has no name there; it stands before the one that switches times off.
    no_speech_token_id: noTimes === null ? null : noTimes - 1,
    suppressed_token_ids: tokens("suppress_tokens"),
    first_suppressed_token_ids: tokens("begin_suppress_tokens"),
  };
  return {
    max_length: positive(config, "max_target_positions") ?? positive(rules, "max_length") ?? 448,
    generation: { start_token_id: start, eos_token_ids: [end] },
    speech: said(speech),
  };
}

/** {"<|en|>": 50259, …} as {en: 50259, …}; null: the model knows one language. */
function languagesOf(said: unknown): object | null {
  if (typeof said !== "object" || said === null) return null;
  const languages = Object.entries(said).flatMap(([name, id]) => {
    const code = /^<\|([a-z]{2,8})\|>$/.exec(name)?.[1];
    return code !== undefined && Number.isInteger(id) ? [[code, id]] : [];
  });
  return languages.length === 0 ? null : Object.fromEntries(languages);
}

/** From preprocessor_config.json: how an image is cropped or resized. */
async function ofImages(onnx: string, files: readonly StoredFile[]): Promise<object> {
  const said = (await readJson(files, "preprocessor_config.json")) ?? {};
  const crop = said.do_center_crop === false ? undefined : said.crop_size;
  const size = sideOf(crop ?? said.size);
  if (size === null) throw new BundleError("preprocessor_config.json does not say the size of images");
  const channels = (name: string) => {
    const values = said[name];
    if (Array.isArray(values) && values.length === 3) return values;
    throw new BundleError(`preprocessor_config.json does not say ${name}`);
  };
  const fit = crop === undefined ? "stretch" : "crop";
  return { onnx, size, fit, mean: channels("image_mean"), std: channels("image_std") };
}

/** 224, {height, width} of a square, or {shortest_edge}. */
function sideOf(size: unknown): number | null {
  if (typeof size === "number") return size;
  if (typeof size !== "object" || size === null) return null;
  const { height, width, shortest_edge: edge } = size as Config;
  const side = height === width ? (height ?? edge) : null;
  return typeof side === "number" ? side : null;
}

const NLI_LABELS = ["contradiction", "entailment", "neutral"];

/** What the outputs of a classifier mean, in their order, as id2label says. */
function labelsOf({ id2label }: Config): string[] {
  if (typeof id2label !== "object" || id2label === null) throw new BundleError("config.json has no id2label");
  const entries = Object.entries(id2label).sort(([a], [b]) => Number(a) - Number(b));
  const labels = entries.map(([, label]) => String(label).toLowerCase());
  const inOrder = entries.every(([id], index) => id === String(index));
  if (inOrder && labels.length === NLI_LABELS.length && NLI_LABELS.every((label) => labels.includes(label)))
    return labels;
  throw new BundleError(`id2label in config.json names ${labels.join(", ")}, not ${NLI_LABELS.join(", ")}`);
}

async function ofGeneration(config: Config, files: readonly StoredFile[]): Promise<object> {
  const tokenizer = (await readJson(files, "tokenizer_config.json")) ?? {};
  const sampling = (await readJson(files, "generation_config.json")) ?? {};
  const hasTemplate = files.some(({ name }) => name === "chat_template.jinja") || tokenizer.chat_template !== undefined;
  if (!hasTemplate) throw new BundleError("tokenizer_config.json has no chat_template");
  const end = sampling.eos_token_id ?? config.eos_token_id;
  const eos = (Array.isArray(end) ? end : [end]).filter((id) => Number.isInteger(id));
  if (eos.length === 0) throw new BundleError("config.json does not say eos_token_id");
  const heads = positive(config, "num_attention_heads");
  const width = positive(config, "hidden_size");
  const ofHead = heads !== null && width !== null && width % heads === 0 ? width / heads : null;
  const generation = {
    layers: positive(config, "num_hidden_layers"),
    kv_heads: positive(config, "num_key_value_heads") ?? heads,
    head_dimensions: positive(config, "head_dim") ?? ofHead,
    vocabulary: positive(config, "vocab_size"),
    eos_token_ids: eos,
    defaults: said({ temperature: share(sampling.temperature, 5), top_p: share(sampling.top_p, 1) }),
  };
  return { tokenizer_config: "tokenizer_config.json", generation: said(generation) };
}

/** Without what the files do not say; the graph may say it. */
function said(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function share(value: unknown, maximum: number): number | null {
  return typeof value === "number" && value > 0 && value <= maximum ? value : null;
}

function positive(config: Config, key: string): number | null {
  const value = config[key];
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : null;
}

/** Null: there is no such file. */
async function readText(files: readonly StoredFile[], name: string): Promise<string | null> {
  const file = files.find((one) => one.name === name);
  if (file === undefined) return null;
  if (file.bytes > CONFIG_BYTES_MAX) throw new BundleError(`${name} is longer than ${CONFIG_BYTES_MAX} bytes`);
  return readFile(file.path, "utf8");
}

async function readJson(files: readonly StoredFile[], name: string): Promise<Config | null> {
  const text = await readText(files, name);
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BundleError(`${name} is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Config;
  throw new BundleError(`${name} is no JSON object`);
}
