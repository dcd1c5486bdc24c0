/** Functions that syntax makes of record types: ROW(…), (r).field, assignment to a field. One object per use. */

import type { ScalarFunction } from "../../query/expr/expr.js";
import { composedRecord } from "../../query/expr/functions/composed-value.js";
import { type RecordField, recordOf, type SqlType, type Value } from "../../values/values.js";

type Row = readonly Value[] | null;

const constructors = new WeakMap<SqlType, ScalarFunction>();
const wholeRows = new WeakMap<SqlType, ScalarFunction>();

/** `ROW(…)` with the fields of a record type. */
export function rowConstructor(type: SqlType): ScalarFunction {
  let fn = constructors.get(type);
  if (fn === undefined) {
    fn = Object.freeze({
      name: "row",
      args: type.fields!.map((field) => field.type),
      returns: type,
      volatility: "immutable",
      strict: false,
      apply: (...values: Value[]) => composedRecord(values),
    });
    constructors.set(type, fn);
  }
  return fn;
}

/** A relation's row where an outer join may have found none: NULL when every column is. */
export function wholeRow(type: SqlType): ScalarFunction {
  let fn = wholeRows.get(type);
  if (fn === undefined) {
    fn = Object.freeze({
      ...rowConstructor(type),
      apply: (...values: Value[]) => (values.every((value) => value === null) ? null : values),
    });
    wholeRows.set(type, fn);
  }
  return fn;
}

/** ROW's fields are called f1, f2, … */
export function rowType(types: readonly SqlType[]): SqlType {
  return recordOf(types.map((type, i): RecordField => ({ name: `f${i + 1}`, type })));
}

const selectors = new WeakMap<SqlType, ScalarFunction[]>();

/** `(record).field`, by the field's place. */
export function fieldSelector(type: SqlType, index: number): ScalarFunction {
  const made = selectors.get(type) ?? [];
  selectors.set(type, made);
  const { name, type: returns } = type.fields![index]!;
  made[index] ??= Object.freeze({
    name: `field ${name}`,
    args: [type],
    returns,
    volatility: "immutable",
    strict: true,
    // A row stored before its type got the field is shorter.
    apply: (row: readonly Value[]) => row[index] ?? null,
  });
  return made[index];
}

/** The record with one field replaced; NULL counts as a record of NULLs. */
export function withField(type: SqlType, index: number): ScalarFunction {
  const fields = type.fields!;
  return Object.freeze({
    name: "assign_field",
    args: [type, fields[index]!.type],
    returns: type,
    volatility: "immutable",
    strict: false,
    apply: (row: Row, value: Value) => fields.map((_, i) => (i === index ? value : (row?.[i] ?? null))),
  });
}
