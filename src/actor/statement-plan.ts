/**
 * From a statement's text to something that can run: parse → bind → optimize → compile. The result is immutable,
 * cached by plan-cache.ts and shared by all runs.
 */
import type { StatisticsSource } from "../catalog/statistics.js";
import { sqlError } from "../protocol/errors.js";
import { typeOfParameter } from "../protocol/json-format.js";
import type { SqlType } from "../protocol/values.js";
import { compilePlan } from "../query/exec/compile-plan.js";
import type { Program } from "../query/exec/operator.js";
import { optimize } from "../query/optimize/optimize.js";
import { bindStatement } from "../sql/bind/bind-statement.js";
import type { BindEnvironment, BoundQuery, BoundStatement } from "../sql/bind/bound-statement.js";
import type { StatementNode } from "../sql/parse/ast.js";
import { parseSql } from "../sql/parse/parse.js";
import { type ResultShape, shapeOf } from "./sql-result.js";

export interface StatementPlan {
  readonly bound: BoundStatement;
  readonly catalogVersion: number | string;
  /** Parameters whose type came from the value the client sent, with that type. */
  readonly openParameters: readonly { readonly index: number; readonly type: SqlType | null }[];
  readonly parameterTypes: readonly SqlType[];
  /** Of a query; null for everything else. */
  readonly program: Program | null;
  readonly shape: ResultShape | null;
  /** How often the plan cache handed it out. */
  uses: number;
}

/** The session's definitions and what names mean in it. */
type Names = Omit<BindEnvironment, "parameterTypes">;

const NO_TYPES: readonly SqlType[] = [];

/** Throws sqlError for anything wrong with the text; it must hold exactly one statement. */
export function planStatement(
  sql: string,
  params: readonly unknown[],
  names: Names,
  statistics: StatisticsSource,
): StatementPlan {
  const statements = parseSql(sql);
  if (statements.length === 0) throw sqlError("42601", "The text holds no statement.", { position: 1 });
  if (statements.length > 1) {
    throw sqlError("42601", "cannot insert multiple commands into a prepared statement", {
      position: statements[1]!.start + 1,
      hint: "Send one statement a call, or several with POST /v1/query/execute/batch.",
    });
  }
  return planNode(statements[0]!.node, params, names, statistics);
}

function queryOf(bound: BoundStatement): BoundQuery | null {
  if (bound.kind === "query") return bound;
  return bound.kind === "explain" || bound.kind === "declare cursor" ? bound.statement : null;
}

/** Plans one statement of the syntax tree. */
export function planNode(
  node: StatementNode,
  params: readonly unknown[],
  names: Names,
  statistics: StatisticsSource,
): StatementPlan {
  const guesses = params.map(typeOfParameter);
  const bound = bindStatement({ node }, { ...names, parameterTypes: guesses });
  const common = { bound, catalogVersion: names.catalog.version, uses: 0 };
  const query = queryOf(bound);
  if (query === null) {
    return { ...common, openParameters: [], parameterTypes: NO_TYPES, program: null, shape: null };
  }
  const plan = optimize(query.plan, { statistics });
  return {
    ...common,
    openParameters: query.openParameters.map((index) => ({ index, type: guesses[index] ?? null })),
    parameterTypes: query.parameterTypes,
    program: compilePlan(plan),
    shape: shapeOf(query.columns),
  };
}
