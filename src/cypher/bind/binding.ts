/**
 * The state of binding one statement: numbers of columns, parameters, tables of clauses that write, and the way from
 * one binder to another (they call each other in circles). Made by bind-cypher.ts.
 */
import type { GraphTables } from "../../catalog/graph.js";
import type { DbError } from "../../protocol/errors.js";
import { JOINS_MAX } from "../../protocol/limits.js";
import { tooManyJoins } from "../../protocol/size-errors.js";
import type { Expr } from "../../query/expr/expr.js";
import type { GraphGuard } from "../../query/plan/graph-guard.js";
import type { CommonTableDefinition, OutputColumn, Plan } from "../../query/plan/plan.js";
import { type SqlType, VARIANT } from "../../values/values.js";
import type { CountAll, Expr as ExprNode, FunctionCall, MatchClause, Query } from "../parse/ast.js";
import { parseCypher } from "../parse/parse.js";
import { type SemanticErrorDetail, type SyntaxErrorDetail, syntaxError } from "../parse/syntax-error.js";
import { type GivenParameters, givenValue } from "./given-parameters.js";
import type { Variable, Variables } from "./variables.js";

/** What a statement is bound against. */
export interface CypherContext {
  readonly graph: GraphTables;
  /** What policies say of it; absent or null: all of it is seen. */
  readonly guard?: GraphGuard | null;
  /** Of all graphs of the tenant; absent: there is only that one. */
  readonly graphNames?: () => readonly string[];
  /** By name: those that came with the statement; absent: there are none. */
  readonly given?: GivenParameters;
  /** Of a query inside a statement of SQL: what keeps the two apart, and what parameters are. */
  readonly inside?: {
    newId(): number;
    parameter(name: string): Expr;
  };
}

/** Makes columns of aggregates. */
export interface AggregateTaker {
  add(node: AggregateNode): Expr;
}

export type AggregateNode = FunctionCall | CountAll;

/** Where an expression stands. */
export interface ExprContext {
  readonly binding: Binding;
  readonly scope: Variables;
  /** Takes the aggregates in it; null: there may be none. */
  readonly aggregates: AggregateTaker | null;
  /** Expressions that have been computed, and where. */
  readonly computed: readonly { readonly node: ExprNode; readonly expr: Expr }[];
}

/** Rows on their way through a query, and what names mean in them. */
export interface Rows {
  readonly plan: Plan;
  readonly scope: Variables;
}

/** The result of a query inside another, or of the whole statement. */
export interface QueryResult {
  readonly plan: Plan;
  /** Under Cypher's names; none without RETURN. */
  readonly columns: readonly OutputColumn[];
  readonly returns: boolean;
}

/** What a query inside another has of it. */
export interface Around {
  /** A WITH hides none of these. */
  readonly kept: Variables;
  /** The rows that each part begins with; absent: one without columns. */
  readonly start?: () => Rows;
}

export interface Binders {
  expr(node: ExprNode, context: ExprContext): Expr;
  query(query: Query, scope: Variables, binding: Binding, around?: Around): QueryResult;
  match(clause: Pick<MatchClause, "optional" | "patterns" | "where">, rows: Rows, binding: Binding): Rows;
}

/** What a CALL IN TRANSACTIONS needs to be run in parts. */
export interface InTransactions {
  /** Of the clause. */
  readonly position: number;
  /** The variables before the clause. */
  readonly scope: readonly { readonly name: string; readonly isNode: boolean }[];
  /** Those that its query adds. */
  readonly outputs: readonly string[];
}

export class Binding {
  /** Those in the text, then those that calls without arguments mean. */
  readonly parameterNames: string[];
  readonly optionalParameters = new Set<string>();
  /** Of the clauses that write, in their order. */
  readonly tables: CommonTableDefinition[] = [];
  /** A clause before this one deletes: entities in rows may be gone. */
  deletes = false;
  /** Of a CALL IN TRANSACTIONS; null: there is none. */
  inTransactions: InTransactions | null = null;
  /** Parameters whose values the plan is made with: it is of no use for others. */
  readonly fixedParameters = new Map<string, unknown>();
  private nextId = 1;
  private partsRead = 0;
  /** By name: its place in `parameterNames`. */
  private readonly parameterPlaces: Map<string, number>;

  constructor(
    readonly text: string,
    parameterNames: readonly string[],
    readonly context: CypherContext,
    readonly bind: Binders,
  ) {
    this.parameterNames = [...parameterNames];
    this.parameterPlaces = new Map(this.parameterNames.map((name, place) => [name, place]));
  }

  get graph(): GraphTables {
    return this.context.graph;
  }

  get guard(): GraphGuard | null {
    return this.context.guard ?? null;
  }

  graphNames(): readonly string[] {
    return this.context.graphNames?.() ?? [this.graph.name];
  }

  /** A node or relationship of a pattern that is looked for. Throws 54001 where there are too many to be planned. */
  readsPart(): void {
    if (++this.partsRead > JOINS_MAX) throw tooManyJoins();
  }

  /** Of a query that a procedure is made of. */
  query(text: string, given: ReadonlyMap<string, Expr> = new Map()): Plan {
    const { body } = parseCypher(text);
    if (body.kind !== "query") throw new Error("a procedure is made of a query");
    const { deletes } = this;
    const scope = new Map([...given].map(([name, expr]): [string, Variable] => [name, { kind: "value", expr }]));
    const { plan } = this.bind.query(body, scope, this);
    this.deletes = deletes;
    return plan;
  }

  newColumn(name: string, type: SqlType, nullable = true): OutputColumn {
    return Object.freeze({ id: this.newId(), name, type, nullable });
  }

  newId(): number {
    return this.context.inside?.newId() ?? this.nextId++;
  }

  /** `optional`: it is null where it did not come, unless the text asks for it. */
  parameter(name: string, optional = false): Expr {
    if (this.context.inside !== undefined) return this.context.inside.parameter(name);
    let index = this.parameterPlaces.get(name);
    if (index === undefined) {
      index = this.parameterNames.push(name) - 1;
      this.parameterPlaces.set(name, index);
      if (optional) this.optionalParameters.add(name);
    }
    return Object.freeze({ kind: "param", type: VARIANT, index });
  }

  valueAtOnce(expr: Expr): unknown {
    if (expr.kind === "const") return expr.value;
    if (expr.kind !== "param" || this.context.inside !== undefined) return undefined;
    const name = this.parameterNames[expr.index]!;
    const value = givenValue(name, this.context.given);
    this.fixedParameters.set(name, value);
    return value;
  }

  error(position: number, detail: SyntaxErrorDetail | SemanticErrorDetail, message: string): DbError {
    return syntaxError(this.text, position, detail, message);
  }
}

export function contextOf(binding: Binding, scope: Variables): ExprContext {
  return { binding, scope, aggregates: null, computed: [] };
}
