/**
 * Checks WITH and RETURN: columns, grouping, and what ORDER BY, SKIP, LIMIT and WHERE may name. Extended by
 * `check-queries.ts`.
 */
import { sqlError } from "../../protocol/errors.js";
import type { Expr, ProjectionClause, ProjectionItem, Variable } from "../parse/ast.js";
import type { CheckedColumn } from "./check-expressions.js";
import { PatternChecker } from "./check-patterns.js";
import { aggregateIn, directParts, isAggregate } from "./expr-parts.js";
import { sameExpr } from "./same-expr.js";
import { Scope } from "./scope.js";
import type { StaticType } from "./static-type.js";

/** Variables that all `*` of a statement hand on together. */
const STARRED_MAX = 50_000;

const tooManyVariables = () =>
  sqlError("54001", "statement too complex", { hint: "Name the columns of WITH and RETURN instead of *." });

export abstract class ProjectionChecker extends PatternChecker {
  private starred = 0;

  /** The columns, and the scope after the clause. `inSubquery`: variables from outside stay visible. */
  protected projection(clause: ProjectionClause, scope: Scope): { columns: readonly CheckedColumn[]; scope: Scope } {
    const { kind, star, items, distinct } = clause;
    if (star && kind === "return" && scope.own.size === 0 && items.length === 0) {
      const remedy = "name what is wanted, or a part of the pattern";
      throw this.mistake(clause.position, "NoVariablesInScope", "RETURN * finds no variables", remedy);
    }
    this.uniqueNames(items);
    const columns: CheckedColumn[] = [];
    if (star) {
      this.starred += scope.own.size;
      if (this.starred > STARRED_MAX) throw tooManyVariables();
      const named = new Set(items.map(({ name }) => name));
      for (const [name, type] of scope.own) if (!named.has(name)) columns.push({ name, type });
    }
    const types = items.map(({ expr }) => this.typeOf(expr, { scope, aggregates: "allowed" }));
    const aggregates = items.some(({ expr }) => aggregateIn(expr));
    if (aggregates) this.grouping(clause, scope);
    const after = new Scope(scope.outer, scope.keepsOuter);
    for (const { name, type } of columns) after.define(name, type);
    for (const [i, item] of items.entries()) {
      columns.push({ name: item.name, type: types[i]! });
      if (!isNamed(item)) continue;
      if (kind === "with" && scope.keepsOuter && isRenamed(item) && scope.outer!.has(item.name)) {
        throw this.alreadyBound(item, "the query around this one has it; another name is free");
      }
      after.define(item.name, types[i]!);
    }
    this.afterColumns(clause, scope, after, aggregates || distinct);
    return { columns, scope: after };
  }

  private uniqueNames(items: readonly ProjectionItem[]): void {
    const names = new Set<string>();
    for (const { name, alias, position } of items) {
      if (names.has(name)) {
        const at = alias?.position ?? position;
        throw this.mistake(at, "ColumnNameConflict", `two columns are called \`${name}\``, "AS gives another name");
      }
      names.add(name);
    }
  }

  /** Around aggregates, only columns that are variables or properties, and what is the same in all rows, may stand. */
  private grouping({ kind, star, items }: ProjectionClause, scope: Scope): void {
    const keys = items.filter(({ expr }) => isSimple(expr) && !aggregateIn(expr)).map(({ expr }) => expr);
    for (const { expr } of items) {
      if (aggregateIn(expr)) this.groupedParts(expr, keys, star ? scope : new Scope(), scope, kind.toUpperCase());
    }
  }

  /** `starred`: variables that are columns because of `*`. */
  private groupedParts(part: Expr, keys: readonly Expr[], starred: Scope, scope: Scope, clause: string): void {
    if (isAggregate(part) || keys.some((key) => sameExpr(key, part))) return;
    if (part.kind === "variable") {
      if (starred.own.has(part.name)) return;
      const what = `variable \`${part.name}\` is used beside an aggregate and is not grouped by`;
      const remedy = `a column of its own in ${clause} groups by it, or WITH names the whole expression first`;
      throw this.mistake(part.position, "AmbiguousAggregationExpression", what, remedy);
    }
    for (const inner of directParts(part, scope)) this.groupedParts(inner, keys, starred, scope, clause);
  }

  private afterColumns(clause: ProjectionClause, before: Scope, after: Scope, grouped: boolean): void {
    const { orderBy, skip, limit, where, items } = clause;
    // Ungrouped, each row still has its variables from before; columns hide those of the same name.
    const both = new Scope(before);
    for (const [name, type] of after.own) both.define(name, type);
    for (const { expr } of orderBy) {
      if (!grouped) this.typeOf(expr, { scope: both, aggregates: "forbidden" });
      else {
        this.groupedKey(expr, items, after, before, aggregateIn(expr));
        this.typeOf(expr, { scope: both, aggregates: "allowed" });
      }
    }
    if (skip !== null) this.rowCount(skip, "SKIP");
    if (limit !== null) this.rowCount(limit, "LIMIT");
    if (where !== null) {
      if (grouped && !aggregateIn(where)) this.groupedKey(where, items, after, before, false);
      this.condition(where, { scope: both, aggregates: "forbidden" }, "WHERE");
    }
    if (clause.kind === "with") this.namesGiven(items);
  }

  private namesGiven(items: readonly ProjectionItem[]): void {
    const unnamed = items.find((item) => !isNamed(item));
    if (unnamed === undefined) return;
    throw this.mistake(unnamed.position, "NoExpressionAlias", "an expression in WITH needs a name", "expected AS");
  }

  /** After grouping or DISTINCT, sort keys and conditions are made of columns: by name, or written out again. */
  private groupedKey(
    part: Expr,
    items: readonly ProjectionItem[],
    after: Scope,
    before: Scope,
    aggregates: boolean,
  ): void {
    if (part.kind === "variable" && after.has(part.name)) return;
    const column = items.find(({ expr }) => sameExpr(expr, part));
    if (column !== undefined) {
      if (!aggregates || isSimple(part) || aggregateIn(part) || isConstant(part)) return;
      const what = "a column that is no variable and no property stands beside an aggregate";
      const remedy = "WITH names the column first";
      throw this.mistake(part.position, "AmbiguousAggregationExpression", what, remedy);
    }
    if (part.kind === "variable") throw this.lostVariable(part, before);
    for (const inner of directParts(part, before)) this.groupedKey(inner, items, after, before, aggregates);
    if (isAggregate(part)) {
      const remedy = "give it a column, by whose name rows can be sorted";
      throw this.mistake(part.position, "InvalidAggregation", "ORDER BY has an aggregate that is not a column", remedy);
    }
  }

  private lostVariable(variable: Variable, before: Scope) {
    const { name, position } = variable;
    if (!before.has(name)) this.typeOfVariable(variable, before);
    const what = `variable \`${name}\` is not defined after DISTINCT or an aggregate`;
    return this.mistake(position, "UndefinedVariable", what, "give it a column of its own");
  }

  /** SKIP and LIMIT are the same for all rows. */
  private rowCount(expr: Expr, clause: string): void {
    const variable = firstDependent(expr);
    if (variable !== null) {
      const what = `${clause} cannot depend on the rows`;
      throw this.mistake(variable.position, "NonConstantExpression", what, "a parameter or a constant is wanted");
    }
    const type: StaticType = this.typeOf(expr, { scope: new Scope(), aggregates: "forbidden" });
    this.require(expr, type, ["integer"], clause);
    if (expr.kind === "integer" && expr.value < 0) {
      throw this.mistake(expr.position, "NegativeIntegerArgument", `${clause} cannot be negative`);
    }
  }
}

const isRenamed = ({ expr, name }: ProjectionItem): boolean => expr.kind !== "variable" || expr.name !== name;

const isNamed = ({ expr, alias }: ProjectionItem): boolean => alias !== null || expr.kind === "variable";

/** A variable, or properties of one. */
function isSimple(expr: Expr): boolean {
  return expr.kind === "variable" || (expr.kind === "property" && isSimple(expr.target));
}

const isConstant = (expr: Expr): boolean => firstDependent(expr) === null;

/** What in an expression differs from row to row. */
function firstDependent(expr: Expr): Expr | null {
  if (expr.kind === "variable" || expr.kind === "subquery" || expr.kind === "pattern") return expr;
  if (expr.kind === "pattern-comprehension") return expr;
  for (const part of directParts(expr, null)) {
    const found = firstDependent(part);
    if (found !== null) return found;
  }
  return null;
}
