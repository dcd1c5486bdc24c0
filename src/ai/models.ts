/**
 * The models that are installed, as one actor sees and runs them. A bundle is read, checked and kept when its model is
 * first asked for; one that cannot be used is `failed`, with the reason, until the server starts again. Made by the
 * actor, for all its partitions; statements reach it through their session's services, handlers through `tenantEmbedder`.
 */
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { type FoundBundle, findBundles, problemOf } from "./bundle.js";
import type { Manifest } from "./manifest.js";
import { StaticEncoder } from "./static-encoder.js";

export interface ModelsOptions {
  /** Folders with bundles; of two with the same name that of the earlier folder counts. */
  readonly roots: readonly string[];
  /** The name of the model that embeds when none is named. */
  readonly embeddingModel: string;
  readonly warn: (message: string, fields: object) => void;
}

/** `installed`: not asked for yet, so not checked to the byte. */
export type ModelState = "installed" | "ready" | "failed";

/** A model as LIST_MODELS() shows it. */
export interface ModelFacts {
  readonly name: string;
  readonly alias: string | null;
  readonly kind: string | null;
  readonly runtime: "static" | "onnx" | null;
  readonly dimensions: number | null;
  readonly tokensMax: number | null;
  readonly revision: string | null;
  readonly licence: string | null;
  readonly bytes: number;
  /** SHA-256 of the manifest. */
  readonly digest: string;
  readonly state: ModelState;
  /** Why it failed. */
  readonly problem: string | null;
  /** Milliseconds since the epoch; null: not since the actor started. */
  readonly lastUsedMs: number | null;
}

/** What a tenant had embedded. */
export interface EmbeddingUsage {
  readonly tenant: string;
  texts: number;
  tokens: number;
}

interface Model {
  readonly found: FoundBundle;
  readonly name: string;
  state: ModelState;
  problem: string | null;
  encoder: StaticEncoder | null;
  lastUsedMs: number | null;
}

/** Vectors kept for statements that embed the same text for each row. */
const RECENT_MAX = 32;
const RECENT_CHARACTERS_MAX = 2_000;

export class Models {
  /** By tenant. */
  readonly usage = new Map<string, EmbeddingUsage>();
  private models: readonly Model[] | null = null;
  private readonly recent = new Map<string, Float32Array>();

  constructor(private readonly options: ModelsOptions) {}

  /** Of the statement's tenant; null: the configured model. The vector is shared: it is only to be read. */
  embed(text: string, name: string | null, tenant: string): Float32Array {
    const key = text.length > RECENT_CHARACTERS_MAX ? null : `${name ?? ""}\0${text}`;
    const known = key === null ? undefined : this.recent.get(key);
    if (known !== undefined) return known;
    const { encoder } = this.ready(name);
    const before = encoder.tokens;
    const vector = encoder.encode(text);
    this.count(tenant, encoder.tokens - before);
    if (key !== null) this.remember(key, vector);
    return vector;
  }

  /** The model's id and dimensions, once it is ready. Throws `model_not_found` and `model_unavailable`. */
  describe(name: string | null): { readonly id: string; readonly dimensions: number } {
    const { model, encoder } = this.ready(name);
    return { id: model.name, dimensions: encoder.dimensions };
  }

  list(): ModelFacts[] {
    return this.all().map((model) => factsOf(model));
  }

  private remember(key: string, vector: Float32Array): void {
    if (this.recent.size >= RECENT_MAX) this.recent.delete(this.recent.keys().next().value!);
    this.recent.set(key, vector);
  }

  private count(tenant: string, tokens: number): void {
    let usage = this.usage.get(tenant);
    if (usage === undefined) {
      usage = { tenant, texts: 0, tokens: 0 };
      this.usage.set(tenant, usage);
    }
    usage.texts++;
    usage.tokens += tokens;
  }

  private ready(name: string | null): { readonly model: Model; readonly encoder: StaticEncoder } {
    const model = this.find(name ?? this.options.embeddingModel);
    if (model.state === "installed") this.load(model);
    const { encoder } = model;
    if (encoder === null) {
      throw new DbError("model_unavailable", `The model "${model.name}" cannot be used: ${model.problem}.`, {
        model: model.name,
        hint: "Install the bundle again and restart the server.",
      });
    }
    model.lastUsedMs = Date.now();
    return { model, encoder };
  }

  private find(name: string): Model {
    const all = this.all();
    const model = all.find((one) => one.name === name) ?? all.find((one) => one.found.manifest?.alias === name);
    if (model !== undefined) return model;
    const names = all.map((one) => one.name).join(", ");
    throw new DbError("model_not_found", `There is no model "${name}"; installed: ${names || "none"}.`, {
      model: name,
      sqlstate: "42704",
      hint: "Put its bundle (a folder with manifest.json) into the folder that ai.model_root names and restart the server.",
    });
  }

  private load(model: Model): void {
    const { directory, manifest } = model.found;
    try {
      model.encoder = StaticEncoder.load(directory, manifest as Manifest);
      model.state = "ready";
    } catch (error) {
      this.fail(model, problemOf(error));
    }
  }

  private fail(model: Model, problem: string): void {
    model.state = "failed";
    model.problem = problem;
    this.options.warn("a model cannot be used", { model: model.name, problem });
  }

  private all(): readonly Model[] {
    if (this.models !== null) return this.models;
    const models = new Map<string, Model>();
    for (const found of this.options.roots.flatMap(findBundles)) {
      const name = found.manifest?.id ?? join(found.directory).split(/[/\\]/).at(-1)!;
      if (models.has(name)) continue;
      const model: Model = { found, name, state: "installed", problem: null, encoder: null, lastUsedMs: null };
      models.set(name, model);
      if (found.problem !== null) this.fail(model, found.problem);
    }
    this.models = [...models.values()];
    return this.models;
  }
}

function factsOf({ found, name, state, problem, lastUsedMs }: Model): ModelFacts {
  const { manifest, digest } = found;
  return {
    name,
    alias: manifest?.alias ?? null,
    kind: manifest?.kind ?? null,
    runtime: manifest === null ? null : manifest.static === undefined ? "onnx" : "static",
    dimensions: manifest?.dimensions ?? null,
    tokensMax: manifest?.max_length ?? null,
    revision: manifest?.revision ?? null,
    licence: manifest?.licence ?? null,
    bytes: manifest?.files.reduce((sum, file) => sum + file.bytes, 0) ?? 0,
    digest,
    state,
    problem,
    lastUsedMs,
  };
}
