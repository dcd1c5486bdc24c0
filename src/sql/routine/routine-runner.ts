/**
 * Runs functions, procedures and anonymous blocks that statements made. One per session; called by services of
 * expressions (EvalServices.callRoutine) and the session. A call runs in the transaction of its statement. A call that
 * may wait gives the actor's loop its turns; one inside an expression runs to its end in one go.
 */
import { type FunctionDef, outputsOf } from "../../catalog/function.js";
import type { RuleActions } from "../../catalog/trigger.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { ROUTINE_DEPTH_MAX } from "../../protocol/limits.js";
import { sizeError } from "../../protocol/size-errors.js";
import type { ExecContext, TriggerAnswer } from "../../query/exec/context.js";
import { after } from "../../query/exec/operator.js";
import type { TriggerFiring } from "../../query/exec/trigger-firing.js";
import { uninterrupted } from "../../query/exec/uninterrupted.js";
import type { RoutineCall, RoutineRows, TransitionTable } from "../../query/expr/expr.js";
import { type SqlType, type Value, VOID } from "../../values/values.js";
import type { RoutineHost, RoutinePlan, RunOptions, StatementResult } from "./host.js";
import { OwnPlans } from "./own-plans.js";
import { PlpgsqlRoutine } from "./plpgsql/plpgsql-routine.js";
import { PlpgsqlTrigger } from "./plpgsql/plpgsql-trigger.js";
import type { Invocation, PreparedRoutine } from "./prepared-routine.js";
import { runRule } from "./rule-runner.js";
import { SqlRoutine } from "./sql-routine.js";
import { runSystemTrigger } from "./system-triggers.js";

const prepared = new WeakMap<RoutineCall, PreparedRoutine>();

/** Trigger functions made ready, by the id of the trigger that calls them. */
const preparedTriggers = new WeakMap<FunctionDef, Map<number, PlpgsqlTrigger>>();

export class RoutineRunner {
  private depth = 0;
  /** The outermost calls that may end the transaction: those of procedures and DO, each in the one before. */
  private ending = 0;
  /** Functions of triggers by id. */
  private found: { readonly epoch: string; readonly byId: Map<number, FunctionDef> } | null = null;
  /** Of calls by triggers among them. */
  triggerDepth = 0;

  private readonly ownPlans: OwnPlans;

  constructor(private readonly host: RoutineHost) {
    this.ownPlans = new OwnPlans(host);
  }

  call(routine: RoutineCall, args: readonly Value[], context: ExecContext, canWait: boolean): Value | Promise<Value> {
    const value = this.run(routine, context, canWait, (body, invocation) => body.value(args, invocation));
    if (canWait || !(value instanceof Promise)) return value;
    // A function in its FROM waits. Nobody is told how that ends, and it may be after the statement's end.
    value.catch(() => undefined);
    throw sqlError("0A000", "a function that is called here would have to wait for another one in its FROM", {
      hint: "Call it by itself in a select list or in FROM.",
    });
  }

  /** Rows of a function in FROM: of one that returns a value, that value or the fields of its record. */
  rows(
    routine: RoutineCall,
    args: readonly Value[],
    shape: SqlType,
    context: ExecContext,
  ): RoutineRows | Promise<RoutineRows> {
    const definition = routine.definition;
    return this.run(routine, context, true, (body, invocation) => {
      if (definition.returnsSet) return body.rows(args, shape, invocation);
      if (shape.fields !== undefined && routine.returns.fields === undefined) {
        return after(body.rows(args, shape, invocation), (rows) => (rows.length === 0 ? [[]] : rows.slice(0, 1)));
      }
      return after(body.value(args, invocation), (value) => {
        if (shape.fields === undefined) return [[value]];
        return [(value ?? []) as readonly Value[]];
      });
    });
  }

  /** CALL: the values of the procedure's outputs. */
  callProcedure(
    routine: RoutineCall,
    args: readonly Value[],
    context: ExecContext,
  ): readonly Value[] | Promise<readonly Value[]> {
    const outputs = outputsOf(routine.definition).length;
    return after(this.command(routine, args, context), (value) => {
      return outputs === 0 ? [] : ((value ?? new Array<Value>(outputs).fill(null)) as readonly Value[]);
    });
  }

  /**
   * Runs a statement outside any function as if a function ran it; if it fails, its changes are undone. `params`: its
   * values, once its parameter types are known.
   */
  async statement(
    sql: string,
    params: (plan: RoutinePlan) => readonly Value[],
    { maxRows, own }: Pick<RunOptions, "maxRows" | "own">,
    outer: ExecContext,
  ): Promise<StatementResult> {
    const context = innerContext(outer, true);
    return this.enclosed(
      async () => {
        const point = this.host.savepoint(context);
        try {
          const plan = this.ownPlans.planOf(sql, own, context);
          const how = { maxRows, canWait: true, ...(own === true && { own }) };
          const result = await this.host.run(plan, params(plan), context, how);
          point.release();
          return result;
        } catch (error) {
          point.rollback();
          throw error;
        }
      },
      () => undefined,
    );
  }

  /** DO. */
  block(body: string, context: ExecContext): Value | Promise<Value> {
    const definition: FunctionDef = { ...ANONYMOUS, body };
    return this.command({ definition, parameterTypes: [], returns: VOID }, [], context);
  }

  /** As `call`; the body may end the transaction unless a function has called it. */
  private command(routine: RoutineCall, args: readonly Value[], context: ExecContext): Value | Promise<Value> {
    const { language, settings, securityDefiner } = routine.definition;
    const isPlain = language === "plpgsql" && settings.length === 0 && securityDefiner !== true;
    if (!isPlain || this.ending !== this.depth) return this.call(routine, args, context, true);
    this.ending++;
    let waiting = false;
    try {
      const value = this.run(routine, context, true, (body, invocation) =>
        body.value(args, { ...invocation, endsTransactions: true }),
      );
      if (!(value instanceof Promise)) return value;
      waiting = true;
      return value.finally(() => this.ending--);
    } finally {
      if (!waiting) this.ending--;
    }
  }

  /** Runs a trigger's function: the row that it returns, by the relation's columns. */
  fire(firing: TriggerFiring, outer: ExecContext): TriggerAnswer | Promise<TriggerAnswer> {
    const { calls } = firing.trigger;
    if (typeof calls === "string") return runSystemTrigger(calls, firing, outer);
    if (typeof calls === "object") return this.runRule(calls, firing, outer);
    const definition = this.functionOf(calls, outer);
    const { settings } = definition;
    const rights = this.host.withRights(definition, outer);
    const restore = this.withSettings(settings, rights, outer);
    return this.enclosed(
      () => {
        this.triggerDepth++;
        const body = preparedTrigger(definition, firing.trigger.id);
        const canWait = outer.isUninterrupted !== true;
        const context = { ...actingIn(innerContext(outer, canWait), rights), ...shownTransitions(firing) };
        return body.fire(firing, { host: this.host, context, canWait, readOnly: false });
      },
      () => {
        this.triggerDepth--;
        restore?.();
        rights?.restore();
      },
      rights?.isLess === true ? definition : null,
    );
  }

  /** The definition of a function, which is looked up once per catalog. */
  private functionOf(id: number, context: ExecContext): FunctionDef {
    const epoch = this.host.epoch(context);
    if (this.found?.epoch !== epoch) this.found = { epoch, byId: new Map() };
    const { byId } = this.found;
    const known = byId.get(id);
    if (known !== undefined) return known;
    const { catalog } = this.host.environment(context);
    const definition = catalog.functions().find((fn) => fn.id === id)!;
    byId.set(id, definition);
    return definition;
  }

  private runRule(
    rule: RuleActions,
    firing: TriggerFiring,
    outer: ExecContext,
  ): TriggerAnswer | Promise<TriggerAnswer> {
    const canWait = outer.isUninterrupted !== true;
    // As in PostgreSQL, its statements are those of who owns the relation, and current_user stays who it is.
    const rights = this.host.withRights(firing.relation, outer, true);
    const context = actingIn(innerContext(outer, canWait), rights);
    const invocation = { host: this.host, context, canWait, readOnly: false };
    return this.enclosed(
      () => runRule(rule, firing, invocation),
      () => rights?.restore(),
    );
  }

  private run<T>(
    routine: RoutineCall,
    outer: ExecContext,
    canWait: boolean,
    run: (body: PreparedRoutine, invocation: Invocation) => T | Promise<T>,
  ): T | Promise<T> {
    const definition = routine.definition;
    if (definition.returns.name === "trigger" || definition.returns.name === "event_trigger") {
      throw sqlError("0A000", "trigger functions can only be called as triggers");
    }
    const { settings } = definition;
    const rights = this.host.withRights(definition, outer);
    const restore = this.withSettings(settings, rights, outer);
    return this.enclosed(
      () => {
        let body = prepared.get(routine);
        if (body === undefined) {
          body = definition.language === "plpgsql" ? new PlpgsqlRoutine(routine) : new SqlRoutine(routine);
          prepared.set(routine, body);
        }
        const context = actingIn(innerContext(outer, canWait), rights);
        return run(body, { host: this.host, context, canWait, readOnly: definition.volatility !== "volatile" });
      },
      () => {
        restore?.();
        rights?.restore();
      },
      rights?.isLess === true ? definition : null,
    );
  }

  /** A function's SET clauses, after its rights: those go again where the settings are refused. */
  private withSettings(
    settings: FunctionDef["settings"],
    rights: ReturnType<RoutineHost["withRights"]>,
    outer: ExecContext,
  ): (() => void) | null {
    if (settings.length === 0) return null;
    try {
      return this.host.withSettings(settings, outer);
    } catch (error) {
      rights?.restore();
      throw error;
    }
  }

  /** Counts the calls that are open. Throws 54001. `reduced`: what runs with less than the caller's rights. */
  private enclosed<T>(
    run: () => T | Promise<T>,
    leave: () => void,
    reduced: FunctionDef | null = null,
  ): T | Promise<T> {
    if (this.depth >= ROUTINE_DEPTH_MAX) {
      leave();
      throw tooDeep();
    }
    this.depth++;
    const left = () => {
      this.depth--;
      leave();
    };
    let waiting = false;
    try {
      const result = run();
      if (result instanceof Promise) {
        waiting = true;
        return result.finally(left).catch((error: unknown) => {
          throw asOutside(error, reduced);
        });
      }
      return result;
    } catch (error) {
      throw asOutside(error, reduced);
    } finally {
      if (!waiting) left();
    }
  }
}

/** Triggers of one function that are kept ready; a table may have thousands of partitions. */
const PREPARED_TRIGGERS_MAX = 256;

function preparedTrigger(definition: FunctionDef, triggerId: number): PlpgsqlTrigger {
  let byTrigger = preparedTriggers.get(definition);
  if (byTrigger === undefined) {
    byTrigger = new Map();
    preparedTriggers.set(definition, byTrigger);
  }
  let body = byTrigger.get(triggerId);
  if (body !== undefined) return body;
  if (byTrigger.size >= PREPARED_TRIGGERS_MAX) byTrigger.clear();
  body = new PlpgsqlTrigger(definition);
  byTrigger.set(triggerId, body);
  return body;
}

/** Rows of the statement, for a trigger that has names for them. */
function shownTransitions({ trigger, relation, transitions }: TriggerFiring): Pick<ExecContext, "transitions"> {
  const { oldTable, newTable } = trigger;
  if (transitions === null || (oldTable === undefined && newTable === undefined)) return {};
  const tables = new Map<string, TransitionTable>();
  const { columns } = relation;
  if (oldTable !== undefined) tables.set(oldTable, { columns, rows: transitions.before });
  if (newTable !== undefined) tables.set(newTable, { columns, rows: transitions.after });
  return { transitions: tables };
}

/** Places in a body are no places in the statement that calls it. */
function asOutside(error: unknown, reduced: FunctionDef | null): unknown {
  if (error instanceof RangeError) return sizeError(error) ?? error;
  if (!(error instanceof DbError)) return error;
  const isDenied = reduced !== null && error.details?.sqlstate === "42501" && error.details.hint === undefined;
  if (error.details?.position === undefined && !isDenied) return error;
  const { position: _, ...details } = error.details ?? {};
  return new DbError(error.code, error.message, isDenied ? { ...details, hint: rightsHint(reduced) } : details);
}

function rightsHint({ kind, schema, name }: FunctionDef): string {
  const whose = "It runs with its owner's rights, or with everybody's where nobody owns it";
  const alter = `ALTER ${kind.toUpperCase()} ${schema}.${name} OWNER TO admin`;
  return `${name}() does not run with the rights of an administrator who calls it. ${whose}. "${alter}" gives it an administrator's.`;
}

/** What DO runs. */
const ANONYMOUS: FunctionDef = {
  id: 0,
  schema: "",
  name: "inline_code_block",
  kind: "function",
  parameters: [],
  returns: { type: VOID },
  returnsSet: false,
  language: "plpgsql",
  body: "",
  volatility: "volatile",
  strict: false,
  settings: [],
  createdAt: 0,
};

function tooDeep(): DbError {
  return sqlError("54001", "stack depth limit exceeded", {
    hint: `Functions may call each other ${ROUTINE_DEPTH_MAX} levels deep.`,
  });
}

/** Statements of a body see the current state, and do not depend on the rows around the call. */
function innerContext(outer: ExecContext, canWait: boolean): ExecContext {
  const { live: _, transitions: __, ...rest } = outer;
  const context: ExecContext = { ...rest, tx: outer.live ?? outer.tx, outer: null };
  return canWait ? context : uninterrupted(context);
}

/** With who the function runs as, for current_user, and the statement in which it got other rights. */
function actingIn(context: ExecContext, rights: ReturnType<RoutineHost["withRights"]>): ExecContext {
  return rights === null ? context : { ...context, user: rights.user, lentIn: rights.lentIn };
}
