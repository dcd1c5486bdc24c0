/** The patterns of one MATCH: their nodes and relationships as columns, and what is said of them as conditions. */
import { sqlError } from "../../protocol/errors.js";
import { cypherFunction, cypherOperator, LIST_OF, MAP_OF, PATH_OF } from "../../query/expr/cypher/registry.js";
import { EMBEDDING, SIMILARITY } from "../../query/expr/cypher/similarity.js";
import type { ColumnExpr, Expr, ScalarFunction } from "../../query/expr/expr.js";
import { andOf, columnsOf, conjuncts } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { underPolicy } from "../../query/plan/graph-guard.js";
import type {
  CycleStep,
  EdgeColumns,
  NodeColumns,
  PatternEdge,
  PatternNode,
  VariableLength,
} from "../../query/plan/graph-plans.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { BOOL, INT8, TEXT, VARIANT } from "../../values/values.js";
import type {
  Expr as ExprNode,
  LabelExpr,
  MapLiteral,
  NodePattern,
  Parameter,
  PathGroup,
  PathPattern,
  RelationshipPattern,
  Similarity,
} from "../parse/ast.js";
import { bindCondition } from "./bind-condition.js";
import { bindArgument, testLabels } from "./bind-expr.js";
import { localColumn } from "./bind-list-expr.js";
import { type Binding, contextOf } from "./binding.js";
import { wholeEdgePolicy } from "./guarded-rows.js";
import {
  call,
  columnsOfEntity,
  idOf,
  isNull,
  not,
  type PathPart,
  pathOf,
  textConst,
  type Variable,
  type Variables,
  valueOfVariable,
  variant,
} from "./variables.js";

/** New columns of a node. */
export function nodeColumns(name: string, nullable: boolean, binding: Binding): NodeColumns {
  return {
    id: binding.newColumn(name, INT8, nullable),
    labels: binding.newColumn(`${name}.labels`, TEXT, nullable),
    properties: binding.newColumn(`${name}.properties`, VARIANT),
  };
}

export function edgeColumns(name: string, nullable: boolean, binding: Binding): EdgeColumns {
  return {
    id: binding.newColumn(name, INT8, nullable),
    type: binding.newColumn(`${name}.type`, TEXT, nullable),
    src: binding.newColumn(`${name}.src`, INT8, nullable),
    dst: binding.newColumn(`${name}.dst`, INT8, nullable),
    properties: binding.newColumn(`${name}.properties`, VARIANT),
  };
}

/** Types that a relationship may have, when nothing else is said of them; null: something else is. */
export function plainTypes(types: LabelExpr | null): readonly string[] | null {
  if (types === null) return [];
  if (types.kind === "label") return [types.name];
  if (types.kind !== "or-labels") return null;
  const names = types.operands.map((operand) => (operand.kind === "label" ? operand.name : null));
  return names.every((name) => name !== null) ? names : null;
}

/** `{key: value}` of a pattern: a condition per entry. */
export function propertyConditions(
  properties: MapLiteral | Parameter | null,
  of: Variable,
  bindValue: (node: MapLiteral["entries"][number]["value"]) => Expr,
): Expr[] {
  if (properties?.kind !== "map") return [];
  const over = of.kind === "value" ? of.expr : columnExpr(of.columns.properties);
  return properties.entries.map(({ key, value }) =>
    call(cypherOperator("="), [call(cypherOperator("property"), [over, textConst(key)]), bindValue(value)]),
  );
}

const DIRECTIONS = { right: "out", left: "in", either: "either" } as const;

/** One MATCH: its nodes and relationships, and the variables that it defines. */
export class PatternBinder {
  readonly nodes: PatternNode[] = [];
  readonly edges: PatternEdge[] = [];
  readonly columns: OutputColumn[] = [];
  scope: Variables;
  /** Where a variable's node is in `nodes`. */
  private readonly placeOf = new Map<string, number>();
  /** What is said of entities, bound once all variables are known. */
  private readonly later: (() => readonly Expr[])[] = [];
  private anonymous = 0;
  /** Of the path that is being bound. */
  private avoids: VariableLength["avoids"];
  /** `scope` is a copy already. */
  private ownsScope = false;

  constructor(
    scope: Variables,
    private readonly optional: boolean,
    private readonly binding: Binding,
    /** Relationships may come several times in the match. */
    private readonly repeatable: true | undefined = undefined,
  ) {
    this.scope = scope;
  }

  /** Answers with the places of its nodes, and its value. */
  path({ start, steps, variable, search, mode, where }: PathPattern): {
    readonly places: readonly number[];
    value: Variable;
  } {
    this.avoids = mode === "acyclic" ? "nodes" : this.repeatable && mode === undefined ? "nothing" : undefined;
    let left = this.node(start);
    const places = [left.place];
    const first = left.variable;
    const parts: PathPart[] = [];
    for (const { relationship, node } of steps) {
      const right = this.node(node);
      if (relationship.similarity !== null) {
        if (variable !== null) throw this.unsupported("a path cannot run along SIMILAR_TO", variable.position);
        this.similarity(relationship, relationship.similarity, left.variable, right.variable);
        left = right;
        continue;
      }
      const part = this.relationship(relationship, { left: left.place, right: right.place }, search);
      parts.push(part);
      const { group } = relationship;
      if (group !== undefined) this.group(relationship, group, left.variable, part.expr, search);
      places.push(right.place);
      left = right;
    }
    const value = pathOf(first, parts);
    if (variable !== null) this.define(variable.name, value);
    if (mode === "acyclic" || (mode === "trail" && this.repeatable)) {
      this.later.push(() => [areDifferent(mode === "acyclic" ? NODES_OF : RELATIONSHIPS_OF, valueOfVariable(value))]);
    }
    if (where !== undefined)
      this.later.push(() => conjuncts(bindCondition(where, contextOf(this.binding, this.scope))));
    return { places, value };
  }

  /** The conditions, once all patterns are in. */
  finish(): Expr[] {
    return this.later.flatMap((conditions) => conditions());
  }

  private define(name: string, variable: Variable): void {
    if (!this.ownsScope) this.scope = new Map(this.scope);
    this.ownsScope = true;
    (this.scope as Map<string, Variable>).set(name, variable);
  }

  private node(pattern: NodePattern): { readonly place: number; readonly variable: Variable } {
    const { variable, labels, properties, where } = pattern;
    this.binding.readsPart();
    const found = variable === null ? undefined : this.scope.get(variable.name);
    const place = (variable === null ? undefined : this.placeOf.get(variable.name)) ?? this.nodes.length;
    const bound = found ?? this.newNode(variable?.name ?? null);
    if (place === this.nodes.length && found !== undefined) this.nodes.push({ kind: "bound", id: idOf(found) });
    if (variable !== null) this.placeOf.set(variable.name, place);
    this.later.push(() => this.conditions({ variable: bound, labels, properties, where }));
    return { place, variable: bound };
  }

  private newNode(given: string | null): Variable {
    const name = given ?? this.anonymousName();
    const columns = nodeColumns(name, this.optional, this.binding);
    const variable: Variable = { kind: "node", columns };
    const policy = this.binding.guard?.node(columns) ?? null;
    this.nodes.push({ kind: "new", name, columns, ...(policy !== null && { policy }) });
    this.columns.push(...columnsOfEntity(variable));
    if (given !== null) this.define(given, variable);
    return variable;
  }

  private anonymousName(): string {
    return `_${++this.anonymous}`;
  }

  /** Answers with its value in a path. */
  private relationship(pattern: RelationshipPattern, at: EdgePlaces, search: PathPattern["search"]): PathPart {
    const { binding } = this;
    const { variable, direction, types, group } = pattern;
    binding.readsPart();
    if (group !== undefined && group.further.length > 0) return this.inTurn([pattern, ...group.further], pattern, at);
    const name = variable?.name ?? this.anonymousName();
    const found = variable === null ? undefined : this.scope.get(variable.name);
    const plain = plainTypes(types);
    const common = { name, left: at.left, right: at.right, direction: DIRECTIONS[direction], types: plain ?? [] };
    const rest = { ...pattern, types: plain === null ? types : null };
    if (pattern.length !== null || search !== "all") return this.searched(rest, common, found, search);
    if (found !== undefined) {
      this.edges.push({ ...common, shape: { kind: "bound", id: idOf(found) } });
      this.later.push(() => this.conditions({ ...rest, variable: found, labels: rest.types }));
      return { expr: valueOfVariable(found), id: idOf(found) };
    }
    const columns = edgeColumns(name, this.optional, binding);
    const made: Variable = { kind: "relationship", columns };
    // Its ends are nodes of the pattern, which are looked at by themselves.
    const policy = binding.guard?.edge(columns) ?? null;
    this.edges.push({ ...common, shape: { kind: "one", columns, ...(policy !== null && { policy }) } });
    this.columns.push(...columnsOfEntity(made));
    if (variable !== null) this.define(variable.name, made);
    this.later.push(() => this.conditions({ ...rest, variable: made, labels: rest.types }));
    return { expr: valueOfVariable(made), id: idOf(made) };
  }

  /**
   * Not a relationship of the graph: two nodes whose embeddings are alike. Its variable is a map with the similarity, a
   * number up to 1.
   */
  private similarity(
    { variable, length, properties, where, position }: RelationshipPattern,
    { operator, threshold }: Similarity,
    left: Variable,
    right: Variable,
  ): void {
    if (length !== null || properties !== null || where !== null) {
      throw this.unsupported("SIMILAR_TO takes a threshold and nothing else", position);
    }
    const embeddings = [left, right].map((node) => {
      const over = node.kind === "value" ? node.expr : columnExpr(node.columns.properties);
      return call(cypherOperator("property"), [over, textConst(EMBEDDING)]);
    });
    const score = call(SIMILARITY, embeddings);
    if (variable !== null) {
      // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
      const found = { when: isNull(score, true), then: call(MAP_OF, [textConst("similarity"), score]) };
      const expr: Expr = { kind: "case", type: VARIANT, branches: [found], otherwise: null };
      this.define(variable.name, { kind: "value", expr });
    }
    this.later.push(() => [
      not(call(cypherOperator("="), [idOf(left), idOf(right)])),
      call(cypherOperator(operator), [score, bindArgument(threshold, contextOf(this.binding, this.scope))]),
    ]);
  }

  private unsupported(message: string, position: number): Error {
    return sqlError("0A000", message, { position: position + 1 });
  }

  /** One of variable length, or one that is searched for. Its variable is the list of relationships. */
  private searched(
    pattern: RelationshipPattern,
    common: Omit<PatternEdge, "shape">,
    found: Variable | undefined,
    search: PathPattern["search"],
  ): PathPart {
    const { binding } = this;
    const { variable, length } = pattern;
    const each = edgeColumns(common.name, false, binding);
    const relationships = binding.newColumn(common.name, VARIANT);
    const shape: VariableLength = {
      kind: "many",
      min: length === null ? 1 : (length.min ?? 1),
      max: length === null ? 1 : length.max,
      each,
      filter: null,
      relationships,
      search,
      ...(this.avoids !== undefined && { avoids: this.avoids }),
      bound: found === undefined ? null : valueOfVariable(found),
    };
    const place = this.edges.push({ ...common, shape }) - 1;
    this.columns.push(relationships);
    const list = columnExpr(relationships);
    const value = length === null ? call(cypherOperator("index"), [list, variant(0)]) : list;
    if (variable !== null && found === undefined) this.define(variable.name, { kind: "value", expr: value });
    this.later.push(() => {
      const filter = this.apartFrom(
        relationships,
        this.filterOfEach(pattern, each, search),
        pattern.position,
        "the WHERE of the MATCH",
      );
      this.edges[place] = { ...common, shape: { ...shape, filter } };
      return [];
    });
    return { expr: list, id: list };
  }

  /** What is said of one relationship of a path, and what policies say of it. */
  private filterOfEach(
    pattern: RelationshipPattern,
    each: EdgeColumns,
    search: PathPattern["search"] = "all",
  ): Expr | null {
    const one: Variable = { kind: "relationship", columns: each };
    const scope = pattern.variable === null ? this.scope : new Map(this.scope).set(pattern.variable.name, one);
    const said = andOf([
      ...this.conditions({ ...pattern, variable: one, labels: pattern.types }, scope),
      ...(search === "all" ? [] : this.conditionsOnEnds(pattern, one, scope)),
    ]);
    return underPolicy(wholeEdgePolicy(each, this.binding), said);
  }

  /** While it is walked nobody knows the whole path. */
  private apartFrom(relationships: OutputColumn, filter: Expr | null, position: number, place: string): Expr | null {
    if (filter === null || !columnsOf(filter).has(relationships.id)) return filter;
    const what = "a condition on each relationship of a path that reads the whole path";
    throw this.unsupported(`${what} belongs into ${place}`, position);
  }

  /** What a part that is walked several times says of both nodes of a relationship that has a direction. */
  private conditionsOnEnds({ group, direction }: RelationshipPattern, one: Variable, around: Variables): Expr[] {
    if (group === undefined) return [];
    const value = valueOfVariable(one);
    const ends = (direction === "right" ? [START_OF, END_OF] : [END_OF, START_OF]).map((end): Variable => {
      return { kind: "value", expr: call(end, [value]) };
    });
    const scope = new Map(around);
    for (const [i, { variable }] of group.nodes.entries()) if (variable !== null) scope.set(variable.name, ends[i]!);
    return [
      ...group.nodes.flatMap((node, i) => this.conditions({ ...node, variable: ends[i]! }, scope)),
      ...(group.where === null ? [] : conjuncts(bindCondition(group.where, contextOf(this.binding, scope)))),
    ];
  }

  /** Several relationships that are walked in turn, several times. Their variables are lists. */
  private inTurn(walked: readonly RelationshipPattern[], { length }: RelationshipPattern, at: EdgePlaces): PathPart {
    const { binding } = this;
    const name = this.anonymousName();
    const relationships = binding.newColumn(name, VARIANT);
    const cycle = walked.map(({ variable, types, direction }): CycleStep => {
      const each = edgeColumns(variable?.name ?? this.anonymousName(), false, binding);
      return { direction: DIRECTIONS[direction], types: plainTypes(types) ?? [], each, filter: null };
    });
    const isAny = cycle.some(({ types }) => types.length === 0);
    const { direction, each } = cycle[0]!;
    const common = {
      ...{ name, left: at.left, right: at.right },
      direction: cycle.every((step) => step.direction === direction) ? direction : "either",
      types: isAny ? [] : [...new Set(cycle.flatMap(({ types }) => types))],
    } as const;
    const shape: VariableLength = {
      kind: "many",
      min: (length?.min ?? 1) * walked.length,
      max: length?.max == null ? null : length.max * walked.length,
      ...{ each, filter: null, cycle, relationships, search: "all", bound: null },
      ...(this.avoids !== undefined && { avoids: this.avoids }),
    };
    const place = this.edges.push({ ...common, shape }) - 1;
    this.columns.push(relationships);
    const list = columnExpr(relationships);
    for (const [i, { variable }] of walked.entries()) {
      if (variable !== null) this.define(variable.name, this.everyNth(list, list, i, walked.length));
    }
    this.later.push(() => {
      const filters = walked.map((pattern, i) => {
        const { types, position } = pattern;
        const one = { ...pattern, types: plainTypes(types) === null ? types : null };
        return this.apartFrom(relationships, this.filterOfEach(one, cycle[i]!.each), position, "the group's WHERE");
      });
      const filtered = cycle.map((step, i) => ({ ...step, filter: filters[i]! }));
      this.edges[place] = { ...common, shape: { ...shape, cycle: filtered } };
      return [];
    });
    return { expr: list, id: list };
  }

  /** Of a list, an item of each time that a group of so many relationships is walked. */
  private everyNth(list: Expr, relationships: Expr, first: number, size: number): Variable {
    const at = localColumn({ kind: "variable", name: "at", position: 0 }, this.binding);
    const places = placesIn(relationships, first, size);
    const result = call(cypherOperator("index"), [list, at]);
    const rest = { where: null, accumulator: null, initial: null } as const;
    const form = { kind: "list", form: "map", type: VARIANT } as const;
    return { kind: "value", expr: Object.freeze({ ...form, list: places, variable: at.id, result, ...rest }) };
  }

  /** What a part that is walked several times says of its nodes, and their variables: lists of those on the way. */
  private group(
    pattern: RelationshipPattern,
    { nodes: said, further, where }: PathGroup,
    from: Variable,
    list: Expr,
    search: PathPattern["search"],
  ): void {
    const isSaid = said.some((node) => node.labels !== null || node.properties !== null || node.where !== null);
    const isNamed = said.some((node) => node.variable !== null);
    if (!isSaid && !isNamed && where === null) return;
    const { position } = pattern;
    const walked = [pattern, ...further];
    const nodes = call(NODES_OF, [call(PATH_OF, [valueOfVariable(from), list])]);
    for (const [i, { variable }] of said.entries()) {
      if (variable !== null) this.define(variable.name, this.everyNth(nodes, list, i, walked.length));
    }
    // A search tests each relationship as it comes to it.
    if ((!isSaid && where === null) || search !== "all") return;
    this.later.push(() => {
      // The nodes are read once, then each time is tested.
      const all = localColumn({ kind: "variable", name: "nodes", position }, this.binding);
      const at = localColumn({ kind: "variable", name: "at", position }, this.binding);
      const item = (of: Expr, place: number): Variable => {
        const index = place === 0 ? at : call(cypherOperator("+"), [at, variant(place)]);
        return { kind: "value", expr: call(cypherOperator("index"), [of, index]) };
      };
      const scope = new Map(this.scope);
      for (const [i, { variable }] of said.entries()) if (variable !== null) scope.set(variable.name, item(all, i));
      for (const [i, { variable }] of walked.entries()) if (variable !== null) scope.set(variable.name, item(list, i));
      const conditions = [
        ...said.flatMap((node, i) => this.conditions({ ...node, variable: item(all, i) }, scope)),
        ...(where === null ? [] : conjuncts(bindCondition(where, contextOf(this.binding, scope)))),
      ];
      const each = holdsForAll(placesIn(list, 0, walked.length), at, andOf(conditions)!);
      return [holdsForAll(call(LIST_OF, [nodes]), all, each)];
    });
  }

  private conditions({ variable, labels, properties, where }: Said, scope = this.scope): Expr[] {
    const context = contextOf(this.binding, scope);
    return [
      ...(labels === null ? [] : conjuncts(testLabels(variable, labels, context))),
      ...propertyConditions(properties, variable, (node) => bindArgument(node, context)),
      ...(where === null ? [] : conjuncts(bindCondition(where, context))),
    ];
  }
}

/** Of its ends, in `nodes`. */
interface EdgePlaces {
  readonly left: number;
  readonly right: number;
}

/** What a pattern says of one entity. */
interface Said {
  readonly variable: Variable;
  readonly labels: LabelExpr | null;
  readonly properties: MapLiteral | Parameter | null;
  readonly where: ExprNode | null;
}

const START_OF = cypherFunction("startNode", 1) as ScalarFunction;
const END_OF = cypherFunction("endNode", 1) as ScalarFunction;
const NODES_OF = cypherFunction("nodes", 1) as ScalarFunction;
const RELATIONSHIPS_OF = cypherFunction("relationships", 1) as ScalarFunction;
const DISTINCT = cypherFunction("coll.distinct", 1) as ScalarFunction;
const SIZE_OF = cypherFunction("size", 1) as ScalarFunction;
const RANGE_OF = cypherFunction("range", 3) as ScalarFunction;

/** Of a path, all its nodes or relationships. */
function areDifferent(of: ScalarFunction, path: Expr): Expr {
  const all = call(of, [path]);
  return call(cypherOperator("="), [call(SIZE_OF, [all]), call(SIZE_OF, [call(DISTINCT, [all])])]);
}

/** Where the items of a group's times are, by the list of its relationships: `first`, then every `size`-th. */
function placesIn(relationships: Expr, first: number, size: number): Expr {
  const last = call(cypherOperator("-"), [call(SIZE_OF, [relationships]), variant(size - first)]);
  return call(RANGE_OF, [variant(first), last, variant(size)]);
}

function holdsForAll(list: Expr, variable: ColumnExpr, where: Expr): Expr {
  const rest = { result: null, accumulator: null, initial: null } as const;
  return Object.freeze({ kind: "list", form: "all", type: BOOL, list, variable: variable.id, where, ...rest });
}
