/**
 * Looks for good configurations: all are seen on one fold, the promising ones are validated fold by fold (successive
 * halving, Jamieson and Talwalkar 2016, in two steps), and one that falls far behind the best on the folds so far is
 * given up (racing, Maron and Moore 1994). Called by train-rows.ts; owns the state of one search.
 */
import { type Algorithm, higherIsBetter, type Metric, type TrialRecord } from "../contract.js";
import { outputsOf, type Parameters } from "../model/learner.js";
import { Random } from "../random.js";
import { type Candidate, candidatesOf } from "./candidates.js";
import { type Piece, readPiece, writePiece } from "./checkpoint.js";
import { type FitSetting, type Fitted, FoldFits } from "./fold-fits.js";
import type { Hooks } from "./hooks.js";
import { sharpened, sharpnessOf } from "./sharpen.js";

export interface SearchSetting extends FitSetting {
  readonly metric: Metric;
  readonly score: (target: Float64Array, predicted: Float64Array) => number;
  readonly algorithms: readonly Algorithm[];
  readonly maxTrials: number;
  readonly timeBudgetMs: number;
  readonly hooks: Hooks;
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
  /** Of its probabilities (sharpen.ts); 1 where values are predicted. */
  readonly sharpness: number;
  /** Out of fold, made so sharp, in the order of the folds' validated rows. */
  readonly predicted: Float64Array;
}

export interface SearchResult {
  /** The best first. */
  readonly finished: readonly Finished[];
  readonly records: readonly TrialRecord[];
  readonly cutByTime: boolean;
}

/** Rows of the first look. Where a fold has no more, the look is the first fold's validation. */
const SCREEN_TRAIN_MAX = 2000;
const SCREEN_VALID_MAX = 2000;
/** So few configurations are all validated fully. */
const UNSCREENED_MAX = 3;
/** Bytes of predictions that a checkpoint holds at most. */
const PIECE_BYTES_MAX = 16 * 1024 * 1024;
/** Share of the time that the first looks may take. */
const SCREEN_SHARE = 0.4;
/** Of a loss of classes: so much may be chance on one row of those it is the mean of. */
const CHANCE = 3;
/**
 * Whose loss is larger than the best's on the same folds by these factors is given up. The best of another algorithm
 * may vote beside it, since they err on different rows, so there the factor is larger.
 */
const BEHIND = {
  own: { oneFold: 1.25, folds: 1.05 },
  other: { oneFold: 1.8, folds: 1.35 },
} as const;

export function finalistsOf(trials: number, algorithms: number): number {
  return trials <= UNSCREENED_MAX ? trials : Math.min(trials, bestOf(trials) + algorithms - 1);
}

/** Candidates that are validated whatever their algorithm. */
function bestOf(trials: number): number {
  return Math.ceil(trials / 9);
}

export class Search {
  private readonly pieces = new Map<string, Piece>();
  private readonly started: number;
  private readonly now: () => number;
  private done = 0;
  private cutByTime = false;
  private best: number | null = null;
  readonly fits: FoldFits;
  /** By trial: the first fold's fit, where the first look was of all its rows. */
  private readonly looks = new Map<number, Fitted>();
  /** By algorithm: the best configuration that has been validated on all folds. */
  private readonly leaders = new Map<Algorithm, { readonly score: number; readonly foldScores: readonly number[] }>();

  private readonly outputs: number;
  /** The folds' validated rows, one fold's after the other's. */
  private readonly validated: Int32Array;

  constructor(private readonly setting: SearchSetting) {
    this.fits = new FoldFits(setting);
    this.outputs = outputsOf(setting.classes);
    this.validated = Int32Array.from(setting.folds.flatMap(({ valid }) => [...valid]));
    this.now = setting.hooks.now ?? Date.now;
    this.started = this.now();
    for (const bytes of setting.hooks.checkpoints ?? []) {
      const piece = readPiece(setting.job, bytes);
      if (piece !== null) this.pieces.set(`${piece.stage} ${piece.trial}`, piece);
    }
  }

  run(): SearchResult {
    const { algorithms, maxTrials, target, classes, seed } = this.setting;
    const random = new Random(seed, "candidates");
    const candidates = candidatesOf(algorithms, maxTrials, target.length, classes, random);
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

  /** The candidates to validate fully, the most promising first: the best ninth, and the best of each algorithm. */
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
    const chosen = this.promising(seen, bestOf(candidates.length));
    // The first looks' best score is of fewer rows; it is not to be compared with what follows.
    this.best = null;
    return chosen.map(({ candidate }) => candidate);
  }

  /** Of candidates in the order of their scores. */
  private promising(
    seen: readonly { candidate: Candidate; score: number }[],
    most: number,
  ): { candidate: Candidate }[] {
    const best = new Map<Algorithm, number>();
    const chance = this.chanceOn(Math.min(SCREEN_VALID_MAX, this.setting.folds[0]!.valid.length));
    return seen.filter(({ candidate: { algorithm }, score }, place) => {
      const own = best.get(algorithm);
      if (own === undefined) best.set(algorithm, score);
      const isFirst = own === undefined;
      if (!isFirst && place >= most) return false;
      if (!isFirst && this.lossOf(score) > this.lossOf(own) * BEHIND.own.oneFold + chance) return false;
      return this.lossOf(score) <= this.lossOf(seen[0]!.score) * BEHIND.other.oneFold + chance;
    });
  }

  private firstLook(candidate: Candidate): Omit<Piece, "stage" | "trial" | "durationMs"> {
    const fold = this.setting.folds[0]!;
    const isWhole = fold.train.length <= SCREEN_TRAIN_MAX;
    const fitted = isWhole ? this.fits.fitFold(candidate, 0, null) : this.lookAtSome(candidate);
    if (isWhole) this.looks.set(candidate.trial, fitted);
    const { predicted } = this.sharpen(this.predict(fitted, null), fitted.valid);
    return { scores: [this.scoreOf(predicted, fitted.valid)], rounds: null, predicted: new Float32Array(0) };
  }

  private lookAtSome(candidate: Candidate): Fitted {
    const fold = this.setting.folds[0]!;
    const random = new Random(this.setting.seed, "first look");
    const train = random.shuffle(fold.train.slice()).slice(0, SCREEN_TRAIN_MAX).sort();
    const valid = random.shuffle(fold.valid.slice()).slice(0, SCREEN_VALID_MAX).sort();
    return { ...this.fits.fit(candidate, train, valid, "screen", `screen ${candidate.trial}`), valid };
  }

  /** Null when the candidate was given up. */
  private validate(candidate: Candidate, records: Map<number, TrialRecord>): Finished | null {
    const piece = this.once("full", candidate, () => this.acrossFolds(candidate));
    this.looks.delete(candidate.trial);
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
    const sharp = this.sharpen(Float64Array.from(piece.predicted), this.validated);
    return { trial, algorithm, parameters, score, foldScores, ...sharp };
  }

  /** `scores`: of the first folds. */
  private isFarBehind(algorithm: Algorithm, scores: readonly number[]): boolean {
    const own = this.lossOf(meanOf(scores));
    const chance = this.chanceOn(this.setting.folds[0]!.valid.length * scores.length);
    return [...this.leaders].some(([of, { foldScores }]) => {
      const { oneFold, folds } = of === algorithm ? BEHIND.own : BEHIND.other;
      const leading = this.lossOf(meanOf(foldScores.slice(0, scores.length)));
      return own > leading * (scores.length === 1 ? oneFold : folds) + chance;
    });
  }

  private chanceOn(rows: number): number {
    return this.setting.classes > 0 ? CHANCE / rows : 0;
  }

  /** Of scores that are at most 1 where higher ones are better. */
  private lossOf(score: number): number {
    return higherIsBetter(this.setting.metric) ? 1 - score : score;
  }

  /** A boosting's rounds are chosen once, by the mean loss over the folds after each round. */
  private acrossFolds(candidate: Candidate): Omit<Piece, "stage" | "trial" | "durationMs"> {
    const { folds } = this.setting;
    const fits: Fitted[] = [];
    const seen: number[] = [];
    /** By fold, while it is not the last one. */
    const early: Float64Array[] = [];
    for (const [fold, { valid }] of folds.entries()) {
      const known = fold === 0 ? this.looks.get(candidate.trial) : undefined;
      fits.push(known ?? this.fits.fitFold(candidate, fold, roundsMaxAfter(fits[0])));
      if (this.leaders.size === 0 || fits.length === folds.length) continue;
      // Of a boosting after the rounds that are best for this fold: it will not do better.
      const predicted = this.predict(fits.at(-1)!, null);
      early.push(predicted);
      seen.push(this.scoreOf(this.sharpen(predicted, valid).predicted, valid));
      if (this.isFarBehind(candidate.algorithm, seen))
        return { scores: seen, rounds: null, predicted: new Float32Array(0) };
    }
    this.fits.keep(candidate, fits);
    const curves = fits.flatMap(({ model }) => (model.watched === undefined ? [] : [model.watched]));
    const rounds = curves.length > 0 ? lowestOf(meanCurve(curves)) + 1 : null;
    // Of a boosting the rounds are others now.
    const known = rounds === null ? early : [];
    const parts = fits.map((fitted, fold) => Float32Array.from(known[fold] ?? this.predict(fitted, rounds)));
    const predicted = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      predicted.set(part, at);
      at += part.length;
    }
    const sharp = this.sharpen(Float64Array.from(predicted), this.validated).predicted;
    const { outputs } = this;
    at = 0;
    const scores = folds.map(({ valid }) => {
      at += valid.length * outputs;
      return this.scoreOf(sharp.subarray(at - valid.length * outputs, at), valid);
    });
    return { scores, rounds, predicted };
  }

  /** After so many rounds of a boosting; null: those that were best while it was fitted. */
  private predict({ model, columns, valid }: Fitted, rounds: number | null): Float64Array {
    const { watched = [] } = model;
    if (watched.length === 0) return model.predict(columns, valid);
    return model.firstRounds!(rounds ?? lowestOf(watched) + 1).predict(columns, valid);
  }

  /** By the sharpness that is best for these rows. */
  private sharpen(predicted: Float64Array, rows: Int32Array): { sharpness: number; predicted: Float64Array } {
    const { classes, target } = this.setting;
    if (classes === 0) return { sharpness: 1, predicted };
    const wanted = Float64Array.from(rows, (row) => target[row]!);
    const sharpness = sharpnessOf(predicted, wanted, this.outputs);
    return { sharpness, predicted: sharpened(predicted, this.outputs, sharpness) };
  }

  private scoreOf(predicted: Float64Array, rows: Int32Array): number {
    const { target, score } = this.setting;
    return score(
      Float64Array.from(rows, (row) => target[row]!),
      predicted,
    );
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

/** Of the other folds' boostings: some more than were best in the first one. */
function roundsMaxAfter(first: Fitted | undefined): number | null {
  const watched = first?.model.watched ?? [];
  return watched.length === 0 ? null : Math.ceil(1.3 * (lowestOf(watched) + 1)) + 10;
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
