/**
 * Finds the conditions of a scan that bind a column to a value that is known before the first row; choose-access.ts
 * and choose-join.ts make keys of them. Parameters, columns of enclosing queries and stable functions count as known.
 */
import { EXPRESSION_COLUMN, type IndexDef, type TableDef } from "../../catalog/table.js";
import { isFigure } from "../../values/geometry-extent.js";
import { BOOL, INT8, type SqlArray, type SqlType, VARIANT } from "../../values/values.js";
import { isBinaryCoercible } from "../expr/coercion.js";
import type { ColumnId, Expr, ScalarFunction } from "../expr/expr.js";
import { isPlainScalar, isVariantAsIs } from "../expr/variant-order.js";
import { columnsOf, conjuncts, exprEquals, isVolatile } from "../expr/walk.js";
import type { ScanPlan } from "../plan/plan.js";
import { implies } from "./implied.js";
import { likeRange } from "./like-range.js";
import { pathRanges } from "./ltree-keys.js";
import { pointRanges } from "./point-keys.js";
import { callOf, INTEGER_KEY, INTEGER_KEYS, PREFIX_END, PREFIX_START } from "./variant-keys.js";

/**
 * One condition `column op value`, `column IN (values)`, `column = ANY (array)`, `column IS NULL`; values are of the
 * column's type.
 */
export interface KeyCondition {
  readonly condition: Expr;
  /** As in `keyColumnIds`: also of a key that is an expression. */
  readonly columnId: number;
  readonly op: "=" | "<" | "<=" | ">" | ">=" | "in" | "any" | "null";
  /** One, the elements of the list, the array, none for IS NULL. */
  readonly values: readonly Expr[];
  /** The range holds more than the condition, which must stay in the filter. */
  readonly isWider?: true;
}

const FLIPPED = { "=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

type Comparison = keyof typeof FLIPPED;

export function keyConditionsOf(scan: ScanPlan): KeyCondition[] {
  const subjects = subjectsOf(scan);
  const own = new Set(scan.columns.map((column) => column.id));
  const known = (expr: Expr) => !isVolatile(expr) && ![...columnsOf(expr)].some((id) => own.has(id));
  const found: KeyCondition[] = [];
  for (const condition of conjuncts(scan.filter)) {
    for (const { subject, op, right, isWider } of comparisonsOf(condition)) {
      if (!right.every(known)) continue;
      for (const { columnId, type } of subjects(subject)) {
        // An index of an EXCLUDE constraint may have figures, in an order that is none of the type's.
        if (isFigure(type)) continue;
        const values = right.map((value) =>
          op === "any"
            ? keyArray(type, subject.type, value)
            : (keyValue(type, subject.type, value) ?? keyOfVariant(type, op, value)),
        );
        if (values.includes(null)) continue;
        const keepsCondition =
          isWider || (type === VARIANT ? !isExactKey(op, right) : right.some((value) => value.type === VARIANT));
        found.push({ condition, columnId, op, values: values as Expr[], ...(keepsCondition && { isWider: true }) });
      }
    }
  }
  return found;
}

/** A condition on one of several expressions; see KeyCondition. */
export interface PartCondition {
  /** Of the expression among those given. */
  readonly place: number;
  readonly op: Exclude<KeyCondition["op"], "any">;
  readonly values: readonly Expr[];
}

/** What a condition says of any of these expressions over the columns `own`, such as the parts of a partition key. */
export function conditionsOnParts(
  condition: Expr,
  parts: readonly Expr[],
  own: ReadonlySet<ColumnId>,
): readonly PartCondition[] {
  const found: PartCondition[] = [];
  for (const comparison of [...comparisonsOf(condition), ...truthOf(condition)]) {
    const { subject, op, right } = comparison.op === "any" ? listed(comparison) : comparison;
    if (op === "any") continue;
    if (right.some((value) => isVolatile(value) || [...columnsOf(value)].some((id) => own.has(id)))) continue;
    for (const [place, part] of parts.entries()) {
      if (!sameSubject(part, subject)) continue;
      const values = right.map((value) => keyValue(part.type, subject.type, value));
      if (!values.includes(null)) found.push({ place, op, values: values as Expr[] });
    }
  }
  return found;
}

/** `= ANY` of an array that is known as the list of its elements. */
function listed(comparison: SubjectComparison): SubjectComparison {
  const [array] = comparison.right;
  if (array?.kind !== "const" || array.value === null) return comparison;
  const type = array.type.element!;
  const { elements } = array.value as SqlArray;
  return { ...comparison, op: "in", right: elements.map((value) => ({ kind: "const", type, value })) };
}

/** `x` and `NOT x` of a boolean. */
function truthOf(condition: Expr): readonly SubjectComparison[] {
  const isNegated = condition.kind === "not";
  const subject = isNegated ? condition.input : condition;
  if (subject.kind !== "column" || subject.type !== BOOL) return [];
  return [{ subject, op: "=", right: [{ kind: "const", type: BOOL, value: !isNegated }] }];
}

interface Subject {
  readonly columnId: number;
  readonly type: SqlType;
}

/**
 * The key columns that an expression over the scan is: one for a plain column, those of indexes that have it as key.
 */
function subjectsOf(scan: ScanPlan): (expr: Expr) => readonly Subject[] {
  const { table } = scan;
  const tableColumns = new Map<ColumnId, number>(scan.source.map((id, i) => [scan.columns[i]!.id, id]));
  return (expr) => {
    const column = plainColumn(expr);
    const columnId = column === null ? undefined : tableColumns.get(column.id);
    if (columnId !== undefined) return [{ columnId, type: table.columns.find(({ id }) => id === columnId)!.type }];
    if (scan.indexExprs === undefined) return [];
    return table.indexes.flatMap((index) => {
      const keys = scan.indexExprs!.get(index.id)?.keys ?? [];
      return keys.flatMap((key, i) =>
        key !== null && sameSubject(key, expr) ? [{ columnId: keyColumnIds(table, index)[i]!, type: key.type }] : [],
      );
    });
  };
}

function sameSubject(key: Expr, expr: Expr): boolean {
  if (exprEquals(key, expr)) return true;
  return expr.kind === "cast" && isBinaryCoercible(expr.input.type, expr.type) && sameSubject(key, expr.input);
}

interface SubjectComparison {
  readonly subject: Expr;
  readonly op: KeyCondition["op"];
  readonly right: readonly Expr[];
  readonly isWider?: true;
}

/** The condition as comparisons, read from either side. */
function comparisonsOf(condition: Expr): readonly SubjectComparison[] {
  if (condition.kind === "in" && !condition.negated && condition.equals.operator === "=") {
    return [{ subject: condition.input, op: "in", right: condition.items }];
  }
  if (condition.kind === "isnull" && !condition.negated) return [{ subject: condition.input, op: "null", right: [] }];
  if (condition.kind === "or") return boundsOfArms(condition.args);
  if (condition.kind !== "call") return [];
  const ofPoints = pointRanges(condition.fn, condition.args);
  if (ofPoints !== null) {
    return ofPoints.flatMap(({ subject, from, to }): SubjectComparison[] => [
      { subject, op: ">=", right: [from], isWider: true },
      { subject, op: "<=", right: [to], isWider: true },
    ]);
  }
  if (condition.args.length !== 2) return [];
  if (condition.fn.anyOf?.operator === "=") {
    const [subject, array] = condition.args as [Expr, Expr];
    return [{ subject, op: "any", right: [array] }];
  }
  const like = likeRange(condition);
  if (like !== null) {
    const { subject, lower, upper } = like;
    const range: SubjectComparison[] = [{ subject, op: ">=", right: [lower], isWider: true }];
    if (upper !== null) range.push({ subject, op: "<", right: [upper], isWider: true });
    return range;
  }
  const inCypher = cypherComparisons(condition.fn, condition.args);
  if (inCypher !== null) return inCypher;
  const ofPaths = pathRanges(condition.fn, condition.args);
  if (ofPaths !== null) return ofPaths;
  const op = condition.fn.operator as Comparison | undefined;
  if (op === undefined || !(op in FLIPPED)) return [];
  const [left, right] = condition.args as [Expr, Expr];
  return [
    { subject: left, op, right: [right] },
    { subject: right, op: FLIPPED[op], right: [left] },
  ];
}

const BOUNDS = { ">=": ["=", ">", ">="], "<=": ["=", "<", "<="] } as const;

/** What all arms of an OR say of one subject: `a > 1 OR (a = 1 AND b > 2)`, as rows are compared, needs `a >= 1`. */
function boundsOfArms(arms: readonly Expr[]): readonly SubjectComparison[] {
  const [first = [], ...others] = arms.map((arm) => conjuncts(arm).flatMap(comparisonsOf));
  return first.flatMap(({ subject, right }) => {
    const [value] = right;
    if (value === undefined) return [];
    const isSame = (one: SubjectComparison) => exprEquals(one.subject, subject) && exprEquals(one.right[0]!, value);
    return (["<=", ">="] as const)
      .filter((bound) => {
        const bounds = ({ op }: SubjectComparison) => (BOUNDS[bound] as readonly string[]).includes(op);
        return [first, ...others].every((arm) => arm.some((one) => bounds(one) && isSame(one)));
      })
      .map((op): SubjectComparison => ({ subject, op, right: [value], isWider: true }));
  });
}

/** STARTS WITH and IN of Cypher; null: another operator. */
function cypherComparisons({ operator }: ScalarFunction, args: readonly Expr[]): readonly SubjectComparison[] | null {
  const [subject, right] = args as [Expr, Expr];
  if (operator === "IN" && right.type === VARIANT) return [{ subject, op: "any", right: [right], isWider: true }];
  if (operator !== "STARTS WITH") return null;
  return [
    { subject, op: ">=", right: [callOf(PREFIX_START, right)], isWider: true },
    { subject, op: "<", right: [callOf(PREFIX_END, right)], isWider: true },
  ];
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
  if (columnType === VARIANT) return isVariantAsIs(type) ? value : null;
  const text = columnType.name === "text" || columnType.name === "varchar";
  return text && comparedAs.name !== "bpchar" && (type.name === "text" || type.name === "varchar") ? value : null;
}

/** A variant that an id is compared with. */
function keyOfVariant(columnType: SqlType, op: KeyCondition["op"], value: Expr): Expr | null {
  return columnType === INT8 && value.type === VARIANT && op === "=" ? callOf(INTEGER_KEY, value) : null;
}

/**
 * Whether a key of variants finds just what Cypher's comparison does. Keys are equal for values that are equivalent,
 * such as NaN and NaN, and their order goes on where that of `<` ends.
 */
function isExactKey(op: KeyCondition["op"], values: readonly Expr[]): boolean {
  if (op === "null") return true;
  const isPlain = (value: Expr) => value.type !== VARIANT || (value.kind === "const" && isPlainScalar(value.value));
  return (op === "=" || op === "in") && values.every(isPlain);
}

/**
 * The same for an array of values; of integers those that keys cannot hold are passed over when the ranges are made.
 */
function keyArray(columnType: SqlType, comparedAs: SqlType, array: Expr): Expr | null {
  const { element } = array.type;
  if (array.type === VARIANT) {
    return columnType === VARIANT ? array : columnType === INT8 ? callOf(INTEGER_KEYS, array) : null;
  }
  if (element === null || element === undefined) return null;
  if (isInteger(columnType) && isInteger(element)) return array;
  const value: Expr = { kind: "param", type: element, index: 0 };
  return keyValue(columnType, comparedAs, value) === null ? null : array;
}

function fits(name: IntegerName, value: unknown): boolean {
  return value === null || (typeof value === "number" && value >= -INTEGER_RANGE[name] && value < INTEGER_RANGE[name]);
}

/** Columns of a key, in its order. A key that is an expression has a number of its own, below that of any column. */
export function keyColumnIds(table: TableDef, index: IndexDef | "primary key"): readonly number[] {
  if (index === "primary key") return table.primaryKey!;
  return index.columns.map(({ columnId }, i) =>
    columnId === EXPRESSION_COLUMN ? EXPRESSION_COLUMN - index.id * INDEX_KEYS_MAX - i : columnId,
  );
}

const INDEX_KEYS_MAX = 64;

/** Every key that any scan of the table may use instead. */
export function keysOfTable(table: TableDef): readonly (IndexDef | "primary key")[] {
  const indexes = table.indexes.filter((index) => index.constraint !== "primary key" && !index.where);
  return table.primaryKey === null ? indexes : ["primary key", ...indexes];
}

/** And those that this scan may use: partial indexes whose predicate its filter implies. */
export function keysOfScan(scan: ScanPlan): readonly (IndexDef | "primary key")[] {
  const { table, indexExprs } = scan;
  if (indexExprs === undefined) return keysOfTable(table);
  const conditions = conjuncts(scan.filter);
  const partial = table.indexes.filter((index) => {
    const predicate = indexExprs.get(index.id)?.predicate ?? null;
    return predicate !== null && implies(conditions, predicate);
  });
  return [...keysOfTable(table), ...partial];
}
