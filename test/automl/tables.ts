/** Small tables by seed for the tests of training. */
import type { ColumnData, TrainJob } from "../../src/automl/contract.js";
import { Random } from "../../src/automl/random.js";

export const job = (columns: readonly ColumnData[], target: string | null, more: Partial<TrainJob> = {}): TrainJob => ({
  columns,
  target,
  task: "auto",
  maxTrials: 2,
  timeBudgetMs: 600_000,
  seed: 1,
  ...more,
});

/**
 * Two numbers, one with holes, a category of few and one of many values, a key; the answer follows from four of them.
 */
export function customers(rows: number, seed = 1): ColumnData[] {
  const random = new Random(seed, "customers");
  const age = new Float64Array(rows);
  const income = new Float64Array(rows);
  const plan: string[] = [];
  const city: string[] = [];
  const key: string[] = [];
  const leaves: string[] = [];
  for (let row = 0; row < rows; row++) {
    age[row] = Math.round(random.between(18, 80));
    income[row] = random.next() < 0.1 ? Number.NaN : Math.round(Math.exp(10 + 0.5 * random.normal()));
    plan.push(random.pick(["free", "plus", "pro"]));
    const place = random.below(30);
    city.push(`city ${place}`);
    key.push(`customer-${row}`);
    const score =
      (age[row]! - 45) / 12 +
      (Number.isNaN(income[row]!) ? -1 : Math.log(income[row]! / 22_000)) +
      (plan[row] === "pro" ? 1.5 : 0) +
      ((place % 5) - 2) / 2;
    leaves.push(random.next() < 1 / (1 + Math.exp(-1.5 * score)) ? "yes" : "no");
  }
  return [
    { name: "age", kind: "number", values: age },
    { name: "income", kind: "number", values: income },
    { name: "plan", kind: "text", values: plan },
    { name: "city", kind: "text", values: city },
    { name: "key", kind: "text", values: key },
    { name: "leaves", kind: "text", values: leaves },
  ];
}

export function firstRows(columns: readonly ColumnData[], count: number, from = 0): ColumnData[] {
  return columns.map((column) => ({ ...column, values: column.values.slice(from, from + count) }) as ColumnData);
}
