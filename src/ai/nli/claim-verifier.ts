/**
 * Verifies claims: one per actor, behind the routes under /v1/ai/nli and the NLI functions of SQL. It may use the
 * models whose bundles were installed when the process started, whatever is pulled later. A bundle is checked and
 * loaded (in the inference thread) when its model is first wanted, the default model's at once (`warmUp`).
 *
 *   request ──▶ model, pairs (anchor, statement) ──▶ pieces of the anchors (evidence-windows.ts) ──▶ Models.scorePairs
 *           ──▶ weigh-scores.ts ──▶ the piece that decides (weigh-windows.ts) ──▶ verdict.ts
 */
import { DbError } from "../../protocol/errors.js";
import { type Numbers, RUN_ITEMS_MAX } from "../inference-lane.js";
import type { TextPair } from "../inference-messages.js";
import { BundleError } from "../manifest.js";
import type { ModelUser } from "../model-budget.js";
import { type ClaimModelsFacts, factsOf, factsOfMissing, type LoadableModel as Model } from "./claim-model-facts.js";
import { findClaimBundles, type InstalledBundle, installedClaimModels, KNOWN_CLAIM_MODELS } from "./claim-models.js";
import type { PairsRequest, VerifyRequest } from "./claim-requests.js";
import type { EvidenceWindow } from "./evidence-windows.js";
import type { NliScores } from "./labels.js";
import { verdictOf } from "./verdict.js";
import { weighScores } from "./weigh-scores.js";
import { decidingWindow, nearestWindows, type WeighedWindow } from "./weigh-windows.js";
import { EncodedMeanings, type SumOf, type WordMeanings } from "./word-meanings.js";

/** Characters of the pairs that go to the inference thread together, so that others get their turn in between. */
const TURN_CHARACTERS_MAX = 32_768;

const FALLBACK = "nli-mini";
const USUAL = "nli-default";

export interface ClaimVerifierOptions {
  readonly enabled: boolean;
  /** Of requests that name none; empty: nli-default where its bundle was installed, otherwise nli-mini. */
  readonly defaultModel: string;
  /** When the process started. */
  readonly installed: readonly InstalledBundle[];
  /** The folders of bundles: bundles that were added after the start are used after a restart. */
  readonly roots: readonly string[];
  readonly scorer: PairScorer;
  /** What words mean, for the comparison of texts. */
  readonly sumOf: SumOf;
  readonly warn: (message: string, fields: object) => void;
}

/** Models (models.ts), as far as pairs are concerned. */
export interface PairScorer {
  scorePairs(
    directory: string,
    pairs: readonly TextPair[],
    user: ModelUser | null,
    signal?: AbortSignal,
  ): Promise<Numbers>;
}

/** For whom claims are verified. */
export interface Asker {
  /** For whom pairs are counted; null: nobody. */
  readonly user: ModelUser | null;
  /** Fires when the asker does not want to wait any more. */
  readonly signal?: AbortSignal;
}

/** As the interface's verify response has it. */
export interface VerifiedClaim {
  readonly model: string;
  readonly bundle_sha256: string;
  readonly verdict: "TRUTH" | "LIE" | "UNVERIFIED_PLAUSIBLE";
  readonly reason: string;
  readonly confidence: number;
  readonly violated_anchor: string | null;
  readonly matched_anchor: string | null;
  readonly all_scores: readonly NliScores[];
  /** The piece of an anchor that decided; null: none did. */
  readonly evidence: (EvidenceWindow & { readonly anchor: number }) | null;
  /** Per anchor, in the order of the request. */
  readonly details: readonly AnchorDetails[];
}

export interface AnchorDetails {
  /** False: the anchor has nothing to do with the statement, so it counts as neither for nor against it. */
  readonly related: boolean;
  /** The piece of the anchor that its scores are of; null: it is not related. */
  readonly evidence: EvidenceWindow | null;
}

/** By name. */
export interface NamedScores {
  readonly contradiction: number;
  readonly entailment: number;
  readonly neutral: number;
}

export type ClassifiedPair = NamedScores & AnchorDetails;

export interface ClassifiedPairs {
  readonly model: string;
  readonly bundle_sha256: string;
  readonly scores: readonly ClassifiedPair[];
}

type AskedPair = TextPair & { readonly sameSubject: boolean };

export class ClaimVerifier {
  readonly defaultModel: string;
  private readonly models: readonly Model[];
  private readonly meanings: WordMeanings;

  constructor(private readonly options: ClaimVerifierOptions) {
    this.meanings = new EncodedMeanings(options.sumOf);
    this.models = installedClaimModels(options.installed).map(({ names, bundle }) => ({
      names,
      bundle,
      state: bundle.problem === null ? "installed" : "failed",
      problem: bundle.problem,
      loadedDigest: null,
    }));
    this.defaultModel = options.defaultModel || (this.find(USUAL) === null ? FALLBACK : USUAL);
    if (!options.enabled) return;
    for (const model of this.models) if (model.problem !== null) this.tell(model);
  }

  /** Loads the default model, so that the first request need not wait for it. */
  warmUp(): Promise<void> {
    return this.options.enabled ? this.load(this.find(this.defaultModel)) : Promise.resolve();
  }

  /**
   * The verdict of one statement. Throws the NLI errors, `overloaded`, those of the asker's budget, and the reason of
   * the asker's signal.
   */
  async verify(request: VerifyRequest, asker: Asker): Promise<VerifiedClaim> {
    const [claim] = await this.verifyAll([request], asker);
    return claim!;
  }

  /** Of several, which share runs of the model. */
  async verifyAll(requests: readonly VerifyRequest[], asker: Asker): Promise<VerifiedClaim[]> {
    const scores = await this.scoreAll(
      requests.map(({ model, statement, anchors, sameSubject = false }) => ({
        model,
        sameSubject,
        pairs: anchors.map((anchor) => ({ premise: anchor, hypothesis: statement })),
      })),
      asker,
    );
    return requests.map(({ model, anchors, rules }, i) => {
      const weighed = scores[i]!;
      const verdict = verdictOf(
        weighed.map((one) => one.scores),
        rules,
      );
      const decided = verdict.violated ?? verdict.matched;
      return {
        ...this.said(model),
        verdict: verdict.verdict,
        reason: verdict.reason,
        confidence: verdict.confidence,
        violated_anchor: verdict.violated === null ? null : anchors[verdict.violated]!,
        matched_anchor: verdict.matched === null ? null : anchors[verdict.matched]!,
        all_scores: weighed.map((one) => one.scores),
        evidence: decided === null ? null : { anchor: decided, ...weighed[decided]!.window },
        details: weighed.map(detailsOf),
      };
    });
  }

  /** How each premise stands to its hypothesis. Errors as `verify`. */
  async classify(request: PairsRequest, asker: Asker): Promise<ClassifiedPairs> {
    const [pairs] = await this.classifyAll([request], asker);
    return pairs!;
  }

  async classifyAll(requests: readonly PairsRequest[], asker: Asker): Promise<ClassifiedPairs[]> {
    const scores = await this.scoreAll(requests, asker);
    return requests.map(({ model }, i) => ({
      ...this.said(model),
      scores: scores[i]!.map((weighed) => {
        const [contradiction, entailment, neutral] = weighed.scores;
        return { contradiction, entailment, neutral, ...detailsOf(weighed) };
      }),
    }));
  }

  /** As in GET /v1/ai/nli/models. Looking at a model loads it. */
  list(): ClaimModelsFacts {
    const { enabled } = this.options;
    if (enabled) for (const model of this.models) if (model.state === "installed") void this.load(model);
    const installed = this.models.flatMap((model) => model.names.map((name) => factsOf(name, model)));
    const missing = KNOWN_CLAIM_MODELS.flatMap(({ names, ...known }) =>
      names.filter((name) => this.find(name) === null).map((name) => factsOfMissing(name, { names, ...known })),
    );
    return {
      enabled,
      default_model: this.defaultModel,
      restart_required_for_new_installs: true,
      models: [...installed, ...missing].sort((a, b) => (a.model < b.model ? -1 : 1)),
    };
  }

  /** Throws an error that says what is wrong with a request for that model. */
  requireUsable(name: string): void {
    this.usable(name);
  }

  private find(name: string): Model | null {
    return this.models.find(({ names }) => names.includes(name)) ?? null;
  }

  private said(name: string | null): Pick<VerifiedClaim, "model" | "bundle_sha256"> {
    const model = name ?? this.defaultModel;
    return { model, bundle_sha256: this.find(model)!.bundle.digest };
  }

  /** Scores of each request's pairs; those for the same model go together. */
  private async scoreAll(requests: readonly PairsRequest[], asker: Asker): Promise<WeighedWindow[][]> {
    const byModel = new Map<Model, number[]>();
    for (const [i, { model }] of requests.entries()) {
      const usable = this.usable(model ?? this.defaultModel);
      const own = byModel.get(usable);
      if (own === undefined) byModel.set(usable, [i]);
      else own.push(i);
    }
    const scores: WeighedWindow[][] = requests.map(() => []);
    for (const [model, own] of byModel) {
      const found = await this.score(
        model,
        own.flatMap((i) => {
          const { pairs, sameSubject = false } = requests[i]!;
          return pairs.map(({ premise, hypothesis }) => ({ premise, hypothesis, sameSubject }));
        }),
        asker,
      );
      let at = 0;
      for (const i of own) {
        const { length } = requests[i]!.pairs;
        scores[i] = found.slice(at, at + length);
        at += length;
      }
    }
    return scores;
  }

  private async score(model: Model, pairs: readonly AskedPair[], asker: Asker): Promise<WeighedWindow[]> {
    const scores: WeighedWindow[] = [];
    while (scores.length < pairs.length) {
      const some = pairs.slice(scores.length, scores.length + turnOf(pairs, scores.length));
      const windows = some.map((pair) => nearestWindows(pair, this.meanings));
      const weighed = await this.weigh(
        model,
        windows.flatMap((own, i) => own.map((window) => ({ window, asked: some[i]! }))),
        asker,
      );
      let at = 0;
      for (const own of windows) {
        scores.push(decidingWindow(weighed.slice(at, at + own.length)));
        at += own.length;
      }
    }
    return scores;
  }

  private async weigh(
    model: Model,
    windows: readonly { readonly window: EvidenceWindow; readonly asked: AskedPair }[],
    asker: Asker,
  ): Promise<WeighedWindow[]> {
    const pairs = windows.map(({ window, asked }) => ({ premise: window.text, hypothesis: asked.hypothesis }));
    const judgesByWords = model.bundle.manifest?.judged_by_words ?? false;
    const weighed: WeighedWindow[] = [];
    while (weighed.length < pairs.length) {
      const first = weighed.length;
      const logits = await this.run(model, pairs.slice(first, first + turnOf(pairs, first)), asker);
      for (const [i, own] of logits.entries()) {
        const { window, asked } = windows[first + i]!;
        const scores = weighScores(pairs[first + i]!, own, judgesByWords, this.meanings, asked.sameSubject);
        weighed.push({ window, ...scores });
      }
    }
    return weighed;
  }

  /** The model's outputs for each pair. */
  private async run(model: Model, pairs: readonly TextPair[], { user, signal }: Asker): Promise<Numbers["rows"]> {
    if (model.state === "failed") throw unavailable(model);
    if (model.state === "installed") model.state = "loading";
    let numbers: Numbers;
    try {
      numbers = await this.options.scorer.scorePairs(model.bundle.directory, pairs, user, signal);
    } catch (error) {
      if (error instanceof BundleError) throw this.fail(model, error.message);
      if (model.state === "loading") model.state = "installed";
      if (error instanceof DbError && error.code === "internal_error") throw unavailable(model, error.message);
      throw error;
    }
    if (numbers.digest !== model.bundle.digest) throw this.fail(model, "it was replaced after the server started");
    model.state = "ready";
    model.loadedDigest = numbers.digest;
    return numbers.rows;
  }

  private async load(model: Model | null): Promise<void> {
    if (model === null || model.state !== "installed") return;
    try {
      await this.run(model, [{ premise: "a", hypothesis: "b" }], { user: null });
    } catch (error) {
      // Its state tells it, or the next request does.
      if (!(error instanceof DbError)) throw error;
    }
  }

  /** Throws an error that says what is wrong with a request for that model. */
  private usable(name: string): Model {
    if (!this.options.enabled) {
      throw new DbError("nli_disabled", undefined, { hint: "Set enabled = true in [nli] and restart the server." });
    }
    const model = this.find(name);
    if (model === null) throw this.notInstalled(name);
    if (model.state === "failed") throw unavailable(model);
    return model;
  }

  private notInstalled(name: string): DbError {
    const since = installedClaimModels(findClaimBundles(this.options.roots));
    if (since.some(({ names }) => names.includes(name))) {
      return new DbError("nli_model_not_found", `The model "${name}" was installed after the server started.`, {
        model: name,
        hint: "Restart the server to use it.",
      });
    }
    if (name === this.defaultModel || KNOWN_CLAIM_MODELS.some(({ names }) => names.includes(name))) {
      const message = `The bundle of the model "${name}" was not installed when the server started.`;
      const usable = this.models.filter(({ state }) => state !== "failed").flatMap(({ names }) => names);
      const others = usable.length === 0 ? "" : ` Installed: ${usable.join(", ")}.`;
      return new DbError("nli_model_not_installed", message, {
        model: name,
        hint: `Pull it, SELECT PULL_MODEL('${name}'), and restart the server.${others}`,
      });
    }
    const names = this.models.flatMap((model) => model.names).join(", ");
    return new DbError("nli_model_not_found", `There is no claim model "${name}"; installed: ${names || "none"}.`, {
      model: name,
      hint: "GET /v1/ai/nli/models lists the models. A pulled model can be used after a restart.",
    });
  }

  private fail(model: Model, problem: string): DbError {
    model.state = "failed";
    model.problem = problem;
    this.tell(model);
    return unavailable(model);
  }

  private tell({ names, problem }: Model): void {
    this.options.warn("a model of claims cannot be used", { model: names[0], problem });
  }
}

const detailsOf = ({ isRelated, window }: WeighedWindow): AnchorDetails => ({
  related: isRelated,
  evidence: isRelated ? window : null,
});

/** How many pairs, from `first` on, go to the inference thread together. */
function turnOf(pairs: readonly TextPair[], first: number): number {
  let characters = 0;
  let count = 0;
  for (const { premise, hypothesis } of pairs.slice(first, first + RUN_ITEMS_MAX)) {
    characters += premise.length + hypothesis.length;
    if (count > 0 && characters > TURN_CHARACTERS_MAX) break;
    count++;
  }
  return count;
}

function unavailable({ names, problem }: Model, now: string | null = null): DbError {
  return new DbError("nli_model_unavailable", `The model "${names[0]}" cannot be used: ${now ?? problem}.`, {
    model: names[0],
    hint: now === null ? "Install the bundle again and restart the server." : "The server's log may say more.",
  });
}
