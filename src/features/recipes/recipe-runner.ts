/**
 * Runs the parts of a recipe in a session's open transaction: its definitions, its seeds, the steps of its workflow.
 * Made by execute-recipe.ts and certify-recipe.ts, which decide what becomes of the transaction. Errors keep their code
 * and say which part failed and where it stands.
 */

import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { RECIPE_KEPT_ROWS_MAX } from "../../protocol/limits.js";
import { noticeText } from "../../protocol/notice.js";
import type { Batch } from "../../query/expr/expr.js";
import { type BoundText, type BoundValue, bindStatement } from "../../recipe/bind-statement.js";
import {
  actionOf,
  conditionQuery,
  type GraphSeed,
  type Place,
  type Prediction,
  placeWithin,
  type Recipe,
  type Statement,
  type Step,
  statementOf,
  type TableSeed,
  type Training,
} from "../../recipe/recipe.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import { elapsedSince, JsonRows, type Outcome } from "../../session/sql-result.js";
import type { Client, StatementText } from "../../session/statement-run.js";
import type { Source } from "../automl/train-spec.js";

/** What trained models do for a recipe. */
export interface RecipeModels {
  /** The id of the training that begins with the commit; null: none does. */
  train(training: Training, source: Source): Promise<string | null>;
  /** Of each row. Throws model_not_found. */
  predict(model: string, rows: readonly object[]): Promise<readonly Predicted[]>;
}

export interface Predicted {
  readonly prediction: string | number | boolean;
  /** Of the class that is predicted; null where there are no classes. */
  readonly probability: number | null;
}

/** What a step did. */
interface Performed {
  readonly columns: Outcome["shape"]["columns"];
  readonly rows: readonly (readonly unknown[])[];
  readonly count: number;
  readonly outcome: Pick<Outcome, "rowsAffected" | "stats" | "notices">;
}

const TRAINED: Performed["columns"] = [
  { name: "job_id", data_type: "text", nullable: true },
  { name: "model", data_type: "text", nullable: false },
];
const NOTHING_TOLD: Performed["outcome"] = { rowsAffected: null, stats: null, notices: [] };

/** The result of a step, as clients see it. */
export interface StepResult {
  readonly step: string;
  readonly language: "sql" | "cypher" | "train" | "predict";
  /** The text as in the recipe; values are separate. */
  readonly statement: string;
  readonly skipped?: true;
  readonly columns?: Outcome["shape"]["columns"];
  readonly rows?: readonly (readonly unknown[])[];
  readonly row_count?: number;
  readonly rows_affected?: number;
  readonly truncated?: true;
  readonly stats?: NonNullable<Outcome["stats"]>;
  readonly notices?: readonly string[];
  readonly execution_time_ms?: number;
}

export interface RunnerOptions {
  readonly recipe: Recipe;
  /** Positions of the statements; empty if they are not known. */
  readonly places: Readonly<Record<string, Place>>;
  /** Of one step's answer. */
  readonly rowsMax: number;
  readonly models: RecipeModels;
  /** The graph that takes the place of the one with that name. */
  graphFor?(name: string | undefined): Promise<string | undefined>;
}

/** A part of a recipe, as errors name it. */
interface Part {
  /** `Step "find"` */
  readonly title: string;
  readonly field: string;
  readonly step?: string;
  /** Characters that were put before the recipe's text. */
  readonly added?: number;
}

const NOTHING: ReadonlyMap<string, BoundValue> = new Map();

/** A session for a recipe: what is installed for all tenants is not the recipe's to change. */
export function recipeSession(request: Request): Session {
  return new Session(request.tenant, { ...sessionOptions(request, "routes"), managesModels: false });
}

/** Agents work in transactions of their own, so nothing could take back what they did. */
export function recipeClient(request: Request): Client {
  const { requestId, checkpoint, shouldYield, yieldTurn, signal } = request;
  const checkAgents = (): never => {
    throw new DbError("query_error", "AGENT_RUN error: a recipe cannot run agents.", {
      hint: "Let the recipe prepare what the agent needs, and run the agent after it.",
    });
  };
  return { requestId, checkpoint, shouldYield, yieldTurn, signal, checkAgents };
}

/** Rows as they leave, no more than so many; a statement runs to its end all the same. */
class CappedRows extends JsonRows {
  /** Of the statement, also those that were not taken. */
  rowsSeen = 0;

  constructor(
    shape: Outcome["shape"],
    private readonly rowsMax: number,
  ) {
    super(shape);
  }

  override append(batch: Batch, count: number): number {
    const left = Math.max(this.rowsMax - this.rowsSeen, 0);
    this.rowsSeen += count;
    return super.append(batch, Math.min(count, left));
  }
}

export class RecipeRunner {
  /** Statements that ran. */
  executed = 0;

  constructor(
    private readonly session: Session,
    private readonly client: Client,
    private readonly options: RunnerOptions,
  ) {}

  async define(): Promise<void> {
    const { schema } = this.options.recipe;
    for (let i = 0; i < schema.length; i++) {
      const item = schema[i]!;
      const field =
        typeof item === "string" ? `schema[${i}]` : `schema[${i}].${item.sql === undefined ? "cypher" : "sql"}`;
      await this.run(statementOf(item), NOTHING, { title: `schema[${i}]`, field }, 0);
    }
  }

  async seed(): Promise<void> {
    const { seed } = this.options.recipe;
    for (let i = 0; i < seed.length; i++) {
      const item = seed[i]!;
      const part: Part = { title: `seed[${i}]`, field: `seed[${i}]` };
      if ("table" in item) await this.seedTable(item, part);
      else if ("nodes" in item) await this.seedGraph(item, part);
      else
        await this.run(
          item,
          NOTHING,
          { ...part, field: `${part.field}.${item.sql === undefined ? "cypher" : "sql"}` },
          0,
        );
    }
  }

  private async seedTable({ table, columns, rows }: TableSeed, part: Part): Promise<void> {
    const names = [table, ...columns].map((name) => `"${name.replaceAll('"', '""')}"`);
    const values = columns.map((_, i) => `$${i + 1}`);
    const sql = `INSERT INTO ${names[0]} (${names.slice(1).join(", ")}) VALUES (${values.join(", ")}) ON CONFLICT DO NOTHING`;
    for (let r = 0; r < rows.length; r++) {
      const field = `${part.field}.rows[${r}]`;
      await this.execute({ sql, params: rows[r]!, language: "sql" }, { title: field, field }, 0);
    }
    this.executed++;
  }

  /** Nodes with equal labels go together, so do edges of one type. */
  private async seedGraph({ graph, nodes, edges = [] }: GraphSeed, part: Part): Promise<void> {
    const name = await this.graphNamed(graph);
    const text = (sql: string, rows: readonly object[]): StatementText => ({
      sql,
      params: { rows },
      language: "cypher",
      ...(name !== undefined && { graph: name }),
    });
    const ids = new Map<unknown, unknown>();
    for (const [labels, some] of grouped(nodes, (node) =>
      (node.labels ?? []).map((label) => `:${escaped(label)}`).join(""),
    )) {
      const rows = some.map(({ key, properties = {} }) => ({ key, properties }));
      const cypher = `UNWIND $rows AS row CREATE (n${labels}) SET n = row.properties RETURN row.key, id(n)`;
      const { rows: made } = await this.execute(text(cypher, rows), part, Number.MAX_SAFE_INTEGER);
      for (const [key, id] of made) ids.set(key, id);
    }
    for (const [type, some] of grouped(edges, (edge) => escaped(edge.type))) {
      const rows = some.map(({ from, to, properties = {} }) => ({ from: ids.get(from), to: ids.get(to), properties }));
      const cypher = `UNWIND $rows AS row MATCH (a) WHERE id(a) = row.from MATCH (b) WHERE id(b) = row.to CREATE (a)-[r:${type}]->(b) SET r = row.properties`;
      await this.execute(text(cypher, rows), part, 0);
    }
    this.executed++;
  }

  /** `told` gets each result when its step has ended. */
  async workflow(parameters: ReadonlyMap<string, BoundValue>): Promise<StepResult[]> {
    const { workflow } = this.options.recipe;
    const known = new Map(parameters);
    const results: StepResult[] = [];
    for (let i = 0; i < workflow.length; i++) results.push(await this.step(workflow[i]!, i, known));
    return results;
  }

  private async step(step: Step, index: number, known: Map<string, BoundValue>): Promise<StepResult> {
    const started = performance.now();
    const { name, when, keep, output = true } = step;
    const { kind, statement, path } = actionOf(step);
    const told = { step: name, language: kind, statement: (statement.sql ?? statement.cypher)! } as const;
    const at = `workflow[${index}]`;
    const part: Part = { title: `Step "${name}"`, field: [at, ...path].join("."), step: name };
    if (when !== undefined && !(await this.holds(when, known, { ...part, field: `${at}.when` }))) {
      if (keep !== undefined) known.set(keep, { type: "rows", value: [] });
      return { ...told, skipped: true };
    }
    const { rowsMax } = this.options;
    const cap = keep === undefined ? (output ? rowsMax : 0) : Math.max(RECIPE_KEPT_ROWS_MAX, rowsMax);
    const done = await this.perform(step, known, part, cap);
    const { columns, rows, count, outcome } = done;
    if (keep !== undefined) {
      this.requireFew(count, part, "it keeps");
      known.set(keep, { type: "rows", value: rows.map((row) => objectOf(columns, row)) });
    }
    const hasRows = output && columns.length > 0;
    return {
      ...told,
      ...(hasRows && { columns, rows: rows.slice(0, rowsMax), row_count: count }),
      ...(outcome.rowsAffected !== null && { rows_affected: outcome.rowsAffected }),
      ...(hasRows && count > rowsMax && { truncated: true }),
      ...(outcome.stats !== null && { stats: outcome.stats }),
      ...(outcome.notices.length > 0 && { notices: outcome.notices.map(noticeText) }),
      execution_time_ms: elapsedSince(started),
    };
  }

  private requireFew(count: number, part: Part, what: string): void {
    if (count <= RECIPE_KEPT_ROWS_MAX) return;
    const message = `${what} ${count} rows; at most ${RECIPE_KEPT_ROWS_MAX} are allowed`;
    throw failedIn(new DbError("query_error", message, { hint: "Add a LIMIT, or work on a table." }), part, {});
  }

  private async perform(
    step: Step,
    known: ReadonlyMap<string, BoundValue>,
    part: Part,
    cap: number,
  ): Promise<Performed> {
    const { train, predict } = step;
    if (train !== undefined) return this.train(train, known, part);
    if (predict !== undefined) return this.predict(predict, known, part);
    const ran = await this.run(actionOf(step).statement, known, part, cap);
    return { ...ran, columns: ran.outcome.shape.columns };
  }

  /** The data are looked at now, and learnt from after the commit. */
  private async train(training: Training, known: ReadonlyMap<string, BoundValue>, part: Part): Promise<Performed> {
    const statement = { sql: training.query };
    const { outcome } = await this.run(statement, known, part, 1);
    const names = outcome.shape.columns.map(({ name }) => name);
    const missing = [training.target, ...(training.features ?? [])].find((name) => !names.includes(name));
    if (missing !== undefined) {
      const message = `there is no column "${missing}" in the data; there are ${names.slice(0, 30).join(", ")}`;
      throw failedIn(new DbError("query_error", message), part, {});
    }
    const { text: sql, params } = bindStatement(statement, known);
    const job = await this.models(part, (models) => models.train(training, { sql, params }));
    return { columns: TRAINED, rows: [[job, training.model]], count: 1, outcome: NOTHING_TOLD };
  }

  private async predict(
    { model, query }: Prediction,
    known: ReadonlyMap<string, BoundValue>,
    part: Part,
  ): Promise<Performed> {
    const { outcome, rows, count } = await this.run({ sql: query }, known, part, RECIPE_KEPT_ROWS_MAX);
    this.requireFew(count, part, "it asks about");
    const { columns } = outcome.shape;
    const asked = rows.map((row) => objectOf(columns, row));
    const found = await this.models(part, (models) => models.predict(model, asked));
    const told = rows.map((row, i) => [...row, found[i]!.prediction, found[i]!.probability]);
    return { columns: [...columns, ...predictedColumns(found)], rows: told, count, outcome: NOTHING_TOLD };
  }

  private async models<T>(part: Part, ask: (models: RecipeModels) => Promise<T>): Promise<T> {
    try {
      return await ask(this.options.models);
    } catch (error) {
      throw failedIn(error, part, {});
    }
  }

  private async holds(when: string, known: ReadonlyMap<string, BoundValue>, part: Part): Promise<boolean> {
    const added = conditionQuery("").indexOf("(") + 1;
    const { rows } = await this.run({ sql: conditionQuery(when) }, known, { ...part, added }, 2);
    if (rows.length === 1 && (rows[0]![0] === null || typeof rows[0]![0] === "boolean")) return rows[0]![0] === true;
    throw failedIn(new DbError("query_error", `"when" must be a condition: true or false`), part, {});
  }

  private async run(statement: Statement, known: ReadonlyMap<string, BoundValue>, part: Part, rowsMax: number) {
    const bound = bindStatement(statement, known);
    const { text: sql, params, language } = bound;
    const graph = language === "cypher" ? await this.graphNamed(statement.graph) : undefined;
    this.executed++;
    const text: StatementText = { sql, params, language, ...(graph !== undefined && { graph }) };
    return this.execute(text, part, rowsMax, { statement, bound });
  }

  private async execute(
    text: StatementText,
    part: Part,
    rowsMax: number,
    from?: { readonly statement: Statement; readonly bound: BoundText },
  ): Promise<{ outcome: Outcome; rows: readonly (readonly unknown[])[]; count: number }> {
    const { client } = this;
    const collector = (shape: Outcome["shape"]) => new CappedRows(shape, rowsMax);
    const run = { ...text, maxRows: Number.MAX_SAFE_INTEGER, collector, request: client };
    try {
      client.checkpoint();
      const outcome = await this.session.execute(run, (tx) => tx.rollback());
      if (client.shouldYield()) await client.yieldTurn();
      const { json, rowsSeen } = outcome.rows as CappedRows;
      return { outcome, rows: JSON.parse(`[${json}]`), count: rowsSeen };
    } catch (error) {
      throw failedIn(error, part, this.placeOf(error, part, from));
    }
  }

  /** Where the recipe has what the error is about. */
  private placeOf(error: unknown, { field, added = 0 }: Part, from?: { statement: Statement; bound: BoundText }) {
    const place = this.options.places[field];
    const position = error instanceof DbError ? error.details?.position : undefined;
    if (from === undefined || position === undefined)
      return place === undefined ? {} : { line: place.line, column: place.column };
    const at = Math.max(from.bound.position(position) - added, 1);
    const text = (from.statement.sql ?? from.statement.cypher)!.slice(added);
    if (place === undefined) return { position: at };
    const { line, column } = placeWithin(place, text, at);
    return { position: at, line, column };
  }

  private graphNamed(name: string | undefined): Promise<string | undefined> {
    return this.options.graphFor === undefined ? Promise.resolve(name) : this.options.graphFor(name);
  }
}

function failedIn(error: unknown, { title, field, step }: Part, place: object): unknown {
  if (!(error instanceof DbError)) return error;
  const where = "line" in place && "column" in place ? ` (line ${place.line}, column ${place.column})` : "";
  // A parser's own count is within the statement.
  const message = where === "" ? error.message : error.message.replace(/ \(line \d+, column \d+\)$/, "");
  const details = { ...error.details, field, ...(step !== undefined && { step }), ...place };
  return new DbError(error.code, `${title}: ${message}${where}`, details);
}

function objectOf(columns: Performed["columns"], row: readonly unknown[]): object {
  return Object.fromEntries(columns.map(({ name }, i) => [name, row[i]]));
}

function predictedColumns(found: readonly Predicted[]): Performed["columns"] {
  const kinds = { string: "text", boolean: "boolean", number: "double precision" } as const;
  const [first] = found;
  const kind = typeof (first?.prediction ?? "") as keyof typeof kinds;
  return [
    { name: "prediction", data_type: kinds[kind], nullable: false },
    { name: "probability", data_type: "double precision", nullable: true },
  ];
}

const escaped = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
