/**
 * Runs statements for one client: alone (each in its own transaction), in a batch, or in an interactive transaction.
 * The life of a statement: plan-cache.ts or statement-plan.ts gives a compiled program; the session opens a
 * transaction or uses the client's (transaction-block.ts); statement-runner.ts runs it; the caller commits.
 */
import type { CatalogView } from "../catalog/catalog-view.js";
import { DbError } from "../protocol/errors.js";
import { type Notice, warning } from "../protocol/notice.js";
import { Overrun } from "../protocol/stretch.js";
import type { ExecContext } from "../query/exec/context.js";
import { after } from "../query/exec/operator.js";
import type { BoundTransaction } from "../sql/bind/bound-statement.js";
import type { IsolationLevel } from "../sql/parse/ast.js";
import { KeyConflict } from "../storage/key-locks.js";
import type { Transaction } from "../storage/store.js";
import type { ShardTransaction } from "../storage/transaction.js";
import { afterShape } from "./argument-shapes.js";
import { type AsOfStatement, asOfStatement, runAsOf } from "./as-of.js";
import { type Commit, partsInside, runInParts } from "./call-in-transactions.js";
import { controlOutside } from "./control-outside.js";
import { controlRefused, endRefused, isOthersControl, rolledBackFor, twoPhase } from "./control-refusals.js";
import { durationMs } from "./duration-setting.js";
import type { Identity } from "./execution-scope.js";
import { afterConflict, mayWait } from "./key-waits.js";
import { isLong, shortened } from "./long-statements.js";
import { withLongerTurn } from "./longer-turn.js";
import { afterOverrun, inItsOwnTurn, isKnownToOverrun } from "./overrun.js";
import { ProtocolSession, requireEnding } from "./protocol-session.js";
import { type Repetition, repeatedInsertOf } from "./repeated-run.js";
import { SessionCursors } from "./session-cursors.js";
import { SessionNames } from "./session-names.js";
import type { Settings } from "./settings.js";
import { type Outcome, textOutcome } from "./sql-result.js";
import { type StatementPlan, takesNothing } from "./statement-plan.js";
import { StatementPlanner } from "./statement-planner.js";
import { type Client, type StatementRun, type StatementText, UNINTERRUPTED } from "./statement-run.js";
import { StatementRunner } from "./statement-runner.js";
import { applyOnCommit, endTemporaries } from "./temporary-relations.js";
import type { Tenant } from "./tenant.js";
import { nowMicros, TransactionBlock } from "./transaction-block.js";
import { type GivenModes, NO_MODES } from "./transaction-modes.js";
import { requireWholeTenant } from "./whole-rights.js";

export interface SessionOptions extends Identity {
  /** null: serializable. */
  readonly isolation: IsolationLevel | null;
  /** Who begins and commits: the session's own statements (a batch), or the routes under /v1/transactions. */
  readonly control: "statements" | "routes";
  /** At read committed, statements wait for other transactions that have changed the same rows, as in PostgreSQL. */
  readonly waits?: true;
}

/** How often an autocommit statement that loses against concurrent changes is run before the client hears of it. */
const ATTEMPTS_MAX = 4;

/** Statements that may come before SET TRANSACTION: they read nothing. */
const BEFORE_QUERIES: ReadonlySet<string> = new Set(["set", "show", "set constraints", "deallocate"]);

export class Session {
  readonly names: SessionNames;
  private readonly block: TransactionBlock;
  private readonly cursors = new SessionCursors();
  private readonly planner: StatementPlanner;
  private readonly runner: StatementRunner;
  private protocolSide: ProtocolSession | null = null;

  constructor(
    private readonly tenant: Tenant,
    private readonly options: SessionOptions,
  ) {
    this.names = new SessionNames(tenant, options, options.isolation ?? "serializable", () => this.runner.routines());
    this.block = new TransactionBlock(tenant, this.names, options.readOnly, options.waits === true);
    this.planner = new StatementPlanner(tenant, this.names, options.tenantName);
    this.runner = new StatementRunner(tenant, options, this.names, this.block, this.cursors);
  }

  get settings(): Settings {
    return this.names.settings;
  }

  /** What servers of protocols need beside. */
  get protocol(): ProtocolSession {
    const { tenant, names, block, cursors, runner, planner } = this;
    this.protocolSide ??= new ProtocolSession(tenant, names, block, cursors, runner, planner);
    return this.protocolSide;
  }

  /** Of the open transaction, or of the statement that was one; microseconds since the epoch. */
  get startedMicros(): number {
    return this.block.startedMicros;
  }

  get inTransaction(): boolean {
    return this.block.isOpen;
  }

  get isolation(): IsolationLevel {
    return this.block.modes.isolation;
  }

  get readOnly(): boolean {
    return this.options.readOnly || this.block.modes.readOnly;
  }

  get status(): "active" | "failed" {
    return this.block.failure === null ? "active" : "failed";
  }

  get savepointNames(): readonly string[] {
    return this.block.savepointNames;
  }

  begin(options: Partial<GivenModes>): void {
    this.block.begin({ ...NO_MODES, ...options });
  }

  /** Commits through `commit`, which gets the transaction; a failed transaction is rolled back and refused. */
  commit(commit: (tx: ShardTransaction) => void): void {
    const tx = this.block.open();
    const { failure } = this.block;
    this.cursors.endTransaction();
    this.block.close(failure !== null);
    if (failure !== null) {
      this.tenant.rollBackWhole(tx);
      throw new DbError("transaction_aborted", rolledBackFor(failure), { sqlstate: "25P02" });
    }
    this.tenant.transactions.ending(() => {
      this.checkDeferred(tx);
      applyOnCommit(this.names, tx);
      commit(tx);
    });
  }

  /** The checks that still wait for the end of the transaction. What fails one takes the transaction back. */
  private checkDeferred(tx: ShardTransaction): void {
    const { constraints } = this.block;
    if (constraints === null) return;
    try {
      // The end of a transaction does not give way: where there was much to check, `prepareCommit` did.
      void constraints.endTransaction(this.runner.scope.contextFor(tx, UNINTERRUPTED, []));
    } catch (error) {
      this.tenant.rollback(tx);
      throw error;
    }
  }

  rollback(): void {
    const tx = this.block.open();
    this.cursors.endTransaction();
    this.block.close(true);
    this.tenant.rollBackWhole(tx);
  }

  /** Ends the transaction from outside: deadline, shutdown. A statement that runs in it ends at its next checkpoint. */
  abandon(reason: string): void {
    if (!this.block.isOpen) return;
    this.block.open().abort(new DbError("transaction_aborted", `The transaction was ended: ${reason}.`));
    this.cursors.endTransaction();
    this.block.close(true);
    this.tenant.transactions.rolledBack++;
  }

  savepoint(name: string): void {
    this.block.savepoint(name);
  }

  /** Also makes a failed transaction usable again. */
  rollbackTo(name: string): void {
    this.block.rollbackTo(name);
    this.cursors.rollbackTo(this.block.savepointNames.length - 1);
  }

  release(name: string): void {
    this.block.release(name);
    this.cursors.release(this.block.savepointNames.length);
  }

  /** Plans the statement, or takes the plan of an earlier run. Used by `prepare` too. */
  planFor(run: StatementText, catalog: CatalogView, tx: Transaction): StatementPlan {
    return this.planner.planFor(run, catalog, tx);
  }

  /** The plan as the open transaction has the definitions. */
  planNow(run: StatementRun): StatementPlan {
    const tx = this.block.forStatement();
    return this.planner.planned(run, this.tenant.catalog.view(tx), tx);
  }

  /** For a plan that is not run now: throws the errors that do not depend on rows. */
  check(plan: StatementPlan, tx: ShardTransaction, client: Client): Promise<void> | void {
    return this.runner.scope.check(plan, tx, client);
  }

  /** The definitions, as the open transaction has them. */
  get catalog(): CatalogView {
    return this.tenant.catalog.view(this.block.open());
  }

  /** Of work in the open transaction that is no statement: an import. */
  contextFor(client: Client): ExecContext {
    const tx = this.block.forStatement();
    this.block.modes.query();
    return this.runner.scope.contextFor(tx, client, []);
  }

  /** Of such work: what it wrote is checked as that of a statement. */
  checkConstraints(context: ExecContext): void | Promise<void> {
    return this.runner.scope.checkConstraints(context.statement.constraintEvents ?? [], context);
  }

  /** Removes the session's temporary relations (temporary-relations.ts). Call it when the session ends. */
  endTemporaries(request: Client, commit: (tx: ShardTransaction) => void): void | Promise<void> {
    return endTemporaries(this.names, this.block.isOpen ? this.block.open() : null, request, commit);
  }

  /**
   * Runs one statement. Outside a transaction it gets one of its own, and `commit` is called with it and the outcome
   * before this answers; inside one, `commit` is called only by COMMIT. A failed statement leaves no trace.
   */
  execute(run: StatementRun, commit: Commit): Outcome | Promise<Outcome> {
    if (isLong(run)) return shortened(run, run.request).then((short) => this.execute(short, commit));
    run.request.atStatement?.(run.sql);
    this.tenant.refuseStopped(run.sql);
    this.names.shapes.forget();
    const past = this.block.failure === null ? asOfStatement(run) : null;
    if (past !== null) return this.executeAsOf(past, run, commit);
    return this.block.isOpen ? this.executeInside(run, commit) : this.executeAlone(run, commit, 1);
  }

  /** Reads what the tenant was at that moment; an open transaction has no part in it. */
  private executeAsOf(past: AsOfStatement, run: StatementRun, commit: Commit): Promise<Outcome> {
    const hides = requireWholeTenant(this.tenant, this.names, "AS OF", "refused");
    const hidesMemories = hides || this.tenant.catalog.hidesMemories;
    return runAsOf(past, run, this.tenant, hidesMemories, (tenant, ready) => {
      const session = this.child(tenant, { ...this.options, readOnly: true });
      this.block.sawEverything();
      return session.execute(ready, commit);
    });
  }

  private child(tenant: Tenant, options: SessionOptions): Session {
    const session = new Session(tenant, options);
    session.settings.restore(this.settings.current());
    return session;
  }

  /**
   * Runs the statement in the open transaction once per set of parameters, each as `execute` would. False: it has to be
   * run by `execute`, and nothing has been done. An error leaves the transaction failed.
   */
  async executeRepeated(run: StatementRun, repetition: Repetition): Promise<boolean> {
    const { block, tenant } = this;
    const { stopped } = tenant.partition;
    // Such a transaction has another snapshot for each statement; a trace shows each.
    if (this.isolation.startsWith("read ") || run.request.trace != null || block.failure !== null) return false;
    run.request.atStatement?.(run.sql);
    if (stopped != null && !stopped.isEmpty) return false;
    const tx = block.forStatement();
    let before: number | null = null;
    try {
      const plan = this.planner.planned(run, tenant.catalog.view(tx), tx);
      const insert = repeatedInsertOf(plan, repetition);
      if (insert === null) return false;
      block.modes.query();
      before = tx.savepoint();
      await this.runner.runRepeated(plan, insert, run, repetition, tx);
      if (block.isStill(tx)) tx.release(before);
      return true;
    } catch (error) {
      if (block.isStill(tx)) {
        if (before !== null) tx.rollbackTo(before);
        if (error instanceof Overrun && run.request.hasActed !== true) {
          if (before !== null) tx.release(before);
          return false;
        }
        block.failure ??= (error as Error).message;
      }
      throw error;
    }
  }

  private executeAlone(run: StatementRun, commit: Commit, attempt: number): Outcome | Promise<Outcome> {
    const { catalog } = this.tenant;
    // The usual case: the plan is known before there is a transaction, so a query's transaction need track no reads.
    const version = catalog.newestVersion();
    const known = version === null ? null : this.planner.known(run, version);
    const cached = known === null ? null : known.plan;
    if (isKnownToOverrun(cached, run)) return this.executeAlone({ ...run, waits: true }, commit, attempt);
    const tx = this.block.start(cached !== null && takesNothing(cached));
    let ran = cached;
    const failed = (error: unknown): Outcome | Promise<Outcome> => {
      this.tenant.rollback(tx);
      const shaped = afterShape(error, run.request);
      if (shaped !== null) return shaped.then(() => inItsOwnTurn(run, () => this.executeAlone(run, commit, attempt)));
      const again = afterOverrun(error, ran, run);
      if (again !== null) return inItsOwnTurn(again, () => this.executeAlone(again, commit, attempt));
      if (error instanceof KeyConflict && mayWait(error, run)) {
        const waited = afterConflict(error, null, run.request, durationMs(this.settings.show("lock_timeout")));
        return waited.then(() => this.executeAlone(run, commit, attempt));
      }
      const hasLost = error instanceof DbError && error.code === "serialization_failure";
      if (hasLost && attempt < ATTEMPTS_MAX && run.request.hasActed !== true) {
        return this.executeAlone(withLongerTurn(run, attempt), commit, attempt + 1);
      }
      this.tenant.transactions.rolledBack++;
      throw error;
    };
    try {
      this.block.startedMicros = nowMicros();
      const { plan, run: ready } = known ?? this.planner.ready(run, catalog.view(tx), tx);
      ran = plan;
      run.planned?.(plan.bound);
      if (plan.inTransactions != null) {
        this.tenant.rollback(tx);
        return runInParts(plan, run, this.child(this.tenant, this.options), commit);
      }
      if (plan.bound.kind === "transaction") {
        this.tenant.rollback(tx);
        if (isOthersControl(this.options, plan.bound)) throw controlRefused(plan.bound.action);
        return controlOutside(plan.bound, run, this.block);
      }
      const outcome = this.runner.run(plan, ready, tx);
      if (outcome instanceof Promise || tx.isLarge) {
        const prepared = Promise.resolve(outcome).then(async (done) => {
          await tx.prepareCommit(run.request);
          return done;
        });
        const committed = prepared.then((done) => {
          applyOnCommit(this.names, tx);
          commit(tx, done);
          this.tenant.transactions.committed++;
          return done;
        });
        return committed.catch(failed);
      }
      applyOnCommit(this.names, tx);
      commit(tx, outcome);
      this.tenant.transactions.committed++;
      return outcome;
    } catch (error) {
      return failed(error);
    }
  }

  private executeInside(run: StatementRun, commit: Commit, hasCaughtUp = false): Outcome | Promise<Outcome> {
    const tx = this.block.forStatement();
    let before: number | null = null;
    let isRefused = false;
    let ran: StatementPlan | null = null;
    const failed = (error: unknown): Outcome | Promise<Outcome> => {
      if (!isRefused && this.block.isStill(tx)) {
        if (before !== null) tx.rollbackTo(before);
        const shaped = before === null ? afterShape(error, run.request) : null;
        if (shaped !== null) {
          const again = shaped.then(() => inItsOwnTurn(run, () => this.executeInside(run, commit)));
          return again.catch((failure: Error) => {
            if (this.block.isStill(tx)) this.block.fail(failure);
            throw failure;
          });
        }
        const again = afterOverrun(error, ran, run);
        if (again !== null) {
          if (before !== null) tx.release(before);
          return inItsOwnTurn(again, () => this.executeInside(again, commit));
        }
        if (error instanceof KeyConflict && mayWait(error, run)) {
          if (before !== null) tx.release(before);
          const waited = afterConflict(error, tx.keys, run.request, durationMs(this.settings.show("lock_timeout")));
          return waited.then(
            () => this.executeInside(run, commit),
            (refused: Error) => {
              this.block.fail(refused);
              throw refused;
            },
          );
        }
        this.block.fail(error as Error);
      }
      throw error;
    };
    const finished = (outcome: Outcome): Outcome => {
      if (this.block.isStill(tx)) tx.release(before!);
      return outcome;
    };
    try {
      if (this.block.failure !== null) requireEnding(run.sql, this.block);
      if (!hasCaughtUp && tx.followed?.isBehind) {
        const again = () => this.executeInside(run, commit, true);
        // If it fails, the commit will say so.
        return tx.followed.catchUp(run.request).then(again, again);
      }
      // Below repeatable read each statement has a snapshot of its own.
      if (this.isolation.startsWith("read ")) tx.refresh();
      const { plan, run: ready } = this.planner.ready(run, this.tenant.catalog.view(tx), tx);
      ran = plan;
      run.planned?.(plan.bound);
      if (plan.bound.kind === "transaction") {
        // The client meant something else than it sent; its transaction is unchanged.
        isRefused = isOthersControl(this.options, plan.bound) && plan.bound.action !== "begin";
        if (isRefused) throw endRefused(plan.bound.action);
        const ended = this.control(plan.bound, run, commit);
        return ended instanceof Promise ? ended.catch(failed) : ended;
      }
      if (!BEFORE_QUERIES.has(plan.bound.kind)) this.block.modes.query();
      if (plan.inTransactions != null) throw partsInside();
      before = tx.savepoint();
      const outcome = this.runner.run(plan, ready, tx);
      return outcome instanceof Promise ? outcome.then(finished).catch(failed) : finished(outcome);
    } catch (error) {
      return failed(error);
    }
  }

  /** BEGIN and friends as statements: all of them in a batch, savepoints in an interactive transaction. */
  private control(bound: BoundTransaction, run: StatementRun, commit: Commit): Outcome | Promise<Outcome> {
    const { action, chain } = bound;
    const name = bound.savepoint ?? "";
    const done = (tag: string, notices?: readonly Notice[]) => textOutcome("result", [tag], run.collector, notices);
    switch (action) {
      case "begin":
        this.block.requireHealthy();
        this.block.modes.change(bound.options);
        return done("BEGIN", [warning("there is already a transaction in progress", "25001")]);
      case "commit":
        if (this.block.failure !== null) {
          const notice = rolledBackFor(this.block.failure);
          this.end(chain, () => this.rollback());
          return done("ROLLBACK", [notice]);
        }
        return this.cursors.isEmpty && !this.commitTakesLong
          ? this.committed(chain, done("COMMIT"), commit)
          : this.cursors
              .hold(run.request)
              .then(() => this.prepareOrEnd(run.request))
              .then(() => this.committed(chain, done("COMMIT"), commit));
      case "rollback":
        this.end(chain, () => this.rollback());
        break;
      case "savepoint":
        this.savepoint(name);
        break;
      case "release":
        this.release(name);
        break;
      case "rollback to":
        this.rollbackTo(name);
        return done("ROLLBACK");
      case "set":
        this.block.requireHealthy();
        this.block.modes.change(bound.options);
        break;
      default:
        if (action === "prepare") this.rollback();
        throw twoPhase(bound, true);
    }
    return done(action.toUpperCase());
  }

  private get commitTakesLong(): boolean {
    return this.block.open().isLarge || this.block.constraints?.manyWait === true;
  }

  /**
   * To be waited for before `commit`: many deferred checks are made in turns, and a transaction that wrote much is
   * written to the log in turns. The caller rolls back when it throws.
   */
  prepareCommit(client: Client): void | Promise<void> {
    if (!this.inTransaction || this.block.failure !== null || !this.commitTakesLong) return;
    const tx = this.block.open();
    const { constraints } = this.block;
    const checked = constraints?.manyWait
      ? constraints.endTransaction(this.runner.scope.contextFor(tx, client, []))
      : undefined;
    return after(checked, () => (tx.isLarge ? tx.prepareCommit(client) : undefined));
  }

  /** `prepareCommit` of COMMIT: what fails it ends the transaction. */
  private async prepareOrEnd(client: Client): Promise<void> {
    const tx = this.block.open();
    try {
      await this.prepareCommit(client);
    } catch (error) {
      if (this.block.isStill(tx)) this.rollback();
      throw error;
    }
  }

  private committed(chain: boolean, done: Outcome, commit: Commit): Outcome {
    this.end(chain, () => this.commit((tx) => commit(tx, done)));
    return done;
  }

  /** AND CHAIN: the next transaction begins at once, in the same modes. */
  private end(chain: boolean, end: () => void): void {
    const { isolation, readOnly, deferrable } = this.block.modes;
    end();
    if (chain) this.block.begin({ isolation, readOnly, deferrable });
  }
}
