/**
 * Looks for good configurations: all are seen on a part of one fold, the better third is validated fold by fold
 * (successive halving, Jamieson and Talwalkar 2016, in two steps), and one that falls far behind the best on the folds
 * so far is given up (racing, Maron and Moore 1994). Random search over the ranges in learners.ts (Bergstra and Bengio
 * 2012), each algorithm's defaults first. Called by train-rows.ts; owns the state of one search.
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

/** On the other folds, with what is validated. */
interface Fitted {
  readonly model: FittedModel;
  readonly columns: readonly Float32Array[];
  readonly valid: Int32Array;
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
/**
 * Whose loss is larger than the best's on the same folds by these factors is given up. The best of another algorithm
 * may vote beside it, since they err on different rows, so there the factor is larger.
 */
const BEHIND = {
  own: { oneFold: 1.25, folds: 1.05 },
  other: { oneFold: 1.8, folds: 1.35 },
} as const;

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
  /** By algorithm: the best configuration that has been validated on all folds. */
  private readonly leaders = new Map<Algorithm, { readonly score: number; readonly foldScores: readonly number[] }>();

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
      const outcome = this.validate(candidate, records);
      if (outcome !== null) finished.push(outcome);
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
    const fold = this.setting.folds[0]!;
    const random = new Random(this.setting.seed, "first look");
    const train = random.shuffle(fold.train.slice()).slice(0, SCREEN_TRAIN_MAX).sort();
    const valid = random.shuffle(fold.valid.slice()).slice(0, SCREEN_VALID_MAX).sort();
    const fitted = this.fit(candidate, train, valid, "screen", `screen ${candidate.trial}`);
    const predicted = this.predict({ ...fitted, valid }, null);
    return { scores: [this.scoreOf(predicted, valid)], rounds: null, predicted: new Float32Array(0) };
  }

  /** Null when the candidate was given up. */
  private validate(candidate: Candidate, records: Map<number, TrialRecord>): Finished | null {
    const piece = this.once("full", candidate, () => this.acrossFolds(candidate));
    const { scores: foldScores, rounds, durationMs } = piece;
    const score = meanOf(foldScores);
    const parameters = rounds === null ? candidate.parameters : { ...candidate.parameters, rounds };
    const { trial, algorithm } = candidate;
    const isWhole = foldScores.length === this.setting.folds.length;
    const status = isWhole ? "finished" : "given_up";
    records.set(trial, { trial, algorithm, parameters, status, score, foldScores, durationMs });
    if (!isWhole) return null;
    this.noteBest(score);
    const leader = this.leaders.get(algorithm);
    if (leader === undefined || this.compare(score, leader.score) < 0)
      this.leaders.set(algorithm, { score, foldScores });
    return { trial, algorithm, parameters, score, foldScores, predicted: Float64Array.from(piece.predicted) };
  }

  /** `scores`: of the first folds. */
  private isFarBehind(algorithm: Algorithm, scores: readonly number[]): boolean {
    const loss = higherIsBetter(this.setting.metric) ? (score: number) => 1 - score : (score: number) => score;
    const own = loss(meanOf(scores));
    return [...this.leaders].some(([of, { foldScores }]) => {
      const { oneFold, folds } = of === algorithm ? BEHIND.own : BEHIND.other;
      return own > loss(meanOf(foldScores.slice(0, scores.length))) * (scores.length === 1 ? oneFold : folds);
    });
  }

  /** A boosting's rounds are chosen once, by the mean loss over the folds after each round. */
  private acrossFolds(candidate: Candidate): Omit<Piece, "stage" | "trial" | "durationMs"> {
    const { folds } = this.setting;
    const fits: Fitted[] = [];
    const seen: number[] = [];
    /** By fold, while it is not the last one. */
    const early: Float64Array[] = [];
    for (const [fold, { train, valid }] of folds.entries()) {
      const fitted = this.fit(candidate, train, valid, "full", `full ${candidate.trial} ${fold}`);
      fits.push({ ...fitted, valid });
      if (this.leaders.size === 0 || fits.length === folds.length) continue;
      // Of a boosting after the rounds that are best for this fold: it will not do better.
      const predicted = this.predict(fits.at(-1)!, null);
      early.push(predicted);
      seen.push(this.scoreOf(predicted, valid));
      if (this.isFarBehind(candidate.algorithm, seen))
        return { scores: seen, rounds: null, predicted: new Float32Array(0) };
    }
    const curves = fits.flatMap(({ model }) => (model.watched === undefined ? [] : [model.watched]));
    const rounds = curves.length > 0 ? lowestOf(meanCurve(curves)) + 1 : null;
    // Of a boosting the rounds are others now.
    const known = rounds === null ? early : [];
    const parts = fits.map((fitted, fold) => Float32Array.from(known[fold] ?? this.predict(fitted, rounds)));
    const scores = parts.map((part, fold) => this.scoreOf(Float64Array.from(part), folds[fold]!.valid));
    const predicted = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      predicted.set(part, at);
      at += part.length;
    }
    return { scores, rounds, predicted };
  }

  /** After so many rounds of a boosting; null: those that were best while it was fitted. */
  private predict({ model, columns, valid }: Fitted, rounds: number | null): Float64Array {
    const { watched = [] } = model;
    if (watched.length === 0) return model.predict(columns, valid);
    return model.firstRounds!(rounds ?? lowestOf(watched) + 1).predict(columns, valid);
  }

  private scoreOf(predicted: Float64Array, rows: Int32Array): number {
    const { target, score } = this.setting;
    return score(
      Float64Array.from(rows, (row) => target[row]!),
      predicted,
    );
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
