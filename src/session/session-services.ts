/**
 * What expressions of a statement ask of the session that runs it: values of sequences, settings, definitions. One is
 * made per statement; what the session remembers between statements is in SessionMemory.
 */
import { RUN_ITEMS_MAX } from "../ai/inference-lane.js";
import type { LibraryClient } from "../ai/library/library-client.js";
import type { ModelFacts } from "../ai/models.js";
import type { CatalogView } from "../catalog/catalog-view.js";
import { changedByCypher, type GraphTables, isGraphSchema } from "../catalog/graph.js";
import { descendantsOf } from "../catalog/inheritance.js";
import { parseRelationName } from "../catalog/relation-names.js";
import { isTemporarySchema } from "../catalog/schema.js";
import type { SequenceDef, SequenceNumber } from "../catalog/sequence.js";
import type { SearchIndexDef, TableDef } from "../catalog/table.js";
import { AGENT_OPTIONS, runAgent } from "../features/agent/run-agent.js";
import { trainedModelRows } from "../features/automl/trained-model-rows.js";
import { checkClaimModel, classifyClaims, verifyClaims } from "../features/claims/claim-functions.js";
import { GENERATE_OPTIONS, type GenerateCall, generateTexts, writerOf } from "../features/generation/generate-texts.js";
import { LanguageHelpers } from "../features/language/language-helpers.js";
import { requireLibraryAdmin } from "../features/models/library-admin.js";
import type { AlgorithmResult } from "../graph/algorithms/algorithm.js";
import { type AlgorithmJob, runAlgorithm } from "../graph/algorithms/run-algorithm.js";
import { DbError, sqlError } from "../protocol/errors.js";
import type { CursorFacts, ExecContext, ExecServices, ProgressHearer, ProgressPhase } from "../query/exec/context.js";
import { greatestTaken } from "../query/exec/free-value.js";
import { readGraphNode } from "../query/exec/graph-node.js";
import { runSubquery } from "../query/exec/subquery.js";
import type { TriggerFiring } from "../query/exec/trigger-firing.js";
import { jobFor, valueOfComputed } from "../query/expr/compute-elsewhere.js";
import type {
  DeferredContext,
  EvalContext,
  FolderChange,
  InnerResult,
  RoutineCall,
  SubqueryExpr,
} from "../query/expr/expr.js";
import type { SentExpr } from "../query/expr/sent-form.js";
import { idOfOid } from "../query/expr/types.js";
import { parseSql } from "../sql/parse/parse.js";
import type { RoutinePlan } from "../sql/routine/host.js";
import type { RoutineRunner } from "../sql/routine/routine-runner.js";
import type { Transaction } from "../storage/store.js";
import { ShardTransaction } from "../storage/transaction.js";
import { Json, type SqlType, type Value } from "../values/values.js";
import type { GraphNode } from "../values/variant.js";
import { readCallOptions } from "./call-options.js";
import { convertParameters } from "./run-program.js";
import { type IndexLife, indexLife } from "./search-index-care.js";
import type { SessionCursors } from "./session-cursors.js";
import type { Settings } from "./settings.js";
import type { StatementPlan } from "./statement-plan.js";
import type { Client } from "./statement-run.js";
import type { Tenant } from "./tenant.js";
import { traced } from "./trace.js";

/** What a session's statements leave for later ones. */
export interface SessionMemory {
  readonly tenant: Tenant;
  readonly settings: Settings;
  /** By the sequence's id: the value that nextval or setval gave last; null until there is one. */
  sequenceValues: Map<number, SequenceNumber> | null;
  /** The sequence that nextval was called for last. */
  lastSequence: number | null;
  /** The schemas in which names are looked up, in order. */
  searchPath(catalog: CatalogView): readonly string[];
  /** Runs functions that statements made. */
  routines(): RoutineRunner;
}

export class SessionServices implements ExecServices {
  /** Of generated columns, by model and text. */
  private keptVectors: Map<string, Float32Array> | null = null;
  /** The table that an id was last wanted for, and the sequence that counts its rows. */
  private counted: { readonly table: TableDef; readonly by: SequenceDef } | null = null;

  /** The table whose key was assigned last, and those that have its rows. */
  private following: { readonly table: TableDef; readonly tables: readonly TableDef[] } | null = null;

  constructor(
    private readonly memory: SessionMemory,
    private readonly ownCursors: SessionCursors,
    private readonly tx: Transaction,
    private readonly tenantName: string,
    /** The graph that a statement of Cypher is about. */
    private readonly graph: GraphTables | null,
    /** Who wants to hear how far long computations are; null: nobody. */
    private readonly hearer: ProgressHearer | null,
    /** On whose behalf the statement runs. */
    private readonly client: Client,
    /** The statement's user may change what models the installation has. */
    private readonly managesModels: boolean,
    /** The statement has a transaction of its own. */
    private readonly isAlone: boolean,
  ) {}

  progress(phase: ProgressPhase, done: number): void {
    this.hearer?.(phase, done);
  }

  graphNode(id: number): GraphNode {
    return readGraphNode(this.tx, this.memory.tenant.number, this.graph!, id);
  }

  runSubquery(expr: SubqueryExpr, context: EvalContext): Value {
    return runSubquery(expr, context as ExecContext);
  }

  callRoutine(routine: RoutineCall, args: readonly Value[], context: EvalContext, canWait: boolean) {
    return this.memory.routines().call(routine, args, context as ExecContext, canWait);
  }

  routineRows(routine: RoutineCall, args: readonly Value[], shape: SqlType, context: EvalContext) {
    return this.memory.routines().rows(routine, args, shape, context as ExecContext);
  }

  fireTrigger(firing: TriggerFiring, context: ExecContext) {
    return this.memory.routines().fire(firing, context);
  }

  triggerDepth(): number {
    return this.memory.routines().triggerDepth;
  }

  embed(text: string, model: string | null): Float32Array {
    const { models } = this.memory.tenant.partition;
    const vector = models.embedNow(text, model, this.tenantName);
    if (vector !== null) return vector;
    const kept = this.keptVectors?.get(`${model ?? ""}\0${text}`);
    if (kept !== undefined) return kept;
    throw sqlError("0A000", `EMBED cannot wait for the model "${models.describe(model).id}" here`, {
      hint: "In defaults, checks, generated columns and indexes only models of the architecture static can be used.",
    });
  }

  async embedLater(
    texts: readonly string[],
    model: string | null,
    context: DeferredContext,
  ): Promise<readonly Float32Array[]> {
    const { models } = this.memory.tenant.partition;
    if (!models.answersAtOnce(model)) {
      const later = await traced(this.client.trace, "inference", { "gen_ai.request.texts": texts.length }, () =>
        models.embedSome(texts, model, this.tenantName, context.signal),
      );
      if (context.keeps) this.keepVectors(texts, model, later, context);
      return later;
    }
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      vectors.push(models.embedNow(text, model, this.tenantName)!);
      if (context.shouldYield()) await context.yieldTurn();
    }
    return vectors;
  }

  /** They count as the statement's memory, until it ends. */
  private keepVectors(
    texts: readonly string[],
    model: string | null,
    vectors: readonly Float32Array[],
    context: DeferredContext,
  ): void {
    this.keptVectors ??= new Map();
    for (const [i, text] of texts.entries()) {
      const vector = vectors[i]!;
      const { statement } = context as DeferredContext & ExecContext;
      statement.reserve(2 * text.length + vector.byteLength);
      this.keptVectors.set(`${model ?? ""}\0${text}`, vector);
    }
  }

  async runStatement(
    sql: string,
    params: readonly unknown[],
    maxRows: number,
    context: EvalContext,
  ): Promise<InnerResult> {
    const statements = parseSql(sql);
    if (statements.length !== 1) throw sqlError("42601", "one statement is run at a time");
    const valuesFor = (plan: RoutinePlan) => convertParameters(plan as StatementPlan, params);
    return this.memory.routines().statement(statements[0]!.node, valuesFor, maxRows, context as ExecContext);
  }

  languageHelpers(context: DeferredContext): LanguageHelpers {
    const { tasks } = this.memory.tenant.partition;
    const embed = async (texts: readonly string[]) => {
      const vectors: Float32Array[] = [];
      while (vectors.length < texts.length) {
        const some = texts.slice(vectors.length, vectors.length + RUN_ITEMS_MAX);
        vectors.push(...(await this.embedLater(some, null, context)));
      }
      return vectors;
    };
    return new LanguageHelpers(tasks, embed, context);
  }

  generateTexts(calls: readonly GenerateCall[], { signal }: DeferredContext): Promise<readonly string[]> {
    return generateTexts(this.memory.tenant, this.tenantName, calls, signal);
  }

  checkGeneration(fn: "GENERATE" | "AGENT_RUN", given: Json): void {
    const { tenant } = this.memory;
    const schema = fn === "GENERATE" ? GENERATE_OPTIONS : AGENT_OPTIONS;
    const { model } = readCallOptions(fn === "GENERATE" ? fn : "AGENT_RUN error", schema, given);
    if (fn === "GENERATE" && model !== undefined) writerOf(tenant, this.tenantName, model);
  }

  runAgent(persona: string, task: string, given: Json | null, { signal }: DeferredContext): Promise<string> {
    const { tenant } = this.memory;
    const options = readCallOptions("AGENT_RUN error", AGENT_OPTIONS, given);
    const provider = tenant.partition.providers.forTenant(tenant);
    return runAgent(provider, this.client.agentTools?.() ?? null, persona, task, options, signal);
  }

  changeFolders(change: FolderChange, context: DeferredContext): Promise<string> {
    const tools = this.client.folderTools?.() ?? null;
    if (tools === null)
      throw new DbError("forbidden", "Filesystem collections are not made or dropped by agents and recipes.");
    return tools.change(change, context);
  }

  embeddingModel(name: string | null) {
    return this.memory.tenant.partition.models.describe(name);
  }

  checkModel(model: string, use: "embedding" | "claims"): void {
    const { models, claims } = this.memory.tenant.partition;
    if (use === "embedding") models.describe(model);
    else checkClaimModel(claims, model);
  }

  classifyClaims(rows: readonly (readonly unknown[])[], { signal }: DeferredContext) {
    return classifyClaims(this.memory.tenant.partition.claims, rows, { tenant: this.tenantName, signal });
  }

  verifyClaims(rows: readonly (readonly unknown[])[], { signal }: DeferredContext) {
    return verifyClaims(this.memory.tenant.partition.claims, rows, { tenant: this.tenantName, signal });
  }

  async pullModel(model: string, { signal }: DeferredContext): Promise<Value> {
    const { name, bytesTotal, source, restartRequired } = await this.library().pull(model, { signal });
    return new Json({ model: name, size_bytes: bytesTotal, source, restart_required: restartRequired });
  }

  async deleteModel(model: string): Promise<Value> {
    await this.library().delete(model);
    return true;
  }

  private library(): LibraryClient {
    requireLibraryAdmin(this.managesModels);
    const { library } = this.memory.tenant.partition.models;
    if (library === null) throw new DbError("not_supported", "Models cannot be pulled or deleted here.");
    return library;
  }

  models(): readonly (readonly Value[])[] {
    return this.memory.tenant.partition.models.list().map(modelRow);
  }

  trainedModels(): Promise<readonly (readonly Value[])[]> {
    return trainedModelRows(this.caller());
  }

  caller(): object | null {
    return this.client.asRequest?.() ?? null;
  }

  /** Not in a client's transaction, whose later statements may want what it has seen. */
  renewSnapshot(): void {
    if (this.isAlone && this.tx instanceof ShardTransaction && this.tx.isOpen) this.tx.refresh();
  }

  runAlgorithm(job: AlgorithmJob): Promise<AlgorithmResult> {
    const { tasks } = this.memory.tenant.partition;
    return tasks === null ? Promise.resolve(runAlgorithm(job)) : tasks.runAlgorithm(job);
  }

  async computeElsewhere(
    expr: SentExpr,
    values: readonly Value[],
    context: DeferredContext,
  ): Promise<Value | undefined> {
    const { tasks } = this.memory.tenant.partition;
    const job = tasks === null ? undefined : await jobFor(expr, values, context);
    if (job === undefined) return undefined;
    return valueOfComputed(job, await tasks!.compute(job, context.signal), context);
  }

  catalogView(): CatalogView {
    return this.memory.tenant.catalog.view(this.tx);
  }

  searchPath(): readonly string[] {
    return this.memory.searchPath(this.catalogView());
  }

  cursors(): readonly CursorFacts[] {
    return this.ownCursors.all();
  }

  setting(name: string): string | null {
    return this.memory.settings.find(name);
  }

  settings(): readonly (readonly [name: string, value: string])[] {
    return this.memory.settings.all();
  }

  setSetting(name: string, value: string | null, local: boolean): string {
    return this.memory.settings.setText(name, value, local);
  }

  nextSequenceValue(name: string): SequenceNumber {
    const { memory } = this;
    const { tenant } = memory;
    const sequence = this.sequence(name);
    this.requireWritable(sequence, "nextval()");
    const value = this.nextOf(sequence);
    // The value is not told before the block that it comes from is on disk.
    tenant.sawEverything();
    memory.sequenceValues ??= new Map();
    memory.sequenceValues.set(sequence.id, value);
    memory.lastSequence = sequence.id;
    return value;
  }

  private nextOf(sequence: SequenceDef): SequenceNumber {
    const { tenant } = this.memory;
    const { sequences } = tenant.partition;
    const value = sequences.next(tenant.number, sequence);
    const table = sequence.follows === true ? this.catalogView().tableById(sequence.ownedBy!.tableId) : null;
    if (table === null) return value;
    if (this.following?.table !== table) {
      const tables = table.partitionKey === undefined ? [table] : descendantsOf(table, this.catalogView());
      this.following = { table, tables };
    }
    const taken = greatestTaken(sequence, value, table, this.following.tables, this.tx, tenant.number);
    if (taken === null) return value;
    sequences.set(tenant.number, sequence, { last: taken, called: true });
    return sequences.next(tenant.number, sequence);
  }

  currentSequenceValue(name: string): SequenceNumber {
    const sequence = this.sequence(name);
    const value = this.memory.sequenceValues?.get(sequence.id);
    if (value !== undefined) return value;
    throw sqlError("55000", `currval of sequence "${sequence.name}" is not yet defined in this session`);
  }

  lastSequenceValue(): SequenceNumber {
    const { sequenceValues, lastSequence } = this.memory;
    const value = lastSequence === null ? undefined : sequenceValues?.get(lastSequence);
    if (
      value !== undefined &&
      this.catalogView()
        .sequences()
        .some(({ id }) => id === lastSequence)
    )
      return value;
    throw sqlError("55000", "lastval is not yet defined in this session");
  }

  setSequenceValue(name: string, value: SequenceNumber, called: boolean): SequenceNumber {
    const { memory } = this;
    const { tenant } = memory;
    const sequence = this.sequence(name);
    this.requireWritable(sequence, "setval()");
    tenant.partition.sequences.set(tenant.number, sequence, { last: value, called });
    tenant.sawEverything();
    if (called) {
      memory.sequenceValues ??= new Map();
      memory.sequenceValues.set(sequence.id, value);
    }
    return value;
  }

  sequencePosition(sequence: SequenceDef): { readonly last: SequenceNumber; readonly called: boolean } {
    const { tenant } = this.memory;
    return tenant.partition.sequences.position(tenant.number, sequence);
  }

  searchIndexLife(index: SearchIndexDef): IndexLife {
    const { partition, number } = this.memory.tenant;
    return indexLife(partition.derived, number, index);
  }

  nextRowId(table: TableDef): number {
    const { tenant } = this.memory;
    if (this.counted?.table !== table) this.counted = { table, by: this.catalogView().sequencesOf(table)[0]! };
    const id = tenant.partition.sequences.next(tenant.number, this.counted.by);
    tenant.sawEverything();
    return Number(id);
  }

  private requireWritable(sequence: SequenceDef, what: string): void {
    if (isGraphSchema(sequence.schema)) throw changedByCypher(sequence.schema, 0);
    if (!this.memory.settings.modes.readOnly || isTemporarySchema(sequence.schema)) return;
    throw sqlError("25006", `cannot execute ${what} in a read-only transaction`);
  }

  /** By name, looked up in the search path when it has no schema, or by OID in digits. Throws 42P01, 42809. */
  private sequence(text: string): SequenceDef {
    const catalog = this.catalogView();
    if (/^\d+$/.test(text)) {
      const id = idOfOid(Number(text))?.id;
      const found = catalog.sequences().find((sequence) => sequence.id === id);
      if (found === undefined) throw sqlError("42P01", `could not open relation with OID ${text}`);
      return found;
    }
    const { schema, name } = parseRelationName(text);
    const schemas = schema === null ? this.memory.searchPath(catalog) : [schema];
    for (const each of schemas) {
      const found = catalog.sequence(each, name);
      if (found !== null) return found;
      if (catalog.table(each, name) !== null || catalog.index(each, name) !== null) {
        throw sqlError("42809", `"${name}" is not a sequence`);
      }
    }
    throw sqlError("42P01", `relation "${text}" does not exist`);
  }
}

/** As LIST_MODELS() shows it (query/expr/functions/models.ts). */
function modelRow(model: ModelFacts): readonly Value[] {
  const { name, runtime, bytes, digest, lastUsedMs, alias, kind, dimensions, tokensMax } = model;
  const used = lastUsedMs === null ? null : lastUsedMs * 1000;
  const { revision, licence, state, problem, pulled, restartRequired } = model;
  return [
    name,
    runtime,
    bytes,
    digest,
    pulled === null ? null : pulled.atMs * 1000,
    used,
    alias,
    kind,
    dimensions,
    tokensMax,
    revision,
    licence,
    state,
    problem,
    pulled?.tag ?? null,
    pulled?.source ?? null,
    restartRequired,
  ];
}
