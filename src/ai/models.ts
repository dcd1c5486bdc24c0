/**
 * The installed models, as one actor sees and runs them. A bundle is read, checked and kept when its model is first
 * asked for. A bundle that cannot be used is `failed`, with the reason, until it is pulled again or the server
 * restarts. When the library reports a change, the installed bundles are looked at again. Made by the actor, for all
 * its partitions; statements reach it through their session's services, handlers through `tenantEmbedder`.
 */
import { basename, join } from "node:path";
import { DbError } from "../protocol/errors.js";
import type { InferenceMetrics, ModelUsage } from "../protocol/messages.js";
import type { ToLibrary } from "../protocol/model-library.js";
import { type FoundBundle, findBundles, type PulledFrom, problemOf } from "./bundle.js";
import { generationTokens } from "./estimated-tokens.js";
import type { Generation } from "./generation-stream.js";
import { InferenceLane, type LaneOptions, type Numbers } from "./inference-lane.js";
import type { GenerationRequest, ImageItem, TextPair } from "./inference-messages.js";
import { LibraryClient } from "./library/library-client.js";
import { LATEST } from "./library/model-reference.js";
import { BundleError, type Manifest } from "./manifest.js";
import { budgetOfUser, type ModelUser } from "./model-budget.js";
import { StaticEncoder } from "./static-encoder.js";

export interface ModelsOptions {
  /** Folders with bundles; of two with the same name that of the earlier folder counts. */
  readonly roots: readonly string[];
  /** The name of the model that embeds when none is named. */
  readonly embeddingModel: string;
  readonly warn: (message: string, fields: object) => void;
  /** How models that ONNX Runtime runs are reached; null: there is no way. */
  readonly inference: LaneOptions | null;
  /** The way to the library, which pulls and deletes models; absent: there is none. */
  readonly toLibrary?: (message: ToLibrary) => void;
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
  /** Null: it was not pulled. */
  readonly pulled: PulledFrom | null;
  /** It does not serve before the server has been started again. */
  readonly restartRequired: boolean;
}

/** A text's vector, which is shared, and the number of tokens that the model has read of the text. */
export interface Embedded {
  readonly vector: Float32Array;
  readonly tokens: number;
}

type Usage = { -readonly [Field in keyof ModelUsage]: ModelUsage[Field] };
type Kind = Manifest["kind"];

interface Model {
  readonly found: FoundBundle;
  readonly name: string;
  state: ModelState;
  problem: string | null;
  /** Of a static model, once it is ready. */
  encoder: StaticEncoder | null;
  lastUsedMs: number | null;
  readonly restartRequired: boolean;
}

/** Vectors kept for statements that embed the same text for each row. */
const RECENT_MAX = 32;
const RECENT_CHARACTERS_MAX = 2_000;

export class Models {
  /** By tenant. */
  readonly usage = new Map<string, Usage>();
  private models: readonly Model[] | null = null;
  /** Folders of bundles that are going to be deleted. */
  private readonly leaving = new Set<string>();
  private readonly recent = new Map<string, Embedded>();

  private readonly lane: InferenceLane | null;
  /** Null: models are pulled and deleted elsewhere. */
  readonly library: LibraryClient | null;

  constructor(private readonly options: ModelsOptions) {
    this.lane = options.inference === null ? null : new InferenceLane(options.inference);
    this.library = options.toLibrary === undefined ? null : new LibraryClient(options.toLibrary, this);
  }

  /**
   * A text's vector, at once; `name` null: the configured model. The vector is shared: it is only to be read. Counts
   * for the tenant. Null: the model has to be waited for, see `embedAll`.
   */
  embedNow(text: string, name: string | null, user: ModelUser): Float32Array | null {
    return this.embeddedNow(text, name, user)?.vector ?? null;
  }

  /** The same with the number of tokens that the model has read of the text. */
  embeddedNow(text: string, name: string | null, user: ModelUser): Embedded | null {
    budgetOfUser(user)?.beginModel(this.usable(name, "embedding").name);
    const key = text.length > RECENT_CHARACTERS_MAX ? null : `${name ?? ""}\0${text}`;
    const known = key === null ? undefined : this.recent.get(key);
    if (known !== undefined) return known;
    const { encoder } = this.usable(name, "embedding");
    if (encoder === null) return null;
    const before = encoder.tokens;
    const vector = encoder.encode(text);
    const embedded = { vector, tokens: encoder.tokens - before };
    this.count(user, { texts: 1, tokens: embedded.tokens });
    if (key !== null) this.remember(key, embedded);
    return embedded;
  }

  /**
   * The sum of a text's token vectors by the configured model, for the server's own comparison of words; null: that
   * model is not a static encoder.
   */
  sumNow(text: string): Float32Array | null {
    const name = this.options.embeddingModel;
    return this.answersAtOnce(name) ? (this.usable(name, "embedding").encoder?.sumOf(text) ?? null) : null;
  }

  /** Whether `embedNow` has the vectors of that model; not of one that is not there. */
  answersAtOnce(name: string | null): boolean {
    return this.found(name ?? this.options.embeddingModel)?.found.manifest?.static !== undefined;
  }

  /**
   * Vectors of at most RUN_ITEMS_MAX (inference-lane.ts) texts, by whatever runs the model. Errors as `describe`, and
   * `overloaded`.
   */
  async embedSome(
    texts: readonly string[],
    name: string | null,
    user: ModelUser,
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    return (await this.embeddedSome(texts, name, user, signal)).rows;
  }

  /** The same with the number of tokens that the model has read of all of them. */
  async embeddedSome(
    texts: readonly string[],
    name: string | null,
    user: ModelUser,
    signal?: AbortSignal,
  ): Promise<Pick<Numbers, "rows" | "tokens">> {
    const model = this.usable(name, "embedding");
    budgetOfUser(user)?.beginModel(model.name);
    if (model.encoder !== null) {
      const all = texts.map((text) => this.embeddedNow(text, name, user)!);
      return { rows: all.map(({ vector }) => vector), tokens: all.reduce((sum, { tokens }) => sum + tokens, 0) };
    }
    const numbers = await this.ask(model, (lane) => lane.numbers(model.found.directory, texts, signal));
    this.count(user, { texts: texts.length, tokens: numbers.tokens });
    return numbers;
  }

  /**
   * Vectors of at most RUN_ITEMS_MAX texts or images, by a model that puts both into one space; images are as its
   * manifest wants them. Errors as `embedSome`.
   */
  async embedInto(
    items: readonly (string | ImageItem)[],
    name: string,
    user: ModelUser,
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const model = this.usable(name, "dual_encoder");
    budgetOfUser(user)?.beginModel(model.name);
    const { rows, tokens } = await this.ask(model, (lane) => lane.numbers(model.found.directory, items, signal));
    this.count(user, { texts: items.length, tokens });
    return rows;
  }

  /** The first model of that kind that is installed and has not failed; null: there is none. */
  firstOf(kind: Kind): { readonly name: string; readonly manifest: Manifest } | null {
    const model = this.all().find(
      ({ found, state }) => found.manifest?.kind === kind && state !== "failed" && !this.leaving.has(found.directory),
    );
    return model === undefined ? null : { name: model.name, manifest: model.found.manifest! };
  }

  /** The kind of an installed model, by id, alias or name:tag; null: there is no such model. */
  kindOf(name: string): Kind | null {
    return this.found(name)?.found.manifest?.kind ?? null;
  }

  /**
   * What the bundle in that folder, of kind nli, gives for each of at most RUN_ITEMS_MAX pairs: its outputs (logits)
   * for contradiction, entailment and neutral. `user` null: counts for nobody. Rejects with BundleError,
   * `overloaded`, `internal_error` when the run failed, and the signal's reason.
   */
  async scorePairs(
    directory: string,
    pairs: readonly TextPair[],
    user: ModelUser | null,
    signal?: AbortSignal,
  ): Promise<Numbers> {
    if (this.lane === null) throw new DbError("model_unavailable", "Models are not available here.");
    const model = this.all().find((one) => one.found.directory === directory);
    if (user !== null) budgetOfUser(user)?.beginModel(model?.name ?? basename(directory));
    if (model !== undefined) model.lastUsedMs = Date.now();
    try {
      const numbers = await this.lane.numbers(directory, pairs, signal);
      if (model !== undefined) model.state = "ready";
      if (user !== null) this.count(user, { pairs: pairs.length, tokens: numbers.tokens });
      return numbers;
    } catch (error) {
      if (model !== undefined && error instanceof BundleError) this.fail(model, error.message);
      throw error;
    }
  }

  /** A text by the model of that name. Errors come while it is read, as from `describe`, and `overloaded`. */
  generate(name: string, request: GenerationRequest, user: ModelUser, signal?: AbortSignal): Generation {
    const model = this.usable(name, kindFor(request));
    budgetOfUser(user)?.beginModel(model.name);
    const generation = this.laneFor(model).generate(model.found.directory, request, signal, (error) =>
      this.unusable(model, error),
    );
    generation.ended.then(
      ({ inputTokens, outputTokens }) => {
        model.state = "ready";
        this.count(user, { tokens: inputTokens, generatedTokens: outputTokens });
      },
      () => {
        // What was written before it failed was read by the client.
        if (generation.made === 0) return;
        this.count(user, { tokens: generationTokens(request), generatedTokens: generation.made });
      },
    );
    return generation;
  }

  /** The manifest of a model of that kind that has not failed. Throws `model_not_found` and `model_unavailable`. */
  describeKind(name: string, kind: Kind): Manifest {
    return this.usable(name, kind).found.manifest!;
  }

  /** Null: no inference thread can be reached from here. */
  get laneMetrics(): InferenceMetrics | null {
    return this.lane?.metrics ?? null;
  }

  /** The model's id and dimensions. Throws `model_not_found` and `model_unavailable`. */
  describe(name: string | null): { readonly id: string; readonly dimensions: number } {
    const model = this.usable(name, "embedding");
    return { id: model.name, dimensions: model.found.manifest!.dimensions! };
  }

  /** Ends the inference thread, after what it does. */
  close(): Promise<void> {
    return this.lane?.close() ?? Promise.resolve();
  }

  list(): ModelFacts[] {
    return this.all().map((model) => factsOf(model));
  }

  /** Called by the library: looks again at what is installed. An unchanged bundle keeps its state in memory. */
  changed(): void {
    const before = this.models ?? [];
    this.models = null;
    this.leaving.clear();
    this.recent.clear();
    const now = this.all(before);
    for (const old of before) {
      if (!now.includes(old)) void this.lane?.release(old.found.directory);
    }
  }

  /**
   * By the library: the bundle in that folder is used no longer, once this resolves; until `changed` nobody finds it.
   */
  async letGo(directory: string): Promise<void> {
    this.leaving.add(directory);
    this.recent.clear();
    await this.lane?.letGo(directory);
  }

  /** Of an installed model, by name, alias or name:tag. Throws `model_not_found`. */
  factsOf(name: string): ModelFacts {
    return factsOf(this.find(name));
  }

  private remember(key: string, embedded: Embedded): void {
    if (this.recent.size >= RECENT_MAX) this.recent.delete(this.recent.keys().next().value!);
    this.recent.set(key, embedded);
  }

  private count(user: ModelUser, add: Partial<Usage>): void {
    const tenant = typeof user === "string" ? user : user.tenant;
    budgetOfUser(user)?.spendTokens((add.tokens ?? 0) + (add.generatedTokens ?? 0));
    let usage = this.usage.get(tenant);
    if (usage === undefined) {
      usage = { tenant, texts: 0, pairs: 0, tokens: 0, generatedTokens: 0 };
      this.usage.set(tenant, usage);
    }
    usage.texts += add.texts ?? 0;
    usage.pairs += add.pairs ?? 0;
    usage.tokens += add.tokens ?? 0;
    usage.generatedTokens += add.generatedTokens ?? 0;
  }

  private laneFor(model: Model): InferenceLane {
    if (this.lane !== null) return this.lane;
    throw new DbError("model_unavailable", `The model "${model.name}" is not available here.`);
  }

  private async ask(model: Model, work: (lane: InferenceLane) => Promise<Numbers>): Promise<Numbers> {
    try {
      const numbers = await work(this.laneFor(model));
      model.state = "ready";
      return numbers;
    } catch (error) {
      throw this.unusable(model, error as Error);
    }
  }

  /** What a run failed with, as the request is told it; a bundle that turned out unusable makes the model failed. */
  private unusable(model: Model, error: Error): Error {
    if (!(error instanceof BundleError)) return error;
    this.fail(model, error.message);
    return unavailable(model);
  }

  /** A model of that kind that has not failed; a static one is loaded. `name` null: the configured one that embeds. */
  private usable(name: string | null, kind: Kind): Model {
    const model = this.find(name ?? this.options.embeddingModel);
    const { manifest } = model.found;
    if (model.state === "installed" && manifest?.static !== undefined) this.load(model);
    if (model.state === "failed") throw unavailable(model);
    if (manifest?.kind !== kind) throw otherKind(model, kind);
    if (model.restartRequired) throw restartRequired(model);
    model.lastUsedMs = Date.now();
    return model;
  }

  private found(name: string): Model | undefined {
    const all = this.all().filter(({ found }) => !this.leaving.has(found.directory));
    const model = all.find((one) => one.name === name) ?? all.find((one) => one.found.manifest?.alias === name);
    if (model !== undefined) return model;
    const colon = name.lastIndexOf(":");
    const tagged = colon > 0 ? this.found(name.slice(0, colon)) : undefined;
    return tagged !== undefined && tagOf(tagged) === name.slice(colon + 1) ? tagged : undefined;
  }

  private find(name: string): Model {
    const model = this.found(name);
    if (model !== undefined) return model;
    const names = this.all()
      .map((one) => (one.found.pulled === null ? one.name : `${one.name}:${tagOf(one)}`))
      .join(", ");
    throw new DbError("model_not_found", `There is no model "${name}"; installed: ${names || "none"}.`, {
      model: name,
      sqlstate: "42704",
      hint: "An administrator can pull it: SELECT PULL_MODEL('name:tag'), or POST /v1/ai/models/pull.",
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

  /** `before`: models that stay as they are where their bundle is the same. */
  private all(before: readonly Model[] = []): readonly Model[] {
    if (this.models !== null) return this.models;
    const models = new Map<string, Model>();
    for (const found of this.options.roots.flatMap(findBundles)) {
      const name = found.manifest?.id ?? join(found.directory).split(/[/\\]/).at(-1)!;
      if (models.has(name)) continue;
      const same = before.find((one) => isSame(one.found, found) && one.state !== "failed");
      if (same !== undefined) {
        models.set(name, same);
        continue;
      }
      const model = newModel(name, found);
      models.set(name, model);
      if (found.problem !== null) this.fail(model, found.problem);
    }
    this.models = [...models.values()];
    return this.models;
  }
}

function kindFor({ image, sound }: GenerationRequest): Kind {
  if (sound !== undefined) return "speech";
  return image === undefined ? "generation" : "vision";
}

function isSame(one: FoundBundle, other: FoundBundle): boolean {
  const isUnchanged = one.directory === other.directory && one.digest === other.digest && other.problem === null;
  return isUnchanged && one.pulled?.tag === other.pulled?.tag;
}

function tagOf({ found }: Model): string {
  return found.pulled?.tag ?? LATEST;
}

function newModel(name: string, found: FoundBundle): Model {
  const startedMs = Date.now() - process.uptime() * 1000;
  // By the contract of claim verification: models that are pulled while the server runs are used after its next start.
  const restartRequired = found.manifest?.kind === "nli" && found.pulled !== null && found.pulled.atMs > startedMs;
  return { found, name, state: "installed", problem: null, encoder: null, lastUsedMs: null, restartRequired };
}

function restartRequired({ name }: Model): DbError {
  return new DbError(
    "model_not_found",
    `The model "${name}" was pulled after the server started; restart the server.`,
    {
      model: name,
      sqlstate: "55000",
    },
  );
}

function otherKind({ name, found }: Model, kind: Kind): DbError {
  return new DbError("model_not_found", `The model "${name}" is of the kind ${found.manifest?.kind}, not ${kind}.`, {
    model: name,
    sqlstate: "22023",
    hint: `Name a model of the kind ${kind}; LIST_MODELS() shows which are installed.`,
  });
}

function unavailable({ name, problem }: Model): DbError {
  return new DbError("model_unavailable", `The model "${name}" cannot be used: ${problem}.`, {
    model: name,
    hint: "Pull it again, or install the bundle again and restart the server.",
  });
}

function factsOf({ found, name, state, problem, lastUsedMs, restartRequired }: Model): ModelFacts {
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
    pulled: found.pulled,
    restartRequired,
  };
}
