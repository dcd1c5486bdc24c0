/**
 * Clauses that write. Each becomes a table of the statement that runs to its end before what follows reads it
 * (`sequential` of WithPlan); what follows reads the same columns.
 */
import { MAP_OF } from "../../query/expr/cypher/registry.js";
import type { Expr } from "../../query/expr/expr.js";
import type {
  EdgeColumns,
  GraphWritePlan,
  GraphWriteStep,
  MergeStep,
  NodeColumns,
} from "../../query/plan/graph-plans.js";
import type { CommonTable, OutputColumn, Plan } from "../../query/plan/plan.js";
import type {
  ChangedProperty,
  CreateClause,
  DeleteClause,
  Expr as ExprNode,
  ForeachClause,
  LabelExpr,
  LabelsItem,
  MapLiteral,
  MergeClause,
  NodePattern,
  Parameter,
  PathPattern,
  RelationshipPattern,
  RemoveItem,
  SetItem,
} from "../parse/ast.js";
import { bindArgument } from "./bind-expr.js";
import { localColumn, withLocal } from "./bind-list-expr.js";
import { bindMergePattern } from "./bind-match.js";
import { type Binding, contextOf, type ExprContext, type Rows } from "./binding.js";
import { edgeColumns, nodeColumns } from "./pattern-binder.js";
import {
  call,
  columnsOfEntity,
  idOf,
  type PathPart,
  pathOf,
  textConst,
  type Variable,
  type Variables,
  valueOfVariable,
  variant,
} from "./variables.js";
import { isWriting, type WritingClause } from "./writes.js";

/** One clause, or several CREATE one after the other, which see nothing of each other but their variables. */
export function bindWrites(clauses: readonly WritingClause[], rows: Rows, binding: Binding): Rows {
  const writer = new WriteBinder(rows.scope, binding);
  for (const clause of clauses) writer.clause(clause);
  return written(writer, rows, binding);
}

/** The rows after a clause's steps: `columns` and `scope` are what they make. */
export function written(
  {
    steps,
    columns,
    scope,
  }: {
    readonly steps: readonly GraphWriteStep[];
    readonly columns: readonly OutputColumn[];
    readonly scope: Variables;
  },
  rows: Rows,
  binding: Binding,
): Rows {
  const entities = [...rows.scope.values()];
  const given = new Set(rows.plan.columns.map(({ id }) => id));
  const plan: Plan = Object.freeze({
    kind: "graphwrite",
    graph: binding.graph,
    input: rows.plan,
    steps,
    nodes: distinct(
      entities.flatMap((variable) => (variable.kind === "node" ? [variable.columns] : [])),
      given,
    ),
    edges: distinct(
      entities.flatMap((variable) => (variable.kind === "relationship" ? [variable.columns] : [])),
      given,
    ),
    ...policiesOf(binding),
    columns: [...rows.plan.columns, ...columns],
  });
  return { plan: asTable(plan, true, binding), scope };
}

function policiesOf({ guard }: Binding): Partial<Pick<GraphWritePlan, "policies">> {
  return guard === null ? {} : { policies: { nodes: guard.writtenNodes(), edges: guard.writtenEdges() } };
}

/** The rows as a table of the statement's, and a scan of it in the same columns. */
export function asTable(plan: Plan, modifies: boolean, binding: Binding): Plan {
  const table: CommonTable = Object.freeze({ name: `clause ${binding.tables.length + 1}`, outer: [], working: false });
  binding.tables.push({ table, plan, modifies });
  return Object.freeze({ kind: "commonscan", table, alias: table.name, columns: plan.columns });
}

/** Each entity once, of those that the rows have. */
function distinct<C extends NodeColumns | EdgeColumns>(entities: readonly C[], given: ReadonlySet<number>): C[] {
  const byId = new Map(entities.map((columns) => [columns.id.id, columns]));
  return [...byId.values()].filter(({ id }) => given.has(id.id));
}

/** The steps of clauses, and the variables and columns that they add. */
class WriteBinder {
  readonly steps: GraphWriteStep[] = [];
  readonly columns: OutputColumn[] = [];
  private anonymous = 0;
  /** A CREATE is at work: its scope is its own, so that it is not copied for each of thousands of nodes. */
  private createsScope = false;

  constructor(
    public scope: Variables,
    private readonly binding: Binding,
  ) {}

  clause(clause: WritingClause): void {
    switch (clause.kind) {
      case "create":
        this.create(clause);
        return;
      case "merge":
        this.merge(clause);
        return;
      case "set":
        this.steps.push(...clause.items.map((item) => this.setStep(item, this.scope)));
        return;
      case "remove":
        this.steps.push(...clause.items.map((item) => this.removeStep(item)));
        return;
      case "delete":
        this.delete(clause);
        return;
      case "foreach":
        this.foreach(clause);
    }
  }

  // ---- CREATE ----

  private create({ patterns }: CreateClause): void {
    this.scope = new Map(this.scope);
    this.createsScope = true;
    for (const pattern of patterns) this.createPath(pattern);
    this.createsScope = false;
  }

  private createPath({ variable, start, steps }: PathPattern): void {
    let left = this.createNode(start);
    const first = left;
    const parts: PathPart[] = [];
    const edges: (() => void)[] = [];
    for (const { relationship, node } of steps) {
      const right = this.createNode(node);
      const [from, to] = [left, right];
      const columns = edgeColumns(relationship.variable?.name ?? this.anonymousName(), false, this.binding);
      edges.push(() => this.createEdge(relationship, columns, from, to));
      const made: Variable = { kind: "relationship", columns };
      parts.push({ expr: valueOfVariable(made), id: idOf(made) });
      left = right;
    }
    for (const edge of edges) edge();
    if (variable !== null) this.define(variable.name, pathOf(first, parts));
  }

  private createNode({ variable, labels, properties }: NodePattern): Variable {
    const found = variable === null ? undefined : this.scope.get(variable.name);
    if (found !== undefined) return found;
    const columns = nodeColumns(variable?.name ?? this.anonymousName(), false, this.binding);
    const made: Variable = { kind: "node", columns };
    this.steps.push({
      kind: "create-node",
      columns,
      ...this.labelsOf(labels, this.scope),
      properties: this.properties(properties, this.scope),
    });
    this.columns.push(...columnsOfEntity(made));
    if (variable !== null) this.define(variable.name, made);
    return made;
  }

  private createEdge(pattern: RelationshipPattern, columns: EdgeColumns, left: Variable, right: Variable): void {
    const [from, to] = pattern.direction === "left" ? [right, left] : [left, right];
    this.steps.push({
      kind: "create-edge",
      columns,
      type: this.typeOf(pattern.types, this.scope),
      src: idOf(from),
      dst: idOf(to),
      properties: this.properties(pattern.properties, this.scope),
    });
    const made: Variable = { kind: "relationship", columns };
    this.columns.push(...columnsOfEntity(made));
    if (pattern.variable !== null) this.define(pattern.variable.name, made);
  }

  private properties(properties: MapLiteral | Parameter | null, scope: Variables): Expr | null {
    if (properties === null) return null;
    const context = contextOf(this.binding, scope);
    if (properties.kind === "parameter") return bindArgument(properties, context);
    const entries = properties.entries.flatMap(({ key, value }) => [textConst(key), bindArgument(value, context)]);
    return call(MAP_OF, entries);
  }

  private labelsOf(labels: LabelExpr | null, scope: Variables) {
    const { names, computed } = labelsOf(labels);
    const context = contextOf(this.binding, scope);
    return { labels: names, dynamic: computed.map((expr) => bindArgument(expr, context)) };
  }

  /** The one type. */
  private typeOf(types: LabelExpr | null, scope: Variables): string | Expr {
    const { labels, dynamic } = this.labelsOf(types, scope);
    return labels[0] ?? dynamic[0]!;
  }

  private define(name: string, variable: Variable): void {
    if (!this.createsScope) this.scope = new Map(this.scope);
    (this.scope as Map<string, Variable>).set(name, variable);
  }

  private anonymousName(): string {
    return `_${++this.anonymous}`;
  }

  // ---- MERGE ----

  private merge({ pattern, onCreate, onMatch }: MergeClause): void {
    const { plan, scope, nodes } = bindMergePattern(pattern, this.scope, this.binding);
    const before = this.scope;
    const written = [pattern.start, ...pattern.steps.map(({ node }) => node)];
    const create: GraphWriteStep[] = [];
    const made = new Set<number>();
    nodes.forEach((node, i) => {
      if (node.kind !== "new" || made.has(node.columns.id.id)) return;
      made.add(node.columns.id.id);
      const { labels, properties } = written[i]!;
      const { columns } = node;
      const map = this.properties(properties, before);
      create.push({ kind: "create-node", columns, ...this.labelsOf(labels, before), properties: map });
    });
    const idAt = (i: number) => {
      const node = nodes[i]!;
      return node.kind === "bound" ? node.id : idOf({ kind: "node", columns: node.columns });
    };
    pattern.steps.forEach(({ relationship }, i) => {
      const { shape } = plan.edges[i]!;
      if (shape.kind !== "one") return;
      const [src, dst] = relationship.direction === "left" ? [idAt(i + 1), idAt(i)] : [idAt(i), idAt(i + 1)];
      const properties = this.properties(relationship.properties, before);
      create.push({
        kind: "create-edge",
        columns: shape.columns,
        type: this.typeOf(relationship.types, before),
        src,
        dst,
        properties,
      });
    });
    this.scope = scope;
    const step: MergeStep = {
      kind: "merge",
      match: plan,
      isDirected: pattern.steps.every(({ relationship }) => relationship.direction !== "either"),
      columns: plan.columns,
      create,
      onCreate: onCreate.map((item) => this.setStep(item, scope)),
      onMatch: onMatch.map((item) => this.setStep(item, scope)),
    };
    this.steps.push(step);
    this.columns.push(...plan.columns);
  }

  // ---- SET, REMOVE, DELETE ----

  private setStep(item: SetItem, scope: Variables): GraphWriteStep {
    const context = contextOf(this.binding, scope);
    switch (item.kind) {
      case "set-property": {
        const value = bindArgument(item.value, context);
        return { kind: "set-property", ...propertyOf(item.target, context), value };
      }
      case "replace":
      case "add": {
        const target = bindArgument(item.variable, context);
        const value = bindArgument(item.value, context);
        return { kind: "set-properties", target, value, replace: item.kind === "replace" };
      }
      case "labels":
        return { kind: "set-labels", ...labelsIn(item, context) };
    }
  }

  private removeStep(item: RemoveItem): GraphWriteStep {
    const context = contextOf(this.binding, this.scope);
    if (item.kind === "labels") return { kind: "remove-labels", ...labelsIn(item, context) };
    return { kind: "set-property", ...propertyOf(item.target, context), value: variant(null) };
  }

  private delete({ targets, detach }: DeleteClause): void {
    const context = contextOf(this.binding, this.scope);
    for (const target of targets) {
      this.steps.push({ kind: "delete", target: bindArgument(target, context), detach });
    }
    this.binding.deletes = true;
  }

  // ---- FOREACH ----

  private foreach({ variable, list, clauses }: ForeachClause): void {
    const local = localColumn(variable, this.binding);
    const inner = new WriteBinder(withLocal(this.scope, variable, local), this.binding);
    for (const clause of clauses) if (isWriting(clause)) inner.clause(clause);
    this.steps.push({
      kind: "foreach",
      list: bindArgument(list, contextOf(this.binding, this.scope)),
      variable: local.id,
      steps: inner.steps,
    });
  }
}

/** Labels that are written out, and those that are computed. */
function labelsOf(labels: LabelExpr | null): { readonly names: string[]; readonly computed: ExprNode[] } {
  const all = labels?.kind === "and-labels" ? labels.operands.map(labelsOf) : [];
  const names = labels?.kind === "label" ? [labels.name] : all.flatMap((each) => each.names);
  const computed = labels?.kind === "dynamic-label" ? [labels.names] : all.flatMap((each) => each.computed);
  return { names, computed };
}

function labelsIn({ variable, labels, dynamic }: LabelsItem, context: ExprContext) {
  const exprs = dynamic.map(({ names }) => bindArgument(names, context));
  return { target: bindArgument(variable, context), labels, dynamic: exprs };
}

function propertyOf(property: ChangedProperty, context: ExprContext) {
  const key = property.kind === "property" ? property.name : bindArgument(property.index, context);
  return { target: bindArgument(property.target, context), key };
}
