/**
 * Operators that statements made, in expressions: such an operator is a call of its function. Those of the system
 * compete with them by PostgreSQL's rules (chapter 10.2). Called by bind-comparison.ts.
 */

import { AVAILABLE_EXTENSIONS } from "../../catalog/extension.js";
import { referredId } from "../../catalog/object-reference.js";
import type { OperatorDef } from "../../catalog/operator.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { TRIGRAM_OPERATORS } from "../../query/expr/functions/trigrams.js";
import { type Candidate, resolveFunction, resolveOperatorAmong } from "../../query/expr/resolve.js";
import { baseType, displayName } from "../../query/expr/types.js";
import type { SqlType } from "../../values/values.js";
import type { OperatorNode, QuantifiedNode, SubqueryNode } from "../parse/ast-query.js";
import type { ExprContext } from "./bind-context.js";
import { routineCall } from "./bind-routine-call.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import type { Bind } from "./call-arguments.js";
import { coerceImplicit, suggestedType } from "./coerce.js";
import type { MatchedRoutine } from "./matched-routine.js";
import { schemasFor } from "./names.js";
import { checkedRights } from "./relation-rights.js";
import { operandMatch } from "./resolve-routine.js";
import { scalarRoutine } from "./routine-function.js";

/** What an operator is, for the types of its operands. */
interface Meant {
  readonly operator: OperatorDef;
  readonly computes: MatchedRoutine | ScalarFunction;
  readonly argTypes: readonly SqlType[];
}

type Named = Pick<OperatorNode, "name" | "schema" | "position">;

/** Null: one of the system's. Throws 42883, 42725. */
export function bindOwnOperator(
  node: OperatorNode,
  left: Expr | null,
  right: Expr,
  context: ExprContext,
  bind: Bind,
): Expr | null {
  const { binding } = context;
  const operands = left === null ? [right] : [left, right];
  const meant = meantBy(node, operands, binding);
  if (meant === null) return null;
  const nodes = left === null ? [node.right] : [node.left!, node.right];
  const args = operands.map((operand, i) =>
    coerceImplicit(operand, meant.argTypes[i]!, binding, nodes[i]!.position || node.position),
  );
  const { computes } = meant;
  if ("definition" in computes) return routineCall({ ...computes, args }, context, bind, node.position);
  return Object.freeze({ kind: "call", type: computes.returns, fn: computes, args });
}

/** The same of `x operator ANY (…)`, of an array or a query: the function, and the types that it takes. */
export function ownQuantified(
  node: QuantifiedNode | SubqueryNode,
  left: SqlType,
  right: SqlType,
  binding: Binding,
): { readonly fn: ScalarFunction; readonly argTypes: readonly SqlType[] } | null {
  const { schema, position } = node;
  const name = node.kind === "subquery" ? node.operator! : node.name;
  const meant = meantBy({ name, ...(schema !== undefined && { schema }), position }, [left, right], binding, node);
  if (meant === null) return null;
  const { computes, argTypes } = meant;
  return { fn: "definition" in computes ? scalarRoutine(computes) : computes, argTypes };
}

/** `noted`: the node that names it. */
function meantBy(
  node: Named,
  operands: readonly (Expr | SqlType)[],
  binding: Binding,
  noted: object = node,
): Meant | null {
  const { env } = binding;
  const candidates = operatorsNamed(node, env);
  if (candidates === null) return null;
  const given = operands.map((operand) => ("kind" in operand ? operand.type : operand));
  const isOpen = given.every(({ name }) => name === "unknown");
  const types = isOpen
    ? operands.map((operand, i) => ("kind" in operand ? suggestedType(operand, binding) : null) ?? given[i]!)
    : given;
  const own = candidates.flatMap((operator) => matchOf(operator, types, env));
  const among = node.schema === undefined ? "with the system's" : "alone";
  const found = resolveOperatorAmong(node.name, types, own, among, node.position);
  if (found === null) {
    if (node.schema === undefined || isOfExtension(node.name, given)) return null;
    const spelled = types.map(displayName);
    const name = `${node.schema}.${node.name}`;
    const call = spelled.length === 1 ? `${name} ${spelled[0]}` : spelled.join(` ${name} `);
    throw sqlError("42883", `operator does not exist: ${call}`, { position: node.position });
  }
  const { operator, computes } = found.fn;
  if ("definition" in computes) {
    const { id, name } = computes.definition;
    checkedRights(env)?.require(id, name, "X", "function");
  }
  binding.noted.named.set(noted, operator.id);
  return { operator, computes, argTypes: found.argTypes };
}

const EXTENSION_TYPES: ReadonlySet<string> = new Set(
  [...AVAILABLE_EXTENSIONS.values()].flatMap(({ types = [] }) => types),
);
/** Between texts. */
const TRIGRAM_SYMBOLS: ReadonlySet<string> = new Set(TRIGRAM_OPERATORS.map(({ operator }) => operator!));
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "unknown"]);

/** An extension's operators are the system's here: a script finds them in whatever schema it put the extension. */
function isOfExtension(name: string, types: readonly SqlType[]): boolean {
  if (types.some((type) => EXTENSION_TYPES.has(baseType(type).name))) return true;
  return TRIGRAM_SYMBOLS.has(name) && types.every((type) => TEXTS.has(baseType(type).name));
}

/** Those that the name may mean, of earlier schemas of the search path first; null: only the system's. */
function operatorsNamed({ name, schema }: Named, env: BindEnvironment): readonly OperatorDef[] | null {
  if (schema === "pg_catalog") return null;
  const id = env.stored ? referredId(schema ?? null) : null;
  if (id !== null) {
    const referred = env.catalog.operatorById(id);
    return referred === null ? [] : [referred];
  }
  // Without a reference the text means the system's.
  if (env.stored === true && schema === undefined) return null;
  const named = env.catalog.operatorsNamed(name === "!=" ? "<>" : name);
  if (schema !== undefined) return named.filter((operator) => operator.schema === schema);
  if (named.length === 0) return null;
  return schemasFor(null, env).flatMap((each) => named.filter((operator) => operator.schema === each));
}

function matchOf(
  operator: OperatorDef,
  types: readonly SqlType[],
  env: BindEnvironment,
): Candidate<Pick<Meant, "operator" | "computes">>[] {
  const { left, right, computes } = operator;
  if (types.length !== (left === null ? 1 : 2)) return [];
  if ("id" in computes) {
    const match = operandMatch(env.catalog.functionById(computes.id)!, types, env);
    return match === null ? [] : [{ ...match, fn: { operator, computes: match.fn } }];
  }
  const args = [...(left === null ? [] : [left.type]), right.type];
  const { fn } = resolveFunction(computes.builtIn, args);
  return [{ fn: { operator, computes: fn }, args, concrete: true }];
}
