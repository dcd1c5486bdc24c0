/**
 * Definitions of functions and procedures (CREATE FUNCTION, CREATE PROCEDURE), stored like tables. Several may have
 * the same name if their argument types differ.
 */
import type { SqlType } from "../values/values.js";
import type { ViewQuery, ViewRelation } from "./kept-query.js";

/** PostgreSQL's pseudo-types, which take their type from a call. */
export type Polymorphic =
  | "anyelement"
  | "anyarray"
  | "anynonarray"
  | "anyenum"
  | "anyrange"
  | "anymultirange"
  | "anycompatible"
  | "anycompatiblearray"
  | "anycompatiblenonarray"
  | "anycompatiblerange"
  | "anycompatiblemultirange"
  | "any";

/** A type as a function declares it. */
export interface RoutineType {
  /** For `any`… and rows of tables: their substitute until a call is bound. */
  readonly type: SqlType;
  readonly polymorphic?: Polymorphic;
  /** A row of this table (or view), as it is when the function is called. */
  readonly relationId?: number;
  /** The type's name where its values have another type: `trigger`, `refcursor` and the like. */
  readonly name?: string;
}

export type ParameterMode = "in" | "out" | "inout" | "variadic" | "table";

export interface RoutineParameter {
  readonly name: string | null;
  readonly mode: ParameterMode;
  readonly type: RoutineType;
  readonly defaultSql: string | null;
}

/** One way in which an aggregate computes: its functions by name, looked up when a query that uses it is bound. */
export interface AggregateSide {
  readonly stateFunction: string;
  readonly stateType: RoutineType;
  readonly finalFunction: string | null;
  /** The final function takes NULLs of the arguments' types after the state. */
  readonly finalExtra?: boolean;
  /** The first state as text. */
  readonly initial: string | null;
}

/** Of an aggregate. */
export interface AggregateParts extends AggregateSide {
  /** For window frames that rows leave again. */
  readonly moving?: AggregateSide & { readonly inverseFunction: string };
  /** Ids of the functions that statements made among them. */
  readonly uses?: readonly number[];
}

export interface FunctionDef {
  /** Unique within the tenant. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly kind: "function" | "procedure" | "aggregate";
  readonly parameters: readonly RoutineParameter[];
  /** What a call gives: of several OUT parameters RECORD, of a procedure without any VOID. */
  readonly returns: RoutineType;
  readonly returnsSet: boolean;
  readonly language: "sql" | "plpgsql" | "internal";
  /** Statements as text; with `standard` they were written as such (RETURN …, BEGIN ATOMIC …). */
  readonly body: string;
  readonly standard?: boolean;
  readonly volatility: "immutable" | "stable" | "volatile";
  readonly strict: boolean;
  /** Settings that are in force while it runs. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** Where the names of a body that was written as statements were looked up. */
  readonly searchPath?: readonly string[];
  /** What they meant, as in ViewQuery with `exact`; absent: the body is from before, or is no such body. */
  readonly relations?: readonly ViewRelation[];
  readonly places?: ViewQuery["places"];
  readonly cost?: number;
  readonly rows?: number;
  readonly securityDefiner?: boolean;
  readonly leakproof?: boolean;
  readonly parallel?: "safe" | "restricted" | "unsafe";
  readonly aggregate?: AggregateParts;
  readonly comment?: string;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
}

/** A body that was written as statements, as views keep their queries; null: its names are looked up by each call. */
export function keptBody({ body, searchPath, relations, places }: FunctionDef): ViewQuery | null {
  if (relations === undefined) return null;
  return { sql: body, searchPath: searchPath!, relations, exact: true, ...(places && { places }) };
}

/** What a call gives values for. */
export function inputsOf(fn: Pick<FunctionDef, "parameters">): readonly RoutineParameter[] {
  return fn.parameters.filter(({ mode }) => mode === "in" || mode === "inout" || mode === "variadic");
}

/** What a call answers with, when the parameters say it. */
export function outputsOf(fn: Pick<FunctionDef, "parameters">): readonly RoutineParameter[] {
  return fn.parameters.filter(({ mode }) => mode === "out" || mode === "inout" || mode === "table");
}

/** Whether two declared types are the same one; modifiers are no part of a signature. */
export function sameRoutineType(a: RoutineType, b: RoutineType): boolean {
  return keyOf(a) === keyOf(b);
}

function keyOf({ type, polymorphic, relationId, name }: RoutineType): string {
  return polymorphic ?? name ?? (relationId === undefined ? typeKey(type) : `row of ${relationId}`);
}

function typeKey(type: SqlType): string {
  if (type.user !== undefined) return `user ${type.user.id}`;
  return type.element === null ? type.name : `${typeKey(type.element)}[]`;
}

/** Whether what a call gives has the same types: then they are two definitions of one function. */
export function sameInputs(a: Pick<FunctionDef, "parameters">, b: Pick<FunctionDef, "parameters">): boolean {
  const [left, right] = [inputsOf(a), inputsOf(b)];
  return left.length === right.length && left.every(({ type }, i) => sameRoutineType(type, right[i]!.type));
}
