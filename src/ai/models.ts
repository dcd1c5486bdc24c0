/**
 * The models that are installed, as one actor sees and runs them. A bundle is read, checked and kept when its model is
 * first asked for; one that cannot be used is `failed`, with the reason, until the server starts again. Made by the
 * actor, for all its partitions; statements reach it through their session's services, handlers through `tenantEmbedder`.
 */
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { type FoundBundle, findBundles, problemOf } from "./bundle.js";
import { InferenceLane, type LaneOptions } from "./inference-lane.js";
import { BundleError, type Manifest } from "./manifest.js";
import { StaticEncoder } from "./static-encoder.js";

export interface ModelsOptions {
  /** Folders with bundles; of two with the same name that of the earlier folder counts. */
  readonly roots: readonly string[];
  /** The name of the model that embeds when none is named. */
  readonly embeddingModel: string;
  readonly warn: (message: string, fields: object) => void;
  /** How models that ONNX Runtime runs are reached; null: there is no way. */
  readonly inference: LaneOptions | null;
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
  /** Of a static model, once it is ready. */
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

  private readonly lane: InferenceLane | null;

  constructor(private readonly options: ModelsOptions) {
    this.lane = options.inference === null ? null : new InferenceLane(options.inference);
  }

  /**
   * A text's vector, at once; `name` null: the configured model. The vector is shared: it is only to be read. Counts for
   * the tenant. Null: the model has to be waited for, see `embedAll`.
   */
  embedNow(text: string, name: string | null, tenant: string): Float32Array | null {
    const key = text.length > RECENT_CHARACTERS_MAX ? null : `${name ?? ""}\0${text}`;
    const known = key === null ? undefined : this.recent.get(key);
    if (known !== undefined) return known;
    const { encoder } = this.usable(name);
    if (encoder === null) return null;
    const before = encoder.tokens;
    const vector = encoder.encode(text);
    this.count(tenant, 1, encoder.tokens - before);
    if (key !== null) this.remember(key, vector);
    return vector;
  }

  /** Vectors of at most RUN_TEXTS_MAX (inference-lane.ts) texts, by whatever runs the model. Errors as `describe`, and `overloaded`. */
  async embedSome(texts: readonly string[], name: string | null, tenant: string): Promise<Float32Array[]> {
    const model = this.usable(name);
    if (model.encoder !== null) return texts.map((text) => this.embedNow(text, name, tenant)!);
    if (this.lane === null) throw new DbError("model_unavailable", `The model "${model.name}" cannot be run here.`);
    try {
      const { vectors, tokens } = await this.lane.embed(model.found.directory, texts);
      model.state = "ready";
      this.count(tenant, texts.length, tokens);
      return vectors;
    } catch (error) {
      if (!(error instanceof BundleError)) throw error;
      this.fail(model, error.message);
      throw unavailable(model);
    }
  }

  /** The model's id and dimensions. Throws `model_not_found` and `model_unavailable`. */
  describe(name: string | null): { readonly id: string; readonly dimensions: number } {
    const model = this.usable(name);
    return { id: model.name, dimensions: model.found.manifest!.dimensions! };
  }

  /** Ends the inference thread, after what it does. */
  close(): Promise<void> {
    return this.lane?.close() ?? Promise.resolve();
  }

  list(): ModelFacts[] {
    return this.all().map((model) => factsOf(model));
  }

  private remember(key: string, vector: Float32Array): void {
    if (this.recent.size >= RECENT_MAX) this.recent.delete(this.recent.keys().next().value!);
    this.recent.set(key, vector);
  }

  private count(tenant: string, texts: number, tokens: number): void {
    let usage = this.usage.get(tenant);
    if (usage === undefined) {
      usage = { tenant, texts: 0, tokens: 0 };
      this.usage.set(tenant, usage);
    }
    usage.texts += texts;
    usage.tokens += tokens;
  }

  /** An embedding model that has not failed; a static one is loaded. */
  private usable(name: string | null): Model {
    const model = this.find(name ?? this.options.embeddingModel);
    if (model.state === "installed" && model.found.manifest?.static !== undefined) this.load(model);
    if (model.state === "failed") throw unavailable(model);
    model.lastUsedMs = Date.now();
    return model;
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

function unavailable({ name, problem }: Model): DbError {
  return new DbError("model_unavailable", `The model "${name}" cannot be used: ${problem}.`, {
    model: name,
    hint: "Install the bundle again and restart the server.",
  });
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
