/**
 * Plans for texts that differ only in their constants. A text is planned with parameters in place of its constants
 * (lifted-constants.ts). That plan is used with other constants under two conditions. With its own constants put back,
 * it equals, node by node, what was bound from the text. And it finds its rows by key, so no constant would give a
 * better plan. Every other text is planned as it was sent. One per tenant.
 */
import { DbError } from "../protocol/errors.js";
import { Overrun } from "../protocol/stretch.js";
import type { ScalarFunction } from "../query/expr/expr.js";
import type { Plan } from "../query/plan/plan.js";
import { subqueriesOf, walkPlan } from "../query/plan/walk.js";
import type { BoundQuery } from "../sql/bind/bound-statement.js";
import { fromText } from "../values/text-format.js";
import type { SqlType, Value } from "../values/values.js";
import { type LiftedConstant, type LiftedText, liftConstants } from "./lifted-constants.js";
import type { PlanCache } from "./plan-cache.js";
import type { StatementPlan } from "./statement-plan.js";
import type { StatementRun, StatementText } from "./statement-run.js";

/** A plan and what it is to be run with. */
export interface ReadyRun {
  readonly plan: StatementPlan;
  readonly run: StatementRun;
}

/** What is known of a text without its constants, while the definitions stay the same. */
interface Shape {
  readonly catalogVersion: number;
  sights: number;
  isRefused: boolean;
}

interface Lifted extends LiftedText {
  /** What the plan cache calls it in the session that asks. */
  readonly key: string;
}

const SHAPES_MAX = 2_000;
/** A text that comes once is not worth a second plan. */
const SIGHTS_MIN = 2;
/** Strings in a text may be of these types: their text means the same at all times, and is not cut. */
const READABLE = new Set(["text", "varchar", "bool", "int2", "int4", "int8", "float8", "numeric", "uuid"]);
/** Nodes whose rows do not depend on how the values of columns are spread. */
const BY_KEY = new Set<Plan["kind"]>([
  "pointget",
  "values",
  "project",
  "filter",
  "limit",
  "insert",
  "update",
  "delete",
]);

export class LiftedPlans {
  private readonly shapes = new Map<string, Shape>();
  /**
   * The text that was looked at last: who finds no plan for it makes one. Names may mean something else to the next
   * session.
   */
  private last: { readonly of: string; readonly lifted: LiftedText | null } | null = null;

  constructor(private readonly plans: PlanCache) {}

  /** Null: there is no plan for the text without its constants. `keyOf`: under what the session's plans know a text. */
  find(run: StatementRun, catalogVersion: number | string, keyOf: (sql: string) => string): ReadyRun | null {
    const lifted = this.lift(run, keyOf);
    const plan = lifted === null ? null : this.plans.find(lifted.key, catalogVersion, null);
    const params = plan === null ? null : valuesOf(lifted!.constants, plan.parameterTypes);
    return params === null ? null : { plan: plan!, run: { ...run, params, declared: plan!.parameterTypes } };
  }

  /** A text was planned as it was sent. `planned` plans the one without constants. */
  learn(
    run: StatementRun,
    asSent: StatementPlan,
    keyOf: (sql: string) => string,
    planned: (text: StatementText) => StatementPlan,
  ): void {
    const { catalogVersion } = asSent;
    const lifted = typeof catalogVersion === "number" ? this.lift(run, keyOf) : null;
    if (lifted === null) return;
    const shape = this.shapeOf(lifted.key, catalogVersion as number);
    if (shape.isRefused || ++shape.sights < SIGHTS_MIN) return;
    const plan = fittingPlan(lifted, asSent, planned);
    if (plan === null) shape.isRefused = true;
    else this.plans.add(lifted.key, plan);
  }

  private lift(
    { sql, params, declared, language, graph, waits, command, long }: StatementRun,
    keyOf: (sql: string) => string,
  ) {
    const isPlain = Array.isArray(params) && params.length === 0 && declared === undefined && command === undefined;
    if (!isPlain || long != null || language === "cypher" || graph !== undefined || waits === true) return null;
    if (this.last?.of !== sql) this.last = { of: sql, lifted: liftConstants(sql) };
    const { lifted } = this.last;
    if (lifted === null) return null;
    const types = lifted.constants.map(({ type }) => type.name).join();
    return { ...lifted, key: `lifted\0${types}\0${keyOf(lifted.sql)}` };
  }

  private shapeOf(key: string, catalogVersion: number): Shape {
    let shape = this.shapes.get(key);
    if (shape === undefined || shape.catalogVersion !== catalogVersion) {
      shape = { catalogVersion, sights: 0, isRefused: false };
      this.shapes.set(key, shape);
      if (this.shapes.size > SHAPES_MAX) this.shapes.delete(this.shapes.keys().next().value!);
    }
    return shape;
  }
}

/**
 * Null: a string is no value of the type, or takes long to read. Then the text is planned, whose errors tell the place.
 */
function valuesOf(constants: readonly LiftedConstant[], types: readonly SqlType[]): readonly Value[] | null {
  try {
    return constants.map((constant, i) => read(constant, types[i]!));
  } catch (error) {
    if (error instanceof DbError || error instanceof Overrun) return null;
    throw error;
  }
}

function read({ type, value }: LiftedConstant, wanted: SqlType): Value {
  return type.name === "unknown" ? fromText(wanted, value as string) : value;
}

/** The plan of the text without constants; null: it does not fit. */
function fittingPlan(
  { sql, constants }: Lifted,
  asSent: StatementPlan,
  planned: (text: StatementText) => StatementPlan,
): StatementPlan | null {
  if (!isSimple(asSent)) return null;
  const declared = constants.map(({ type }) => (type.name === "unknown" ? null : type));
  let plan: StatementPlan;
  try {
    plan = planned({ sql, params: [], declared });
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
  const types = plan.parameterTypes;
  const areReadable = constants.every(({ type }, i) => type.name !== "unknown" || isReadable(types[i]!));
  if (types.length !== constants.length || !areReadable || !isSimple(plan) || !isByKey(plan.program!.plan)) return null;
  const values = valuesOf(constants, types);
  if (values === null) return null;
  const comparison = new Comparison(values);
  const isSame = comparison.same(withoutParameters(asSent.bound), withoutParameters(plan.bound));
  return isSame && comparison.found.size === values.length && haveSameNulls(asSent, plan) ? plan : null;
}

function isReadable({ name, modifier, user, element }: SqlType): boolean {
  return READABLE.has(name) && modifier == null && user == null && element === null;
}

function isSimple({ bound, checks, graph, openParameters }: StatementPlan): boolean {
  if (bound.kind !== "query" || bound.callsRoutines) return false;
  return checks.length === 0 && graph === null && openParameters.length === 0;
}

function isByKey(plan: Plan): boolean {
  let isByKey = true;
  walkPlan(plan, (node) => {
    if (!BY_KEY.has(node.kind) || subqueriesOf(node).length > 0) isByKey = false;
  });
  return isByKey;
}

/** Clients are told which columns of the result may be null. */
function haveSameNulls({ shape: sent }: StatementPlan, { shape: lifted }: StatementPlan): boolean {
  return sent!.outputs.every(({ nullable }, c) => nullable === lifted!.outputs[c]!.nullable);
}

/** All but what says that there are parameters. */
function withoutParameters(bound: StatementPlan["bound"]): Partial<BoundQuery> {
  const { parameterTypes: _, ...rest } = bound as BoundQuery;
  return rest;
}

/** Compares what was bound from a text with what was bound from the text without its constants. */
class Comparison {
  /** The parameters that were met. */
  readonly found = new Set<number>();

  constructor(private readonly values: readonly Value[]) {}

  same(sent: unknown, lifted: unknown): boolean {
    if (Object.is(sent, lifted)) return true;
    if (typeof sent !== "object" || typeof lifted !== "object" || sent === null || lifted === null) return false;
    const parameter = parameterOf(lifted);
    if (parameter !== null && isExpr(sent, "const")) return this.sameConstant(sent, parameter);
    if (isExpr(lifted, "param")) return false;
    if (Object.getPrototypeOf(sent) !== Object.getPrototypeOf(lifted)) return false;
    if (Array.isArray(sent)) {
      return (
        sent.length === (lifted as unknown[]).length &&
        sent.every((each, i) => this.same(each, (lifted as unknown[])[i]))
      );
    }
    if (sent instanceof Map || sent instanceof Set) return this.same([...sent], [...(lifted as Set<unknown>)]);
    const keys = Object.keys(sent);
    if (keys.length !== Object.keys(lifted).length) return false;
    return keys.every((key) => {
      // Of a parameter it is not known that it is not null; a plan that allows for more is right, too.
      if (key === "nullable" && lifted[key as never] === true) return true;
      return this.same(sent[key as never], lifted[key as never]);
    });
  }

  private sameConstant(sent: Constant, { index, type }: Parameter): boolean {
    this.found.add(index);
    return this.same(sent.type, type) && this.same(sent.value, this.values[index]);
  }
}

/**
 * The parameter whose value an expression has, where that is not NULL: no constant of a text that is lifted is. A key
 * that may be given as NULL, to get the next one, is bound as COALESCE; a constant in its place is bound as itself.
 */
function parameterOf(expr: object): Parameter | null {
  if (isExpr(expr, "param")) return expr;
  const { kind, fn, args } = expr as { kind?: unknown; fn?: ScalarFunction; args?: readonly object[] };
  if (kind !== "call" || fn?.name !== "coalesce" || fn.lazy !== true) return null;
  const first = args?.[0];
  return first !== undefined && isExpr(first, "param") ? first : null;
}

type Constant = { readonly type: SqlType; readonly value: Value };
type Parameter = { readonly type: SqlType; readonly index: number };

function isExpr(node: object, kind: "param"): node is Parameter;
function isExpr(node: object, kind: "const"): node is Constant;
function isExpr(node: object, kind: string): boolean {
  return (node as { kind?: unknown }).kind === kind;
}
