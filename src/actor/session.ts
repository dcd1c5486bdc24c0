/**
 * Runs statements for one client: alone (each in its own transaction), in a batch, or in an interactive transaction.
 * The life of a statement: plan-cache.ts or statement-plan.ts gives a compiled program; the session opens a
 * transaction or uses the client's; the program's operators pull batches; the result is built; the caller commits.
 */
import type { CatalogView } from "../catalog/catalog-view.js";
import { DbError, sqlError } from "../protocol/errors.js";
import type { Value } from "../protocol/values.js";
import { analyzeTable } from "../query/exec/analyze-table.js";
import { compilePlan } from "../query/exec/compile-plan.js";
import type { BindTable, ExecContext } from "../query/exec/context.js";
import { createContext } from "../query/exec/create-context.js";
import { Measurements } from "../query/exec/measure-operators.js";
import { after } from "../query/exec/operator.js";
import { VERIFY_COLUMNS, verifyTable } from "../query/exec/verify-table.js";
import type { Plan } from "../query/plan/plan.js";
import { bindArguments } from "../sql/bind/bind-arguments.js";
import { bindTable } from "../sql/bind/bind-table.js";
import type {
  BoundAnalyze,
  BoundDdlSteps,
  BoundDiscard,
  BoundExecute,
  BoundExplain,
  BoundSetConstraints,
  BoundTransaction,
  BoundVerify,
  TransactionOptions,
} from "../sql/bind/bound-statement.js";
import type { IsolationLevel } from "../sql/parse/ast.js";
import type { Transaction } from "../storage/store.js";
import type { ShardTransaction } from "../storage/transaction.js";
import { explainLines } from "./explain-statement.js";
import { InternalStatements } from "./internal-statements.js";
import { runDdl } from "./run-ddl.js";
import { collect, convertParameters } from "./run-program.js";
import { SessionNames } from "./session-names.js";
import { SessionServices } from "./session-services.js";
import { type PlanNode, SessionStatements } from "./session-statements.js";
import type { Settings } from "./settings.js";
import {
  countOutcome,
  type Outcome,
  type RowCollector,
  type Rows,
  rowsOutcome,
  shapeOf,
  textOutcome,
} from "./sql-result.js";
import { planNode, planStatement, type StatementPlan } from "./statement-plan.js";
import { applyOnCommit, dropTemporaries, endTemporaries, isTemporary, openTemporaries } from "./temporary-relations.js";
import type { Tenant } from "./tenant.js";
import { TransactionConstraints, type Waiting } from "./transaction-constraints.js";

export interface SessionOptions {
  /** null: serializable. */
  readonly isolation: IsolationLevel | null;
  /** The credential or the transaction may not write. */
  readonly readOnly: boolean;
  readonly user: string;
  readonly tenantName: string;
  /** Who begins and commits: the session's own statements (a batch), or the routes under /v1/transactions. */
  readonly control: "statements" | "routes";
}

export type Commit = (tx: ShardTransaction, outcome: Outcome) => void;

/** On whose behalf a statement runs: a Request. */
export interface Client {
  checkpoint(): void;
  shouldYield(): boolean;
  yieldTurn(): Promise<void>;
}

export interface StatementRun {
  readonly sql: string;
  readonly params: readonly unknown[];
  readonly maxRows: number;
  /** The form in which rows are wanted. */
  readonly collector: RowCollector;
  readonly request: Client;
}

const VERIFY_SHAPE = shapeOf(VERIFY_COLUMNS);

/** Takes rows that nobody wants to see. */
const NO_ROWS: Rows = { append: () => 0 };

/** How often an autocommit statement that lost against a concurrent change is run again before the client hears of it. */
const RETRIES_MAX = 3;

export class Session {
  private transaction: ShardTransaction | null = null;
  private transactionReadOnly = false;
  private transactionMicros = 0;
  /** The error that a statement of the open transaction ended in; only a rollback is accepted after it. */
  private failure: string | null = null;
  private savepoints: {
    readonly name: string;
    readonly handle: number;
    readonly waiting: Waiting;
  }[] = [];
  private isolationLevel: IsolationLevel;
  /** Made when a statement first needs them. */
  private madeConstraints: TransactionConstraints | null = null;
  private internal: InternalStatements | null = null;
  private readonly bindTable: BindTable;
  private readonly names: SessionNames;
  private readonly statements = new SessionStatements();

  constructor(
    private readonly tenant: Tenant,
    private readonly options: SessionOptions,
  ) {
    this.isolationLevel = options.isolation ?? "serializable";
    this.names = new SessionNames(tenant, options.user);
    this.bindTable = (table, tx) => {
      const catalog = tenant.catalog.view(tx);
      return bindTable(table, catalog, this.names.searchPath(catalog));
    };
  }

  get settings(): Settings {
    return this.names.settings;
  }

  get inTransaction(): boolean {
    return this.transaction !== null;
  }

  get isolation(): IsolationLevel {
    return this.isolationLevel;
  }

  get readOnly(): boolean {
    return this.options.readOnly || this.transactionReadOnly;
  }

  get status(): "active" | "failed" {
    return this.failure === null ? "active" : "failed";
  }

  get savepointNames(): readonly string[] {
    return this.savepoints.map(({ name }) => name);
  }

  begin(options: TransactionOptions): void {
    this.isolationLevel = options.isolation ?? this.options.isolation ?? "serializable";
    this.transactionReadOnly = options.readOnly ?? false;
    this.transactionMicros = nowMicros();
    this.transaction = this.tenant.partition.shard.begin({ readOnly: this.readOnly, isolation: this.isolationLevel });
    this.savepoints = [];
    this.failure = null;
    this.madeConstraints?.reset();
    this.settings.mark();
  }

  /** Commits through `commit`, which gets the transaction; a failed transaction is rolled back and refused. */
  commit(commit: (tx: ShardTransaction) => void): void {
    const tx = this.open();
    const { failure } = this;
    this.close();
    this.settings.settle(failure !== null);
    if (failure !== null) {
      this.tenant.rollback(tx);
      throw new DbError(
        "transaction_aborted",
        `The transaction was rolled back: a statement in it had failed (${failure}).`,
        { sqlstate: "25P02" },
      );
    }
    this.checkDeferred(tx);
    this.beforeCommit(tx);
    commit(tx);
  }

  /** The checks that waited for the end of the transaction. What fails one takes the transaction back. */
  private checkDeferred(tx: ShardTransaction): void {
    if (this.madeConstraints === null) return;
    try {
      // The end of a transaction does not give way.
      this.madeConstraints.endTransaction(this.contextFor(tx, COMMITTING, []));
    } catch (error) {
      this.tenant.rollback(tx);
      throw error;
    }
  }

  rollback(): void {
    const tx = this.open();
    this.close();
    this.settings.settle(true);
    this.tenant.rollback(tx);
  }

  /** ON COMMIT of temporary tables. */
  private beforeCommit(tx: ShardTransaction): void {
    if (this.names.hasTemporaries) applyOnCommit(this.names, tx);
  }

  /** Ends the transaction from outside: deadline, shutdown. A statement that runs in it ends at its next checkpoint. */
  abandon(reason: string): void {
    this.transaction?.abort(new DbError("transaction_aborted", `The transaction was ended: ${reason}.`));
    this.close();
  }

  savepoint(name: string): void {
    this.requireHealthy();
    this.savepoints.push({ name, handle: this.open().savepoint(), waiting: this.madeConstraints?.waiting ?? [] });
  }

  /** Also makes a failed transaction usable again. */
  rollbackTo(name: string): void {
    const index = this.findSavepoint(name);
    this.open().rollbackTo(this.savepoints[index]!.handle);
    if (this.madeConstraints !== null) this.madeConstraints.waiting = this.savepoints[index]!.waiting;
    this.savepoints.length = index + 1;
    this.failure = null;
  }

  release(name: string): void {
    this.requireHealthy();
    const index = this.findSavepoint(name);
    this.open().release(this.savepoints[index]!.handle);
    this.savepoints.length = index;
  }

  /**
   * Runs one statement. Outside a transaction it gets one of its own, and `commit` is called with it and the outcome
   * before this answers; inside one, `commit` is called only by COMMIT. A failed statement leaves no trace.
   */
  execute(run: StatementRun, commit: Commit): Outcome | Promise<Outcome> {
    return this.transaction === null ? this.executeAlone(run, commit, 1) : this.executeInside(run, commit);
  }

  private executeAlone(run: StatementRun, commit: Commit, attempt: number): Outcome | Promise<Outcome> {
    const { catalog, plans, partition } = this.tenant;
    // The usual case: the plan is known before there is a transaction, so a query's transaction need track no reads.
    const version = catalog.newestVersion();
    const cached = version === null ? null : plans.find(this.names.planKey(run.sql), version, run.params);
    const readOnly = this.readOnly || (cached !== null && cached.bound.kind === "query" && cached.bound.readOnly);
    const tx = partition.shard.begin({ readOnly, isolation: this.isolationLevel });
    const failed = (error: unknown): Outcome | Promise<Outcome> => {
      this.tenant.rollback(tx);
      if (error instanceof DbError && error.code === "serialization_failure" && attempt < RETRIES_MAX) {
        return this.executeAlone(run, commit, attempt + 1);
      }
      throw error;
    };
    try {
      this.transactionMicros = nowMicros();
      const plan = cached ?? this.planFor(run, catalog.view(tx), tx);
      if (plan.bound.kind === "transaction") {
        this.tenant.rollback(tx);
        return this.control(plan.bound, run, commit);
      }
      const outcome = this.runStatement(plan, run, tx);
      if (outcome instanceof Promise) {
        const committed = outcome.then((done) => {
          if (!readOnly && catalog.changedSince(tx.snapshot)) {
            throw sqlError("40001", "could not serialize access: definitions were changed meanwhile");
          }
          this.beforeCommit(tx);
          commit(tx, done);
          return done;
        });
        return committed.catch(failed);
      }
      this.beforeCommit(tx);
      commit(tx, outcome);
      return outcome;
    } catch (error) {
      return failed(error);
    }
  }

  private executeInside(run: StatementRun, commit: Commit): Outcome | Promise<Outcome> {
    const tx = this.open();
    let before: number | null = null;
    const failed = (error: unknown): never => {
      if (this.transaction === tx) {
        if (before !== null) tx.rollbackTo(before);
        this.failure ??= (error as Error).message;
      }
      throw error;
    };
    const finished = (outcome: Outcome): Outcome => {
      if (this.transaction === tx) tx.release(before!);
      return outcome;
    };
    try {
      // Below repeatable read each statement has a snapshot of its own.
      if (this.isolationLevel.startsWith("read ")) tx.refresh();
      const plan = this.planFor(run, this.tenant.catalog.view(tx), tx);
      if (plan.bound.kind === "transaction") return this.control(plan.bound, run, commit);
      this.requireHealthy();
      before = tx.savepoint();
      const outcome = this.runStatement(plan, run, tx);
      return outcome instanceof Promise ? outcome.then(finished).catch(failed) : finished(outcome);
    } catch (error) {
      return failed(error);
    }
  }

  private runStatement(plan: StatementPlan, run: StatementRun, tx: ShardTransaction): Outcome | Promise<Outcome> {
    const { bound } = plan;
    switch (bound.kind) {
      case "query":
        this.requireWritable(bound.readOnly, bound.command);
        return this.runProgram(plan, run, tx);
      case "explain":
        return this.explain(plan, bound, run, tx);
      case "analyze":
        return this.analyze(bound, run, tx);
      case "ddl":
        return this.runDdl({ tag: null, steps: [() => bound], notices: [] }, run, tx);
      case "ddl steps":
        return this.runDdl(bound, run, tx);
      case "verify":
        return this.verify(bound, run, tx);
      case "set constraints":
        return this.setConstraints(bound, run, tx);
      case "set":
        this.settings.set(bound);
        return textOutcome("result", ["SET"], run.collector);
      case "show":
        return textOutcome(bound.name, [this.settings.show(bound.name)], run.collector);
      case "prepare":
        this.statements.prepare(bound, this.nodePlanner(tx));
        return textOutcome("result", ["PREPARE"], run.collector);
      case "execute":
        return this.executePrepared(bound, run, tx);
      case "deallocate":
        this.statements.deallocate(bound.name);
        return textOutcome("result", [bound.name === null ? "DEALLOCATE ALL" : "DEALLOCATE"], run.collector);
      case "discard":
        return this.discard(bound.what, run, tx);
      default:
        throw new Error(`${bound.kind} is not run here`);
    }
  }

  /** Plans the statement, or takes the plan of an earlier run. Used by `prepare` too. */
  planFor(run: Pick<StatementRun, "sql" | "params">, catalog: CatalogView, tx: Transaction): StatementPlan {
    const key = this.names.planKey(run.sql);
    const cached = this.tenant.plans.find(key, catalog.version, run.params);
    if (cached !== null) return cached;
    const plan = planStatement(run.sql, run.params, this.names.environment(catalog), this.tenant.statistics.source(tx));
    // Definitions that are not committed may still change under the same text.
    if (plan.program !== null && typeof catalog.version === "number") this.tenant.plans.add(key, plan);
    return plan;
  }

  private nodePlanner(tx: ShardTransaction): PlanNode {
    const names = this.names.environment(this.tenant.catalog.view(tx));
    const statistics = this.tenant.statistics.source(tx);
    return (node, declaredTypes) => planNode(node, [], { ...names, declaredTypes }, statistics);
  }

  /** The arguments are a row that is computed first. */
  private executePrepared(bound: BoundExecute, run: StatementRun, tx: ShardTransaction): Outcome | Promise<Outcome> {
    const catalog = this.tenant.catalog.view(tx);
    const plan = this.statements.planOf(bound.name, catalog.version, this.nodePlanner(tx));
    if (plan.bound.kind !== "query") throw new Error(`${plan.bound.kind} cannot be prepared`);
    this.requireWritable(plan.bound.readOnly, plan.bound.command);
    const env = { ...this.names.environment(catalog), parameterTypes: [] };
    const args = bindArguments(bound, plan.parameterTypes, env);
    const row = this.internalStatements().runPlan(args, this.contextFor(tx, run.request, []));
    return after(row, ({ rows }) => this.runProgram(plan, run, tx, rows[0]!));
  }

  private runProgram(
    plan: StatementPlan,
    run: StatementRun,
    tx: ShardTransaction,
    values: readonly Value[] = convertParameters(plan, run.params),
  ): Outcome | Promise<Outcome> {
    const context = this.contextFor(tx, run.request, values);
    const bound = plan.bound.kind === "query" ? plan.bound : null;
    const shape = plan.shape!;
    const rows = run.collector(shape);
    const operator = plan.program!.open(context);
    const finish = (truncated: boolean): Outcome => {
      if (bound === null || bound.command === "select") return rowsOutcome(shape, rows, truncated, null);
      const { rowsAffected } = context.statement;
      return bound.returnsRows
        ? rowsOutcome(shape, rows, truncated, rowsAffected)
        : countOutcome(rowsAffected, run.collector);
    };
    return after(collect(operator, rows, run.maxRows, context.statement), (truncated) => {
      if (context.statement.rowsAffected > 0) this.countChanges(plan.program!.plan, context.statement.rowsAffected);
      const events = context.statement.constraintEvents;
      return events === null
        ? finish(truncated)
        : after(this.checkConstraints(events, context), () => finish(truncated));
    });
  }

  /** For the statistics of the table that the statement changed. */
  private countChanges(plan: Plan, rows: number): void {
    if ("table" in plan && "id" in plan.table) this.tenant.statistics.changed(plan.table, rows);
  }

  private contextFor(tx: ShardTransaction, request: Client, params: readonly Value[]): ExecContext {
    return createContext({
      tx,
      tenantNumber: this.tenant.number,
      tenant: this.options.tenantName,
      user: this.options.user,
      params,
      rowNumbers: this.tenant.partition.rowNumbers,
      segments: this.tenant.partition.segments,
      spill: this.tenant.partition.spill,
      transactionMicros: this.transactionMicros,
      statementMicros: this.transaction === null ? this.transactionMicros : nowMicros(),
      timeZone: this.settings.timeZone,
      memoryBytesMax: this.tenant.partition.config.query.memoryBytesMax,
      checkpoint: request.checkpoint,
      shouldYield: request.shouldYield,
      yieldTurn: request.yieldTurn,
      services: new SessionServices(this.names, tx),
      bindTable: this.bindTable,
    });
  }

  private checkConstraints(
    events: NonNullable<ExecContext["statement"]["constraintEvents"]>,
    context: ExecContext,
  ): void | Promise<void> {
    return this.constraints().endStatement(events, context, this.transaction === null);
  }

  private constraints(): TransactionConstraints {
    this.madeConstraints ??= new TransactionConstraints(this.internalStatements());
    return this.madeConstraints;
  }

  private internalStatements(): InternalStatements {
    this.internal ??= new InternalStatements(this.tenant, (sql, { tx }) =>
      planStatement(sql, [], this.names.environment(this.tenant.catalog.view(tx)), this.tenant.statistics.source(tx)),
    );
    return this.internal;
  }

  private verify(bound: BoundVerify, run: StatementRun, tx: ShardTransaction): Outcome | Promise<Outcome> {
    return after(verifyTable(this.contextFor(tx, run.request, []), bound.table), (result) => {
      const rows = run.collector(VERIFY_SHAPE);
      rows.append({ columns: result.map((value) => [value]), length: 1 }, 1);
      return rowsOutcome(VERIFY_SHAPE, rows, false, null);
    });
  }

  private setConstraints(
    bound: BoundSetConstraints,
    run: StatementRun,
    tx: ShardTransaction,
  ): Outcome | Promise<Outcome> {
    const done = textOutcome("result", ["SET CONSTRAINTS"], run.collector);
    if (this.transaction === null) return done;
    const context = this.contextFor(tx, run.request, []);
    return after(this.constraints().set(bound, this.tenant.catalog.view(tx), context), () => done);
  }

  private explain(
    plan: StatementPlan,
    bound: BoundExplain,
    run: StatementRun,
    tx: ShardTransaction,
  ): Outcome | Promise<Outcome> {
    const program = plan.program!;
    const statistics = this.tenant.statistics.source(tx);
    if (!bound.analyze) {
      return textOutcome("QUERY PLAN", explainLines(program.plan, bound, statistics, null), run.collector);
    }
    this.requireWritable(bound.statement.readOnly, bound.statement.command);
    const measurements = new Measurements();
    const measured = compilePlan(program.plan, (node, open) => measurements.around(node, open));
    const context = this.contextFor(tx, run.request, convertParameters(plan, run.params));
    const started = performance.now();
    const report = (): Outcome => {
      const milliseconds = performance.now() - started;
      const { memoryBytesPeak: bytesPeak } = context.statement;
      const lines = explainLines(program.plan, bound, statistics, { measurements, milliseconds, bytesPeak });
      return textOutcome("QUERY PLAN", lines, run.collector);
    };
    return after(collect(measured.open(context), NO_ROWS, Number.MAX_SAFE_INTEGER, context.statement), () => {
      const events = context.statement.constraintEvents;
      return events === null ? report() : after(this.checkConstraints(events, context), report);
    });
  }

  private async analyze(bound: BoundAnalyze, run: StatementRun, tx: ShardTransaction): Promise<Outcome> {
    this.requireWritable(false, bound.tag);
    const { checkpoint, shouldYield, yieldTurn } = run.request;
    const work = { tx, tenantNumber: this.tenant.number, checkpoint, shouldYield, yieldTurn };
    for (const table of bound.tables) this.tenant.statistics.put(table, await analyzeTable(work, table), tx);
    this.tenant.plans.clear();
    return textOutcome("result", [bound.tag], run.collector);
  }

  /** Each step is bound against the definitions that the one before it left. */
  private async runDdl(
    { tag, steps, notices }: Pick<BoundDdlSteps, "steps" | "notices"> & { readonly tag: string | null },
    run: StatementRun,
    tx: ShardTransaction,
  ): Promise<Outcome> {
    this.requireWritable(false, tag ?? "definition");
    const { catalog } = this.tenant;
    const told = [...notices];
    let lastTag = tag;
    for (const step of steps) {
      const bound = step({ ...this.names.environment(catalog.view(tx)), parameterTypes: [] });
      if (bound === null) continue;
      const context = this.contextFor(tx, run.request, []);
      if (isTemporary(bound.command)) await openTemporaries(this.names, tx, run.request);
      const done = await runDdl(bound, catalog, this.internalStatements(), context, this.tenant.positionOf);
      lastTag ??= done.tag;
      told.push(...done.notices);
    }
    return textOutcome("result", [lastTag ?? ""], run.collector, told);
  }

  /** Removes the session's temporary relations (temporary-relations.ts). Call it when the session ends. */
  endTemporaries(request: Client, commit: (tx: ShardTransaction) => void): void | Promise<void> {
    return endTemporaries(this.names, this.transaction, request, commit);
  }

  private async discard(what: BoundDiscard["what"], run: StatementRun, tx: ShardTransaction): Promise<Outcome> {
    if (what === "all" && this.transaction !== null) {
      throw sqlError("25001", "DISCARD ALL cannot run inside a transaction block");
    }
    if (what === "all") {
      this.settings.reset();
      this.statements.deallocate(null);
    }
    if (what === "all" || what === "sequences") this.names.discardSequences();
    if (what === "all" || what === "temp") await dropTemporaries(this.names, tx, run.request);
    return textOutcome("result", [`DISCARD${what === "all" ? " ALL" : ""}`], run.collector);
  }

  /** BEGIN and friends as statements: all of them in a batch, savepoints in an interactive transaction. */
  private control(bound: BoundTransaction, run: StatementRun, commit: Commit): Outcome {
    const name = bound.savepoint ?? "";
    const whole = bound.action === "begin" || bound.action === "commit" || bound.action === "rollback";
    if (whole && this.options.control !== "statements") throw controlRefused(bound.action);
    const done = textOutcome("result", [bound.action.toUpperCase()], run.collector);
    switch (bound.action) {
      case "begin":
        if (this.transaction !== null) throw sqlError("25001", "there is already a transaction in progress");
        this.begin(bound.options);
        break;
      case "commit":
        this.commit((tx) => commit(tx, done));
        break;
      case "rollback":
        this.rollback();
        break;
      case "savepoint":
        this.savepoint(name);
        break;
      case "release":
        this.release(name);
        break;
      case "rollback to":
        this.rollbackTo(name);
        break;
      case "set":
        throw sqlError(
          "25001",
          "SET TRANSACTION is not supported; give the isolation level to BEGIN or to POST /v1/transactions.",
        );
    }
    return done;
  }

  private requireWritable(readOnly: boolean, command: string): void {
    if (readOnly || !this.readOnly) return;
    if (this.options.readOnly && !this.transactionReadOnly) {
      throw new DbError("forbidden", `The credential has ReadOnly permission; ${command.toUpperCase()} is refused.`, {
        sqlstate: "42501",
      });
    }
    throw sqlError("25006", `cannot execute ${command.toUpperCase()} in a read-only transaction`);
  }

  private requireHealthy(): void {
    if (this.failure === null) return;
    throw sqlError("25P02", "current transaction is aborted, commands ignored until end of transaction block", {
      hint: `A statement failed (${this.failure}). Roll back, or roll back to a savepoint.`,
    });
  }

  private findSavepoint(name: string): number {
    const index = this.savepoints.findLastIndex((savepoint) => savepoint.name === name);
    if (index < 0) throw sqlError("3B001", `savepoint "${name}" does not exist`);
    return index;
  }

  private open(): ShardTransaction {
    if (this.transaction === null) throw sqlError("25P01", "there is no transaction in progress");
    return this.transaction;
  }

  private close(): void {
    this.transaction = null;
    this.transactionReadOnly = false;
    this.failure = null;
    this.savepoints = [];
  }
}

/** The client of checks at the end of a transaction, which are neither cancelled nor interrupted. */
const COMMITTING: Client = {
  checkpoint: () => undefined,
  shouldYield: () => false,
  yieldTurn: () => Promise.resolve(),
};

function nowMicros(): number {
  return Date.now() * 1000;
}

function controlRefused(action: string): DbError {
  return sqlError(
    "25001",
    `${action.toUpperCase()} cannot be sent as a statement of its own here, since every request may go over another connection.`,
    {
      hint: "Begin with POST /v1/transactions, then POST /v1/transactions/{id}/execute, /commit or /rollback; or send BEGIN … COMMIT in one POST /v1/query/execute/batch.",
    },
  );
}
