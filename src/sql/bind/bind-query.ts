/** Whole queries: WITH, the body (SELECT, VALUES, set operations), ORDER BY and LIMIT. */
import { DbError, sqlError } from "../../protocol/errors.js";
import { commonType } from "../../query/expr/coercion.js";
import type { Expr } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan, SortKey } from "../../query/plan/plan.js";
import { INT8 } from "../../values/values.js";
import type { ExprNode, QueryNode, SetOperationBody, SortNode, ValuesBody } from "../parse/ast-query.js";
import { startOf, startOfColumn } from "../parse/expr-start.js";
import { contextOf } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { refuseLocking } from "./bind-locking.js";
import { expandStars } from "./bind-row.js";
import { bindSelect } from "./bind-select.js";
import { bindWith } from "./bind-with.js";
import { type Binding, mayBeNull, type QueryOptions, type Source } from "./binding.js";
import { coerceCommon, coerceTo, commonTypeOf, constant, isUnknown, withPosition } from "./coerce.js";
import { Scope } from "./scope.js";
import { bindSortKey, outputSortKey } from "./sort-key.js";
import { castColumns, type Limits, limited, resolveColumns, sorted } from "./source.js";

/** Given to Binding by bind-statement.ts; call `binding.query`, which bounds depth and size. */
export function bindQuery(node: QueryNode, parent: Scope | null, binding: Binding, options: QueryOptions): Source {
  const scope = new Scope(parent);
  const tables = bindWith(node.with, scope, binding);
  const limits = bindLimits(node, scope, binding);
  const source = bindBody(node, scope, binding, options, limits);
  return tables.around(source);
}

function bindBody(
  node: QueryNode,
  scope: Scope,
  binding: Binding,
  options: QueryOptions,
  limits: Limits | null,
): Source {
  const { body } = node;
  if (body.kind === "select") return bindSelect(node, body, scope, binding, options, limits);
  refuseLocking(node, body.kind);
  const keep = options.unknowns === "keep" && node.orderBy.length === 0 && limits === null;
  let source =
    body.kind === "values" ? bindValues(body, scope, binding, options) : bindSetOperation(body, scope, binding);
  if (!keep) source = resolveColumns(source, binding);
  const keys = node.orderBy.map((sort) => outputKey(sort, source, body.kind, scope, binding));
  return { plan: limited(sorted(source.plan, keys), limits, keys), columns: source.columns };
}

/** Set operations sort by their output columns only; VALUES by expressions over them, too. */
function outputKey(
  sort: SortNode,
  source: Source,
  kind: "values" | "set operation",
  scope: Scope,
  binding: Binding,
): SortKey {
  const found = outputSortKey(sort.expr, source.columns, "ORDER BY");
  if (found !== null) return bindSortKey(sort, columnExpr(found));
  if (kind === "set operation") {
    throw sqlError("0A000", "invalid UNION/INTERSECT/EXCEPT ORDER BY clause", {
      position: sort.position,
      hint: "Only result column names can be used, not expressions or functions. Move the UNION into a FROM clause to sort by an expression.",
    });
  }
  const columns = source.columns.map((column) => ({ name: column.name, expr: columnExpr(column) }));
  const inside = new Scope(scope.parent);
  inside.items = [{ name: null, schema: null, columns, table: null, unqualified: true, qualifiable: false }];
  return bindSortKey(sort, bindExpr(sort.expr, contextOf(binding, inside, "ORDER BY")));
}

// ---- LIMIT ----

function bindLimits(node: QueryNode, scope: Scope, binding: Binding): Limits | null {
  const limit = node.limit === null ? null : bindCount(node.limit, "LIMIT", scope, binding);
  const offset = node.offset === null ? null : bindCount(node.offset, "OFFSET", scope, binding);
  const none = (expr: Expr | null) => expr === null || (expr.kind === "const" && expr.value === null);
  const { withTies } = node;
  if (none(limit) && none(offset) && !withTies) return null;
  return { limit: none(limit) && !withTies ? null : limit, offset: none(offset) ? null : offset, withTies };
}

function bindCount(node: ExprNode, clause: "LIMIT" | "OFFSET", scope: Scope, binding: Binding): Expr {
  const position = startOf(node);
  const expr = bindCountExpr(node, clause, scope, binding);
  if (expr.kind !== "const" || isUnknown(expr)) return coerceTo(expr, INT8, clause, binding, position);
  if (typeof expr.value !== "number") return coerceTo(expr, INT8, clause, binding, position);
  if (expr.value < 0) {
    throw sqlError(clause === "LIMIT" ? "2201W" : "2201X", `${clause} must not be negative`, { position });
  }
  return constant(INT8, expr.value);
}

/** The scope's relations are not there yet, so a column can only be one of an enclosing query. */
function bindCountExpr(node: ExprNode, clause: "LIMIT" | "OFFSET", scope: Scope, binding: Binding): Expr {
  try {
    return bindExpr(node, contextOf(binding, scope, clause));
  } catch (error) {
    const state = error instanceof DbError ? error.details?.sqlstate : null;
    if (node.kind !== "column" || (state !== "42703" && state !== "42P01")) throw error;
    throw sqlError("42P10", `argument of ${clause} must not contain variables`, { position: node.position });
  }
}

// ---- VALUES ----

function bindValues(body: ValuesBody, scope: Scope, binding: Binding, options: QueryOptions): Source {
  const context = contextOf(binding, scope, "VALUES");
  const lists = body.rows.map((row) => expandStars(row, context, bindExpr));
  const width = lists[0]!.length;
  const given = lists.map((row) => {
    if (row.length !== width) {
      throw sqlError("42601", "VALUES lists must all be the same length", { position: row[0]?.position ?? 0 });
    }
    return row.map((node) => bindExpr(node, context));
  });
  const types = given[0]!.map((first, i) => {
    const column = given.map((row) => row[i]!);
    if (column.every(isUnknown)) {
      if (options.expected?.[i] != null) return options.expected[i];
      if (options.unknowns === "keep") return first.type;
    }
    const positions = lists.map((row) => startOf(row[i]!));
    return commonTypeOf(column, "VALUES", binding, positions);
  });
  const rows = given.map((row, r) =>
    row.map((expr, i) => coerceCommon(expr, types[i]!, "VALUES", binding, lists[r]![i]!.position)),
  );
  const columns = rows[0]!.map((expr, i) =>
    binding.newColumn(
      `column${i + 1}`,
      expr.type,
      rows.some((row) => mayBeNull(row[i]!, binding)),
    ),
  );
  return { plan: Object.freeze({ kind: "values", rows, columns }), columns };
}

// ---- UNION, INTERSECT, EXCEPT ----

function bindSetOperation(body: SetOperationBody, scope: Scope, binding: Binding): Source {
  const { op, all } = body;
  const name = op.toUpperCase();
  let left = binding.query(body.left, scope, { unknowns: "keep", expected: null });
  let right = binding.query(body.right, scope, { unknowns: "keep", expected: null });
  if (left.columns.length !== right.columns.length) {
    const message = `each ${name} query must have the same number of columns`;
    throw sqlError("42601", message, { position: body.right.position });
  }
  const types = left.columns.map((column, i) =>
    withPosition(startOfColumn(body.right, i), () => commonType([column.type, right.columns[i]!.type], name)),
  );
  const convert = (position: number) => (expr: Expr, type: (typeof types)[number]) =>
    coerceCommon(expr, type, name, binding, position);
  left = castColumns(left, types, binding, convert(body.left.position));
  right = castColumns(right, types, binding, convert(body.right.position));
  const columns = left.columns.map((column, i): OutputColumn => {
    const nullable = column.nullable || right.columns[i]!.nullable;
    return binding.newColumn(column.name, types[i]!, nullable);
  });
  const plan: Plan = Object.freeze({ kind: "setop", op, all, left: left.plan, right: right.plan, columns });
  return { plan, columns };
}
