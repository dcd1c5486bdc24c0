/** How far the features and the predictions of a model have moved between two sets of rows. No state. */
import type { Request } from "../../actor/request.js";
import { momentOfText, numberOfText } from "../../automl/cell-text.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { giveWay } from "../../protocol/turns.js";
import type { StoredModel } from "../automl/model-store.js";
import type { PredictedRow, PredictedRows } from "../automl/predict.js";
import { takeSteps } from "../automl/rows-in-turns.js";
import { type DriftVerdict, driftOfNumbers, driftOfTexts } from "./drift.js";

type FoundDrift = NonNullable<ResponseOf<"evaluation.models">["result"]["drift"]>;
type FeatureDrift = FoundDrift["features"][number];

export interface PredictedSet {
  readonly rows: readonly PredictedRow[];
  readonly predicted: PredictedRows;
}

/** One of each row. */
interface Cells {
  readonly count: number;
  readonly at: (row: number) => unknown;
}

/** How a cell is compared. */
type Kind = "number" | "boolean" | "timestamp" | "category" | "length";

/** Rows between two looks at the clock. */
const ROWS_A_TURN = 1024;

/** The greatest drift first. */
export async function driftOfModel(
  request: Request,
  { features, config, classes }: StoredModel,
  reference: PredictedSet,
  current: PredictedSet,
): Promise<Omit<FoundDrift, "reference_rows">> {
  const found: FeatureDrift[] = [];
  for (const { name, kind } of features) {
    const isText = config.embedded.includes(name);
    // Vectors that clients send are not compared.
    if (kind === "vector" && !isText) continue;
    const compared: Kind = isText ? "length" : kind === "text" || kind === "vector" ? "category" : kind;
    const was = { count: reference.rows.length, at: (i: number) => reference.rows[i]![name] };
    const is = { count: current.rows.length, at: (i: number) => current.rows[i]![name] };
    const drift = await compare(request, compared, was, is);
    found.push({ feature: name, kind: compared, ...drift });
  }
  found.sort((a, b) => b.psi - a.psi);
  const kind = classes === null ? "number" : "category";
  const predicted = ({ predicted: { predictions } }: PredictedSet): Cells => ({
    count: predictions.length,
    at: (i) => predictions[i],
  });
  const own = await compare(request, kind, predicted(reference), predicted(current));
  const predictions = { feature: "prediction", kind, ...own };
  return { features: found, predictions, verdict: verdictOf(found, predictions) };
}

async function compare(request: Request, kind: Kind, reference: Cells, current: Cells) {
  if (kind === "boolean" || kind === "category") {
    const was = await cellsOf(request, reference, textOf);
    return takeSteps(request, driftOfTexts(was, await cellsOf(request, current, textOf)));
  }
  const number = NUMBERS[kind];
  const was = Float64Array.from(await cellsOf(request, reference, number));
  return takeSteps(request, driftOfNumbers(was, Float64Array.from(await cellsOf(request, current, number))));
}

async function cellsOf<T>(request: Request, { count, at }: Cells, read: (cell: unknown) => T): Promise<T[]> {
  const values: T[] = [];
  for (let i = 0; i < count; i++) {
    values.push(read(at(i)));
    if (i % ROWS_A_TURN === 0) await giveWay(request);
  }
  return values;
}

const textOf = (cell: unknown) => (cell === null || cell === undefined ? null : String(cell));

const NUMBERS: Readonly<Record<"number" | "timestamp" | "length", (cell: unknown) => number>> = {
  number: (cell) => (typeof cell === "number" ? cell : typeof cell === "string" ? numberOfText(cell) : Number.NaN),
  timestamp: (cell) => (typeof cell === "number" ? cell : typeof cell === "string" ? momentOfText(cell) : Number.NaN),
  length: (cell) => (typeof cell === "string" ? cell.length : Number.NaN),
};

/** "2 of 5 features have moved much (age, income), 1 some; the predictions are stable" */
function verdictOf(features: readonly FeatureDrift[], predictions: FeatureDrift): string {
  const of = (verdict: DriftVerdict) => features.filter((one) => one.verdict === verdict).map(({ feature }) => feature);
  const [much, some] = [of("much"), of("some")];
  const named = (names: readonly string[]) => names.slice(0, 5).join(", ");
  const moved = [
    ...(much.length > 0 ? [`${much.length} of ${features.length} features have moved much (${named(much)})`] : []),
    ...(some.length > 0 ? [`${some.length} of ${features.length} features have moved some (${named(some)})`] : []),
  ];
  const first = moved.length === 0 ? "all features are stable" : moved.join(", ");
  const last = { stable: "are stable", some: "have moved some", much: "have moved much" }[predictions.verdict];
  return `${first}; the predictions ${last}`;
}
