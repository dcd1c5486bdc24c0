/**
 * Looks for good configurations: all are seen on a part of one fold, the better third is validated on all folds
 * (successive halving, Jamieson and Talwalkar 2016, in two steps). Random search over the ranges in learners.ts
 * (Bergstra and Bengio 2012), each algorithm's defaults first. Called by train-rows.ts; owns the state of one search.
 */
import { type Algorithm, higherIsBetter, type Metric, type TrialRecord } from "../contract.js";
import type { FittedModel, Parameters } from "../model/learner.js";
import { defaultParameters, fitLearner, parametersByChance } from "../model/learners.js";
import type { PreparedRows } from "../model/prepared-rows.js";
import { Random } from "../random.js";
import { type Piece, readPiece, writePiece } from "./checkpoint.js";
import type { Fold } from "./folds.js";
import type { Hooks } from "./hooks.js";

export interface SearchSetting {
  readonly prepared: PreparedRows;
  readonly target: Float64Array;
  readonly classes: number;
  readonly folds: readonly Fold[];
  readonly metric: Metric;
  readonly score: (target: Float64Array, predicted: Float64Array) => number;
  readonly algorithms: readonly Algorithm[];
  readonly maxTrials: number;
  readonly timeBudgetMs: number;
  readonly seed: number;
  readonly hooks: Hooks;
  readonly checkStop: () => void;
  /** digestOfJob. */
  readonly job: string;
}

export interface Finished {
  readonly trial: number;
  readonly algorithm: Algorithm;
  /** With the rounds that validation chose, for a boosting. */
  readonly parameters: Parameters;
  readonly score: number;
  readonly foldScores: readonly number[];
  /** Out of fold, in the order of the folds' validated rows. */
  readonly predicted: Float64Array;
}

export interface SearchResult {
  /** The best first. */
  readonly finished: readonly Finished[];
  readonly records: readonly TrialRecord[];
  readonly cutByTime: boolean;
}

interface Candidate {
  readonly trial: number;
  readonly algorithm: Algorithm;
  readonly parameters: Parameters;
}

/** Rows of the first look. */
const SCREEN_TRAIN_MAX = 8000;
const SCREEN_VALID_MAX = 4000;
/** Boosting has the most to gain from its parameters, linear models the least. */
const TURNS: readonly Algorithm[] = ["xgboost", "neural_network", "xgboost", "random_forest", "xgboost", "linear"];
/** So few configurations are all validated fully. */
const UNSCREENED_MAX = 3;
/** Bytes of predictions that a checkpoint holds at most. */
const PIECE_BYTES_MAX = 16 * 1024 * 1024;
/** Share of the time that the first looks may take. */
const SCREEN_SHARE = 0.4;

export function finalistsOf(trials: number, algorithms: number): number {
  return trials <= UNSCREENED_MAX ? trials : Math.min(trials, Math.ceil(trials / 3) + algorithms - 1);
}

export class Search {
  private readonly pieces = new Map<string, Piece>();
  private readonly started: number;
  private readonly now: () => number;
  private done = 0;
  private cutByTime = false;
  private best: number | null = null;

  constructor(private readonly setting: SearchSetting) {
    this.now = setting.hooks.now ?? Date.now;
    this.started = this.now();
    for (const bytes of setting.hooks.checkpoints ?? []) {
      const piece = readPiece(setting.job, bytes);
      if (piece !== null) this.pieces.set(`${piece.stage} ${piece.trial}`, piece);
    }
  }

  run(): SearchResult {
    const candidates = this.candidates();
    const records = new Map<number, TrialRecord>();
    const finalists = this.screen(candidates, records);
    const finished: Finished[] = [];
    for (const candidate of finalists) {
      if (finished.length > 0 && this.isOver(1)) {
        this.cutByTime = true;
        break;
      }
      finished.push(this.validate(candidate, records));
      this.report("validating", candidates.length + finalists.length);
    }
    finished.sort((a, b) => this.compare(a.score, b.score) || a.trial - b.trial);
    const inOrder = [...records.values()].sort((a, b) => a.trial - b.trial);
    return { finished, records: inOrder, cutByTime: this.cutByTime };
  }

  private candidates(): Candidate[] {
    const { algorithms, maxTrials, seed, target } = this.setting;
    const random = new Random(seed, "candidates");
    const turns = TURNS.filter((algorithm) => algorithms.includes(algorithm));
    return Array.from({ length: maxTrials }, (_, trial) => {
      const byDefault = algorithms[trial];
      if (byDefault !== undefined) {
        return { trial, algorithm: byDefault, parameters: defaultParameters(byDefault, target.length) };
      }
      const algorithm = turns[(trial - algorithms.length) % turns.length]!;
      return { trial, algorithm, parameters: parametersByChance(algorithm, random) };
    });
  }

  /** The candidates to validate fully, the most promising first: the better third, and the best of each algorithm. */
  private screen(candidates: readonly Candidate[], records: Map<number, TrialRecord>): Candidate[] {
    if (candidates.length <= UNSCREENED_MAX) return [...candidates];
    const seen: { candidate: Candidate; score: number }[] = [];
    for (const candidate of candidates) {
      if (seen.length > 0 && this.isOver(SCREEN_SHARE)) {
        this.cutByTime = true;
        break;
      }
      const { scores, durationMs } = this.once("screen", candidate, () => this.firstLook(candidate));
      const score = scores[0]!;
      seen.push({ candidate, score });
      records.set(candidate.trial, { ...candidate, status: "screened", score, foldScores: [], durationMs });
      this.noteBest(score);
      this.report("screening", candidates.length + finalistsOf(candidates.length, this.setting.algorithms.length));
    }
    seen.sort((a, b) => this.compare(a.score, b.score) || a.candidate.trial - b.candidate.trial);
    const third = Math.ceil(candidates.length / 3);
    const chosen = seen.filter(
      ({ candidate: { algorithm } }, place) =>
        place < third || seen.findIndex(({ candidate }) => candidate.algorithm === algorithm) === place,
    );
    // The first looks' best score is of fewer rows; it is not to be compared with what follows.
    this.best = null;
    return chosen.map(({ candidate }) => candidate);
  }

  private firstLook(candidate: Candidate): Omit<Piece, "stage" | "trial" | "durationMs"> {
    const { target, score } = this.setting;
    const fold = this.setting.folds[0]!;
    const random = new Random(this.setting.seed, "first look");
    const train = random.shuffle(fold.train.slice()).slice(0, SCREEN_TRAIN_MAX).sort();
    const valid = random.shuffle(fold.valid.slice()).slice(0, SCREEN_VALID_MAX).sort();
    const { model, columns } = this.fit(candidate, train, valid, "screen", `screen ${candidate.trial}`);
    const { watched = [] } = model;
    const best = watched.length > 0 ? model.firstRounds!(lowestOf(watched) + 1) : model;
    const wanted = Float64Array.from(valid, (row) => target[row]!);
    return { scores: [score(wanted, best.predict(columns, valid))], rounds: null, predicted: new Float32Array(0) };
  }

  private validate(candidate: Candidate, records: Map<number, TrialRecord>): Finished {
    const piece = this.once("full", candidate, () => this.acrossFolds(candidate));
    const score = meanOf(piece.scores);
    const parameters = piece.rounds === null ? candidate.parameters : { ...candidate.parameters, rounds: piece.rounds };
    const { trial, algorithm } = candidate;
    const foldScores = piece.scores;
    records.set(trial, {
      trial,
      algorithm,
      parameters,
      status: "finished",
      score,
      foldScores,
      durationMs: piece.durationMs,
    });
    this.noteBest(score);
    return { trial, algorithm, parameters, score, foldScores, predicted: Float64Array.from(piece.predicted) };
  }

  /** A boosting's rounds are chosen once, by the mean loss over the folds after each round. */
  private acrossFolds(candidate: Candidate): Omit<Piece, "stage" | "trial" | "durationMs"> {
    const { folds, target, score } = this.setting;
    const fits = folds.map(({ train, valid }, fold) => {
      const fitted = this.fit(candidate, train, valid, "full", `full ${candidate.trial} ${fold}`);
      return { ...fitted, valid };
    });
    const curves = fits.flatMap(({ model }) => (model.watched === undefined ? [] : [model.watched]));
    const rounds = curves.length > 0 ? lowestOf(meanCurve(curves)) + 1 : null;
    const parts = fits.map(({ model, columns, valid }) => {
      const used = rounds === null ? model : model.firstRounds!(rounds);
      return Float32Array.from(used.predict(columns, valid));
    });
    const scores = parts.map((part, fold) => {
      const wanted = Float64Array.from(folds[fold]!.valid, (row) => target[row]!);
      return score(wanted, Float64Array.from(part));
    });
    const predicted = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      predicted.set(part, at);
      at += part.length;
    }
    return { scores, rounds, predicted };
  }

  fit(
    { algorithm, parameters }: Pick<Candidate, "algorithm" | "parameters">,
    train: Int32Array,
    watch: Int32Array | null,
    effort: "screen" | "full",
    stream: string,
  ): { model: FittedModel; columns: readonly Float32Array[] } {
    const { prepared, target, classes, seed, checkStop } = this.setting;
    const random = new Random(seed, stream);
    const inputs = prepared.inputsFor(train, random);
    const sample = { inputs, train, target, classes, watch, random, checkStop };
    return { model: fitLearner(algorithm, sample, parameters, effort), columns: inputs.columns };
  }

  /** What a checkpoint has is not computed again; what is computed becomes one. */
  private once(
    stage: Piece["stage"],
    { trial }: Candidate,
    compute: () => Omit<Piece, "stage" | "trial" | "durationMs">,
  ): Piece {
    const known = this.pieces.get(`${stage} ${trial}`);
    if (known !== undefined) return known;
    const from = this.now();
    const piece = { stage, trial, ...compute(), durationMs: this.now() - from };
    // A piece too large for a record is computed again, to the same numbers.
    if (piece.predicted.byteLength <= PIECE_BYTES_MAX)
      this.setting.hooks.checkpoint?.(writePiece(this.setting.job, piece));
    return piece;
  }

  private compare(a: number, b: number): number {
    return higherIsBetter(this.setting.metric) ? b - a : a - b;
  }

  private noteBest(score: number): void {
    if (this.best === null || this.compare(score, this.best) < 0) this.best = score;
  }

  private isOver(share: number): boolean {
    return this.now() - this.started > share * this.setting.timeBudgetMs;
  }

  private report(phase: "screening" | "validating", trials: number): void {
    this.done++;
    const passed = this.now() - this.started;
    const left = Math.max(0, trials - this.done);
    // A full validation takes about as many first looks as there are folds, and more.
    const etaMs = phase === "screening" ? null : Math.round((passed / this.done) * left);
    this.setting.hooks.progress?.({ phase, trial: this.done, trials, bestScore: this.best, etaMs });
  }
}

function lowestOf(values: readonly number[]): number {
  return values.reduce((best, value, i) => (value < values[best]! ? i : best), 0);
}

function meanCurve(curves: readonly (readonly number[])[]): number[] {
  const length = Math.min(...curves.map((curve) => curve.length));
  return Array.from({ length }, (_, round) => meanOf(curves.map((curve) => curve[round]!)));
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
