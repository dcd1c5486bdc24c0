/**
 * Checks expressions of Cypher and finds what is known of their types: unknown names, wrong kinds, wrong numbers of
 * arguments, aggregates out of place. Extended by `check-patterns.ts`.
 */

import { nearestName } from "../../protocol/nearest-name.js";
import { cypherAggregate, cypherFunction, cypherFunctionNames } from "../../query/expr/cypher/registry.js";
import type {
  ArithmeticExpr,
  CaseExpr,
  CountAll,
  Expr,
  FunctionCall,
  LabelExpr,
  MapProjection,
  PathPattern,
  PropertyAccess,
  Query,
  SubqueryExpr,
} from "../parse/ast.js";
import { CheckBase, type Place } from "./check-base.js";
import { functionTypes, isVolatileFunction } from "./function-types.js";
import { Scope } from "./scope.js";
import {
  ANY,
  BOOLEAN,
  commonType,
  commonTypeOf,
  describeType,
  FLOAT,
  INTEGER,
  isOpen,
  itemType,
  listOf,
  MAP,
  mayBe,
  NOTHING,
  NUMBER,
  PATH,
  STRING,
  type StaticKind,
  type StaticType,
  TEMPORAL,
} from "./static-type.js";

/** A column of a query's result. */
export interface CheckedColumn {
  readonly name: string;
  readonly type: StaticType;
}

type Scoped = Extract<
  Expr,
  { kind: "list-comprehension" | "pattern-comprehension" | "quantifier" | "reduce" | "pattern" | "subquery" }
>;

const WITH_PROPERTIES: readonly StaticKind[] = ["node", "relationship", "map", "temporal"];

export abstract class ExpressionChecker extends CheckBase {
  /** Patterns that may bring new variables into the scope. */
  protected abstract matchPatterns(patterns: readonly PathPattern[], place: Place): void;
  /** A pattern as an expression. */
  protected abstract patternExpr(pattern: PathPattern, place: Place): void;
  protected abstract subquery(query: Query, outer: Scope): readonly CheckedColumn[];

  /** The expression's type. Raises the first mistake in it, from left to right. */
  protected typeOf(expr: Expr, place: Place): StaticType {
    switch (expr.kind) {
      case "null":
        return NOTHING;
      case "boolean":
        return BOOLEAN;
      case "integer":
        return INTEGER;
      case "float":
        return FLOAT;
      case "string":
        return STRING;
      case "parameter":
        return ANY;
      case "variable":
        return this.typeOfVariable(expr, place.scope);
      case "property":
        return this.typeOfProperty(expr, this.typeOf(expr.target, place));
      case "call":
      case "count-all":
        return this.typeOfCall(expr, place);
      case "list":
        return listOf(commonTypeOf(expr.items.map((item) => this.typeOf(item, place))));
      case "map":
        for (const { value } of expr.entries) this.typeOf(value, place);
        return MAP;
      case "map-projection":
        return this.mapProjection(expr, place);
      case "case":
        return this.typeOfCase(expr, place);
      case "list-comprehension":
      case "pattern-comprehension":
      case "quantifier":
      case "reduce":
      case "pattern":
      case "subquery":
        return this.typeOfScoped(expr, place);
      default:
        return this.typeOfOperator(expr, place);
    }
  }

  /** Labels that are computed. */
  protected labelNames(labels: LabelExpr, place: Place): void {
    if (labels.kind === "dynamic-label") {
      const type = this.typeOf(labels.names, { ...place, aggregates: "forbidden" });
      this.require(labels.names, type, ["string", "list"], "a label that is computed");
    } else if (labels.kind === "not-label") this.labelNames(labels.operand, place);
    else if (labels.kind === "and-labels" || labels.kind === "or-labels") {
      for (const operand of labels.operands) this.labelNames(operand, place);
    }
  }

  private typeOfOperator(
    expr: Extract<
      Expr,
      {
        kind:
          | "index"
          | "slice"
          | "label-test"
          | "unary"
          | "not"
          | "arithmetic"
          | "logical"
          | "comparison"
          | "text-match"
          | "in"
          | "null-test";
      }
    >,
    place: Place,
  ): StaticType {
    const of = (part: Expr) => this.typeOf(part, place);
    switch (expr.kind) {
      case "index":
        return typeOfIndex(of(expr.target), of(expr.index));
      case "slice": {
        const target = of(expr.target);
        if (expr.from !== null) of(expr.from);
        if (expr.to !== null) of(expr.to);
        return target;
      }
      case "label-test":
        this.require(expr.target, of(expr.target), ["node", "relationship"], "a test of labels");
        this.labelNames(expr.labels, place);
        return BOOLEAN;
      case "unary":
        return this.require(expr.operand, of(expr.operand), ["number", "temporal"], `"${expr.operator}"`);
      case "not":
        this.condition(expr.operand, place, "NOT");
        return BOOLEAN;
      case "arithmetic":
        return this.typeOfArithmetic(expr, of(expr.left), of(expr.right));
      case "logical":
        for (const operand of expr.operands) this.condition(operand, place, expr.operator);
        return BOOLEAN;
      case "comparison":
        of(expr.first);
        for (const { operand } of expr.rest) of(operand);
        return BOOLEAN;
      case "text-match":
        of(expr.left);
        of(expr.right);
        return BOOLEAN;
      case "in":
        of(expr.item);
        this.require(expr.list, of(expr.list), ["list"], "IN");
        return BOOLEAN;
      case "null-test":
        of(expr.operand);
        return BOOLEAN;
    }
  }

  /** Expressions with variables of their own. */
  private typeOfScoped(expr: Scoped, place: Place): StaticType {
    switch (expr.kind) {
      case "list-comprehension": {
        const item = this.typeOfElements(expr.list, place);
        const inner = within(place, place.scope.with(expr.variable.name, item));
        if (expr.where !== null) this.condition(expr.where, inner, "WHERE");
        return listOf(expr.result === null ? item : this.typeOf(expr.result, inner));
      }
      case "quantifier": {
        const item = this.typeOfElements(expr.list, place);
        const inner = within(place, place.scope.with(expr.variable.name, item));
        this.condition(expr.where ?? expr.variable, inner, `${expr.quantifier}()`);
        return BOOLEAN;
      }
      case "reduce": {
        this.typeOf(expr.initial, place);
        const item = this.typeOfElements(expr.list, place);
        // What the accumulator becomes is not known before the expression's type is.
        const scope = place.scope.with(expr.accumulator.name, ANY).with(expr.variable.name, item);
        this.typeOf(expr.result, within(place, scope));
        return ANY;
      }
      case "pattern-comprehension": {
        const inner = within(place, new Scope(place.scope));
        this.matchPatterns([expr.pattern], inner);
        if (expr.where !== null) this.condition(expr.where, inner, "WHERE");
        return listOf(this.typeOf(expr.result, inner));
      }
      case "pattern":
        this.patternExpr(expr.pattern, within(place, new Scope(place.scope)));
        if (expr.pattern.search === "all") return BOOLEAN;
        return expr.pattern.search === "shortest" ? PATH : listOf(PATH);
      case "subquery":
        return this.typeOfSubquery(expr, place.scope);
    }
  }

  /** A WHERE and its like: an expression that has to be true, false or null. */
  protected condition(expr: Expr, place: Place, wantedBy: string): void {
    this.require(expr, this.typeOf(expr, place), ["boolean"], wantedBy);
  }

  private typeOfElements(list: Expr, place: Place): StaticType {
    return itemType(this.require(list, this.typeOf(list, place), ["list"], "IN")) ?? ANY;
  }

  private typeOfProperty(expr: PropertyAccess, target: StaticType): StaticType {
    if (mayBe(target, WITH_PROPERTIES)) return ANY;
    const graphical = target.kind === "path" || (target.kind === "list" && target.item.kind === "relationship");
    const what = `property \`${expr.name}\` is wanted of ${describeType(target)}, which has none`;
    const remedy =
      target.kind === "path"
        ? "nodes() and relationships() give its parts"
        : "nodes, relationships and maps have properties";
    throw this.mistake(expr.position, "InvalidArgumentType", what, remedy, graphical ? "SyntaxError" : "TypeError");
  }

  /** Lists and strings take anything by "+"; what adds up otherwise is numbers and temporal values. */
  private typeOfArithmetic({ operator, left, right }: ArithmeticExpr, a: StaticType, b: StaticType): StaticType {
    if (operator === "||") {
      this.require(left, a, ["string", "list"], '"||"');
      this.require(right, b, ["string", "list"], '"||"');
      if (a.kind === "string" && b.kind === "string") return STRING;
      return a.kind === "list" && b.kind === "list" ? listOf(commonType(a.item, b.item)) : ANY;
    }
    if (operator === "+") {
      if (a.kind === "list" || b.kind === "list") return listOf(commonType(itemType(a) ?? a, itemType(b) ?? b));
      if (a.kind === "string" || b.kind === "string") return isOpen(a) || isOpen(b) ? ANY : STRING;
    }
    this.require(left, a, ["number", "temporal"], `"${operator}"`);
    this.require(right, b, ["number", "temporal"], `"${operator}"`);
    if (isOpen(a) || isOpen(b)) return ANY;
    if (a.kind === "temporal" || b.kind === "temporal") return TEMPORAL;
    if (operator === "^" || a.kind === "float" || b.kind === "float") return FLOAT;
    return a.kind === "integer" && b.kind === "integer" ? INTEGER : NUMBER;
  }

  private mapProjection(expr: MapProjection, place: Place): StaticType {
    const type = this.typeOfVariable(expr.variable, place.scope);
    this.require(expr.variable, type, ["node", "relationship", "map"], "a projection of properties");
    for (const item of expr.items) {
      if (item.kind === "variable") this.typeOfVariable(item, place.scope);
      else if (item.kind === "entry") this.typeOf(item.value, place);
    }
    return MAP;
  }

  private typeOfCase(expr: CaseExpr, place: Place): StaticType {
    if (expr.subject !== null) this.typeOf(expr.subject, place);
    const results: StaticType[] = [];
    for (const { when, result } of expr.branches) {
      if (expr.subject === null) this.condition(when, place, "WHEN");
      else this.typeOf(when, place);
      results.push(this.typeOf(result, place));
    }
    if (expr.otherwise !== null) results.push(this.typeOf(expr.otherwise, place));
    return commonTypeOf(results);
  }

  /** Aggregates inside of a subquery are its own. */
  private typeOfSubquery({ result, query, position }: SubqueryExpr, scope: Scope): StaticType {
    const columns = this.subquery(query, scope);
    if (result === "exists") return BOOLEAN;
    if (result === "count") return INTEGER;
    const [column] = columns;
    if (column !== undefined && columns.length === 1) return listOf(column.type);
    const what = `COLLECT needs one column, not ${columns.length}`;
    throw this.mistake(position, "UnexpectedSyntax", what, "RETURN one expression");
  }

  private typeOfCall(expr: FunctionCall | CountAll, place: Place): StaticType {
    if (expr.kind === "count-all") {
      this.aggregatePlaced("count(*)", expr.position, place);
      return INTEGER;
    }
    const { name, args, distinct, position } = expr;
    const aggregate = cypherAggregate(name);
    if (aggregate !== null) {
      this.aggregatePlaced(`${name}()`, position, place);
      const expected = aggregate.directArgs + 1;
      if (args.length !== expected) throw this.wrongArgumentCount(expr, String(expected));
      return this.typeOfArguments(expr, { scope: place.scope, aggregates: "inside" });
    }
    const found = cypherFunction(name, args.length);
    if ("error" in found) {
      if (found.error === "arity") throw this.wrongArgumentCount(expr, found.expected ?? "another number of");
      const near = nearestName(name, cypherFunctionNames());
      const remedy = near === null ? "" : `did you mean ${near}?`;
      throw this.mistake(position, "UnknownFunction", `there is no function \`${name}\``, remedy);
    }
    if (distinct) {
      const what = `function \`${name}\` does not take DISTINCT`;
      throw this.mistake(position, "UnexpectedSyntax", what, "only aggregates do");
    }
    if (place.aggregates === "inside" && isVolatileFunction(name)) {
      const remedy = "WITH gives its value a name, which can be aggregated";
      throw this.mistake(position, "NonConstantExpression", `${name}() is not allowed inside an aggregate`, remedy);
    }
    return this.typeOfArguments(expr, place);
  }

  private typeOfArguments({ name, args }: FunctionCall, place: Place): StaticType {
    const known = functionTypes(name);
    const types = args.map((arg, i) => {
      const type = this.typeOf(arg, place);
      const wanted = known?.args[i];
      return wanted === undefined ? type : this.require(arg, type, wanted, `${name}()`);
    });
    return known?.result(types) ?? ANY;
  }

  private aggregatePlaced(what: string, position: number, { aggregates }: Place): void {
    if (aggregates === "allowed") return;
    if (aggregates === "inside") {
      const remedy = "WITH computes the inner one first";
      throw this.mistake(position, "NestedAggregation", `aggregate ${what} stands inside an aggregate`, remedy);
    }
    const remedy = "aggregates stand in the columns of WITH and RETURN";
    throw this.mistake(position, "InvalidAggregation", `aggregate ${what} cannot stand here`, remedy);
  }

  protected wrongArgumentCount({ name, args, position }: FunctionCall, expected: string) {
    const what = `function \`${name}\` takes ${expected} ${expected === "1" ? "argument" : "arguments"} and not ${args.length}`;
    return this.mistake(position, "InvalidNumberOfArguments", what);
  }
}

/** An aggregate cannot be inside an expression that is repeated for each element; one around it stays valid. */
const within = ({ aggregates }: Place, scope: Scope): Place => ({
  scope,
  aggregates: aggregates === "inside" ? "inside" : "forbidden",
});

/** What cannot be indexed shows when it runs: a parameter may be meant on either side. */
function typeOfIndex(target: StaticType, index: StaticType): StaticType {
  return target.kind === "list" && mayBe(index, ["integer"]) ? target.item : ANY;
}
