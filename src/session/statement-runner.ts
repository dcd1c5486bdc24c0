/**
 * Runs one bound statement in a transaction that the session has opened: queries, definitions, and commands about the
 * session itself. One per session, which owns it and decides what becomes of the transaction.
 */
import { sqlError } from "../protocol/errors.js";
import type { Notice } from "../protocol/notice.js";
import { toldSettingName } from "../protocol/setting-names.js";
import { withoutConstants } from "../protocol/statement-shape.js";
import type { ExecContext } from "../query/exec/context.js";
import { after } from "../query/exec/operator.js";
import type { RepeatedInsert } from "../query/exec/repeated-insert.js";
import type { OutputColumn, Plan } from "../query/plan/plan.js";
import { bindArguments } from "../sql/bind/bind-arguments.js";
import type {
  BoundDeclare,
  BoundDiscard,
  BoundExecute,
  BoundFetch,
  BoundFill,
  BoundLock,
  BoundPrepare,
  BoundQuery,
  BoundSetConstraints,
  DdlStep,
} from "../sql/bind/bound-statement.js";
import { RoutineRunner } from "../sql/routine/routine-runner.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Value } from "../values/values.js";
import { checkCalls } from "./check-calls.js";
import { NO_BLOCK_TO_SET } from "./control-outside.js";
import type { TakeRows } from "./cursor.js";
import { deleteAll, tableOfDeleteAll } from "./delete-all.js";
import { ExecutionScope, type Identity } from "./execution-scope.js";
import { lockTables, requireUnlocked } from "./lock-tables.js";
import { ProcedureTransactions } from "./procedure-transactions.js";
import { requireReading } from "./reader.js";
import { insertRepeatedly, type RepeatedSteps, type Repetition } from "./repeated-run.js";
import { resultColumns } from "./result-columns.js";
import { SessionRoutineCursors } from "./routine-cursors.js";
import { type RoutineSession, SessionRoutineHost } from "./routine-host.js";
import { withinBudget } from "./row-budget.js";
import { runCall } from "./run-call.js";
import { runDatabase } from "./run-database.js";
import { analyze, definitionOf, runDefinitions } from "./run-definitions.js";
import { runExplain } from "./run-explain.js";
import { collected, givenValues, parametersInTurns, parametersOf } from "./run-program.js";
import { verify } from "./run-verify.js";
import type { SessionCursors } from "./session-cursors.js";
import type { SessionNames } from "./session-names.js";
import { SessionStatements } from "./session-statements.js";
import { languageOf } from "./slow-statements.js";
import { countOutcome, type Outcome, rowsOutcome, statsOf, textOutcome } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";
import type { StatementRun } from "./statement-run.js";
import { dropTemporaries } from "./temporary-relations.js";
import type { Tenant } from "./tenant.js";
import type { Trace } from "./trace.js";
import { nowMicros, type TransactionBlock } from "./transaction-block.js";

/** Of a statement, without its constants, in a span. */
const TRACED_CHARACTERS_MAX = 2_000;

export class StatementRunner {
  readonly scope: ExecutionScope;
  private readonly procedures: ProcedureTransactions;
  private preparedStatements: SessionStatements | null = null;
  /** Made when a statement first calls a function that statements made. */
  private madeRoutines: { readonly host: SessionRoutineHost; readonly runner: RoutineRunner } | null = null;

  constructor(
    private readonly tenant: Tenant,
    private readonly identity: Identity,
    private readonly names: SessionNames,
    private readonly block: TransactionBlock,
    private readonly cursors: SessionCursors,
  ) {
    this.scope = new ExecutionScope(tenant, identity, names, block, cursors);
    this.procedures = new ProcedureTransactions(this.scope);
  }

  /** Throws the error that ends the statement; the caller rolls back. */
  run(plan: StatementPlan, given: StatementRun, tx: ShardTransaction): Outcome | Promise<Outcome> {
    const run = withinBudget(given);
    this.madeRoutines?.host.begin();
    this.procedures.begin(plan.bound, run.request, tx);
    this.cursors.beginStatement();
    const { trace } = run.request;
    if (plan.parameterNames !== null) run.request.inCypher?.();
    const failed = (error: unknown): never => {
      this.cursors.undoStatement();
      this.procedures.finish();
      throw error;
    };
    try {
      const ran = trace == null ? this.runAlone(plan, run, tx) : this.runTraced(trace, plan, run, tx);
      const checked = after(ran, (done) => after(this.procedures.checkDeferred(tx, run.request), () => done));
      const outcome = this.watched(checked, plan, run);
      if (outcome instanceof Promise) return outcome.then((done) => this.concluded(done, plan), failed);
      return this.concluded(outcome, plan);
    } catch (error) {
      return failed(error);
    }
  }

  /** With notices. Outside of transaction blocks cursors of functions and SET LOCAL end with the statement. */
  private concluded(done: Outcome, { bound }: StatementPlan): Outcome {
    const notices = [...this.takeNotices()];
    this.procedures.finish();
    if (!this.block.isOpen) {
      if (!this.cursors.isEmpty) this.cursors.endTransaction();
      if (bound.kind === "set" && bound.local) notices.push(NO_BLOCK_TO_SET);
    }
    return notices.length === 0 ? done : { ...done, notices: [...done.notices, ...notices] };
  }

  /** Those of a statement that has failed. */
  takeNotices(): readonly Notice[] {
    return this.madeRoutines?.host.takeNotices() ?? [];
  }

  /** As `run`, once per set of parameters; throws the error of the set that fails. */
  async runRepeated(
    plan: StatementPlan,
    insert: RepeatedInsert,
    run: StatementRun,
    repetition: Repetition,
    tx: ShardTransaction,
  ): Promise<void> {
    this.scope.requireRunnable(plan.bound as BoundQuery);
    this.madeRoutines?.host.begin();
    const values: Value[] = [];
    const context = this.scope.contextFor(tx, run.request, values, plan.graph);
    const steps: RepeatedSteps = {
      parameters: (set) => parametersInTurns(plan, set, run.request, run.paramsField),
      nowMicros,
      settle: ({ statement }, set) => {
        const { constraintEvents: events } = statement;
        statement.constraintEvents = null;
        const checked = events === null ? undefined : this.scope.checkConstraints(events, context);
        if (!(checked instanceof Promise)) return this.keepNotices(repetition);
        const outcome = checked.then(() => countOutcome(1, run.collector));
        const watched = this.watched(outcome, plan, { ...run, params: set });
        return after(watched, () => this.keepNotices(repetition));
      },
    };
    try {
      await insertRepeatedly(insert, repetition, context, values, steps);
    } finally {
      if (repetition.done > 0) this.countChanges(insert.plan, repetition.done);
    }
  }

  private keepNotices(repetition: Repetition): void {
    const notices = this.takeNotices();
    if (notices.length === 0) return;
    repetition.notices ??= new Map();
    repetition.notices.set(repetition.done, notices);
  }

  private runTraced(
    trace: Trace,
    plan: StatementPlan,
    run: StatementRun,
    tx: ShardTransaction,
  ): Outcome | Promise<Outcome> {
    const text = withoutConstants(run.sql, languageOf(plan)).slice(0, TRACED_CHARACTERS_MAX);
    const end = trace.begin("execute", { "db.operation.name": plan.bound.kind, "db.query.text": text });
    try {
      const outcome = this.runAlone(plan, run, tx);
      if (outcome instanceof Promise) outcome.then(() => end(), end);
      else end();
      return outcome;
    } catch (error) {
      end(error);
      throw error;
    }
  }

  /** As `runBound`, for a statement of the client's, which no other one of the session contains. */
  private runAlone(plan: StatementPlan, run: StatementRun, tx: ShardTransaction): Outcome | Promise<Outcome> {
    const { bound, program, graph } = plan;
    const table =
      bound.kind !== "query" || program === null || this.block.isOpen ? null : tableOfDeleteAll(program.plan);
    if (table === null) return this.runBound(plan, run, tx);
    this.scope.requireRunnable(bound as BoundQuery);
    return deleteAll(table, this.tenant, this.scope.contextFor(tx, run.request, [], graph)).then((rows) => {
      if (rows === null) return this.runBound(plan, run, tx);
      this.tenant.statistics.changed(table, rows);
      return countOutcome(rows, run.collector);
    });
  }

  /** What does not end at once may be slow. */
  private watched(
    outcome: Outcome | Promise<Outcome>,
    plan: StatementPlan,
    run: StatementRun,
  ): Outcome | Promise<Outcome> {
    const { slowStatements } = this.tenant.partition;
    if (slowStatements === null || !(outcome instanceof Promise)) return outcome;
    return slowStatements.watch(outcome, plan, run, this.identity.tenantName, this.identity.user);
  }

  get statements(): SessionStatements {
    if (this.preparedStatements === null) {
      this.preparedStatements = new SessionStatements();
      this.names.preparedStatements = this.preparedStatements;
    }
    return this.preparedStatements;
  }

  /** What runs the functions that this session's statements call. */
  routines(): RoutineRunner {
    if (this.madeRoutines === null) {
      const host = new SessionRoutineHost(
        this.tenant,
        this.names,
        this.routineSession(),
        new SessionRoutineCursors(this.scope, this.cursors),
      );
      this.madeRoutines = { host, runner: new RoutineRunner(host) };
    }
    return this.madeRoutines.runner;
  }

  private routineSession(): RoutineSession {
    return {
      requireRunnable: (bound) => this.scope.requireRunnable(bound),
      runOther: (plan, context, rows, own) => {
        const { checkpoint, shouldYield, yieldTurn, signal } = context;
        const request = { checkpoint, shouldYield, yieldTurn, signal };
        const maxRows = Number.MAX_SAFE_INTEGER;
        const how = { maxRows, collector: () => rows, request, ...(own && { own }) };
        const run: StatementRun = { sql: "", params: context.params, variables: context.params, ...how };
        return this.runBound(plan, run, context.tx as ShardTransaction);
      },
      settle: (plan, context) => {
        const { rowsAffected, constraintEvents } = context.statement;
        if (rowsAffected > 0) this.countChanges(plan.program!.plan, rowsAffected);
        return constraintEvents === null ? undefined : this.scope.checkConstraints(constraintEvents, context, true);
      },
      endTransaction: (action, chain) => this.procedures.end(action, chain),
      setModes: (modes) => this.procedures.setModes(modes),
      noteQuery: () => this.block.modes.query(),
      savepoint: () => {
        const { block } = this;
        const constraints = block.constraints?.current() ?? null;
        const there = new Set(this.cursors.all());
        return {
          rollback: () => {
            block.constraints?.restore(constraints);
            this.cursors.keepOnly(there);
          },
        };
      },
    };
  }

  private runBound(plan: StatementPlan, run: StatementRun, tx: ShardTransaction): Outcome | Promise<Outcome> {
    const { bound } = plan;
    switch (bound.kind) {
      case "query":
        this.scope.requireRunnable(bound);
        return this.runProgram(plan, run, tx);
      case "explain":
        return runExplain(this.scope, plan, bound, run, tx);
      case "explain execute": {
        const { plan: explained, query: statement, row } = this.prepared(bound.execute, run, tx);
        return after(row, ({ rows }) =>
          runExplain(this.scope, explained, { ...bound, kind: "explain", statement }, run, tx, rows[0]!),
        );
      }
      case "analyze":
        this.requireAlone(bound);
        return analyze(this.scope, bound, run, tx);
      case "ddl":
        this.requireAlone(bound);
        return after(plan.parameterTypes.length === 0 ? [] : this.parameters(plan, run), (parameters) =>
          runDefinitions(this.scope, definitionOf(plan, { ...bound, parameters }), run, tx),
        );
      case "ddl steps":
        this.requireAlone(bound);
        return runDefinitions(this.scope, bound, run, tx);
      case "verify":
        return verify(this.scope, bound, run, tx);
      case "set constraints":
        return this.setConstraints(bound, run, tx);
      case "set":
        this.names.checkSet(bound, this.tenant.catalog.view(tx));
        this.names.settings.set(bound);
        return textOutcome("result", [bound.resets ? "RESET" : "SET"], run.collector);
      case "set defaults":
        this.names.settings.setDefaults(bound.options);
        return textOutcome("result", ["SET"], run.collector);
      case "show":
        return textOutcome(toldSettingName(bound.name), [this.names.settings.show(bound.name)], run.collector);
      case "prepare":
        return this.prepare(bound, run, tx);
      case "execute":
        return this.executePrepared(bound, run, tx);
      case "create table as execute":
        return this.fillFromPrepared(bound, run, tx);
      case "deallocate":
        this.statements.deallocate(bound.name);
        return textOutcome("result", [bound.name === null ? "DEALLOCATE ALL" : "DEALLOCATE"], run.collector);
      case "declare cursor":
        return this.declare(plan, bound, run, tx);
      case "fetch":
        return this.fetch(bound, run);
      case "close cursor":
        this.cursors.close(bound.name);
        return textOutcome("result", ["CLOSE CURSOR"], run.collector);
      case "discard":
        return this.discard(bound.what, run, tx);
      case "lock":
        return this.lockTables(bound, run, tx);
      case "database":
        return runDatabase(this.scope, bound, run, tx);
      case "call":
        return runCall(this.scope, this.routines(), bound, run, tx);
      case "do":
        return after(this.routines().block(bound.body, this.scope.contextFor(tx, run.request, [])), () =>
          textOutcome("result", [bound.command], run.collector),
        );
      default:
        throw new Error(`${bound.kind} is not run here`);
    }
  }

  /** Throws 25001. */
  private requireAlone({ alone }: { readonly alone?: string }): void {
    if (alone !== undefined && this.block.isOpen) {
      throw sqlError("25001", `${alone} cannot run inside a transaction block`);
    }
  }

  private lockTables(bound: BoundLock, run: StatementRun, tx: ShardTransaction): Outcome {
    // A function's statement may, and the lock goes with the transaction of the statement that calls it.
    if (run.variables === undefined && !this.block.isOpen)
      throw sqlError("25P01", "LOCK TABLE can only be used in transaction blocks");
    lockTables(bound, this.tenant.number, tx);
    return textOutcome("result", ["LOCK TABLE"], run.collector);
  }

  columnsOf(plan: StatementPlan): readonly OutputColumn[] | null {
    return resultColumns(plan, this.cursors, this.statements);
  }

  private prepare(bound: BoundPrepare, run: StatementRun, tx: ShardTransaction): Outcome | Promise<Outcome> {
    const plan = this.statements.plan(bound, this.scope.nodePlanner(tx));
    if (this.scope.identity.readOnly) requireReading(plan.bound);
    return after(this.scope.check(plan, tx, run.request), () => {
      this.statements.add(bound, plan, run.sql, this.names.nameKey);
      return textOutcome("result", ["PREPARE"], run.collector);
    });
  }

  /** The arguments are a row that is computed first. */
  private executePrepared(bound: BoundExecute, run: StatementRun, tx: ShardTransaction): Outcome | Promise<Outcome> {
    const { plan, query, row } = this.prepared(bound, run, tx);
    this.scope.requireRunnable(query);
    return after(row, ({ rows }) =>
      after(this.runProgram(plan, run, tx, rows[0]!), (done) => ({ ...done, executed: query.command })),
    );
  }

  private fillFromPrepared(bound: BoundFill, run: StatementRun, tx: ShardTransaction): Outcome | Promise<Outcome> {
    const { query, row } = this.prepared(bound.execute, run, tx);
    return after(row, ({ rows }) => {
      const step: DdlStep = (env) => bound.fill(query, rows[0]!, env);
      return runDefinitions(this.scope, { tag: null, steps: [step], notices: [] }, run, tx);
    });
  }

  private prepared(bound: BoundExecute, run: StatementRun, tx: ShardTransaction) {
    const catalog = this.tenant.catalog.view(tx);
    const plan = this.statements.planOf(bound.name, catalog.version, this.names.nameKey, this.scope.nodePlanner(tx));
    if (plan.bound.kind !== "query") throw new Error(`${plan.bound.kind} cannot be prepared`);
    const env = { ...this.names.environment(catalog), parameterTypes: [] };
    const args = bindArguments(bound, plan.parameterTypes, env);
    const row = this.scope.internalStatements().runPlan(args, this.scope.contextFor(tx, run.request, []));
    return { plan, query: plan.bound, row };
  }

  private declare(
    plan: StatementPlan,
    bound: BoundDeclare,
    run: StatementRun,
    tx: ShardTransaction,
  ): Outcome | Promise<Outcome> {
    const { block, cursors } = this;
    if (!block.isOpen && !bound.hold) {
      throw sqlError("25P01", "DECLARE CURSOR can only be used in transaction blocks");
    }
    this.scope.requireRunnable(bound.statement);
    const context = this.scope.contextFor(tx, cursors.fetcher, parametersOf(plan, run));
    void cursors.on(run.request, () => cursors.declare(bound, plan, run.sql, context, block.savepointNames.length));
    const done = textOutcome("result", ["DECLARE CURSOR"], run.collector);
    // Alone it is its own transaction, which ends now.
    return block.isOpen ? done : after(cursors.hold(run.request), () => done);
  }

  /** No more rows than the client takes at once; the others stay for the next FETCH. */
  private fetch(bound: BoundFetch, run: StatementRun): Outcome | Promise<Outcome> {
    const cursor = this.cursors.find(bound.name);
    const count = bound.isMove ? bound.count : Math.min(bound.count, run.maxRows);
    const shape = cursor.plan.shape!;
    const rows = run.collector(shape);
    const take: TakeRows = bound.isMove ? () => undefined : (batch) => void rows.append(batch, batch.length);
    const fetched = this.cursors.on(run.request, () => cursor.fetch({ ...bound, count }, take));
    return after(fetched, (number) =>
      bound.isMove
        ? countOutcome(number, run.collector)
        : rowsOutcome(shape, rows, count < bound.count && number === count, null),
    );
  }

  private runProgram(
    plan: StatementPlan,
    run: StatementRun,
    tx: ShardTransaction,
    given?: readonly Value[],
  ): Outcome | Promise<Outcome> {
    const values = given ?? this.parameters(plan, run);
    if (values instanceof Promise) return values.then((made) => this.runProgram(plan, run, tx, made));
    const { locks } = this.tenant.partition.shard;
    if (locks.tables.size > 0) requireUnlocked(plan.program!.plan, this.tenant.number, tx, locks);
    const context = this.scope.contextFor(tx, run.request, values, plan.graph, run.long?.rows);
    if (plan.checks.length === 0) return this.runChecked(plan, run, context);
    return after(checkCalls(plan.checks, values, context), () => this.runChecked(plan, run, context));
  }

  private parameters(plan: StatementPlan, run: StatementRun): readonly Value[] | Promise<readonly Value[]> {
    if (run.declared !== undefined) return givenValues(plan, run);
    return parametersInTurns(plan, run.params, run.request, run.paramsField);
  }

  private runChecked(plan: StatementPlan, run: StatementRun, context: ExecContext): Outcome | Promise<Outcome> {
    const bound = plan.bound.kind === "query" ? plan.bound : null;
    const shape = plan.shape!;
    const rows = run.collector(
      shape,
      bound?.readOnly === true && bound.command === "select" && bound.locksRows !== true,
    );
    const operator = plan.program!.open(context);
    const finish = (truncated: boolean): Outcome => {
      if (bound === null || bound.command === "select") return rowsOutcome(shape, rows, truncated, null);
      const { rowsAffected, graphChanges } = context.statement;
      if (bound.command === "cypher") {
        return { ...rowsOutcome(shape, rows, truncated, null), stats: graphChanges && statsOf(graphChanges) };
      }
      return bound.returnsRows
        ? rowsOutcome(shape, rows, truncated, rowsAffected)
        : countOutcome(rowsAffected, run.collector);
    };
    return after(collected(operator, rows, run.maxRows, context.statement, run.request), (truncated) => {
      if (context.statement.rowsAffected > 0) this.countChanges(plan.program!.plan, context.statement.rowsAffected);
      const { changedRows, constraintEvents: events } = context.statement;
      if (changedRows !== null) for (const [table, rows] of changedRows) this.tenant.statistics.changed(table, rows);
      return events === null
        ? finish(truncated)
        : after(this.scope.checkConstraints(events, context), () => finish(truncated));
    });
  }

  /** For the statistics of the table that the statement changed. */
  private countChanges(plan: Plan, rows: number): void {
    let changing = plan;
    // What RETURNING waits for is computed above.
    while (changing.kind === "project" || changing.kind === "deferred") changing = changing.input;
    if ("table" in changing && "id" in changing.table && !("instead" in changing)) {
      this.tenant.statistics.changed(changing.table, rows);
    }
  }

  private setConstraints(
    bound: BoundSetConstraints,
    run: StatementRun,
    tx: ShardTransaction,
  ): Outcome | Promise<Outcome> {
    const done = textOutcome("result", ["SET CONSTRAINTS"], run.collector);
    if (!this.block.isOpen) return done;
    const context = this.scope.contextFor(tx, run.request, []);
    return after(this.scope.constraints().set(bound, this.tenant.catalog.view(tx), context), () => done);
  }

  private async discard(what: BoundDiscard["what"], run: StatementRun, tx: ShardTransaction): Promise<Outcome> {
    if (what === "all" && this.block.isOpen) {
      throw sqlError("25001", "DISCARD ALL cannot run inside a transaction block");
    }
    if (what === "all") {
      this.names.settings.reset();
      this.statements.deallocate(null);
      this.cursors.close(null);
    }
    if (what === "all" || what === "sequences") this.names.discardSequences();
    if (what === "all" || what === "temp") await dropTemporaries(this.names, tx, run.request);
    return textOutcome("result", [`DISCARD${what === "all" ? " ALL" : ""}`], run.collector);
  }
}
