/**
 * The target of a job: which task it asks for, its rows that can be learned from, its classes. Called by train.ts; no
 * state.
 */
import { DbError } from "../../protocol/errors.js";
import { AUTOML_CLASSES_MAX, AUTOML_KNOWN_ROWS_MIN } from "../../protocol/limits.js";
import type { Task, TrainJob } from "../contract.js";
import { labelOfNumber, type ReadColumn } from "./read-column.js";

export type SupervisedTask = "binary_classification" | "multiclass_classification" | "regression";

export interface Target {
  readonly task: SupervisedTask;
  readonly reason: string;
  /** Rows of the table whose target is known. */
  readonly rows: Int32Array;
  /** Of these: values, or the number of the class. */
  readonly values: Float64Array;
  /** Labels by number; null where values are predicted. */
  readonly classes: readonly string[] | null;
  /** What a label is given back as. */
  readonly labelKind: "text" | "number" | "boolean";
}

/** Whole numbers with at most this many different values are classes if there are ten rows of each on average. */
const NUMBER_CLASSES_MAX = 10;

export function badTarget(message: string, column: string): DbError {
  return new DbError("invalid_request", message, { field: "target", column });
}

/** Throws `invalid_request` for a target that nothing can be learned from. */
export function readTarget(column: ReadColumn, asked: TrainJob["task"]): Target {
  const { name } = column;
  if (column.kind === "vector")
    throw badTarget(`The target "${name}" holds vectors; name a column of numbers or labels.`, name);
  const total = column.kind === "category" ? column.codes.length : column.values.length;
  const known: number[] = [];
  for (let row = 0; row < total; row++) {
    const there = column.kind === "category" ? column.codes[row]! >= 0 : !Number.isNaN(column.values[row]!);
    if (there) known.push(row);
  }
  if (column.kind !== "category") {
    const endless = column.values.findIndex((value) => Math.abs(value) === Number.POSITIVE_INFINITY);
    if (endless >= 0) throw badTarget(`Row ${endless + 1}: the target "${name}" is infinite; leave the row out.`, name);
  }
  if (known.length === 0)
    throw badTarget(`The target "${name}" has no value in any row; fill it in or name another.`, name);
  const rows = Int32Array.from(known);
  if (rows.length < AUTOML_KNOWN_ROWS_MIN) {
    throw badTarget(
      `The target "${name}" is known in ${rows.length} row(s); training needs at least ${AUTOML_KNOWN_ROWS_MIN}.`,
      name,
    );
  }
  const labels = labelsOf(column, rows);
  if (labels.size < 2) {
    throw badTarget(`The target "${name}" is "${[...labels][0]}" in every row; there is nothing to predict.`, name);
  }
  const { task, reason } = decide(column, asked, labels, rows.length);
  if (task === "regression") {
    const { values } = column as { values: Float64Array };
    return {
      task,
      reason,
      rows,
      values: Float64Array.from(rows, (row) => values[row]!),
      classes: null,
      labelKind: "number",
    };
  }
  return { task, reason, rows, ...classify(column, rows, labels) };
}

function labelAt(column: Exclude<ReadColumn, { kind: "vector" }>, row: number): string {
  if (column.kind === "category") return column.labels[column.codes[row]!]!;
  return labelOfNumber(column.values[row]!, column.kind)!;
}

function labelsOf(column: Exclude<ReadColumn, { kind: "vector" }>, rows: Int32Array): Set<string> {
  const labels = new Set<string>();
  for (const row of rows) labels.add(labelAt(column, row));
  return labels;
}

function decide(
  column: Exclude<ReadColumn, { kind: "vector" }>,
  asked: TrainJob["task"],
  labels: ReadonlySet<string>,
  rows: number,
): { task: SupervisedTask; reason: string } {
  const { name, kind } = column;
  const count = labels.size;
  const asClasses = (why: string): { task: SupervisedTask; reason: string } => {
    if (count > AUTOML_CLASSES_MAX) {
      const hint = kind === "number" ? ' Ask for the task "regression", or' : "";
      throw badTarget(
        `The target "${name}" has ${count} different values; at most ${AUTOML_CLASSES_MAX} classes can be learned.${hint} Group rare values first.`,
        name,
      );
    }
    return { task: count === 2 ? "binary_classification" : "multiclass_classification", reason: why };
  };
  if (asked === "regression") {
    if (kind !== "number" && kind !== "timestamp" && kind !== "boolean") {
      throw badTarget(
        `The target "${name}" holds labels such as "${[...labels][0]}"; regression needs numbers. Ask for "classification".`,
        name,
      );
    }
    return { task: "regression", reason: "the request asks for it" };
  }
  if (asked === "binary_classification" && count !== 2) {
    throw badTarget(
      `The target "${name}" has ${count} different values; binary classification needs two. Ask for "classification".`,
      name,
    );
  }
  if (asked !== "auto") return asClasses("the request asks for classes");
  if (kind === "category") return asClasses(`the target's ${count} values are labels`);
  if (kind === "boolean" || count === 2) return asClasses("the target has two different values");
  const whole =
    kind === "number" &&
    (column as { values: Float64Array }).values.every((value) => Number.isNaN(value) || Number.isInteger(value));
  if (whole && count <= NUMBER_CLASSES_MAX && rows >= 10 * count) {
    return asClasses(`the target's numbers are whole and only ${count} different ones`);
  }
  return { task: "regression", reason: `the target has ${count} different numbers` };
}

function classify(
  column: Exclude<ReadColumn, { kind: "vector" }>,
  rows: Int32Array,
  labels: ReadonlySet<string>,
): Pick<Target, "values" | "classes" | "labelKind"> {
  const numeric = column.kind === "number";
  // In an order that does not depend on the rows': numbers by value, false before true, text by code units.
  const classes = [...labels].sort(numeric ? (a, b) => Number(a) - Number(b) : undefined);
  const numbers = new Map(classes.map((label, number) => [label, number]));
  const values = Float64Array.from(rows, (row) => numbers.get(labelAt(column, row))!);
  const labelKind = numeric ? "number" : column.kind === "boolean" ? "boolean" : "text";
  return { values, classes, labelKind };
}

/** The number of each row's class or its value, for rows that a model is evaluated on; NaN where it is not known. */
export function targetOf(column: ReadColumn, task: Task, classes: readonly string[] | null): Float64Array {
  if (column.kind === "vector") throw badTarget(`The target "${column.name}" holds vectors.`, column.name);
  const total = column.kind === "category" ? column.codes.length : column.values.length;
  if (task === "regression") {
    if (column.kind === "category")
      throw badTarget(`The target "${column.name}" holds labels; the model predicts numbers.`, column.name);
    return column.values;
  }
  const numbers = new Map((classes ?? []).map((label, number) => [label, number]));
  return Float64Array.from({ length: total }, (_, row) => {
    const missing = column.kind === "category" ? column.codes[row]! < 0 : Number.isNaN(column.values[row]!);
    return missing ? Number.NaN : (numbers.get(labelAt(column, row)) ?? Number.NaN);
  });
}
