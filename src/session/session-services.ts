/**
 * The services that a statement's expressions use: settings, definitions, functions in SQL. One is made per
 * statement; what the session remembers between statements is in SessionMemory.
 */

import type { CatalogView } from "../catalog/catalog-view.js";
import type { GraphTables } from "../catalog/graph.js";
import type { IndexBuild } from "../catalog/index-build.js";
import type { Rights } from "../catalog/rights.js";
import type { SequenceDef, SequenceNumber } from "../catalog/sequence.js";
import type { TableStatistics } from "../catalog/statistics.js";
import type { SearchIndexDef, TableDef } from "../catalog/table.js";
import type { AlgorithmResult } from "../graph/algorithms/algorithm.js";
import { type AlgorithmJob, runAlgorithm } from "../graph/algorithms/run-algorithm.js";
import { databaseOfBranch } from "../protocol/database-name.js";
import { sqlError } from "../protocol/errors.js";
import type { ExecContext, ExecServices, ProgressHearer, ProgressPhase } from "../query/exec/context.js";
import { readGraphNode } from "../query/exec/graph-node.js";
import type { IndexThreads } from "../query/exec/index-threads.js";
import { runSubquery } from "../query/exec/subquery.js";
import type { ReadThreads } from "../query/exec/threads/read-threads.js";
import type { TriggerFiring } from "../query/exec/trigger-firing.js";
import type { Capability } from "../query/expr/capability.js";
import { jobFor, valueOfComputed } from "../query/expr/compute-elsewhere.js";
import type { DeferredContext, EvalContext, InnerResult, RoutineCall, SubqueryExpr } from "../query/expr/expr.js";
import { RANDOM, type SessionRandom } from "../query/expr/functions/seeded-random.js";
import type { SentExpr } from "../query/expr/sent-form.js";
import type { AuditedTables } from "../query/plan/audited-tables.js";
import { CURRENT_ROWS, type CurrentRows } from "../sql/bind/current-of.js";
import { SEQUENCES, type SequenceValues } from "../sql/bind/sequence-functions.js";
import {
  type Database,
  type LiveLock,
  type LiveSession,
  type PreparedStatementFacts,
  SYSTEM,
  type SystemView,
  TENANT_DATABASE_OID,
} from "../sql/bind/system/system-view.js";
import type { RoutinePlan } from "../sql/routine/host.js";
import type { Transaction } from "../storage/store.js";
import { ShardTransaction } from "../storage/transaction.js";
import type { SqlType, Value } from "../values/values.js";
import type { GraphNode } from "../values/variant.js";
import { type AskingStatement, Capabilities, provideCapability } from "./capabilities.js";
import { auditedCaller, noteAccess, noteAuditChange } from "./data-audit.js";
import { convertParameters } from "./run-program.js";
import { type IndexLife, indexLife } from "./search-index-care.js";
import { type SessionCursors, UNNAMED_PORTAL } from "./session-cursors.js";
import type { SessionMemory } from "./session-memory.js";
import type { StatementPlan } from "./statement-plan.js";
import type { Client } from "./statement-run.js";
import { StatementSequences } from "./statement-sequences.js";
import type { Tenant } from "./tenant.js";

export class SessionServices implements ExecServices, AskingStatement {
  private capabilities: Capabilities | null = null;
  /** Of functions that have no more rights than a member, in statements of administrators. */
  private ofMember: Capabilities | null = null;
  /** What was noted of the statement already; null: nothing. */
  private noted: Set<AuditedTables> | null = null;
  /** The table that an id was last wanted for, and the sequence that counts its rows. */
  private counted: { readonly table: TableDef; readonly by: SequenceDef } | null = null;

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
    own?: true,
  ): Promise<InnerResult> {
    const valuesFor = (plan: RoutinePlan) => convertParameters(plan as StatementPlan, params);
    const how = { maxRows, ...(own && { own }) };
    return this.memory.routines().statement(sql, valuesFor, how, context as ExecContext);
  }

  capability<T>(capability: Capability<T>): T | null {
    if (capability.reachesTables && this.memory.hidesTables(this.tx)) {
      throw sqlError("42501", "permission denied for this function: it cannot leave out what you may not see", {
        hint: "Administrators, and roles that may see all tables, can call it.",
      });
    }
    const lent = capability.reachesTables ? this.memory.lends(this.tx) : null;
    if (lent !== null) return this.forOthers(lent).get(capability);
    this.capabilities ??= new Capabilities(this);
    return this.capabilities.get(capability);
  }

  /**
   * What reaches tables asks by the request, whose caller administers the tenant. A function that others have made has
   * fewer rights. Throws 42501 where the request cannot have so few.
   */
  private forOthers(lent: "a member's" | "nobody's"): Capabilities {
    const client = lent === "a member's" ? (this.client.origin ?? this.client).asMember?.() : undefined;
    if (client === undefined) {
      throw sqlError("42501", "permission denied for this function: it has more rights than what calls it", {
        hint: "Call it in a statement of its own.",
      });
    }
    this.ofMember ??= new Capabilities(Object.create(this, { client: { value: client } }) as SessionServices);
    return this.ofMember;
  }

  get transaction(): object {
    return this.tx;
  }

  whenTransactionEnds(call: (hasCommitted: boolean) => void): void {
    if (!(this.tx instanceof ShardTransaction)) throw new Error("the transaction does not tell of its end");
    this.tx.whenEnded(call);
  }

  undoes(undo: () => void): void {
    if (this.tx instanceof ShardTransaction) this.tx.undoes(undo);
  }

  get tenant(): Tenant {
    return this.memory.tenant;
  }

  /** Not in a client's transaction, whose later statements may want what it has seen. */
  renewSnapshot(): void {
    if (this.isAlone && this.tx instanceof ShardTransaction && this.tx.isOpen) this.tx.refresh();
  }

  get indexThreads(): IndexThreads | null {
    return this.memory.tenant.partition.tasks?.indexThreads ?? null;
  }

  get readThreads(): ReadThreads | null {
    return this.memory.tenant.partition.tasks?.readThreads ?? null;
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

  currentRights(): Rights {
    return this.memory.rights(this.catalogView());
  }

  isClients(): boolean {
    return this.memory.isClients;
  }

  searchPath(): readonly string[] {
    return this.memory.searchPath(this.catalogView());
  }

  namesSystemSchema(): boolean {
    return this.memory.settings.searchPath.includes("pg_catalog");
  }

  estimatedRows(table: TableDef): number {
    const { memory, tx } = this;
    const rights = memory.rights(this.catalogView());
    if (rights.isClosed(table.id) || rights.hidesMemories(table.id)) return 0;
    if (memory.hidesRows(tx) && !rights.mayAll(table.id, ["r"])) return 0;
    return memory.tenant.statistics.source(tx).of(table)?.rows ?? 0;
  }

  foundByAnalyze(table: TableDef): TableStatistics | null {
    const { memory, tx } = this;
    const rights = memory.rights(this.catalogView());
    if (rights.isClosed(table.id) || !rights.mayAll(table.id, ["r"])) return null;
    return memory.tenant.statistics.analyzed(table, tx);
  }

  noteAccess(tables: AuditedTables, { live, tx, params, sessionUser }: ExecContext): void {
    this.noted ??= new Set();
    // A function may run the same statement for each row.
    if (this.noted.has(tables)) return;
    this.noted.add(tables);
    noteAccess(tables, auditedCaller(this, sessionUser ?? ""), live ?? tx, params);
  }

  noteAuditChange(table: TableDef, { tx, sessionUser }: ExecContext): void {
    noteAuditChange(table, auditedCaller(this, sessionUser ?? ""), tx);
  }

  showBuild(build: IndexBuild): () => void {
    const { indexBuilds } = this.memory.tenant;
    indexBuilds.add(build);
    return () => indexBuilds.delete(build);
  }

  indexBuilds(): Iterable<IndexBuild> {
    return this.memory.tenant.indexBuilds;
  }

  databases(): readonly Database[] {
    const { number, partition } = this.memory.tenant;
    const { layers } = partition.shard;
    const branches = layers?.branchesUnder(layers.branchOf(number)?.root ?? number) ?? [];
    const named = branches.map(([oid, { name }]) => ({
      ...{ oid, name: databaseOfBranch(name, this.tenantName), bytes: layers!.bytesOf(oid) },
    }));
    return [{ oid: TENANT_DATABASE_OID, name: this.tenantName, bytes: null }, ...named];
  }

  liveSessions(): Iterable<LiveSession> {
    return this.memory.tenant.liveSessions;
  }

  transactionCounts(): SystemView["transactionCounts"] {
    const { memory, tx } = this;
    return memory.hidesRows(tx) ? null : memory.tenant.transactions;
  }

  cursors(): SystemView["cursors"] {
    return this.ownCursors.all().filter(({ options }) => !options.name.startsWith(UNNAMED_PORTAL));
  }

  preparedStatements(): Iterable<PreparedStatementFacts> {
    return this.memory.preparedStatements?.all() ?? [];
  }

  locks(): Iterable<LiveLock> {
    return this.memory.tenant.liveLocks?.(this.memory.settings) ?? [];
  }

  setting(name: string): string | null {
    return this.memory.settings.find(name);
  }

  givenSetting(name: string): string | null {
    return this.memory.settings.given(name);
  }

  settings(): readonly (readonly [name: string, value: string])[] {
    return this.memory.settings.all();
  }

  sequenceValues(): SequenceValues {
    return new StatementSequences(this.memory, this.tx);
  }

  get random(): SessionRandom {
    return this.memory.random;
  }

  currentRows(): CurrentRows {
    return {
      partOf: (cursor, table, tableId, part) => this.ownCursors.find(cursor).currentPart(table, tableId, part),
    };
  }

  setSetting(name: string, value: string | null, local: boolean): string {
    if (value !== null) this.memory.checkSetting(name, value, () => this.catalogView());
    return this.memory.settings.setText(name, value, local);
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
}

provideCapability(SYSTEM, (statement) => statement);
provideCapability(SEQUENCES, (statement) => statement.sequenceValues());
provideCapability(RANDOM, ({ random }) => random);
provideCapability(CURRENT_ROWS, (statement) => statement.currentRows());
