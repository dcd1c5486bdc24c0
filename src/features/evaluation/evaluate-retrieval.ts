/**
 * Measures the searches of a collection on questions whose relevant documents are known: by the function that serves
 * the route of searches. Each question is asked in all settings, one after the other. Called by the route and SQL; no
 * state.
 */
import type { Request } from "../../actor/request.js";
import type { InputOf } from "../../bodies/validate.js";
import { invalid } from "../../document/field-path.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { EVALUATION_K_DEFAULT } from "../../protocol/limits.js";
import { giveWay } from "../../protocol/turns.js";
import { takeSteps } from "../automl/rows-in-turns.js";
import { findCollection } from "../documents/document-session.js";
import { type DocumentSearch, searchDocuments, searchModes } from "../documents/search-documents.js";
import { rowsOf } from "../statements/run-alone.js";
import type { Evaluated } from "./evaluation-store.js";
import { type Estimate, intervalOfShare, meanOf, quantileOf, resampled } from "./intervals.js";
import { keysOf } from "./question-scores.js";
import { type Pair, pairsOf } from "./read-pairs.js";
import { measuresOf, NO_HIT } from "./retrieval-metrics.js";
import { differenceOf } from "./verdict.js";

export type RetrievalBody = InputOf<"evaluation.retrieval">["body"];
export type RetrievalResult = ResponseOf<"evaluation.retrieval">["result"];

/** Questions that are shown of each setting, and documents of each. */
const WORST_MAX = 10;
const SHOWN_MAX = 20;
const IDS_AT_ONCE = 500;

type Setting = Omit<NonNullable<RetrievalBody["settings"]>[number], "name"> & { readonly name: string };

/** What a setting has found, by question. */
interface Run {
  readonly setting: Setting;
  readonly found: (readonly string[])[];
  readonly ms: Float64Array;
  /** By metric. */
  readonly series: ReadonlyMap<string, Float64Array>;
}

/** Throws what a search throws, and invalid_request. */
export async function evaluateRetrieval(request: Request, body: RetrievalBody): Promise<Evaluated<RetrievalResult>> {
  const { collection, k = EVALUATION_K_DEFAULT } = body;
  const settings = settingsOf(request, body);
  const pairs = await pairsOf(request, body);
  const missing = await missingDocuments(request, collection, pairs);
  const runs = await searchAll(request, collection, settings, pairs, k);
  const summary = await summaryOf(request, runs, pairs, k);
  const result: RetrievalResult = { k, questions: pairs.length, missing_documents: missing, ...summary };
  if (missing > 0) {
    request.warnings = [
      ...request.warnings,
      `${missing} relevant documents are not in the collection "${collection}", so no search can find them.`,
    ];
  }
  const keys = await keysOf(request, pairs.length, (i) => pairs[i]!.query);
  const series = Object.fromEntries(runs.map((run) => [run.setting.name, Object.fromEntries(run.series)]));
  return { kind: "retrieval", about: collection, questions: pairs.length, result, scores: { keys, series } };
}

/** What `evaluateRetrieval` would measure, after what can be found wrong with it before the first search. */
export async function plannedRetrieval(request: Request, body: RetrievalBody) {
  const { collection, k = EVALUATION_K_DEFAULT } = body;
  const settings = settingsOf(request, body);
  const pairs = await pairsOf(request, body);
  return {
    ...{ collection, k, settings, questions: pairs.length, searches: pairs.length * settings.length },
    missing_documents: await missingDocuments(request, collection, pairs),
  };
}

function settingsOf(request: Request, { collection, settings }: RetrievalBody): readonly Setting[] {
  if (settings === undefined) {
    const modes = searchModes(request, collection);
    if (modes.length > 0) return modes.map((mode) => ({ name: mode, mode }));
    throw invalid("collection", `"${collection}" has no text index and no embedded field, so it cannot be searched`);
  }
  const names = settings.map(({ name, mode }) => name ?? mode);
  const twice = names.findIndex((name, i) => names.indexOf(name) < i);
  if (twice >= 0) {
    throw invalid(`settings[${twice}].name`, `there is a setting "${names[twice]}" already; give each its own name`);
  }
  return settings.map((setting, i) => ({ ...setting, name: names[i]! }));
}

/** How many relevant documents the collection does not have. */
async function missingDocuments(request: Request, name: string, pairs: readonly Pair[]): Promise<number> {
  const ids = new Set<string>();
  for (const { relevant } of pairs) {
    for (const [id, grade] of relevant) if (grade > 0) ids.add(id);
    await giveWay(request);
  }
  const { sqlName } = findCollection(request, name);
  const all = [...ids];
  let found = 0;
  for (let at = 0; at < all.length; at += IDS_AT_ONCE) {
    const params = [all.slice(at, at + IDS_AT_ONCE)];
    const [row] = await rowsOf(request, { sql: `SELECT count(*) FROM ${sqlName} WHERE id = ANY ($1::text[])`, params });
    found += Number(row![0]);
    await giveWay(request);
  }
  return all.length - found;
}

async function searchAll(
  request: Request,
  collection: string,
  settings: readonly Setting[],
  pairs: readonly Pair[],
  k: number,
): Promise<readonly Run[]> {
  const measures = measuresOf(k);
  const runs = settings.map(
    (setting): Run => ({
      setting,
      found: [],
      ms: new Float64Array(pairs.length),
      series: new Map([...measures.keys()].map((metric) => [metric, new Float64Array(pairs.length)])),
    }),
  );
  for (const [i, { query, relevant }] of pairs.entries()) {
    for (const { setting, found, ms, series } of runs) {
      const started = performance.now();
      const ids = await search(request, collection, setting, query, k);
      ms[i] = performance.now() - started;
      found.push(ids);
      for (const [metric, measure] of measures) series.get(metric)![i] = measure(ids, relevant);
      await giveWay(request);
    }
  }
  return runs;
}

async function search(
  request: Request,
  collection: string,
  { name: _, ...setting }: Setting,
  query: string,
  k: number,
) {
  const wanted = { ...setting, query, limit: k, highlight: false, track_total: false, fields: [] } as DocumentSearch;
  const { plain } = await searchDocuments(request, collection, wanted);
  return plain!.documents.map(({ id }) => String(id));
}

/** Means with their intervals, and the differences of nDCG: all of the same draws of questions. */
async function summaryOf(request: Request, runs: readonly Run[], pairs: readonly Pair[], k: number) {
  const metric = `ndcg@${k}`;
  const couples = runs.flatMap((first, i) => runs.slice(i + 1).map((second) => [first, second] as const));
  const differences = couples.map(([first, second]) => {
    const [one, other] = [first.series.get(metric)!, second.series.get(metric)!];
    return one.map((value, i) => value - other[i]!);
  });
  const own = runs.flatMap(({ series }) => [...series.values()]);
  const intervals = await takeSteps(request, resampled([...own, ...differences]));
  const comparisons = couples.map(([{ setting: first }, { setting: second }], i) => ({
    first: first.name,
    second: second.name,
    metric,
    ...differenceOf([first.name, second.name], meanOf(differences[i]!), intervals[own.length + i]!, pairs.length),
  }));
  const settings: RetrievalResult["settings"][number][] = [];
  for (const [n, run] of runs.entries()) {
    const names = [...run.series.keys()];
    const metrics = names.map((name, m): [string, Estimate] => {
      const values = run.series.get(name)!;
      // Resampling cannot tell how likely it is that something has not happened yet.
      const interval =
        name === NO_HIT ? intervalOfShare(sumOf(values), values.length) : intervals[n * names.length + m]!;
      return [name, { value: meanOf(values), low: interval[0], high: interval[1] }];
    });
    const sorted = run.ms.toSorted();
    settings.push({
      ...run.setting,
      metrics: Object.fromEntries(metrics),
      ms: { p50: quantileOf(sorted, 0.5), p95: quantileOf(sorted, 0.95) },
      worst: worstOf(run, pairs, metric),
    });
    await giveWay(request);
  }
  return { settings, comparisons };
}

const sumOf = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

function worstOf({ found, series }: Run, pairs: readonly Pair[], metric: string) {
  const values = series.get(metric)!;
  const places = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]! || a - b);
  return places
    .filter((place) => values[place]! < 1)
    .slice(0, WORST_MAX)
    .map((place) => {
      const { query, relevant } = pairs[place]!;
      const missed = [...relevant].flatMap(([id, grade]) => (grade > 0 && !found[place]!.includes(id) ? [id] : []));
      return {
        query,
        ndcg: values[place]!,
        found: found[place]!.slice(0, SHOWN_MAX),
        missed: missed.slice(0, SHOWN_MAX),
      };
    });
}
