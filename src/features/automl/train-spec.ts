/**
 * What is to be trained, and on which data: made from a request, a tool's arguments or a statement, checked against the
 * data's definition before a job is made, kept in the job's record.
 */

import type { Request } from "../../actor/request.js";
import {
  ALGORITHMS,
  type Algorithm,
  algorithmNamed,
  METRICS,
  type Metric,
  TASKS,
  type TrainJob,
} from "../../automl/contract.js";
import type { TableDef } from "../../catalog/table.js";
import type { ViewDef } from "../../catalog/view.js";
import { collectionOf } from "../../document/collection.js";
import { identifier, literal } from "../../document/sql-text.js";
import { DbError } from "../../protocol/errors.js";
import { AUTOML_KNOWN_ROWS_MIN, AUTOML_ROWS_MAX, AUTOML_TRIALS_DEFAULT } from "../../protocol/limits.js";
import { sentName } from "../../protocol/sent-name.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import { plainRows } from "../../session/sql-result.js";
import type { ParameterValues } from "../../session/statement-run.js";
import { rowsOf } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { datasetNamed, type NamedSource, noDataset, uploadedRows } from "./dataset-store.js";

/** A statement that gives the rows. */
export interface Source {
  readonly sql: string;
  readonly params: ParameterValues;
  /** A column of documents, whose fields are columns, too. */
  readonly expand?: string;
  /** All columns and fields unless said. */
  readonly only?: readonly string[];
}

/** Everything that `train` gets except the columns. */
export interface TrainSpec extends Omit<TrainJob, "columns"> {
  readonly source: Source;
}

/** As clients send it; both spellings of a field are taken. */
export interface TrainBody {
  readonly dataset_id?: string;
  readonly dataset?: string;
  readonly collection?: string;
  readonly table?: string;
  readonly query?: string;
  readonly sql?: string;
  readonly parameters?: ParameterValues;
  readonly params?: ParameterValues;
  readonly task?: string;
  readonly task_type?: string;
  readonly target?: string;
  readonly target_column?: string;
  readonly features?: readonly string[];
  readonly time_column?: string;
  readonly name?: string;
  readonly model_name?: string;
  readonly max_trials?: number;
  readonly time_budget_secs?: number;
  readonly time_budget_seconds?: number;
  readonly timeout_minutes?: number;
  readonly algorithms?: readonly string[];
  readonly metric?: string;
  readonly optimization_metric?: string;
  readonly seed?: number;
  readonly folds?: number;
  readonly horizon?: number;
  readonly clusters?: number;
}

/** Throws invalid_request when more than one spelling of the time is there. */
function secondsOf(body: TrainBody, usual: number): number {
  const { time_budget_secs: seconds, time_budget_seconds: sameSeconds, timeout_minutes: minutes } = body;
  const sent = [seconds, sameSeconds, minutes && minutes * 60].filter((value) => value !== undefined);
  if (sent.length > 1) {
    throw invalid(
      minutes === undefined ? "time_budget_seconds" : "timeout_minutes",
      "send one of the names of the time",
    );
  }
  return sent[0] ?? usual;
}

const TASK_FIELDS = ["task", "task_type"] as const;
const TARGET_FIELDS = ["target", "target_column"] as const;
const METRIC_FIELDS = ["metric", "optimization_metric"] as const;
const SOURCE_FIELDS = ["dataset_id", "dataset", "collection", "table", "query", "sql"] as const;

const TASK_NAMES = ["auto", "classification", ...TASKS] as const;

/** Throws invalid_request that names the field, and not_found for a source that does not exist. */
export async function specOf(request: Request, body: TrainBody): Promise<TrainSpec> {
  const task = oneOf(body, ...TASK_FIELDS) ?? "auto";
  if (!(TASK_NAMES as readonly string[]).includes(task)) {
    throw invalid(sentName(body, TASK_FIELDS), `must be one of ${TASK_NAMES.join(", ")}, not "${task}"`);
  }
  const target = oneOf(body, ...TARGET_FIELDS) ?? null;
  if (target === null && task !== "clustering") {
    throw invalid("target", "the name of the column to predict is missing (only clustering has none)");
  }
  const algorithms = body.algorithms && [...new Set(body.algorithms.map(knownAlgorithm))];
  const metric = oneOf(body, ...METRIC_FIELDS);
  if (metric !== undefined) listed(sentName(body, METRIC_FIELDS), [metric], METRICS);
  const { features, time_column: timeColumn, folds, horizon, clusters } = body;
  const spec: TrainSpec = {
    source: await sourceOf(request, body),
    target,
    task: task as TrainSpec["task"],
    ...trialsWanted(body.max_trials),
    timeBudgetMs: secondsOf(body, request.partition.config.automl.timeBudgetSeconds) * 1000,
    seed: body.seed ?? 0,
    ...(features !== undefined && { features }),
    ...(timeColumn !== undefined && { timeColumn }),
    ...(algorithms !== undefined && algorithms.length > 0 && { algorithms }),
    ...(metric !== undefined && { metric: metric as Metric }),
    ...(folds !== undefined && { folds }),
    ...(horizon !== undefined && { horizon }),
    ...(clusters !== undefined && { clusters }),
  };
  await checkData(request, spec, body);
  return spec;
}

/** `named`: by who asks for the training. */
export function trialsWanted(named: number | undefined): Pick<TrainSpec, "maxTrials" | "trialsAreUsual"> {
  return named === undefined ? { maxTrials: AUTOML_TRIALS_DEFAULT, trialsAreUsual: true } : { maxTrials: named };
}

function oneOf(body: object, a: string, b: string): string | undefined {
  const { [a]: first, [b]: second } = body as Readonly<Record<string, string | undefined>>;
  if (first !== undefined && second !== undefined && first !== second) {
    throw invalid(b, `"${a}" has a different value; send only one of the two`);
  }
  return first ?? second;
}

function knownAlgorithm(name: string): Algorithm {
  const found = algorithmNamed(name);
  if (found !== null) return found;
  throw invalid("algorithms", `"${name}" is not known; there are ${ALGORITHMS.join(", ")}`);
}

function listed(field: string, given: readonly string[] | undefined, allowed: readonly string[]) {
  const unknown = given?.find((name) => !allowed.includes(name));
  if (unknown === undefined) return given;
  throw invalid(field, `"${unknown}" is not known; there are ${allowed.join(", ")}`);
}

function invalid(field: string, why: string): DbError {
  return new DbError("invalid_request", `${field}: ${why}`, { field });
}

/** Where rows come from; the body names one place. */
export async function sourceOf(request: Request, body: TrainBody): Promise<Source> {
  const named = SOURCE_FIELDS.filter((field) => body[field] !== undefined);
  if (named.length !== 1) {
    const why = "name one source of rows: dataset_id, collection, table or query";
    throw invalid(named[1] ?? "dataset_id", why);
  }
  const sql = body.query ?? body.sql;
  if (sql !== undefined) {
    return { sql: sql.replace(/;\s*$/, ""), params: body.parameters ?? body.params ?? [] };
  }
  const table = body.collection ?? body.table;
  if (table !== undefined) return sourceOfTable(request, table);
  return sourceOfDataset(request, (body.dataset_id ?? body.dataset)!);
}

/** A data set by id or name; without one, the table or collection of that name. Throws not_found. */
async function sourceOfDataset(request: Request, idOrName: string): Promise<Source> {
  const dataset = await datasetNamed(request, idOrName);
  if (dataset === null) {
    const relation = relationNamed(request, idOrName);
    if (relation === null) throw noDataset(idOrName);
    return sourceOfRelation(relation);
  }
  return dataset.source === null ? uploadedRows(dataset.id) : sourceOfNamed(request, dataset.source);
}

/** The current source of a data set. Throws not_found. */
function sourceOfNamed(request: Request, { type, columns, parameters, ...named }: NamedSource): Source {
  const only = columns === undefined ? {} : { only: columns };
  const found = named[type]!;
  if (type === "query") return { sql: found.replace(/;\s*$/, ""), params: parameters ?? [], ...only };
  return { ...sourceOfTable(request, found), ...only };
}

/**
 * Checks the source of a data set. Throws an error that says what is wrong with its statement, and not_found for a
 * table, collection or column that does not exist.
 */
export async function checkNamed(request: Request, named: NamedSource): Promise<void> {
  if (named[named.type] === undefined)
    throw invalid(`source.${named.type}`, `missing, which the type "${named.type}" needs`);
  const other = (["table", "collection", "query"] as const).find((type) => type !== named.type && type in named);
  if (other !== undefined) throw invalid(`source.${other}`, `the type is "${named.type}"; send one of the two`);
  const source = sourceOfNamed(request, named);
  const columns = await columnsOf(request, source);
  for (const name of named.columns ?? []) {
    if (columns.includes(name)) continue;
    const isField = source.expand !== undefined && (await hasField(request, source, name));
    if (isField) continue;
    const known = columns.slice(0, 30).join(", ");
    throw new DbError("not_found", `The column "${name}" does not exist. Known: ${known}.`, {
      ...{ field: "source.columns", sqlstate: "42703" },
    });
  }
}

async function hasField(request: Request, { sql, params, expand }: Source, name: string): Promise<boolean> {
  const rows = await rowsOf(request, {
    sql: `SELECT 1 FROM (${sql}\n) AS q WHERE q.${identifier(expand!)}::jsonb ? ${literal(name)} LIMIT 1`,
    params,
  });
  return rows.length > 0;
}

/** A table, view or collection. Throws not_found. */
export function sourceOfTable(request: Request, name: string): Source {
  const found = relationNamed(request, name);
  if (found === null) {
    throw new DbError("not_found", `The table or collection "${name}" does not exist.`, { sqlstate: "42P01" });
  }
  return sourceOfRelation(found);
}

/** Otherwise the part before a dot is taken as a schema. */
function relationNamed(request: Request, name: string): TableDef | ViewDef | null {
  const dot = name.indexOf(".");
  return withDefinitions(request, (catalog) => {
    for (const [schema, short] of [[null, name] as const, [name.slice(0, dot), name.slice(dot + 1)] as const]) {
      if (schema !== null && dot < 0) continue;
      const relation = catalog.table(schema, short) ?? catalog.view(schema, short);
      if (relation !== null) return relation;
    }
    return null;
  });
}

function sourceOfRelation(found: TableDef | ViewDef): Source {
  const collection = "indexes" in found ? collectionOf(found) : null;
  if (collection !== null) {
    return { sql: `SELECT ${collection.selectList} FROM ${collection.sqlName}`, params: [], expand: "doc" };
  }
  return { sql: `SELECT * FROM ${identifier(found.schema)}.${identifier(found.name)}`, params: [] };
}

/**
 * Looks at the target before anything is made: a training that cannot be is refused at once. Throws an error that says
 * what is wrong with the statement, and invalid_request.
 */
async function checkData(request: Request, { source, ...spec }: TrainSpec, body: TrainBody): Promise<void> {
  const { target } = spec;
  const targetField = sentName(body, TARGET_FIELDS);
  const all = await columnsOf(request, source);
  const { only } = source;
  const columns = only === undefined ? all : all.filter((name) => only.includes(name));
  const wanted = [target, spec.timeColumn, ...(spec.features ?? [])].filter((name) => typeof name === "string");
  const missing = wanted.find((name) => !columns.includes(name));
  // A document's fields are known when it is read.
  if (missing !== undefined && (source.expand === undefined || only?.includes(missing) === false)) {
    const field = missing === target ? targetField : missing === spec.timeColumn ? "time_column" : "features";
    const known = (only ?? columns).slice(0, 30).join(", ");
    throw invalid(field, `there is no column "${missing}" in the data; there are ${known}`);
  }
  if (target === null) return;
  const value = columns.includes(target)
    ? `q.${identifier(target)}::text`
    : `(q.${identifier(source.expand!)}::jsonb)->>${literal(target)}`;
  const [row] = await rowsOf(request, {
    sql: `SELECT count(*), count(t), min(t), max(t) FROM (SELECT ${value} AS t FROM (${source.sql}\n) AS q LIMIT ${AUTOML_ROWS_MAX + 1}) AS s`,
    params: source.params,
  });
  const [rows, known, least, most] = row!;
  const sourceField = sentName(body, SOURCE_FIELDS);
  checkRows(sourceField, Number(rows));
  checkTarget(targetField, target, Number(known), least === most);
}

/** Throws invalid_request for too many rows and for too few. */
function checkRows(field: string, rows: number): void {
  if (rows > AUTOML_ROWS_MAX) {
    throw invalid(field, `there are more than ${AUTOML_ROWS_MAX} rows; name a query with fewer (LIMIT, a sample)`);
  }
  if (rows < 2)
    throw invalid(field, `there ${rows === 1 ? "is one row" : "are no rows"}; nothing can be learnt from that`);
}

/** Throws invalid_request for a target from which nothing can be learnt. */
function checkTarget(field: string, target: string, known: number, isConstant: boolean): void {
  if (known === 0) throw invalid(field, `the column "${target}" is null in all rows, or in no row at all`);
  if (known < AUTOML_KNOWN_ROWS_MIN) {
    throw invalid(
      field,
      `the column "${target}" has a value in ${known} row(s) only; at least ${AUTOML_KNOWN_ROWS_MIN} are needed`,
    );
  }
  if (isConstant) throw invalid(field, `the column "${target}" has the same value in all rows`);
}

/**
 * Names of the statement's columns. It runs as it stands, for one row, so that positions in errors are the client's.
 */
async function columnsOf(request: Request, source: Source): Promise<readonly string[]> {
  const session = new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
  const run = { sql: source.sql, params: source.params, maxRows: 1, collector: plainRows, request };
  const { shape } = await session.execute(run, (tx) => request.tenant.rollback(tx));
  return shape.columns.map(({ name }) => name);
}
