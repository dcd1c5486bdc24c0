/**
 * nextval, currval, setval and lastval. A literal name is looked up when the statement is bound and handed to the
 * session's service in full; any other is looked up when the statement runs.
 */

import { referredId } from "../../catalog/object-reference.js";
import { parseRelationName } from "../../catalog/relation-names.js";
import { sequenceLiteral } from "../../catalog/sequence-dependents.js";
import { sqlError } from "../../protocol/errors.js";
import { Capability, need } from "../../query/expr/capability.js";
import type { EvalContext, Expr, ScalarFunction } from "../../query/expr/expr.js";
import { displayName } from "../../query/expr/types.js";
import { BOOL, INT8, OID, type SqlType, TEXT, type Value } from "../../values/values.js";
import type { CallNode, ExprNode } from "../parse/ast-query.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { coerceExplicit, coerceImplicit, constant } from "./coerce.js";
import { firstFound } from "./names.js";

/** Sequences by name (looked up in the search path when it has no schema) or by OID in digits. */
export interface SequenceValues {
  next(sequence: string): number | bigint;
  current(sequence: string): number | bigint;
  /** Of the sequence that `next` was called for last. */
  last(): number | bigint;
  set(sequence: string, value: number | bigint, called: boolean): number | bigint;
}

/** Registered by the session. */
export const SEQUENCES = new Capability<SequenceValues>("Sequences need a session; there is none here.");

// biome-ignore lint/suspicious/noExplicitAny: each overload names the parameter types that it declares
type Service = (sequences: SequenceValues, ...args: any[]) => number | bigint;

function sequenceFunction(name: string, args: readonly SqlType[], service: Service): ScalarFunction {
  return Object.freeze({
    name,
    args,
    returns: INT8,
    volatility: "volatile",
    strict: true,
    needsContext: true,
    apply: (context: EvalContext, ...values: Value[]) => service(need(context, SEQUENCES), ...values),
  });
}

export const SEQUENCE_FUNCTIONS: readonly ScalarFunction[] = [
  sequenceFunction("nextval", [TEXT], (sequences, name: string) => sequences.next(name)),
  sequenceFunction("currval", [TEXT], (sequences, name: string) => sequences.current(name)),
  sequenceFunction("lastval", [], (sequences) => sequences.last()),
  sequenceFunction("setval", [TEXT, INT8], (sequences, name: string, value: number | bigint) =>
    sequences.set(name, value, true),
  ),
  sequenceFunction("setval", [TEXT, INT8, BOOL], (sequences, name: string, value: number | bigint, called: boolean) =>
    sequences.set(name, value, called),
  ),
];

/** Functions that change data although they are part of a query. */
export function writesData(fn: ScalarFunction): boolean {
  if (fn.writes === true) return true;
  return SEQUENCE_FUNCTIONS.includes(fn) && (fn.name === "nextval" || fn.name === "setval");
}

export function isSequenceFunction(name: string): boolean {
  return SEQUENCE_FUNCTIONS.some((fn) => fn.name === name);
}

/** Throws 42P01 for an unknown sequence, 42809 for another relation, 42883 for wrong arguments. */
export function bindSequenceCall(name: string, args: readonly Expr[], binding: Binding, position: number): Expr {
  const fn = SEQUENCE_FUNCTIONS.find((other) => other.name === name && other.args.length === args.length);
  if (fn === undefined) {
    const types = args.map((arg) => displayName(arg.type)).join(", ");
    throw sqlError("42883", `function ${name}(${types}) does not exist`, { position });
  }
  const [first, ...rest] = args;
  if (first === undefined) return Object.freeze({ kind: "call", type: INT8, fn, args: [] });
  const literal = first.kind === "const" && typeof first.value === "string" && first.type.name === "unknown";
  const sequence = literal
    ? constant(TEXT, canonicalName(first.value as string, binding.env, position))
    : first.type === OID
      ? coerceExplicit(first, TEXT, binding, position)
      : coerceImplicit(first, TEXT, binding, position);
  const others = rest.map((arg, i) => coerceImplicit(arg, fn.args[i + 1]!, binding, position));
  return Object.freeze({ kind: "call", type: INT8, fn, args: [sequence, ...others] });
}

/** `schema.name` of an existing sequence; an OID in digits stays. */
function canonicalName(text: string, env: BindEnvironment, position: number): string {
  if (/^\d+$/.test(text)) return text;
  const relation = parseRelationName(text);
  const { catalog } = env;
  const sequence = firstFound(relation, env, (schema, name) => catalog.sequence(schema, name));
  if (sequence !== null) return sequenceLiteral(sequence).slice(1, -1).replaceAll("''", "'");
  const other = firstFound(relation, env, (schema, name) => catalog.table(schema, name));
  if (other !== null) throw sqlError("42809", `"${relation.name}" is not a sequence`, { position });
  throw sqlError("42P01", `relation "${text}" does not exist`, { position });
}

/** An expression to be stored, with literal names of sequences in full: it must mean the same under any search path. */
export function withSequencesInFull(node: ExprNode, env: BindEnvironment): ExprNode {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== "object" || value === null) return value;
    const copy = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, visit(child)]));
    return copy.kind === "call" ? withSequenceInFull(copy as unknown as CallNode, env) : copy;
  };
  return visit(node) as ExprNode;
}

function withSequenceInFull(node: CallNode, env: BindEnvironment): CallNode {
  const { args, path } = node;
  const [first, ...rest] = args;
  const isSequence = isSequenceFunction(path.at(-1)!.toLowerCase()) && referredId(path.at(-2) ?? null) === null;
  const literal = first === undefined || !isSequence ? null : literalName(first.value);
  if (literal === null) return node;
  const value = { ...literal, value: canonicalName(literal.value, env, literal.position) };
  return { ...node, args: [{ ...first!, value }, ...rest] };
}

/** `'s'` or `'s'::regclass`. */
function literalName(node: ExprNode): Extract<ExprNode, { kind: "string" }> | null {
  if (node.kind === "string") return node;
  if (node.kind === "cast" && node.type.name === "regclass" && node.input.kind === "string") return node.input;
  return null;
}
