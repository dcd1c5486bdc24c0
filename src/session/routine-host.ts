/**
 * The session as seen by functions that run inside its statements: it plans and runs the statements of their bodies in
 * the transaction of the surrounding statement. One per session, owned by it, as are the notices that wait for its
 * end.
 */

import type { CatalogView } from "../catalog/catalog-view.js";
import { keptTables } from "../catalog/kept-tables.js";
import { MEMBER_ROLE } from "../catalog/role.js";
import { sqlError } from "../protocol/errors.js";
import type { Notice } from "../protocol/notice.js";
import type { ExecContext } from "../query/exec/context.js";
import { after } from "../query/exec/operator.js";
import { runToCompletion } from "../query/exec/run.js";
import type { Batch } from "../query/expr/expr.js";
import type { BindEnvironment, BoundQuery } from "../sql/bind/bound-statement.js";
import type { StatementNode } from "../sql/parse/ast.js";
import type {
  RoutineHost,
  RoutineNames,
  RoutinePlan,
  RunOptions,
  StatementResult,
  Subtransaction,
} from "../sql/routine/host.js";
import { statementContext } from "../sql/routine/prepared-routine.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Value } from "../values/values.js";
import { graphFinder } from "./ensure-graph.js";
import type { SessionRoutineCursors } from "./routine-cursors.js";
import type { SessionNames } from "./session-names.js";
import type { Outcome, Rows } from "./sql-result.js";
import { planNode, type StatementPlan } from "./statement-plan.js";
import type { Tenant } from "./tenant.js";
import type { GivenModes } from "./transaction-modes.js";

/** What the session does for its functions. */
export interface RoutineSession {
  /** Statements that are no queries. */
  runOther(plan: StatementPlan, context: ExecContext, rows: Rows, own?: true): Outcome | Promise<Outcome>;
  requireRunnable(bound: BoundQuery): void;
  /** After a query: counts its changes and makes the checks that it left. */
  settle(plan: StatementPlan, context: ExecContext): void | Promise<void>;
  /** COMMIT and ROLLBACK of a body; resolves with when the next transaction began. */
  endTransaction(action: "commit" | "rollback", chain: boolean): Promise<number>;
  /** SET TRANSACTION. Throws 25001. */
  setModes(modes: GivenModes): void;
  /** A query is about to run. */
  noteQuery(): void;
  /** Checks that wait for the end of the transaction: what a rollback to this point puts back. */
  savepoint(): { rollback(): void };
}

interface CommonProperty {
  readonly catalog: CatalogView;
  /** Null: the statement is no superuser's, and its functions have its rights. */
  readonly definer: SessionNames["definer"];
  /** What is known while such a function runs. */
  known: string | null;
  who: Pick<ExecContext, "user" | "sessionUser" | "hidesRows"> | null;
}

/** Notices that one statement may leave; those after them are dropped. */
const NOTICES_MAX = 1000;

/** Statements that are done at once. */
const IMMEDIATE: ReadonlySet<string> = new Set([
  "query",
  "set",
  "show",
  "prepare",
  "deallocate",
  "set constraints",
  "call",
  "do",
]);

const NOTHING: StatementResult = { columns: [], rows: [], count: 0 };

export class SessionRoutineHost implements RoutineHost {
  private readonly notices: Notice[] = [];
  private known: string | null = null;
  /** Settings may change inside of a query (set_config): what is known is so under this version of them. */
  private knownUnder = 0;
  /** How many statements have begun. */
  private begun = 0;
  /** Blocks with handlers of errors that the statement is in. */
  private subtransactions = 0;
  /** Of the transaction that a body has begun; null: the statement's own. */
  private startedMicros: number | null = null;
  private who: Pick<ExecContext, "user" | "sessionUser" | "hidesRows"> | null = null;
  /** How often what is known was forgotten. */
  private forgotten = 0;
  /** Functions of a superuser's statement that nobody owns, in a tenant without roles; null: not looked at yet. */
  private common: CommonProperty | null = null;

  constructor(
    private readonly tenant: Tenant,
    private readonly names: SessionNames,
    private readonly session: RoutineSession,
    readonly cursors: SessionRoutineCursors,
  ) {}

  /** Another statement of the session begins. */
  begin(): void {
    this.begun++;
    this.subtransactions = 0;
    this.startedMicros = null;
    this.names.definer = null;
    this.forget();
    this.notices.length = 0;
  }

  takeNotices(): readonly Notice[] {
    return this.notices.splice(0);
  }

  private forget(): void {
    this.forgotten++;
    this.common = null;
    this.known = null;
    this.who = null;
    this.knownUnder = this.names.settings.version;
  }

  current(context: ExecContext): ExecContext {
    if (this.knownUnder !== this.names.settings.version) this.forget();
    this.who ??= { ...this.names.users(context.tx), hidesRows: this.names.hidesRows(context.tx) };
    const { user, sessionUser, hidesRows } = this.who;
    const isSame =
      user === context.user && sessionUser === context.sessionUser && hidesRows === (context.hidesRows ?? false);
    const transactionMicros = this.startedMicros ?? context.transactionMicros;
    if (isSame && transactionMicros === context.transactionMicros) return context;
    return { ...context, ...this.who, transactionMicros };
  }

  epoch(context: ExecContext): string {
    if (this.knownUnder !== this.names.settings.version) this.forget();
    if (this.known === null) {
      const catalog = this.tenant.catalog.view(context.tx);
      const rights = this.names.rights(catalog);
      const role = rights.ofRoles ? this.names.roleKey : rights.matter ? "shut out" : "";
      this.known = `${catalog.version}\0${role}\0${this.names.searchPath(catalog).join("\0")}`;
    }
    return this.known;
  }

  environment({ tx }: ExecContext, own = false): BindEnvironment {
    return { ...this.names.environment(this.tenant.catalog.view(tx), own), parameterTypes: [] };
  }

  plan(node: StatementNode, { own, ...names }: RoutineNames, context: ExecContext): StatementPlan {
    const { transitions } = context;
    const environment = {
      ...this.environment(context, own),
      ...names,
      ...(transitions !== undefined && { transitions }),
    };
    return planNode(
      node,
      [],
      environment,
      this.tenant.statistics.source(context.tx),
      graphFinder(this.tenant, context.tx, null),
    );
  }

  requireWritable({ bound }: RoutinePlan): void {
    if (bound.kind === "query") this.session.requireRunnable(bound);
  }

  run(
    plan: RoutinePlan,
    params: readonly Value[],
    base: ExecContext,
    { maxRows, canWait, own }: RunOptions,
  ): StatementResult | Promise<StatementResult> {
    // One that was given up while it waited: its rights are those of another statement by now.
    if (base.lentIn !== undefined && base.lentIn !== this.begun) throw sqlError("57014", "the statement was given up");
    const { bound, program } = plan;
    const context = statementContext(this.current(base), params);
    if (bound.kind === "query") {
      this.requireWritable(plan);
      this.session.noteQuery();
      return after(runToCompletion(program!, context, { maxRows }), ({ columns, rows, rowsAffected }) => {
        const count = bound.command === "select" ? rows.length : rowsAffected;
        return after(this.session.settle(plan as StatementPlan, context), () => ({ columns, rows, count }));
      });
    }
    if (bound.kind === "transaction") {
      const { action } = bound;
      if (action === "commit" || action === "rollback") throw sqlError("2D000", "invalid transaction termination");
      if (action !== "set") throw sqlError("0A000", "unsupported transaction command in PL/pgSQL");
      this.session.setModes(bound.options);
      return NOTHING;
    }
    if (bound.kind === "database") throw sqlError("25001", `${bound.tag} cannot be executed from a function`);
    if (!canWait && !IMMEDIATE.has(bound.kind)) {
      throw sqlError(
        "0A000",
        "a function that is called here cannot run this statement, for which it would have to wait",
        {
          hint: "Call it by itself in a select list or in FROM.",
        },
      );
    }
    const rows = new RawRows();
    return after(this.session.runOther(plan as StatementPlan, context, rows, own), (outcome) => {
      this.forget();
      for (const notice of outcome.notices) this.notice(notice);
      const isDefinition =
        bound.kind === "do" || bound.kind === "ddl" || bound.kind === "ddl steps" || bound.kind === "set";
      const given = isDefinition ? [] : rows.values;
      return { columns: outcome.shape.outputs, rows: given, count: given.length };
    });
  }

  finish(plan: RoutinePlan, context: ExecContext): void | Promise<void> {
    return this.session.settle(plan as StatementPlan, context);
  }

  withSettings(settings: readonly (readonly [name: string, value: string])[], { tx }: ExecContext): () => void {
    const before = this.names.settings.current();
    for (const [name, value] of settings) this.names.checkSetting(name, value, () => this.tenant.catalog.view(tx));
    this.forget();
    for (const [name, value] of settings) this.names.settings.setText(name, value, true);
    const { begun } = this;
    return () => {
      if (begun !== this.begun) return;
      this.names.settings.restore(before);
      this.forget();
    };
  }

  /**
   * SECURITY DEFINER means the owner's rights. Superusers lend theirs to nobody else's functions: what nobody owns,
   * anybody may have written, and what another role owns runs with no more than that role may do. Without roles that
   * matters as soon as a feature keeps a table for itself.
   */
  withRights(
    { id, securityDefiner }: { readonly id: number; readonly securityDefiner?: boolean },
    context: ExecContext,
    isRule = false,
  ) {
    const { names } = this;
    const { everHadAccess, everHadKept } = this.tenant.catalog;
    if (!(everHadAccess || everHadKept) || id <= 0) return null;
    const catalog = this.tenant.catalog.view(context.tx);
    if (!catalog.hasAccess && keptTables(catalog).size === 0) return null;
    if (!catalog.hasAccess && names.definer === null) return this.asMember(catalog);
    const access = catalog.accessTo(id);
    const isOwned = access !== null && (isRule || access.invoker !== true);
    const role = isOwned ? catalog.roleById(access.owner)! : MEMBER_ROLE;
    const isDefiner = isOwned && (isRule || securityDefiner === true);
    if (!isDefiner && (role.superuser || !names.acting(catalog).superuser)) return null;
    const before = names.definer;
    names.definer = { role, name: isOwned && !isRule ? role.name : names.acting(catalog).name };
    this.forget();
    const { name: user } = names.definer;
    const { begun } = this;
    return {
      user,
      lentIn: begun,
      isLess: !isDefiner,
      restore: () => {
        // A statement that was given up ends after later ones have begun.
        if (begun !== this.begun) return;
        names.definer = before;
        this.forget();
      },
    };
  }

  /**
   * As `withRights`, where nothing has an owner. A statement may call a function for each row: what is known of both
   * sides is not looked for again.
   */
  private asMember(catalog: CatalogView) {
    const { names } = this;
    if (this.knownUnder !== names.settings.version) this.forget();
    if (this.common?.catalog !== catalog) {
      const { superuser, name } = names.acting(catalog);
      this.common = { catalog, definer: superuser ? { role: MEMBER_ROLE, name } : null, known: null, who: null };
    }
    const { common, known, who, begun, forgotten } = this;
    if (common.definer === null) return null;
    names.definer = common.definer;
    this.known = common.known;
    this.who = common.who;
    return {
      user: common.definer.name,
      lentIn: begun,
      isLess: true,
      restore: () => {
        if (begun !== this.begun) return;
        names.definer = null;
        if (forgotten !== this.forgotten) return this.forget();
        common.known = this.known;
        common.who = this.who;
        this.known = known;
        this.who = who;
      },
    };
  }

  savepoint(context: ExecContext): Subtransaction {
    const tx = context.tx as ShardTransaction;
    const handle = tx.savepoint();
    const settings = this.names.settings.current();
    const waiting = this.session.savepoint();
    this.subtransactions++;
    return {
      release: () => {
        this.subtransactions--;
        tx.release(handle);
      },
      rollback: () => {
        this.subtransactions--;
        tx.rollbackTo(handle);
        tx.release(handle);
        waiting.rollback();
        this.names.settings.restore(settings);
        this.forget();
      },
    };
  }

  async endTransaction(action: "commit" | "rollback", chain: boolean): Promise<void> {
    if (this.subtransactions > 0) {
      const what = action === "commit" ? "commit" : "roll back";
      throw sqlError("2D000", `cannot ${what} while a subtransaction is active`);
    }
    this.startedMicros = await this.session.endTransaction(action, chain);
    this.forget();
  }

  notice(notice: Notice): void {
    if (this.notices.length < NOTICES_MAX) this.notices.push(notice);
  }
}

/** Rows as values, for the function that asked. */
class RawRows implements Rows {
  readonly values: Value[][] = [];

  append({ columns }: Batch, count: number): number {
    for (let r = 0; r < count; r++) this.values.push(columns.map((column) => column[r]!));
    return 0;
  }
}
