/**
 * Keys and predicates of indexes, and EXCLUDE constraints, which are indexes. Called for CREATE INDEX and for tables.
 */
import type { CreateIndexCommand, NewIndexColumn } from "../../catalog/ddl-command.js";
import { missingColumn } from "../../catalog/did-you-mean.js";
import { isOrdered } from "../../catalog/partition-bounds.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { operatorFor } from "../../query/expr/resolve.js";
import { baseType, displayName } from "../../query/expr/types.js";
import { isFigure } from "../../values/geometry-extent.js";
import { rangeKeyOf } from "../../values/range.js";
import { BOOL, type SqlType } from "../../values/values.js";
import type { IndexElement } from "../parse/ast-definitions.js";
import type { ExprNode } from "../parse/ast-query.js";
import { PLAIN_INDEX, TEXT_INDEX } from "../parse/table-dialect.js";
import { isImmutable } from "./bind-column-def.js";
import { type ConstraintOf, checkIndexable } from "./bind-constraint.js";
import { givenCollation } from "./bind-details.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import type { Binding } from "./binding.js";
import { resolveUnknown } from "./coerce.js";
import { withFixedTimes } from "./fixed-times.js";
import { refuseParameters, rowContext, storedSql } from "./stored-expression.js";
import { classFor } from "./system/builtin-operators.js";

/** Throws 42703. */
export function indexedColumn(name: string, table: TableDef, position: number): ColumnDef {
  const column = table.columns.find((other) => other.name === name);
  if (column === undefined) throw missingColumn(name, table, position, `column "${name}"`);
  return column;
}

/** Throws 42703, 42704 for types without an order, 42P17. */
export function indexColumns(
  elements: readonly IndexElement[],
  table: TableDef,
  position: number,
  binding: Binding,
  method: "btree" | "hash" | "gist" = "btree",
): NewIndexColumn[] {
  return elements.map((element): NewIndexColumn => {
    const { descending, operatorClass } = element;
    const inner = element.expr?.kind === "collate" ? element.expr : null;
    const expr = inner?.input ?? element.expr;
    const collation = (type: SqlType) => givenCollation(element.collation ?? inner?.collation ?? null, type, position);
    const order = (type: SqlType) => ({
      descending,
      nullsFirst: element.nullsFirst ?? descending,
      ...(operatorClass !== null && method !== "gist" && givenClass(operatorClass, type, method, position)),
      ...kept(collation(type)),
    });
    const plain = element.column ?? (expr?.kind === "column" && expr.path.length === 1 ? expr.path[0]! : null);
    if (plain === null) {
      const key = indexExpression(expr!, table, method, binding);
      return { ...key, ...order(key.expression.type) };
    }
    const { type } = indexedColumn(plain, table, position);
    checkKey(type, method, position);
    return { name: plain, ...order(type) };
  });
}

const kept = (collation: string | null) => (collation === null ? {} : { collation });

/** GiST keeps figures, too. Throws 42704. */
function checkKey(type: SqlType, method: "btree" | "hash" | "gist", position: number): void {
  if (method !== "gist" || !isFigure(baseType(type))) checkIndexable(type, position);
}

/** Classes of extensions that order as the type does. */
const CLASSES_OF_EXTENSIONS =
  /^(?:vector|halfvec|sparsevec|citext|citext_pattern|btree_hstore|hash_hstore|ltree|hash_ltree)_ops$/;

/** What of a class is kept: nothing of the type's own. Throws 42704, 42804. */
function givenClass(operatorClass: string, type: SqlType, method: "btree" | "hash", position: number) {
  const refuse = (code: string, what: string) =>
    sqlError(code, `operator class "${operatorClass}" ${what}`, { position });
  switch (classFor(operatorClass, baseType(type), method)) {
    case "own":
      return null;
    case "other":
      return { operatorClass };
    case "of other types":
      throw refuse("42804", `does not accept data type ${displayName(type)}`);
    case "none":
      if (CLASSES_OF_EXTENSIONS.test(operatorClass)) return null;
      throw refuse("42704", `does not exist for access method "${method}"`);
  }
}

/**
 * EXCLUDE whose operators are all "=" is the same as a unique key but for its errors. With another one for one column,
 * equal values of the other columns may stand side by side in the index, and that column comes last. Throws 0A000 for
 * others.
 */
export function bindExclusion(
  node: ConstraintOf<"exclude">,
  table: TableDef,
  isPartitioned: boolean,
  binding: Binding,
): Omit<CreateIndexCommand, "kind" | "table" | "ifNotExists"> {
  const { position, method } = node;
  if (isPartitioned) {
    throw sqlError("0A000", "exclusion constraints are not supported on partitioned tables", { position });
  }
  if (method !== "btree" && method !== "hash" && method !== "gist") {
    throw sqlError("0A000", `EXCLUDE USING ${method} is not supported yet`, { position });
  }
  const isDeferrable = node.deferrable || node.initiallyDeferred;
  const { elements, operators, forbidsOverlap } = inOrder(node);
  const keys = method === "gist" ? elements.map(withoutClass) : elements;
  const columns = indexColumns(keys, table, position, binding, method === "gist" ? "gist" : "btree");
  for (const column of forbidsOverlap ? columns.slice(0, -1) : columns) {
    checkIndexable(typeOfKey(column, table, position), position);
  }
  if (forbidsOverlap) checkExcluding(operators.at(-1)!, columns.at(-1)!, table, method, position);
  return {
    name: node.name,
    unique: !isDeferrable && !forbidsOverlap,
    columns,
    where: node.where === null ? null : indexPredicate(node.where, table, binding),
    include: node.including.map((name) => indexedColumn(name, table, position).name),
    nullsNotDistinct: false,
    exclusion: {
      deferrable: isDeferrable ? { initiallyDeferred: node.initiallyDeferred, primary: false } : null,
      ...(method === "gist" && { operators }),
    },
    notices: [],
  };
}

/** Classes of GiST have no effect on how the index is kept. Throws 42704. */
function withoutClass(element: IndexElement): IndexElement {
  const { operatorClass } = element;
  if (operatorClass === null || operatorClass.endsWith("_ops")) return { ...element, operatorClass: null };
  throw sqlError("42704", `operator class "${operatorClass}" does not exist for access method "gist"`);
}

/** The column whose operator is not "=" comes last. Throws 0A000 for several. */
function inOrder({ elements, operators, position }: ConstraintOf<"exclude">) {
  const place = operators.findIndex((operator) => operator !== "=");
  if (place < 0) return { elements, operators, forbidsOverlap: false };
  if (operators.some((operator, i) => i > place && operator !== "=")) {
    throw sqlError("0A000", 'EXCLUDE with several operators other than "=" is not supported yet', { position });
  }
  const last = <T>(list: readonly T[]): T[] => [...list.filter((_, i) => i !== place), list[place]!];
  return { elements: last(elements), operators: last(operators), forbidsOverlap: true };
}

const typeOfKey = ({ expression, name }: NewIndexColumn, table: TableDef, position: number): SqlType =>
  expression?.type ?? indexedColumn(name, table, position).type;

/** Throws 0A000, 42809, 42883. */
function checkExcluding(
  operator: string,
  column: NewIndexColumn,
  table: TableDef,
  method: string,
  position: number,
): void {
  const type = baseType(typeOfKey(column, table, position));
  const name = displayName(type);
  if (operatorFor(operator, type)?.returns !== BOOL) {
    throw sqlError("42883", `operator does not exist: ${name} ${operator} ${name}`, { position });
  }
  const isRange = rangeKeyOf(type) !== null;
  const spelled = isRange ? `${operator}(anyrange,anyrange)` : `${operator}(${name},${name})`;
  if (!COMMUTING.includes(operator)) {
    const detail = "Only commutative operators can be used in exclusion constraints.";
    throw sqlError("42809", `operator ${spelled} is not commutative`, { position, detail });
  }
  if (method !== "gist") {
    const family = isRange ? "range_ops" : `${type.name}_ops`;
    const message = `operator ${spelled} is not a member of operator family "${family}"`;
    const detail = `The exclusion operator is not related to operator class "${family}" for the constraint.`;
    throw sqlError("42809", message, { position, detail });
  }
  const liesByBounds = operator === "&&" && (isRange || type.name === "inet" || type.name === "cidr");
  const isServed = operator === "<>" ? isOrdered(type) : liesByBounds || (SPATIAL.includes(operator) && isFigure(type));
  if (isServed && !column.descending) return;
  throw sqlError("0A000", `EXCLUDE WITH ${operator} is not supported for ${name}`, { position });
}

const COMMUTING = ["&&", "<>", "~=", "-|-"];
const SPATIAL = ["&&", "~="];

/** Whether the "exclusion" is an index that the definition of the table declares. */
export function isDeclaredIndex({ method }: ConstraintOf<"exclude">): boolean {
  return method === PLAIN_INDEX || method === TEXT_INDEX;
}

/** `KEY k (a, b)` of a table. */
export function bindPlainIndex(
  { name, elements, position }: ConstraintOf<"exclude">,
  table: TableDef,
  binding: Binding,
): Omit<CreateIndexCommand, "kind" | "table" | "ifNotExists"> {
  const columns = indexColumns(elements, table, position, binding);
  return { name, unique: false, columns, where: null, include: [], nullsNotDistinct: false, notices: [] };
}

function indexExpression(
  node: ExprNode,
  table: TableDef,
  method: "btree" | "hash" | "gist",
  binding: Binding,
): Required<Pick<NewIndexColumn, "name" | "expression">> {
  refuseParameters(node, "index expressions");
  const bind = (given: ExprNode) =>
    resolveUnknown(bindExpr(given, rowContext(table, "index expressions", binding)), binding);
  const expr = bind(node);
  if (!isImmutable(expr)) {
    throw sqlError("42P17", "functions in index expression must be marked IMMUTABLE", { position: node.position });
  }
  checkKey(expr.type, method, node.position);
  const name = node.kind === "call" ? node.path.at(-1)! : "expr";
  const fixed = withFixedTimes(node, bind, binding.env.timeZone, "expression");
  return { name, expression: { sql: storedSql(fixed, binding), type: expr.type } };
}

export function indexPredicate(node: ExprNode, table: TableDef, binding: Binding): string {
  refuseParameters(node, "index predicates");
  const bind = (given: ExprNode) => bindBoolean(given, "WHERE", rowContext(table, "index predicates", binding));
  if (!isImmutable(bind(node))) {
    throw sqlError("42P17", "functions in index predicate must be marked IMMUTABLE", { position: node.position });
  }
  return storedSql(withFixedTimes(node, bind, binding.env.timeZone, "predicate"), binding);
}
