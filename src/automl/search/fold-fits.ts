/**
 * Fits of one search's configurations: on the rows of each fold but those that are validated, and the models that vote
 * in the end. Keeps the folds' models that are needed again; without them (after a restart) it makes the same ones
 * anew. Owned by search.ts.
 */
import type { Algorithm } from "../contract.js";
import { Committee } from "../model/committee.js";
import type { FittedModel, Parameters } from "../model/learner.js";
import { type Effort, fitLearner } from "../model/learners.js";
import type { PreparedRows } from "../model/prepared-rows.js";
import { indices, Random } from "../random.js";
import type { Candidate } from "./candidates.js";
import type { Fold } from "./folds.js";

export interface FitSetting {
  readonly prepared: PreparedRows;
  readonly target: Float64Array;
  readonly classes: number;
  readonly folds: readonly Fold[];
  /** The folds are in the order of time, so the first learned from few rows. */
  readonly inOrderOfTime: boolean;
  readonly seed: number;
  readonly checkStop: () => void;
}

/** On the other folds, with what is validated. */
export interface Fitted {
  readonly model: FittedModel;
  readonly columns: readonly Float32Array[];
  readonly valid: Int32Array;
}

/** With fewer folds, their models have learned from too few of the rows to stand for all. */
const COMMITTEE_FOLDS_MIN = 3;
/** What differs so much from fold to fold that the mean of the folds' models is better than one of all rows. */
const TOGETHER: ReadonlySet<Algorithm> = new Set(["xgboost", "random_forest", "neural_network"]);

export class FoldFits {
  /** By trial: of each fold, or of the last one alone. */
  private readonly kept = new Map<number, readonly FittedModel[]>();

  constructor(private readonly setting: FitSetting) {}

  fit(
    { algorithm, parameters }: Pick<Candidate, "algorithm" | "parameters">,
    train: Int32Array,
    watch: Int32Array | null,
    effort: Effort,
    stream: string,
  ): { model: FittedModel; columns: readonly Float32Array[] } {
    const { prepared, target, classes, seed, checkStop } = this.setting;
    const random = new Random(seed, stream);
    const inputs = prepared.inputsFor(train, random);
    const sample = { inputs, train, target, classes, watch, random, checkStop };
    return { model: fitLearner(algorithm, sample, parameters, effort), columns: inputs.columns };
  }

  /** `roundsMax`: of a boosting that watches. */
  fitFold({ trial, algorithm, parameters }: Candidate, fold: number, roundsMax: number | null): Fitted {
    const { train, valid } = this.setting.folds[fold]!;
    const limited: Parameters = roundsMax === null ? parameters : { ...parameters, rounds_max: roundsMax };
    const effort = { folds: this.setting.folds.length };
    const fitted = this.fit({ algorithm, parameters: limited }, train, valid, effort, streamOf(trial, fold));
    return { ...fitted, valid };
  }

  keep({ trial, algorithm }: Candidate, fits: readonly Fitted[]): void {
    const models = fits.map(({ model }) => model);
    this.kept.set(trial, this.isCommittee(algorithm) ? models : models.slice(-1));
  }

  /** The model that votes. `parameters` with the rounds that validation chose. */
  final(candidate: Candidate): FittedModel {
    const { folds, target } = this.setting;
    if (!this.isCommittee(candidate.algorithm)) {
      return this.fit(candidate, indices(target.length), null, "full", `final ${candidate.trial}`).model;
    }
    const models = this.kept.get(candidate.trial) ?? folds.map((_, fold) => this.fitFold(candidate, fold, null).model);
    return new Committee(models.map((model) => ofRounds(model, candidate)));
  }

  /** Its model that did not learn from the last fold's rows, with the columns that it reads. */
  ofLastFold(candidate: Candidate): { model: FittedModel; columns: readonly Float32Array[] } {
    const { folds, prepared, seed } = this.setting;
    const last = folds.length - 1;
    const model = this.kept.get(candidate.trial)?.at(-1);
    if (model === undefined) return this.fitFold(candidate, last, null);
    const { columns } = prepared.inputsFor(folds[last]!.train, new Random(seed, streamOf(candidate.trial, last)));
    return { model: ofRounds(model, candidate), columns };
  }

  private isCommittee(algorithm: Algorithm): boolean {
    const { inOrderOfTime, folds } = this.setting;
    return TOGETHER.has(algorithm) && !inOrderOfTime && folds.length >= COMMITTEE_FOLDS_MIN;
  }
}

/** A boosting with the rounds that validation chose. */
function ofRounds(model: FittedModel, { parameters: { rounds } }: Candidate): FittedModel {
  return rounds === undefined ? model : model.firstRounds!(Number(rounds));
}

function streamOf(trial: number, fold: number): string {
  return `full ${trial} ${fold}`;
}
