/** The four algorithms by name: their parameters by default and by chance, and how they are fitted. No state. */
import type { Algorithm } from "../contract.js";
import { fitLinear } from "../linear/linear-model.js";
import { fitNetwork } from "../network/network.js";
import type { Random } from "../random.js";
import { fitBoosting } from "../tree/boosting.js";
import { fitForest } from "../tree/forest.js";
import type { FittedModel, Parameters, Sample } from "./learner.js";

/** A first look costs a fraction of a full fit. */
export type Effort = "screen" | "full";

/** What usually does well; tried first. `rows` are those of the table. */
export function defaultParameters(algorithm: Algorithm, rows: number): Parameters {
  switch (algorithm) {
    case "xgboost":
      return {
        learning_rate: 0.1,
        leaves: rows < 1000 ? 8 : rows < 5000 ? 15 : 31,
        depth: 12,
        min_child_weight: rows < 200 ? 0.5 : rows < 1000 ? 2 : 5,
        lambda: 1,
        row_share: 0.8,
        column_share: 0.8,
      };
    case "random_forest":
      return { trees: 100, feature_share: 0, min_leaf_rows: rows < 2000 ? 2 : 3, depth: 30 };
    case "neural_network":
      return { hidden: rows < 2000 ? "32" : "64", learning_rate: 0.002, decay: 0.01, batch: rows < 2000 ? 32 : 128 };
    case "linear":
      return { penalty: 0.001 };
  }
}

export function parametersByChance(algorithm: Algorithm, random: Random): Parameters {
  switch (algorithm) {
    case "xgboost":
      return {
        learning_rate: rounded(random.logBetween(0.03, 0.3)),
        leaves: random.pick([4, 8, 15, 31, 63]),
        depth: random.pick([4, 6, 12]),
        min_child_weight: rounded(random.logBetween(0.5, 30)),
        lambda: rounded(random.logBetween(0.1, 20)),
        row_share: rounded(random.between(0.5, 1)),
        column_share: rounded(random.between(0.3, 1)),
      };
    case "random_forest":
      return {
        trees: 100,
        feature_share: random.pick([0, 0.25, 0.5, 0.8]),
        min_leaf_rows: random.pick([1, 2, 4, 8, 16]),
        depth: random.pick([12, 20, 30]),
      };
    case "neural_network":
      return {
        hidden: random.pick(["16", "32", "64", "128", "64,32"]),
        learning_rate: rounded(random.logBetween(0.0005, 0.01)),
        decay: rounded(random.logBetween(0.0001, 0.1)),
        batch: random.pick([32, 64, 128]),
      };
    case "linear":
      return { penalty: rounded(random.logBetween(0.00001, 0.3)) };
  }
}

/** Four digits, so that what a card shows is what was used. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

const ROUNDS_MAX = { screen: 150, full: 600 } as const;
/** A round grows a tree for each of several classes. */
const TREES_MAX = { screen: 1000, full: 3000 } as const;
const FOREST_ROWS_MAX = { screen: 10_000, full: 30_000 } as const;
const NETWORK_ROWS_MAX = { screen: 5000, full: 40_000 } as const;
/** Rows that a network sees in all epochs together. */
const NETWORK_SEEN_MAX = { screen: 100_000, full: 600_000 } as const;

/** `rounds` of a boosting come from its parameters when they stand there, otherwise from watching. */
export function fitLearner(algorithm: Algorithm, sample: Sample, parameters: Parameters, effort: Effort): FittedModel {
  const number = (name: string) => Number(parameters[name]);
  switch (algorithm) {
    case "xgboost":
      return fitBoosting(sample, {
        rounds: parameters.rounds === undefined ? roundsMax(sample.classes, effort) : number("rounds"),
        patience: effort === "screen" ? 10 : 25,
        learningRate: number("learning_rate"),
        leaves: number("leaves"),
        depth: number("depth"),
        minChildWeight: number("min_child_weight"),
        lambda: number("lambda"),
        rowShare: number("row_share"),
        columnShare: number("column_share"),
      });
    case "random_forest":
      return fitForest(sample, {
        trees: effort === "screen" ? 30 : number("trees"),
        featureShare: number("feature_share"),
        minLeafRows: number("min_leaf_rows"),
        depth: number("depth"),
        rowsMax: FOREST_ROWS_MAX[effort],
      });
    case "neural_network": {
      const rowsMax = NETWORK_ROWS_MAX[effort];
      const rows = Math.min(sample.train.length, rowsMax);
      return fitNetwork(sample, {
        hidden: String(parameters.hidden).split(",").map(Number),
        learningRate: number("learning_rate"),
        decay: number("decay"),
        batch: number("batch"),
        epochs: Math.max(5, Math.min(200, Math.ceil(NETWORK_SEEN_MAX[effort] / rows))),
        patience: effort === "screen" ? 4 : 8,
        rowsMax,
      });
    }
    case "linear":
      return fitLinear(sample, { penalty: number("penalty"), stepsMax: effort === "screen" ? 40 : 150 });
  }
}

function roundsMax(classes: number, effort: Effort): number {
  return Math.min(ROUNDS_MAX[effort], Math.ceil(TREES_MAX[effort] / (classes > 2 ? classes : 1)));
}
