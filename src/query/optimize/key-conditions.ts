/**
 * Which conditions of a scan bind a column to values that are known before the first row: what choose-access.ts and
 * choose-join.ts make keys of. Parameters, columns of enclosing queries and stable functions count as known.
 */
import type { IndexDef, TableDef } from "../../catalog/table.js";
import type { SqlType } from "../../protocol/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { isBinaryCoercible } from "../expr/types.js";
import { columnsOf, conjuncts, isVolatile } from "../expr/walk.js";
import type { ScanPlan } from "../plan/plan.js";

/** One condition `column op value`, `column IN (values)`; values are of the column's type. */
export interface KeyCondition {
  readonly condition: Expr;
  readonly columnId: number;
  readonly op: "=" | "<" | "<=" | ">" | ">=" | "in";
  /** One, or the elements of the list. */
  readonly values: readonly Expr[];
}

const FLIPPED = { "=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

type Comparison = keyof typeof FLIPPED;

export function keyConditionsOf(scan: ScanPlan): KeyCondition[] {
  const tableColumns = new Map<ColumnId, number>(scan.source.map((id, i) => [scan.columns[i]!.id, id]));
  const own = new Set(scan.columns.map((column) => column.id));
  const found: KeyCondition[] = [];
  for (const condition of conjuncts(scan.filter)) {
    const key = keyConditionOf(condition, scan, tableColumns, own);
    if (key !== null) found.push(key);
  }
  return found;
}

function keyConditionOf(
  condition: Expr,
  scan: ScanPlan,
  tableColumns: ReadonlyMap<ColumnId, number>,
  own: ReadonlySet<ColumnId>,
): KeyCondition | null {
  const known = (expr: Expr) => !isVolatile(expr) && ![...columnsOf(expr)].some((id) => own.has(id));
  const bind = (left: Expr, op: KeyCondition["op"], right: readonly Expr[]): KeyCondition | null => {
    const column = plainColumn(left);
    const columnId = column === null ? undefined : tableColumns.get(column.id);
    if (columnId === undefined || !right.every(known)) return null;
    const { type } = scan.table.columns.find(({ id }) => id === columnId)!;
    const values = right.map((value) => keyValue(type, left.type, value));
    return values.includes(null) ? null : { condition, columnId, op, values: values as Expr[] };
  };
  if (condition.kind === "in" && !condition.negated && condition.equals.operator === "=") {
    return bind(condition.input, "in", condition.items);
  }
  if (condition.kind !== "call" || condition.args.length !== 2) return null;
  const op = condition.fn.operator as Comparison | undefined;
  if (op === undefined || !(op in FLIPPED)) return null;
  const [left, right] = condition.args as [Expr, Expr];
  return bind(left, op, [right]) ?? bind(right, FLIPPED[op], [left]);
}

/** A column, also under casts that keep every value as it is. */
function plainColumn(expr: Expr): Extract<Expr, { kind: "column" }> | null {
  if (expr.kind === "cast" && isBinaryCoercible(expr.input.type, expr.type)) return plainColumn(expr.input);
  return expr.kind === "column" ? expr : null;
}

const INTEGER_RANGE = { int2: 2 ** 15, int4: 2 ** 31, int8: 2 ** 63 } as const;
type IntegerName = keyof typeof INTEGER_RANGE;

const isInteger = (type: SqlType): type is SqlType & { name: IntegerName } => type.name in INTEGER_RANGE;

/**
 * The value as one that keys of the column can hold, or null. Comparisons of two integer types are by value, so the
 * value may be of another one as long as it fits; text types compare alike, except that char(n) disregards blanks.
 */
function keyValue(columnType: SqlType, comparedAs: SqlType, value: Expr): Expr | null {
  const { type } = value;
  if (isInteger(columnType) && isInteger(type)) {
    if (INTEGER_RANGE[type.name] <= INTEGER_RANGE[columnType.name]) return value;
    return value.kind === "const" && fits(columnType.name, value.value) ? value : null;
  }
  if (columnType.name === type.name && columnType.element === type.element) return value;
  const text = columnType.name === "text" || columnType.name === "varchar";
  return text && comparedAs.name !== "bpchar" && (type.name === "text" || type.name === "varchar") ? value : null;
}

function fits(name: IntegerName, value: unknown): boolean {
  return value === null || (typeof value === "number" && value >= -INTEGER_RANGE[name] && value < INTEGER_RANGE[name]);
}

/** Columns of a key, in its order. */
export function keyColumnIds(table: TableDef, index: IndexDef | "primary key"): readonly number[] {
  return index === "primary key" ? table.primaryKey! : index.columns.map((column) => column.columnId);
}

/** Every key that a scan of the table may use instead. */
export function keysOfTable(table: TableDef): readonly (IndexDef | "primary key")[] {
  const indexes = table.indexes.filter((index) => index.constraint !== "primary key" && !index.where);
  return table.primaryKey === null ? indexes : ["primary key", ...indexes];
}
