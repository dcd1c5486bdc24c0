/** Assigns a value to a variable, a field of a record or a member of an array, and a row to a list of those. */
import { sqlError } from "../../../protocol/errors.js";
import { canCoerce } from "../../../query/expr/coercion.js";
import { type SliceBounds, withElement, withSlice } from "../../../query/expr/functions/array-parts.js";
import { HSTORE_ASSIGN } from "../../../query/expr/functions/hstore.js";
import { withJsonPart } from "../../../query/expr/functions/json-subscripts.js";
import { displayName } from "../../../query/expr/types.js";
import { toText } from "../../../values/text-format.js";
import {
  INT4,
  JSONB,
  type Json,
  recordOf,
  type SqlArray,
  type SqlType,
  TEXT,
  type Value,
} from "../../../values/values.js";
import type { PlTarget } from "../../parse/plpgsql-ast.js";
import type { Conversions } from "./conversions.js";
import { PlExpression } from "./expression.js";
import type { Frame } from "./frame.js";
import type { Namespace, Variable } from "./namespace.js";

/** A column of a row, or what a target is given. */
export interface Column {
  readonly name: string;
  readonly type: SqlType;
}

export interface Target {
  readonly variable: Variable;
  /** The whole variable's type; null: of type record, or a part of something. */
  readonly wholeType: SqlType | null;
  readonly isRow: boolean;
  assign(value: Value, type: SqlType, frame: Frame): void | Promise<void>;
}

type Part =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "subscripts"; readonly indexes: readonly Subscript[] }
  | { readonly kind: "slice"; readonly bounds: readonly { lower: PlExpression | null; upper: PlExpression | null }[] };

/** Of arrays, whose members have numbers, and of jsonb and hstore. Only the one that is needed is ever bound. */
interface Subscript {
  readonly number: PlExpression;
  readonly key: PlExpression;
}

/** Throws 42601 for a name that is no variable, 22005 for a constant. */
export function compileTarget(node: PlTarget, names: Namespace, conversions: Conversions): Target {
  const found = names.find(node.path);
  if (found === null) throw sqlError("42601", `"${node.path.join(".")}" is not a known variable`);
  const { variable, used } = found;
  if (variable.constant) throw sqlError("22005", `variable "${variable.name}" is declared CONSTANT`);
  const parts = partsOf(node, used, names);
  const isRow = parts.length === 0 && (variable.type === null || variable.type.fields !== undefined);
  if (parts.length === 0) {
    return {
      variable,
      wholeType: variable.type,
      isRow,
      assign: (value, type, frame) => assignWhole(variable, value, type, conversions, frame),
    };
  }
  return {
    variable,
    wholeType: null,
    isRow: false,
    assign: (value, type, frame) => {
      const whole = variable.type ?? frame.types[variable.slot] ?? null;
      if (whole === null) throw sqlError("55000", `record "${variable.name}" is not assigned yet`);
      const [first] = parts;
      if (first!.kind === "field" && whole.fields?.some(({ name }) => name === first.name) === false) {
        throw sqlError("42703", `record "${variable.name}" has no field "${first.name}"`);
      }
      frame.values[variable.slot] = replaced(
        frame.values[variable.slot]!,
        whole,
        parts,
        value,
        type,
        conversions,
        frame,
      );
    },
  };
}

function partsOf({ path, rest }: PlTarget, used: number, names: Namespace): Part[] {
  const parts: Part[] = path.slice(used).map((name) => ({ kind: "field", name }));
  const number = (text: string) => new PlExpression(text, names, INT4);
  const index = (text: string): Subscript => ({ number: number(text), key: new PlExpression(text, names, null) });
  for (const access of rest) {
    const last = parts.at(-1);
    if (access.kind === "field") parts.push(access);
    else if (access.kind === "index" && last?.kind === "subscripts") {
      parts[parts.length - 1] = { kind: "subscripts", indexes: [...last.indexes, index(access.index.text)] };
    } else if (access.kind === "index") parts.push({ kind: "subscripts", indexes: [index(access.index.text)] });
    else {
      const bound = {
        lower: access.lower === null ? null : number(access.lower.text),
        upper: access.upper === null ? null : number(access.upper.text),
      };
      if (last?.kind === "slice") parts[parts.length - 1] = { kind: "slice", bounds: [...last.bounds, bound] };
      else parts.push({ kind: "slice", bounds: [bound] });
    }
  }
  return parts;
}

function assignWhole(variable: Variable, value: Value, type: SqlType, conversions: Conversions, frame: Frame): void {
  const { slot, notNull, name } = variable;
  if (variable.type === null) {
    if (type.name !== "record") {
      if (value !== null) throw sqlError("42804", "cannot assign non-composite value to a record variable");
      if (notNull) throw nullAssigned(name);
      frame.values[slot] = null;
      return;
    }
    if (value === null && notNull) throw nullAssigned(name);
    frame.values[slot] = value;
    if (type.fields !== undefined) frame.types[slot] = type;
    return;
  }
  const converted = conversions.convert(value, type, variable.type, frame);
  if (converted === null && notNull) throw nullAssigned(name);
  frame.values[slot] = converted;
}

const nullAssigned = (name: string) =>
  sqlError("22004", `null value cannot be assigned to variable "${name}" declared NOT NULL`);

/** The value with one part of it replaced. */
function replaced(
  whole: Value,
  type: SqlType,
  parts: readonly Part[],
  value: Value,
  valueType: SqlType,
  conversions: Conversions,
  frame: Frame,
): Value {
  const [part, ...rest] = parts;
  if (part === undefined) return conversions.convert(value, valueType, type, frame);
  if (type.user?.kind === "domain") {
    const base = type.user.base!;
    const next = replaced(whole, base, parts, value, valueType, conversions, frame);
    return conversions.convert(next, base, type, frame);
  }
  if (part.kind === "field") {
    const { fields } = type;
    const index = fields?.findIndex(({ name }) => name === part.name) ?? -1;
    if (fields === undefined || index < 0) {
      throw sqlError("42703", `record "${displayName(type)}" has no field "${part.name}"`);
    }
    const row = whole as readonly Value[] | null;
    const next = replaced(row?.[index] ?? null, fields[index]!.type, rest, value, valueType, conversions, frame);
    return fields.map((_, i) => (i === index ? next : (row?.[i] ?? null)));
  }
  if (type.name === "jsonb" || type.name === "hstore") {
    return withMember(whole, type, part, rest, conversions.convert(value, valueType, memberType(type), frame), frame);
  }
  if (type.element === null) {
    throw sqlError("42804", `cannot subscript type ${displayName(type)} because it does not support subscripting`);
  }
  const array = whole as SqlArray | null;
  if (part.kind === "slice") {
    const bounds = part.bounds.map(
      ({ lower, upper }): SliceBounds => ({
        lower: lower === null ? null : subscript(lower, frame),
        upper: upper === null ? null : subscript(upper, frame),
      }),
    );
    const source = conversions.convert(value, valueType, type, frame) as SqlArray | null;
    return source === null ? whole : withSlice(array, bounds, source);
  }
  const indexes = part.indexes.map((index) => subscript(index.number, frame));
  const before = rest.length === 0 ? null : elementOf(array, indexes);
  const next = replaced(before, type.element, rest, value, valueType, conversions, frame);
  return withElement(array, indexes, next);
}

const memberType = ({ name }: SqlType) => (name === "jsonb" ? JSONB : TEXT);

/** A value of jsonb or hstore with one member replaced. Throws 42804 and 0A000 for other parts. */
function withMember(
  whole: Value,
  type: SqlType,
  part: Exclude<Part, { kind: "field" }>,
  rest: readonly Part[],
  value: Value,
  frame: Frame,
): Value {
  if (rest.length > 0) throw sqlError("42804", `cannot assign to a part of a member of type ${displayName(type)}`);
  if (type.name === "hstore") {
    const [index, ...others] = part.kind === "slice" ? [] : part.indexes;
    if (index === undefined || others.length > 0) throw sqlError("0A000", "hstore allows only one subscript");
    return HSTORE_ASSIGN.apply(whole, value, keyOf(index, frame).text);
  }
  if (part.kind === "slice") throw sqlError("42804", "jsonb subscript does not support slices");
  const keys = part.indexes.map((index) => keyOf(index, frame));
  const [path, numeric] = [keys.map(({ text }) => text), keys.map(({ isNumber }) => isNumber)];
  return withJsonPart(whole as Json | null, path, numeric, value as Json | null);
}

function keyOf({ key }: Subscript, frame: Frame): { readonly text: string | null; readonly isNumber: boolean } {
  const value = computed(key, frame);
  const type = key.type(frame);
  return { text: value === null ? null : toText(type, value), isNumber: canCoerce(type, INT4, "implicit") };
}

function elementOf(array: SqlArray | null, indexes: readonly number[]): Value {
  if (array === null || array.dimensions.length !== indexes.length) return null;
  let slot = 0;
  for (const [d, index] of indexes.entries()) {
    const offset = index - array.lowerBounds[d]!;
    if (offset < 0 || offset >= array.dimensions[d]!) return null;
    slot = slot * array.dimensions[d]! + offset;
  }
  return array.elements[slot] ?? null;
}

function computed(expression: PlExpression, frame: Frame): Value {
  const value = expression.evaluate(frame);
  if (value instanceof Promise) throw sqlError("0A000", "a subscript cannot call a function that has to wait");
  return value;
}

function subscript(expression: PlExpression, frame: Frame): number {
  const value = computed(expression, frame);
  if (value === null) throw sqlError("22004", "array subscript in assignment must not be null");
  return value as number;
}

/** A row (null: there is none) into one record, or column by column into a list. */
export function assignRow(
  targets: readonly Target[],
  columns: readonly Column[],
  row: readonly Value[] | null,
  conversions: Conversions,
  frame: Frame,
): void {
  const [only] = targets;
  if (targets.length === 1 && only!.isRow) {
    assignRecord(only!, columns, row, conversions, frame);
    return;
  }
  targets.forEach((target, i) => {
    const column = columns[i];
    target.assign(row?.[i] ?? null, column?.type ?? target.wholeType ?? INT4, frame);
  });
}

function assignRecord(
  { variable }: Target,
  columns: readonly Column[],
  row: readonly Value[] | null,
  conversions: Conversions,
  frame: Frame,
): void {
  const { slot, type } = variable;
  const single = columns[0];
  // One column that is a row itself is taken for that row.
  if (columns.length === 1 && single!.type.fields !== undefined) {
    assignWhole(variable, row?.[0] ?? null, single!.type, conversions, frame);
    return;
  }
  if (type === null) {
    frame.types[slot] = recordOf(columns.map(({ name, type: field }) => ({ name, type: field })));
    frame.values[slot] = row === null ? columns.map(() => null) : [...row];
    return;
  }
  const fields = type.fields!;
  const values = fields.map((field, i) => {
    const column = columns[i];
    return column === undefined ? null : conversions.convert(row?.[i] ?? null, column.type, field.type, frame);
  });
  if (type.user?.kind !== "domain") frame.values[slot] = values;
  // Its conditions have to hold.
  else frame.values[slot] = conversions.convert(row === null ? null : values, type.user.base!, type, frame);
}
