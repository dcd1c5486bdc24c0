/**
 * Operators and casts that statements made. Both belong to who owns their function; a cast without one to who owns one
 * of its types. `operator-ddl.ts` makes the records.
 */
import type { SqlType } from "../values/values.js";
import type { RoutineType } from "./function.js";

/** The function that computes: one that a statement made by its id, one of the system by its name. */
export type Computes = { readonly id: number } | { readonly builtIn: string };

export interface OperatorDef {
  /** Unique within the tenant. */
  readonly id: number;
  readonly schema: string;
  /** Of symbols. */
  readonly name: string;
  /** Null: of a prefix operator. */
  readonly left: RoutineType | null;
  readonly right: RoutineType;
  readonly result: RoutineType;
  readonly computes: Computes;
  /** The operator of its schema, or of the system, that takes the operands the other way round. */
  readonly commutator?: string;
  /** The one that gives the opposite. */
  readonly negator?: string;
  /** Functions that estimate. They are kept for dumps alone: the optimizer has its own estimates. */
  readonly restrict?: string;
  readonly join?: string;
  readonly hashes?: boolean;
  readonly merges?: boolean;
  readonly comment?: string;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
}

export type CastMethod =
  | { readonly kind: "function"; readonly computes: Computes }
  /** Through text. */
  | { readonly kind: "inout" }
  /** WITHOUT FUNCTION: the value stays as it is. */
  | { readonly kind: "binary" };

export interface CastDef {
  /** Unique within the tenant. */
  readonly id: number;
  /** Neither has a modifier, nor is it a domain. */
  readonly source: SqlType;
  readonly target: SqlType;
  readonly context: "implicit" | "assignment" | "explicit";
  readonly method: CastMethod;
  readonly comment?: string;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
}

/** What a cast is found by, whatever was changed about its types since. */
export function castKey(source: SqlType, target: SqlType): string {
  return `${sideKey(source)} ${sideKey(target)}`;
}

function sideKey(type: SqlType): string {
  if (type.element !== null) return `${sideKey(type.element)}[]`;
  return type.user === undefined ? (type.typeName ?? type.name) : `#${type.user.id}`;
}

/** Whether a function that a statement made does the work. */
export function isComputedBy(definition: OperatorDef | CastDef, functionId: number): boolean {
  const computes = computesOf(definition);
  return computes !== null && "id" in computes && computes.id === functionId;
}

export function computesOf(definition: OperatorDef | CastDef): Computes | null {
  if ("computes" in definition) return definition.computes;
  return definition.method.kind === "function" ? definition.method.computes : null;
}

/** The types that the definition is about. */
export function typesOf(definition: OperatorDef | CastDef): readonly SqlType[] {
  if ("source" in definition) return [definition.source, definition.target];
  const { left, right, result } = definition;
  return [...(left === null ? [] : [left.type]), right.type, result.type];
}

/** For messages. */
export function describeOperator(definition: OperatorDef | CastDef): string {
  if ("computes" in definition) return `operator ${definition.name}`;
  return `cast from ${typeLabel(definition.source)} to ${typeLabel(definition.target)}`;
}

export function typeLabel({ user, typeName, name, element }: SqlType): string {
  return element === null ? (user?.name ?? typeName ?? name) : `${typeLabel(element)}[]`;
}
