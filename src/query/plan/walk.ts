/**
 * Walks and rewrites plans: the shape of every node is written here once. Called by the optimizer's rules, EXPLAIN and
 * the compiler. Like expression rewrites, plan rewrites share every subtree that does not change.
 */
import type { ColumnId, Expr } from "../expr/expr.js";
import { columnsOf, isVolatile, mapExpr, walkExpr } from "../expr/walk.js";
import type { BoundCheck, OnConflict, Returning } from "./change-plans.js";
import type {
  CountWalksPlan,
  EntityPolicies,
  MatchPlan,
  PatternEdge,
  PatternNode,
  VariableLength,
  WalkStep,
} from "./graph-plans.js";
import { columnsMadeBy, mapStepExprs, matchesOf, variablesOf, withMatches } from "./graph-steps.js";
import type { PruningTest } from "./partition-tree.js";
import type {
  DeferredCall,
  JoinType,
  OutputColumn,
  Plan,
  SortKey,
  WindowBound,
  WindowCall,
  WindowPlan,
} from "./plan.js";
import type { NearestSearch } from "./search-plans.js";

/** The inputs of a node, left before right; plans of subqueries in expressions are not among them. */
export function childrenOf(plan: Plan): readonly Plan[] {
  switch (plan.kind) {
    case "scan":
    case "textsearch":
    case "values":
    case "tablefunction":
    case "pointget":
    case "indexscan":
    case "commonscan":
      return [];
    case "join":
    case "hashjoin":
    case "mergejoin":
    case "setop":
    case "recursive":
      return [plan.left, plan.right];
    case "append":
      return plan.inputs;
    case "with":
      return [...plan.tables.map((definition) => definition.plan), plan.input];
    case "graphwrite":
      return [plan.input, ...matchesOf(plan.steps)];
    default:
      return [plan.input];
  }
}

/**
 * The node with other inputs, as many as `childrenOf` gave; the node itself when all are the same. Columns that a node
 * passes on are those of the new inputs.
 */
export function withChildren(plan: Plan, children: readonly Plan[]): Plan {
  const before = childrenOf(plan);
  if (children.every((child, i) => child === before[i])) return plan;
  switch (plan.kind) {
    case "scan":
    case "textsearch":
    case "values":
    case "tablefunction":
    case "pointget":
    case "indexscan":
    case "commonscan":
      return plan;
    case "projectset":
    case "deferred": {
      const columns = [...children[0]!.columns, ...plan.columns.slice(-plan.calls.length)];
      return Object.freeze({ ...plan, input: children[0]!, columns });
    }
    case "match":
    case "expand":
    case "expandpath":
    case "countwalks": {
      const columns = [...named(plan, children[0]!.columns), ...plan.columns.slice(plan.input.columns.length)];
      return Object.freeze({ ...plan, input: children[0]!, columns });
    }
    case "with": {
      const tables = plan.tables.map((definition, i) => ({ ...definition, plan: children[i]! }));
      const input = children[tables.length]!;
      return Object.freeze({ ...plan, tables, input, columns: named(plan, input.columns) });
    }
    case "join":
    case "hashjoin":
    case "mergejoin": {
      const [left, right] = children as [Plan, Plan];
      return Object.freeze({ ...plan, left, right, columns: named(plan, joinColumns(plan.type, left, right)) });
    }
    case "setop":
    case "recursive":
      return Object.freeze({ ...plan, left: children[0]!, right: children[1]! });
    case "append":
      return Object.freeze({ ...plan, inputs: children });
    case "filter":
    case "sort":
    case "limit":
    case "lock":
    case "topn":
    case "distinct":
      return Object.freeze({ ...plan, input: children[0]!, columns: named(plan, children[0]!.columns) });
    case "window": {
      const calls = plan.columns.slice(plan.columns.length - plan.calls.length);
      const columns = [...named(plan, children[0]!.columns), ...calls];
      return Object.freeze({ ...plan, input: children[0]!, columns });
    }
    case "graphwrite": {
      const [input, ...matches] = children as [Plan, ...Plan[]];
      const columns = [...named(plan, input.columns), ...plan.columns.slice(plan.input.columns.length)];
      return Object.freeze({ ...plan, input, steps: withMatches(plan.steps, matches), columns });
    }
    default:
      return Object.freeze({ ...plan, input: children[0]! });
  }
}

/** What a join of the two hands on: an outer join's other side may be NULL. */
export function joinColumns(type: JoinType, left: Plan, right: Plan): readonly OutputColumn[] {
  if (type === "semi" || type === "anti") return left.columns;
  const leftNull = type === "right" || type === "full";
  const rightNull = type === "left" || type === "full";
  return [...orNull(left.columns, leftNull), ...orNull(right.columns, rightNull)];
}

function orNull(columns: readonly OutputColumn[], nullable: boolean): readonly OutputColumn[] {
  return nullable ? columns.map((column) => (column.nullable ? column : { ...column, nullable: true })) : columns;
}

/** The columns, under the names that the node gave them before. */
function named(plan: Plan, columns: readonly OutputColumn[]): readonly OutputColumn[] {
  const known = new Map(plan.columns.map((column) => [column.id, column]));
  return columns.map((column) => known.get(column.id) ?? column);
}

/** Rewrites bottom-up: `change` sees each node after its inputs and returns it or another one. */
export function mapPlan(plan: Plan, change: (plan: Plan) => Plan): Plan {
  const children = childrenOf(plan);
  if (children.length === 0) return change(plan);
  return change(
    withChildren(
      plan,
      children.map((child) => mapPlan(child, change)),
    ),
  );
}

/** Calls `visit` for the node and everything below it, top-down. */
export function walkPlan(plan: Plan, visit: (plan: Plan) => void): void {
  visit(plan);
  for (const child of childrenOf(plan)) walkPlan(child, visit);
}

/** Rewrites every expression that stands directly in the node (not those of its inputs). */
export function mapExprsOfPlan(plan: Plan, change: (expr: Expr) => Expr): Plan {
  const rewriter = new ExprRewriter(change);
  const next = rewriter.plan(plan);
  return rewriter.changed ? Object.freeze(next) : plan;
}

/** One visit of a node's expressions that remembers whether any of them changed. */
class ExprRewriter {
  changed = false;

  constructor(private readonly change: (expr: Expr) => Expr) {}

  plan(plan: Plan): Plan {
    switch (plan.kind) {
      case "scan":
        return {
          ...plan,
          filter: this.maybe(plan.filter),
          ...(plan.nearest && {
            nearest: this.nearest(plan.nearest),
          }),
        };
      case "textsearch":
        return {
          ...plan,
          filter: this.maybe(plan.filter),
          query: this.one(plan.query),
          mode: this.one(plan.mode),
          counts: plan.counts && this.all(plan.counts),
          ...(plan.visible && { visible: this.one(plan.visible) }),
        };
      case "pointget":
        return { ...plan, key: this.all(plan.key), filter: this.maybe(plan.filter) };
      case "indexscan":
        return {
          ...plan,
          prefix: this.all(plan.prefix),
          keySets: plan.keySets && this.all(plan.keySets),
          lower: plan.lower && { ...plan.lower, expr: this.one(plan.lower.expr) },
          upper: plan.upper && { ...plan.upper, expr: this.one(plan.upper.expr) },
          filter: this.maybe(plan.filter),
        };
      case "values":
        return { ...plan, rows: plan.rows.map((row) => this.all(row)) };
      case "tablefunction":
      case "projectset":
        return { ...plan, calls: plan.calls.map((call) => ({ ...call, args: this.all(call.args) })) };
      case "deferred": {
        const calls = plan.calls.map(({ expr, when }) => ({
          expr: this.one(expr) as DeferredCall["expr"],
          when: this.maybe(when),
        }));
        return { ...plan, calls };
      }
      case "project":
        return { ...plan, exprs: this.all(plan.exprs) };
      case "filter":
        return { ...plan, predicate: this.one(plan.predicate) };
      case "join":
        return { ...plan, condition: this.maybe(plan.condition) };
      case "hashjoin":
      case "mergejoin":
        return {
          ...plan,
          leftKeys: this.all(plan.leftKeys),
          rightKeys: this.all(plan.rightKeys),
          residual: this.maybe(plan.residual),
        };
      case "aggregate":
        return {
          ...plan,
          groups: this.all(plan.groups),
          calls: plan.calls.map((call) => ({
            ...call,
            args: this.all(call.args),
            filter: this.maybe(call.filter),
            orderBy: this.keys(call.orderBy),
            ...(call.direct && { direct: this.all(call.direct) }),
          })),
        };
      case "window":
        return this.window(plan);
      case "sort":
        return { ...plan, keys: this.keys(plan.keys) };
      case "topn":
        return { ...plan, keys: this.keys(plan.keys), limit: this.one(plan.limit), offset: this.maybe(plan.offset) };
      case "lock":
        return { ...plan, keys: this.all(plan.keys) };
      case "limit":
        return {
          ...plan,
          limit: this.maybe(plan.limit),
          offset: this.maybe(plan.offset),
          ...(plan.ties && { ties: this.all(plan.ties) }),
        };
      case "distinct":
        return { ...plan, on: plan.on && this.all(plan.on) };
      case "append":
        return {
          ...plan,
          ...(plan.mergeKeys && { mergeKeys: this.keys(plan.mergeKeys) }),
          ...(plan.tests && { tests: plan.tests.map((tests) => tests.map((test) => this.pruningTest(test))) }),
        };
      case "match":
        return this.match(plan);
      case "expand":
        return { ...plan, from: this.one(plan.from), exclude: this.all(plan.exclude), into: this.maybe(plan.into) };
      case "expandpath":
        return {
          ...plan,
          from: this.one(plan.from),
          exclude: this.all(plan.exclude),
          into: this.maybe(plan.into),
          path: this.path(plan.path),
        };
      case "countwalks":
        return { ...plan, steps: plan.steps.map((step) => this.step(step)) };
      case "setop":
      case "with":
      case "commonscan":
      case "recursive":
        return plan;
      case "graphwrite":
        return {
          ...plan,
          steps: mapStepExprs(plan.steps, (expr) => this.one(expr)),
          ...(plan.policies && {
            policies: { nodes: this.entity(plan.policies.nodes), edges: this.entity(plan.policies.edges) },
          }),
        };
      default:
        return this.modification(plan);
    }
  }

  private pruningTest(test: PruningTest): PruningTest {
    const conditions = test.conditions.map((condition) => ({ ...condition, values: this.all(condition.values) }));
    return { ...test, conditions };
  }

  private match(plan: MatchPlan): Plan {
    const nodes = plan.nodes.map((node): PatternNode => {
      if (node.kind !== "new") return { ...node, id: this.one(node.id) };
      return node.policy === undefined ? node : { ...node, policy: this.one(node.policy) };
    });
    const edges = plan.edges.map((edge): PatternEdge => {
      const { shape } = edge;
      if (shape.kind === "one") {
        return shape.policy === undefined ? edge : { ...edge, shape: { ...shape, policy: this.one(shape.policy) } };
      }
      return { ...edge, shape: shape.kind === "bound" ? { ...shape, id: this.one(shape.id) } : this.path(shape) };
    });
    return { ...plan, nodes, edges, predicate: this.maybe(plan.predicate) };
  }

  private entity(of: EntityPolicies | null): EntityPolicies | null {
    if (of === null) return null;
    const [visible, insert, existing] = [of.visible, of.insert, of.existing].map((some) => this.checks(some));
    return {
      ...of,
      visible: visible!,
      insert: insert!,
      existing: existing!,
      update: this.checks(of.update),
      remove: this.checks(of.remove),
    };
  }

  private step(step: WalkStep): WalkStep {
    return { ...step, from: this.one(step.from), into: this.maybe(step.into), exclude: this.all(step.exclude) };
  }

  private path(path: VariableLength): VariableLength {
    const cycle = path.cycle?.map((step) => ({ ...step, filter: this.maybe(step.filter) }));
    return { ...path, filter: this.maybe(path.filter), bound: this.maybe(path.bound), ...(cycle && { cycle }) };
  }

  private window(plan: WindowPlan): Plan {
    const bound = (of: WindowBound): WindowBound => ({ ...of, offset: this.maybe(of.offset) });
    return {
      ...plan,
      partitionBy: this.all(plan.partitionBy),
      orderBy: this.keys(plan.orderBy),
      frame: { ...plan.frame, start: bound(plan.frame.start), end: bound(plan.frame.end) },
      calls: plan.calls.map((call): WindowCall => {
        const args = this.all(call.args);
        return call.kind === "function" ? { ...call, args } : { ...call, args, filter: this.maybe(call.filter) };
      }),
    };
  }

  private modification(plan: Extract<Plan, { kind: "insert" | "update" | "delete" | "merge" }>): Plan {
    const returning = this.returning(plan.returning);
    if (plan.kind === "delete") return { ...plan, returning };
    const checks = this.checks(plan.checks);
    const heirs = plan.kind !== "insert" && plan.heirs?.map((heir) => ({ ...heir, checks: this.checks(heir.checks) }));
    if (plan.kind === "merge") {
      const actions = plan.actions.map((action) => ({
        ...action,
        condition: this.maybe(action.condition),
        assignments: this.assignments(action.assignments),
        ...(action.policies && { policies: this.policies(action.policies) }),
      }));
      return { ...plan, returning, checks, actions, ...(heirs && { heirs }) };
    }
    if (plan.kind === "update") {
      const assignments = this.assignments(plan.assignments);
      return { ...plan, returning, checks, assignments, ...(heirs && { heirs }) };
    }
    const conflict = plan.onConflict;
    const onConflict = conflict && {
      ...conflict,
      assignments: this.assignments(conflict.assignments),
      where: this.maybe(conflict.where),
      ...(conflict.policies && { policies: this.policies(conflict.policies) }),
    };
    return { ...plan, returning, checks, onConflict };
  }

  private nearest({ distance, within, ...nearest }: NearestSearch): NearestSearch {
    return {
      ...nearest,
      ...(within && { within: this.one(within) }),
      query: this.one(nearest.query),
      counts: this.all(nearest.counts),
      ...(distance && { distance: { ...distance, call: this.one(distance.call) } }),
    };
  }

  private checks(checks: readonly BoundCheck[]): readonly BoundCheck[] {
    return checks.map((check) => ({ ...check, predicate: this.one(check.predicate) }));
  }

  private policies({ using, checks }: NonNullable<OnConflict["policies"]>): NonNullable<OnConflict["policies"]> {
    return { using: this.checks(using), checks: this.checks(checks) };
  }

  private returning(returning: Returning | null): Returning | null {
    return returning && { ...returning, exprs: this.all(returning.exprs) };
  }

  private assignments(assignments: readonly { readonly columnId: number; readonly expr: Expr }[]) {
    return assignments.map(({ columnId, expr }) => ({ columnId, expr: this.one(expr) }));
  }

  private keys(keys: readonly SortKey[]): readonly SortKey[] {
    return keys.map((key) => ({ ...key, expr: this.one(key.expr) }));
  }

  private all(exprs: readonly Expr[]): readonly Expr[] {
    return exprs.map((expr) => this.one(expr));
  }

  private maybe(expr: Expr | null): Expr | null {
    return expr === null ? null : this.one(expr);
  }

  private one(expr: Expr): Expr {
    const next = this.change(expr);
    if (next !== expr) this.changed = true;
    return next;
  }
}

/** Every expression that stands directly in the node. */
export function exprsOfPlan(plan: Plan): readonly Expr[] {
  const exprs: Expr[] = [];
  mapExprsOfPlan(plan, (expr) => {
    exprs.push(expr);
    return expr;
  });
  return exprs;
}

/** Rewrites the plan of each subquery in the node's expressions. */
export function mapSubqueries(plan: Plan, change: (plan: Plan) => Plan): Plan {
  return mapExprsOfPlan(plan, (expr) =>
    mapExpr(expr, (node) => {
      if (node.kind !== "subquery") return node;
      const next = change(node.plan);
      return next === node.plan ? node : Object.freeze({ ...node, plan: next });
    }),
  );
}

/** Plans of subqueries in the node's own expressions. */
export function subqueriesOf(plan: Plan): readonly Extract<Expr, { kind: "subquery" }>[] {
  const found: Extract<Expr, { kind: "subquery" }>[] = [];
  for (const expr of exprsOfPlan(plan)) {
    walkExpr(expr, (node) => {
      if (node.kind === "subquery") found.push(node);
    });
  }
  return found;
}

/** Of nodes that were asked for: nodes do not change, and rules ask for each level of a nested plan. */
const OUTER_COLUMNS = new WeakMap<Plan, ReadonlySet<ColumnId>>();

/**
 * Columns that the plan reads but does not make: those of enclosing queries, or of a lateral join's left side.
 * Ids are unique in a statement, so what some node below makes is never meant from outside. A node hands on what those
 * above it may read, so its inputs' columns are all that it can find below.
 */
export function outerColumnsOf(plan: Plan): ReadonlySet<ColumnId> {
  const known = OUTER_COLUMNS.get(plan);
  if (known !== undefined) return known;
  const read = new Set<ColumnId>();
  for (const expr of exprsOfPlan(plan)) for (const id of columnsOf(expr)) read.add(id);
  if (plan.kind === "commonscan") for (const id of plan.table.outer) read.add(id);
  const children = childrenOf(plan);
  for (const child of children) for (const id of outerColumnsOf(child)) read.add(id);
  for (const child of children) for (const { id } of child.columns) read.delete(id);
  for (const { id } of madeBy(plan)) read.delete(id);
  if (plan.kind === "recursive") read.delete(plan.iteration);
  if (plan.kind === "graphwrite") for (const id of variablesOf(plan.steps)) read.delete(id);
  OUTER_COLUMNS.set(plan, read);
  return read;
}

/** Columns that only the steps themselves read. */
function namedBy({ start, steps }: CountWalksPlan): { readonly id: ColumnId }[] {
  const ids = [start, ...steps.flatMap(({ edge, other }) => [edge, other])];
  return ids.flatMap((id) => (id === null ? [] : { id }));
}

function madeBy(plan: Plan): readonly { readonly id: ColumnId }[] {
  switch (plan.kind) {
    case "insert":
      return plan.onConflict === null
        ? [...plan.columns, ...plan.rowColumns]
        : [...plan.columns, ...plan.rowColumns, ...plan.onConflict.existing, ...plan.onConflict.excluded];
    case "update":
    case "merge":
      return [...plan.columns, ...plan.rowColumns, ...(plan.heirs?.flatMap((heir) => heir.rowColumns) ?? [])];
    case "delete":
      return [...plan.columns, ...plan.oldColumns];
    case "match":
      return [...plan.columns, ...plan.edges.flatMap((edge) => (edge.shape.kind === "many" ? eachOf(edge.shape) : []))];
    case "expandpath":
      return [...plan.columns, ...eachOf(plan.path)];
    case "scan":
      return plan.nearest?.distance === undefined ? plan.columns : [...plan.columns, plan.nearest.distance.vector];
    case "graphwrite":
      return [
        ...plan.columns,
        ...columnsMadeBy(plan.steps),
        ...(plan.policies?.nodes?.columns ?? []),
        ...(plan.policies?.edges?.columns ?? []),
      ];
    case "countwalks":
      return [...plan.columns, ...namedBy(plan)];
    default:
      return plan.columns;
  }
}

function eachOf({ each, cycle }: VariableLength): readonly OutputColumn[] {
  const all = cycle?.map((step) => step.each) ?? [each];
  return all.flatMap(({ id, type, src, dst, properties }) => [id, type, src, dst, properties]);
}

type ModifyingPlan = Extract<Plan, { kind: "insert" | "update" | "delete" | "merge" | "graphwrite" }>;

const MODIFYING: ReadonlySet<Plan["kind"]> = new Set<ModifyingPlan["kind"]>([
  "insert",
  "update",
  "delete",
  "merge",
  "graphwrite",
]);

/** The nodes that change data, in the plan and in subqueries. */
export function modifyingNodes(plan: Plan): readonly ModifyingPlan[] {
  const found: ModifyingPlan[] = [];
  walkPlan(plan, (node) => {
    if (MODIFYING.has(node.kind)) found.push(node as ModifyingPlan);
    for (const subquery of subqueriesOf(node)) found.push(...modifyingNodes(subquery.plan));
  });
  return found;
}

/** True when the plan or a subquery in it changes data. */
export function modifiesData(plan: Plan): boolean {
  let modifies = false;
  walkPlan(plan, (node) => {
    if (MODIFYING.has(node.kind)) modifies = true;
    else if (subqueriesOf(node).some((subquery) => modifiesData(subquery.plan))) modifies = true;
  });
  return modifies;
}

/** Of nodes that were asked for, as in OUTER_COLUMNS. */
const IS_VOLATILE = new WeakMap<Plan, boolean>();

/** Calls a volatile function somewhere, so that another run may give other rows. */
export function isVolatilePlan(plan: Plan): boolean {
  const known = IS_VOLATILE.get(plan);
  if (known !== undefined) return known;
  const volatile =
    exprsOfPlan(plan).some(isVolatile) ||
    subqueriesOf(plan).some((subquery) => isVolatilePlan(subquery.plan)) ||
    childrenOf(plan).some(isVolatilePlan);
  IS_VOLATILE.set(plan, volatile);
  return volatile;
}
