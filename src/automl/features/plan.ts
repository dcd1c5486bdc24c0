/**
 * Decides what becomes of each column: dropped with a reason, or turned into numbers in a certain way. Looks at
 * features only, never at the target (leakage.ts does). Called by training; the plan is written into the model. No
 * state.
 */
import type { Feature } from "../contract.js";
import type { Random } from "../random.js";
import { PARTS, type Part, partOf } from "./moment-parts.js";
import type { ReadColumn } from "./read-column.js";
import { type Axes, principalAxes } from "./reduce-vectors.js";

export type Treatment =
  | { readonly kind: "number" }
  | { readonly kind: "moment"; readonly parts: readonly Part[] }
  | { readonly kind: "one_hot"; readonly labels: readonly string[] }
  /** Also a column for how often the label was met: the logarithm of `counts`. */
  | { readonly kind: "target"; readonly labels: readonly string[]; readonly counts: readonly number[] }
  /** `axes` null: the numbers as they are. */
  | { readonly kind: "vector"; readonly axes: Axes | null };

export interface PlannedFeature {
  readonly feature: Feature;
  readonly treatment: Treatment;
  /** A column more that says whether the value is missing. */
  readonly indicator: boolean;
}

export interface Plan {
  readonly planned: readonly PlannedFeature[];
  readonly dropped: readonly { readonly name: string; readonly reason: string }[];
}

const ONE_HOT_MAX = 12;
const LABELS_MAX = 50_000;
const COMPONENTS_MAX = 24;
/** With fewer rows, values that are all different say nothing yet. */
const KEY_ROWS_MIN = 20;
const KEY_NAME = /^(id|uuid|guid|key|index|row_?(id|no|nr|number)?)$|(_id|_uuid|_key|[a-z]Id|[a-z]ID)$/;

/** A column that `isWanted` is learned from although its values look like a key's. */
export function makePlan(columns: readonly ReadColumn[], random: Random, isWanted: (name: string) => boolean): Plan {
  const planned: PlannedFeature[] = [];
  const dropped: { name: string; reason: string }[] = [];
  for (const column of columns) {
    const reason = reasonToDrop(column, isWanted(column.name));
    if (reason === null) planned.push(plan(column, random));
    else dropped.push({ name: column.name, reason });
  }
  return { planned, dropped };
}

function reasonToDrop(column: ReadColumn, isWanted: boolean): string | null {
  if (column.kind === "vector") {
    const missing = missingOf(column);
    return missing === column.values.length / column.dimensions ? "it has no values" : null;
  }
  const rows = column.kind === "category" ? column.codes.length : column.values.length;
  const missing = missingOf(column);
  const present = rows - missing;
  if (present === 0) return "it has no values";
  const distinct = column.kind === "category" ? labelsPresent(column.codes) : distinctOf(column.values);
  if (distinct === 1 && missing === 0) return "its value is the same in all rows";
  if (column.kind === "category") return categoryReason(column, distinct, present);
  if (column.kind === "number" && present >= KEY_ROWS_MIN && distinct === present && !isWanted)
    return keyReason(column.name, column.values);
  return null;
}

function categoryReason(
  { labels }: { readonly labels: readonly string[] },
  distinct: number,
  present: number,
): string | null {
  if (distinct <= ONE_HOT_MAX || present < KEY_ROWS_MIN || (distinct <= present / 2 && distinct <= LABELS_MAX))
    return null;
  const sample = labels.slice(0, 100);
  const words = sample.reduce((sum, label) => sum + label.trim().split(/\s+/).length, 0) / sample.length;
  if (words >= 4) return "it is free text: give its embedding as a vector to learn from it";
  return `nearly every row has a value of its own (${distinct} in ${present} rows), as a key has`;
}

/** Of values that are all different. */
function keyReason(name: string, values: Float64Array): string | null {
  const present = values.filter((value) => !Number.isNaN(value));
  if (!present.every(Number.isInteger)) return null;
  if (KEY_NAME.test(name)) return "its values are all different, and its name is that of a key";
  const low = present.reduce((a, b) => Math.min(a, b));
  const high = present.reduce((a, b) => Math.max(a, b));
  return high - low === present.length - 1 ? "it numbers the rows" : null;
}

function labelsPresent(codes: Int32Array): number {
  const seen = new Set<number>();
  for (const code of codes) if (code >= 0) seen.add(code);
  return seen.size;
}

function distinctOf(values: Float64Array): number {
  const seen = new Set<number>();
  for (const value of values) if (!Number.isNaN(value)) seen.add(value);
  return seen.size;
}

function missingOf(column: ReadColumn): number {
  let missing = 0;
  if (column.kind === "category") {
    for (const code of column.codes) if (code < 0) missing++;
  } else {
    const step = column.kind === "vector" ? column.dimensions : 1;
    for (let at = 0; at < column.values.length; at += step) if (Number.isNaN(column.values[at]!)) missing++;
  }
  return missing;
}

function plan(column: ReadColumn, random: Random): PlannedFeature {
  const indicator = missingOf(column) > 0;
  const { name, kind } = column;
  if (column.kind === "category") return { feature: { name, kind }, treatment: categoryTreatment(column), indicator };
  if (column.kind === "vector") {
    const { dimensions, values } = column;
    const axes = dimensions <= COMPONENTS_MAX ? null : principalAxes(values, dimensions, COMPONENTS_MAX, random);
    return { feature: { name, kind, dimensions }, treatment: { kind: "vector", axes }, indicator };
  }
  if (column.kind !== "timestamp") return { feature: { name, kind }, treatment: { kind: "number" }, indicator };
  const { values } = column;
  const parts = PARTS.filter((part) => {
    const some = values.find((value) => !Number.isNaN(value))!;
    const first = partOf(some, part);
    return values.some((value) => !Number.isNaN(value) && partOf(value, part) !== first);
  });
  return { feature: { name, kind }, treatment: { kind: "moment", parts }, indicator };
}

function categoryTreatment({
  codes,
  labels,
}: {
  readonly codes: Int32Array;
  readonly labels: readonly string[];
}): Treatment {
  const counts = new Array<number>(labels.length).fill(0);
  for (const code of codes) if (code >= 0) counts[code]! += 1;
  // Labels that only left-out rows had are not learned.
  const known = labels.map((_, place) => place).filter((place) => counts[place]! > 0);
  const kept = known.map((place) => labels[place]!);
  if (kept.length <= ONE_HOT_MAX) return { kind: "one_hot", labels: kept };
  return { kind: "target", labels: kept, counts: known.map((place) => counts[place]!) };
}

/** Labels that the plan knows of a category. */
export function labelsOf({ treatment }: PlannedFeature): readonly string[] {
  return treatment.kind === "one_hot" || treatment.kind === "target" ? treatment.labels : [];
}

/** For the card. */
export function describeTreatment({ treatment, indicator, feature }: PlannedFeature): string {
  const missing = indicator ? "; missing values are told apart" : "";
  switch (treatment.kind) {
    case "number":
      return `as it is${missing}`;
    case "moment":
      return `its ${treatment.parts.join(", ")}${missing}`;
    case "one_hot":
      return `a column for each of ${treatment.labels.length} values${missing}`;
    case "target":
      return `the target's mean for each of ${treatment.labels.length} values, and how often each is met${missing}`;
    case "vector":
      return treatment.axes === null
        ? `its ${feature.dimensions} numbers${missing}`
        : `${COMPONENTS_MAX} principal components of ${feature.dimensions} numbers${missing}`;
  }
}
