/**
 * Expressions of Cypher. What is known to be a truth value has type bool, so that conditions are those of the algebra;
 * everything else is a variant, or of a type whose values are variants as they are (int8, text).
 *
 * Called by the binders of clauses through `Binding.bind`. Calls, lists and subqueries have files of their own.
 */

import { HAS_LABEL_VALUE, MERGE_MAPS } from "../../query/expr/cypher/clause-functions.js";
import { HAS_NAMES, HAS_NAMES_VALUE, IS_OF_TYPES } from "../../query/expr/cypher/dynamic-names.js";
import { cypherOperator, HAS_LABEL, LIST_OF, MAP_OF, TRUTH } from "../../query/expr/cypher/registry.js";
import type { Expr } from "../../query/expr/expr.js";
import { operatorFor } from "../../query/expr/resolve.js";
import { andOf } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { BOOL, TEXT, VARIANT } from "../../values/values.js";
import { floatValue } from "../../values/variant.js";
import type {
  CaseExpr,
  ComparisonExpr,
  ComparisonOperator,
  Expr as ExprNode,
  LabelExpr,
  MapProjection,
  PropertyAccess,
  SliceAccess,
} from "../parse/ast.js";
import { aggregateIn } from "./aggregate-collector.js";
import { bindCall } from "./bind-call.js";
import { bindListExpr } from "./bind-list-expr.js";
import { bindPatternComprehension, bindPatternExpr, bindSubquery } from "./bind-subquery.js";
import type { ExprContext } from "./binding.js";
import { sameExpr } from "./same-expr.js";
import {
  boolConst,
  call,
  comparable,
  isNull,
  not,
  textConst,
  type Variable,
  valueOfVariable,
  variant,
} from "./variables.js";

const TEXT_EQUALS = operatorFor("=", TEXT)!;

export function bindExpr(node: ExprNode, context: ExprContext): Expr {
  const known = context.computed.find((other) => sameExpr(node, other.node));
  if (known !== undefined) return known.expr;
  const aggregate = aggregateIn(node);
  if (aggregate !== null) {
    if (context.aggregates !== null) return context.aggregates.add(aggregate);
    throw context.binding.error(node.position, "InvalidAggregation", "aggregates are not possible here");
  }
  switch (node.kind) {
    case "null":
      return variant(null);
    case "boolean":
      return boolConst(node.value);
    case "integer":
    case "string":
      return variant(node.value);
    case "float":
      return variant(floatValue(node.value));
    case "parameter":
      return context.binding.parameter(node.name);
    case "variable":
      return valueOfVariable(variableOf(node.name, node.position, context));
    case "property":
      return bindProperty(node, context);
    case "label-test":
      return bindLabelTest(node.target, node.labels, context);
    case "call":
      return bindCall(node, context, bindExpr);
    case "case":
      return bindCase(node, context);
    case "list-comprehension":
    case "quantifier":
    case "reduce":
      return bindListExpr(node, context, bindExpr, bindPredicate);
    case "pattern":
      return bindPatternExpr(node, context);
    case "pattern-comprehension":
      return bindPatternComprehension(node, context);
    case "subquery":
      return bindSubquery(node, context);
    case "map-projection":
      return bindMapProjection(node, context);
    default:
      return bindOperator(node, context);
  }
}

type OperatorNode = Extract<
  ExprNode,
  {
    readonly kind:
      | "unary"
      | "arithmetic"
      | "logical"
      | "not"
      | "comparison"
      | "text-match"
      | "in"
      | "null-test"
      | "list"
      | "map"
      | "index"
      | "slice"
      | "count-all";
  }
>;

function bindOperator(node: OperatorNode, context: ExprContext): Expr {
  const bind = (inner: ExprNode) => bindArgument(inner, context);
  switch (node.kind) {
    case "unary":
      return node.operator === "+" ? bind(node.operand) : call(cypherOperator("negate"), [bind(node.operand)]);
    case "arithmetic":
      return call(cypherOperator(node.operator), [bind(node.left), bind(node.right)]);
    case "logical": {
      const args = node.operands.map((operand) => bindPredicate(operand, context));
      if (node.operator === "XOR") return args.reduce((left, right) => call(cypherOperator("XOR"), [left, right]));
      return Object.freeze({ kind: node.operator === "AND" ? "and" : "or", type: BOOL, args });
    }
    case "not":
      return not(bindPredicate(node.operand, context));
    case "comparison":
      return bindComparison(node, context);
    case "text-match":
      return call(cypherOperator(node.operator), [bind(node.left), bind(node.right)]);
    case "in":
      return call(cypherOperator("IN"), [bindCompared(node.item, context), bind(node.list)]);
    case "null-test": {
      const entity = entityIdOf(node.operand, context);
      return isNull(entity ?? bind(node.operand), node.negated);
    }
    case "list":
      return call(LIST_OF, node.items.map(bind));
    case "map":
      return call(
        MAP_OF,
        node.entries.flatMap(({ key, value }) => [textConst(key), bind(value)]),
      );
    case "index": {
      const entity = propertiesOf(node.target, context);
      return call(cypherOperator("index"), [entity ?? bind(node.target), bind(node.index)]);
    }
    case "slice":
      return bindSlice(node, context);
    case "count-all":
      throw context.binding.error(node.position, "InvalidAggregation", "aggregates are not possible here");
  }
}

/** A truth value: any other value makes the condition fail with a TypeError when it is evaluated. */
export function bindPredicate(node: ExprNode, context: ExprContext): Expr {
  const expr = bindExpr(node, context);
  if (expr.type === BOOL) return expr;
  if (expr.kind === "const" && expr.value === null) return boolConst(null);
  return call(TRUTH, [expr]);
}

/** As the argument of a function that takes variants. */
export function bindArgument(node: ExprNode, context: ExprContext): Expr {
  const expr = bindExpr(node, context);
  return expr.kind === "const" && expr.type !== VARIANT ? variant(expr.value) : expr;
}

/** Throws UndefinedVariable. */
export function variableOf(name: string, position: number, { scope, binding }: ExprContext): Variable {
  const variable = scope.get(name);
  if (variable !== undefined) return variable;
  throw binding.error(position, "UndefinedVariable", `there is no variable ${name}`);
}

/** The column that holds an entity's id, when the expression is a variable of one. */
function entityIdOf(node: ExprNode, { scope }: ExprContext): Expr | null {
  const variable = node.kind === "variable" ? scope.get(node.name) : undefined;
  return variable === undefined || variable.kind === "value" ? null : columnExpr(variable.columns.id);
}

/** The same for its properties; not once it may be gone, which only the entity itself knows. */
function propertiesOf(node: ExprNode, { scope, binding }: ExprContext): Expr | null {
  const variable = node.kind === "variable" ? scope.get(node.name) : undefined;
  if (variable === undefined || variable.kind === "value" || binding.deletes) return null;
  return columnExpr(variable.columns.properties);
}

function bindProperty({ target, name }: PropertyAccess, context: ExprContext): Expr {
  const over = propertiesOf(target, context) ?? bindArgument(target, context);
  return call(cypherOperator("property"), [over, textConst(name)]);
}

/** Sides that are open are given the list's ends, since null is an answer of its own. */
function bindSlice({ target, from, to }: SliceAccess, context: ExprContext): Expr {
  const first = from === null ? variant(0) : bindArgument(from, context);
  const end = to === null ? variant(Number.MAX_SAFE_INTEGER) : bindArgument(to, context);
  return call(cypherOperator("slice"), [bindArgument(target, context), first, end]);
}

function bindComparison({ first, rest }: ComparisonExpr, context: ExprContext): Expr {
  let leftNode = first;
  const parts = rest.map(({ operator, operand }) => {
    const part = compare(operator, leftNode, operand, context);
    leftNode = operand;
    return part;
  });
  return andOf(parts)!;
}

function compare(operator: ComparisonOperator, left: ExprNode, right: ExprNode, context: ExprContext): Expr {
  if (operator === "=" || operator === "<>") {
    // Entities are the same when their ids are.
    const kinds = [left, right].map((node) => (node.kind === "variable" ? context.scope.get(node.name)?.kind : null));
    const [a, b] = [entityIdOf(left, context), entityIdOf(right, context)];
    if (a !== null && b !== null && kinds[0] === kinds[1]) return call(cypherOperator(operator), [a, b]);
  }
  return call(cypherOperator(operator), [bindCompared(left, context), bindCompared(right, context)]);
}

/** What is compared: of an entity its id is all that counts. */
function bindCompared(node: ExprNode, context: ExprContext): Expr {
  const variable = node.kind === "variable" ? context.scope.get(node.name) : undefined;
  if (variable === undefined || variable.kind === "value") return bindArgument(node, context);
  return comparable(variable);
}

function bindCase({ subject, branches, otherwise }: CaseExpr, context: ExprContext): Expr {
  const bound = branches.map(({ when, result }) => ({
    when: caseCondition(subject, when, context),
    // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
    then: bindArgument(result, context),
  }));
  const rest = otherwise === null ? null : bindArgument(otherwise, context);
  return Object.freeze({ kind: "case", type: VARIANT, branches: bound, otherwise: rest });
}

/** `CASE x WHEN null` asks whether x is null, as in Neo4j: LDBC's queries for it need that. */
function caseCondition(subject: ExprNode | null, when: ExprNode, context: ExprContext): Expr {
  if (subject === null) return bindPredicate(when, context);
  if (when.kind !== "null") return compare("=", subject, when, context);
  return bindPredicate({ kind: "null-test", operand: subject, negated: false, position: when.position }, context);
}

function bindMapProjection({ variable, items }: MapProjection, context: ExprContext): Expr {
  const target = bindArgument(variable, context);
  const parts: Expr[] = [];
  let entries: Expr[] = [];
  const flush = () => {
    if (entries.length > 0) parts.push(call(MAP_OF, entries));
    entries = [];
  };
  for (const item of items) {
    if (item.kind === "all") {
      flush();
      parts.push(propertiesOf(variable, context) ?? target);
      continue;
    }
    const key = item.kind === "entry" ? item.key : item.name;
    if (item.kind === "property") {
      entries.push(textConst(key), bindProperty({ ...item, kind: "property", target: variable }, context));
    } else entries.push(textConst(key), bindArgument(item.kind === "entry" ? item.value : item, context));
  }
  flush();
  return call(MERGE_MAPS, [entityIdOf(variable, context) ?? target, ...parts]);
}

function bindLabelTest(target: ExprNode, labels: LabelExpr, context: ExprContext): Expr {
  const variable = target.kind === "variable" ? context.scope.get(target.name) : undefined;
  if (variable !== undefined && variable.kind !== "value") return testLabels(variable, labels, context);
  return testLabels({ kind: "value", expr: bindArgument(target, context) }, labels, context);
}

/** Whether an entity has labels, of a relationship: is of a type. */
export function testLabels(variable: Variable, labels: LabelExpr, context: ExprContext): Expr {
  switch (labels.kind) {
    case "label":
      return testLabel(variable, labels.name);
    case "any-label":
      if (variable.kind === "node") {
        return not(call(cypherOperator("="), [columnExpr(variable.columns.labels), textConst("")]));
      }
      return isNull(variable.kind === "relationship" ? columnExpr(variable.columns.id) : variable.expr, true);
    case "not-label":
      return not(testLabels(variable, labels.operand, context));
    case "dynamic-label":
      return testNames(variable, bindArgument(labels.names, context), boolConst(labels.any));
    default: {
      const args = labels.operands.map((operand) => testLabels(variable, operand, context));
      return Object.freeze({ kind: labels.kind === "and-labels" ? "and" : "or", type: BOOL, args });
    }
  }
}

function testLabel(variable: Variable, label: string): Expr {
  switch (variable.kind) {
    case "node":
      return call(HAS_LABEL, [columnExpr(variable.columns.labels), textConst(label)]);
    case "relationship":
      return call(TEXT_EQUALS, [columnExpr(variable.columns.type), textConst(label)]);
    case "value":
      return call(HAS_LABEL_VALUE, [variable.expr, textConst(label)]);
  }
}

function testNames(variable: Variable, names: Expr, any: Expr): Expr {
  switch (variable.kind) {
    case "node":
      return call(HAS_NAMES, [columnExpr(variable.columns.labels), names, any]);
    case "relationship":
      return call(IS_OF_TYPES, [columnExpr(variable.columns.type), names, any]);
    case "value":
      return call(HAS_NAMES_VALUE, [variable.expr, names, any]);
  }
}
