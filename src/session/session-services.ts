/**
 * The services that a statement's expressions use: values of sequences, settings, definitions. One is made per
 * statement; what the session remembers between statements is in SessionMemory.
 */

import type { CatalogView } from "../catalog/catalog-view.js";
import { changedByCypher, type GraphTables, isGraphSchema } from "../catalog/graph.js";
import { descendantsOf } from "../catalog/inheritance.js";
import { parseRelationName } from "../catalog/relation-names.js";
import { isTemporarySchema } from "../catalog/schema.js";
import type { SequenceDef, SequenceNumber } from "../catalog/sequence.js";
import type { SearchIndexDef, TableDef } from "../catalog/table.js";
import type { AlgorithmResult } from "../graph/algorithms/algorithm.js";
import { type AlgorithmJob, runAlgorithm } from "../graph/algorithms/run-algorithm.js";
import { sqlError } from "../protocol/errors.js";
import type { CursorFacts, ExecContext, ExecServices, ProgressHearer, ProgressPhase } from "../query/exec/context.js";
import { greatestTaken } from "../query/exec/free-value.js";
import { readGraphNode } from "../query/exec/graph-node.js";
import { runSubquery } from "../query/exec/subquery.js";
import type { TriggerFiring } from "../query/exec/trigger-firing.js";
import type { Capability } from "../query/expr/capability.js";
import { jobFor, valueOfComputed } from "../query/expr/compute-elsewhere.js";
import type { DeferredContext, EvalContext, InnerResult, RoutineCall, SubqueryExpr } from "../query/expr/expr.js";
import type { SentExpr } from "../query/expr/sent-form.js";
import { idOfOid } from "../query/expr/types.js";
import { parseSql } from "../sql/parse/parse.js";
import type { RoutinePlan } from "../sql/routine/host.js";
import type { RoutineRunner } from "../sql/routine/routine-runner.js";
import type { Transaction } from "../storage/store.js";
import { ShardTransaction } from "../storage/transaction.js";
import type { SqlType, Value } from "../values/values.js";
import type { GraphNode } from "../values/variant.js";
import { type AskingStatement, Capabilities } from "./capabilities.js";
import { convertParameters } from "./run-program.js";
import { type IndexLife, indexLife } from "./search-index-care.js";
import type { SessionCursors } from "./session-cursors.js";
import type { Settings } from "./settings.js";
import type { StatementPlan } from "./statement-plan.js";
import type { Client } from "./statement-run.js";
import type { Tenant } from "./tenant.js";

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

export class SessionServices implements ExecServices, AskingStatement {
  private capabilities: Capabilities | null = null;
  /** The table that an id was last wanted for, and the sequence that counts its rows. */
  private counted: { readonly table: TableDef; readonly by: SequenceDef } | null = null;

  /** The table whose key was assigned last, and those that have its rows. */
  private following: { readonly table: TableDef; readonly tables: readonly TableDef[] } | null = null;

  constructor(
    private readonly memory: SessionMemory,
    private readonly ownCursors: SessionCursors,
    private readonly tx: Transaction,
    readonly tenantName: string,
    /** The graph that a statement of Cypher is about. */
    private readonly graph: GraphTables | null,
    /** The receiver of progress of long computations; null: none. */
    private readonly hearer: ProgressHearer | null,
    /** On whose behalf the statement runs. */
    readonly client: Client,
    /** The statement's user may change what models the installation has. */
    readonly managesModels: boolean,
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

  capability<T>(capability: Capability<T>): T | null {
    this.capabilities ??= new Capabilities(this);
    return this.capabilities.get(capability);
  }

  get tenant(): Tenant {
    return this.memory.tenant;
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
