import t from "tap";
import { algorithmNamed } from "../../src/automl/contract.js";

t.test("algorithms under other names of the same method", async (t) => {
  for (const [name, algorithm] of [
    ["xgboost", "xgboost"],
    ["logistic_regression", "linear"],
    ["Linear Regression", "linear"],
    ["gradient-boosting", "xgboost"],
    ["RandomForest", "random_forest"],
    ["MLP", "neural_network"],
    ["naive_bayes", null],
    ["__proto__", null],
    ["", null],
  ] as const) {
    t.equal(algorithmNamed(name), algorithm, name);
  }
});
