/** The four algorithms by name: their parameters by default and by chance, and how they are fitted. No state. */
import type { Algorithm } from "../contract.js";
import { fitLinear } from "../linear/linear-model.js";
import { fitNetwork } from "../network/network.js";
import type { Random } from "../random.js";
import { fitBoosting } from "../tree/boosting.js";
import { fitForest } from "../tree/forest.js";
import type { FittedModel, Parameters, Sample } from "./learner.js";

/** A first look costs a fraction of a full fit. A forest of one fold of several has its share of the trees. */
export type Effort = "screen" | "full" | { readonly folds: number };

const FEW_ROWS = 2000;

/** A round grows a tree for each class; of many classes there are to be fewer rounds. */
function usualRate(classes: number): number {
  if (classes > 7) return 0.2;
  return classes > 4 ? 0.15 : 0.1;
}

/** What usually does well, tried first: each algorithm's defaults, then what errs on other rows than they do. */
export function usualParameters(algorithm: Algorithm, rows: number, classes: number): readonly Parameters[] {
  switch (algorithm) {
    case "xgboost": {
      const leaves = rows < 1000 ? 8 : rows < 5000 ? 15 : 31;
      const min_child_weight = rows < 200 ? 0.5 : rows < 1000 ? 2 : 5;
      const usual = { learning_rate: usualRate(classes), depth: 12, lambda: 1, row_share: 0.8 };
      return [
        { ...usual, leaves, min_child_weight, column_share: 0.8 },
        { ...usual, leaves: 31, depth: 6, min_child_weight: 1, lambda: 5, column_share: 0.4 },
      ];
    }
    case "random_forest": {
      const usual = { trees: rows < FEW_ROWS ? 200 : 100, feature_share: 0, depth: 30 };
      return [
        { ...usual, min_leaf_rows: 1, cuts: "best" },
        { ...usual, min_leaf_rows: 1, cuts: "random" },
        { ...usual, min_leaf_rows: 1, cuts: "random", feature_share: 0.5 },
      ];
    }
    case "neural_network": {
      const batch = rows < FEW_ROWS ? 32 : 128;
      return [
        { hidden: rows < FEW_ROWS ? "32" : "64", learning_rate: 0.002, decay: 0.01, batch },
        { hidden: "64,32", learning_rate: 0.0015, decay: 0.02, batch },
      ];
    }
    case "linear":
      return [{ penalty: 0.001 }, { penalty: 0.02 }];
  }
}

export function defaultParameters(algorithm: Algorithm, rows: number): Parameters {
  return usualParameters(algorithm, rows, 0)[0]!;
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
        cuts: random.pick(["best", "random"]),
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
const TREES_MAX = { screen: 400, full: 3000 } as const;
const FOREST_ROWS_MAX = { screen: 10_000, full: 30_000 } as const;
const NETWORK_ROWS_MAX = { screen: 5000, full: 40_000 } as const;
/** Rows that a network sees in all epochs together. */
const NETWORK_SEEN_MAX = { screen: 100_000, full: 600_000 } as const;

/**
 * A boosting makes the `rounds` of its parameters. Without them it watches, and makes at most `rounds_max` where they
 * stand there.
 */
export function fitLearner(algorithm: Algorithm, sample: Sample, parameters: Parameters, effort: Effort): FittedModel {
  const number = (name: string) => Number(parameters[name]);
  const limits = effort === "screen" ? "screen" : "full";
  switch (algorithm) {
    case "xgboost": {
      const most = roundsMax(sample.classes, limits);
      return fitBoosting(sample, {
        rounds: parameters.rounds === undefined ? Math.min(most, number("rounds_max") || most) : number("rounds"),
        patience: patienceOf(number("learning_rate"), limits),
        learningRate: number("learning_rate"),
        leaves: number("leaves"),
        depth: number("depth"),
        minChildWeight: number("min_child_weight"),
        lambda: number("lambda"),
        rowShare: number("row_share"),
        columnShare: number("column_share"),
      });
    }
    case "random_forest":
      return fitForest(sample, {
        trees: effort === "screen" ? 30 : Math.ceil(number("trees") / (typeof effort === "object" ? effort.folds : 1)),
        featureShare: number("feature_share"),
        minLeafRows: number("min_leaf_rows"),
        depth: number("depth"),
        cuts: parameters.cuts === "random" ? "random" : "best",
        rowsMax: FOREST_ROWS_MAX[limits],
      });
    case "neural_network": {
      const rowsMax = NETWORK_ROWS_MAX[limits];
      const rows = Math.min(sample.train.length, rowsMax);
      return fitNetwork(sample, {
        hidden: String(parameters.hidden).split(",").map(Number),
        learningRate: number("learning_rate"),
        decay: number("decay"),
        batch: number("batch"),
        epochs: Math.max(5, Math.min(200, Math.ceil(NETWORK_SEEN_MAX[limits] / rows))),
        patience: effort === "screen" ? 4 : 8,
        rowsMax,
      });
    }
    case "linear":
      return fitLinear(sample, { penalty: number("penalty"), stepsMax: effort === "screen" ? 40 : 150 });
  }
}

/** Rounds without a gain after which a boosting ends: the smaller its steps, the more. */
function patienceOf(learningRate: number, limits: "screen" | "full"): number {
  return Math.max(6, Math.min(50, Math.ceil((limits === "screen" ? 1 : 1.5) / learningRate)));
}

function roundsMax(classes: number, effort: "screen" | "full"): number {
  return Math.min(ROUNDS_MAX[effort], Math.ceil(TREES_MAX[effort] / (classes > 2 ? classes : 1)));
}
