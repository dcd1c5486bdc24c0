/**
 * The state of binding one statement: the next column id, the types of parameters as they become known, the columns
 * that may be NULL, and how deep and how large the statement has become. Made by bind-statement.ts.
 */
import type { CastDef } from "../../catalog/operator.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { PARAMETERS_MAX, SQL_DEPTH_MAX, SQL_QUERIES_MAX } from "../../protocol/limits.js";
import type { ColumnId, Expr, ParamExpr } from "../../query/expr/expr.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { type SqlType, TEXT, UNKNOWN } from "../../values/values.js";
import type { CommonTableNode, DataModifyingNode, QueryNode } from "../parse/ast-query.js";
import type { BindEnvironment, Noted } from "./bound-statement.js";
import { type BoundCommonTable, type CommonTableFacts, CommonTableRegistry } from "./common-table-registry.js";
import type { CursorTables } from "./cursor-tables.js";
import type { Scope, ScopeItem } from "./scope.js";

/** How a query is bound. */
export interface QueryOptions {
  /**
   * What becomes of output columns that are still of unknown type (string literals and parameters): text, or left for
   * the caller, who reconciles them with another query's columns.
   */
  readonly unknowns: "text" | "keep";
  /** Types of the columns that the rows are stored into: unknown outputs become these. */
  readonly expected: readonly (SqlType | null)[] | null;
}

export const PLAIN_QUERY: QueryOptions = { unknowns: "text", expected: null };

/** A query as a source of rows; `plan.columns` under the names that the query gives them. */
export interface Source {
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
}

export type BindQuery = (node: QueryNode, parent: Scope | null, binding: Binding, options: QueryOptions) => Source;

export type BindData = (node: DataModifyingNode, parent: Scope | null, binding: Binding) => Plan;

export class Binding {
  private nextColumnId: ColumnId = 1;
  private readonly parameters: (SqlType | null)[];
  private readonly nullable = new Set<ColumnId>();
  private readonly missing = new Set<ColumnId>();
  /** Positions of column references in the statement, for errors that are found after binding. */
  private readonly positions = new WeakMap<Expr, number>();
  private readonly rowItems = new WeakMap<Expr, readonly Expr[]>();
  readonly noted: Noted;
  private readonly sent: BindEnvironment | null;
  private depth = 0;
  private queries = 0;

  constructor(
    private environment: BindEnvironment,
    /** Binds a query inside an expression or in FROM (bind-query.ts, handed in because it calls both). */
    private readonly bindQueryNode: BindQuery,
    /** Binds INSERT, UPDATE, DELETE and MERGE (bind-data.ts, handed in for the same reason). */
    private readonly bindDataNode: BindData,
    /** Ids of columns for a plan that is not of this binding's statement alone. */
    private readonly newId: (() => ColumnId) | null = null,
  ) {
    this.sent = environment.isSent === true ? environment : null;
    this.parameters = [...(environment.declaredTypes ?? [])];
    this.noted = environment.noted ?? {
      named: new WeakMap(),
      changed: new Map(),
      own: new WeakMap(),
      stars: new WeakMap(),
    };
    this.catalog = environment.catalog;
    this.searchPath = environment.searchPath;
  }

  /** The definitions of now, also inside of a view: what its text calls may have changed since it was made. */
  readonly catalog: BindEnvironment["catalog"];

  /** Where the statement's own names are looked up. */
  readonly searchPath: readonly string[];

  /** Whether a client has sent what is bound now: not what the statement calls, or a view that it reads. */
  get isSent(): boolean {
    return this.environment === this.sent;
  }

  get env(): BindEnvironment {
    return this.environment;
  }

  /** Binds a part of the statement that names things of its own: the query of a view. */
  within<T>(env: BindEnvironment, bind: () => T): T {
    const outside = this.environment;
    this.environment = env;
    try {
      return bind();
    } finally {
      this.environment = outside;
    }
  }

  readonly commonTables = new CommonTableRegistry();

  /**
   * The rows that stored expressions of tables are over (stored-expression.ts): made once for all expressions of a
   * table.
   */
  readonly storedRows = new WeakMap<TableDef, ScopeItem>();

  addCommonTable(node: CommonTableNode, facts: CommonTableFacts): BoundCommonTable {
    return this.commonTables.add(node, facts);
  }

  /** A data-modifying statement in WITH; `parent` has the tables before it. */
  dataStatement(node: DataModifyingNode, parent: Scope): Source {
    const plan = this.bindDataNode(node, parent, this);
    return { plan, columns: plan.columns };
  }

  newColumn(name: string, type: SqlType, nullable: boolean): OutputColumn {
    const id = this.newId?.() ?? this.nextColumnId++;
    if (nullable) this.nullable.add(id);
    return Object.freeze({ id, name, type, nullable });
  }

  /** On the far side of an outer join. */
  markNullable(id: ColumnId): void {
    this.nullable.add(id);
  }

  /** A column of the side of an outer join for which there may be no row. */
  markMissing(id: ColumnId): void {
    this.missing.add(id);
  }

  isMissing(id: ColumnId): boolean {
    return this.missing.has(id);
  }

  isNullable(id: ColumnId): boolean {
    return this.nullable.has(id);
  }

  setPosition<E extends Expr>(expr: E, position: number): E {
    this.positions.set(expr, position);
    return expr;
  }

  positionOf(expr: Expr): number | undefined {
    return this.positions.get(expr);
  }

  /** The content of a ROW(…), before its literals became text. */
  setRowItems(row: Expr, items: readonly Expr[]): void {
    this.rowItems.set(row, items);
  }

  rowItemsOf(row: Expr): readonly Expr[] | undefined {
    return this.rowItems.get(row);
  }

  /** `$n` with the type that is known so far; UNKNOWN until the context gives one. */
  parameter(index: number, position: number): ParamExpr {
    if (index >= PARAMETERS_MAX) throw sqlError("42P02", `there is no parameter $${index + 1}`, { position });
    while (this.parameters.length <= index) this.parameters.push(null);
    return Object.freeze({ kind: "param", type: this.parameters[index] ?? UNKNOWN, index });
  }

  /** The type of `$n`, once known. */
  parameterType(index: number): SqlType | null {
    return this.parameters[index] ?? null;
  }

  /** Of the statement's own SELECT: which of its columns are columns of tables; null: it has none of its own. */
  origins: readonly (OutputColumn["origin"] | null)[] | null = null;

  private readonly columnOrigins = new Map<ColumnId, NonNullable<OutputColumn["origin"]>>();

  /** The column of a subquery, a WITH or a view is that column of a table. */
  setOrigin(id: ColumnId, origin: OutputColumn["origin"] | null): void {
    if (origin) this.columnOrigins.set(id, origin);
    else this.columnOrigins.delete(id);
  }

  originOf(id: ColumnId): OutputColumn["origin"] | null {
    return this.columnOrigins.get(id) ?? null;
  }

  /** Of DECLARE: the tables whose rows can be told by what the cursor's plan gives; null: another statement. */
  cursorTables: CursorTables | null = null;

  /** A query of the statement has FOR UPDATE or the like. */
  locksRows = false;

  /** Columns that the statement's role may not read, with their table's name. */
  readonly denied = new Map<ColumnId, string>();
  /** Whether the statement was asked for those: one that was not has no plan. */
  deniedSettled = false;

  /** Tables whose policies are being bound: one that reads its own table through policies would never end. */
  readonly policed = new Set<number>();

  /** A cast that a statement made and that this one uses; null: none. */
  madeCast: CastDef | null = null;

  /** Parameters for which the type of the client's value was asked for. */
  readonly open = new Set<number>();

  /** What the client's value suggests; null: nothing. */
  suggestedType(index: number): SqlType | null {
    this.open.add(index);
    return this.env.parameterTypes[index] ?? null;
  }

  setParameterType(index: number, type: SqlType): ParamExpr {
    this.parameters[index] = type;
    return Object.freeze({ kind: "param", type, index });
  }

  parameterTypes(): SqlType[] {
    return this.parameters.map((type, index) => type ?? this.suggestedType(index) ?? TEXT);
  }

  /** Counts every query, also the copies that WITH tables become, and bounds their nesting. */
  query(node: QueryNode, parent: Scope | null, options: QueryOptions): Source {
    if (++this.queries > SQL_QUERIES_MAX || ++this.depth > SQL_DEPTH_MAX) {
      throw sqlError("54001", "statement too complex", { position: node.position });
    }
    const source = this.bindQueryNode(node, parent, this, options);
    this.depth--;
    return source;
  }
}

/** Whether the value may be NULL, as far as that is plain to see. */
export function mayBeNull(expr: Expr, binding: Binding): boolean {
  switch (expr.kind) {
    case "const":
      return expr.value === null;
    case "column":
      return binding.isNullable(expr.id);
    case "isnull":
      return false;
    case "cast":
    case "not":
      return mayBeNull(expr.input, binding);
    case "and":
    case "or":
      return expr.args.some((arg) => mayBeNull(arg, binding));
    default:
      return true;
  }
}
