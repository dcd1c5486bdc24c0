/**
 * The functions by which PostgreSQL's information_schema measures the types of columns (its information_schema.sql).
 * Tools that copy the views' definitions call them.
 */
import type { ScalarFunction } from "../../../query/expr/expr.js";
import { INT4, OID, RECORD, type SqlType, TEXT, type Value } from "../../../values/values.js";
import { systemFunction } from "./define-function.js";
import { typeText } from "./object-names.js";
import { columnsOfShape, systemShapes } from "./shapes.js";
import type { SystemView } from "./system-view.js";

type Measure = (typmod: number, oid: number, view: SystemView) => Value;

/** Of atttypmod before what it says. */
const HEADER = 4;
const LONGEST_TEXT = 2 ** 30;
const UTF8_BYTES_MAX = 4;

const chars: Measure = (typmod) => (typmod === -1 ? null : typmod - HEADER);
const bits: Measure = (typmod) => (typmod === -1 ? null : typmod);
const octets: Measure = (typmod) => (typmod === -1 ? LONGEST_TEXT : (typmod - HEADER) * UTF8_BYTES_MAX);
const always =
  (value: number): Measure =>
  () =>
    value;
const fraction: Measure = (typmod) => (typmod < 0 ? 6 : typmod);
const ofInterval: Measure = (typmod) => (typmod < 0 || (typmod & 0xffff) === 0xffff ? 6 : typmod & 0xffff);
const fields: Measure = (typmod, oid, view) => {
  const named = /^interval (?!\()(.+)$/.exec(typeText(view, oid, typmod) ?? "");
  return named === null ? null : named[1]!.toUpperCase();
};

function measure(name: string, returns: SqlType, byType: Readonly<Record<number, Measure>>): ScalarFunction {
  return systemFunction(`_pg_${name}`, [OID, INT4], returns, (view, oid: number, typmod: number) => {
    return byType[oid]?.(typmod, oid, view) ?? null;
  });
}

/** Of a column's type what it is made of, where it is a domain. Both arguments are rows of the catalog. */
function ofDomain(name: string, own: string, base: string): ScalarFunction {
  return systemFunction(`_pg_${name}`, [RECORD, RECORD], name === "truetypid" ? OID : INT4, (_view, column, type) => {
    const isDomain = fieldOf("pg_type", type, "typtype") === "d";
    return isDomain ? fieldOf("pg_type", type, base) : fieldOf("pg_attribute", column, own);
  });
}

function fieldOf(relation: string, row: readonly Value[], name: string): Value {
  const shape = systemShapes().get(`pg_catalog.${relation}`)!;
  return row[columnsOfShape(shape).indexOf(name)] ?? null;
}

export const MEASURE_FUNCTIONS: readonly ScalarFunction[] = [
  measure("char_max_length", INT4, { 1042: chars, 1043: chars, 1560: bits, 1562: bits }),
  measure("char_octet_length", INT4, { 25: always(LONGEST_TEXT), 1042: octets, 1043: octets }),
  measure("numeric_precision", INT4, {
    ...{ 21: always(16), 23: always(32), 20: always(64), 700: always(24), 701: always(53) },
    1700: (typmod) => (typmod === -1 ? null : ((typmod - HEADER) >> 16) & 0xffff),
  }),
  measure("numeric_precision_radix", INT4, {
    ...{ 21: always(2), 23: always(2), 20: always(2), 700: always(2), 701: always(2), 1700: always(10) },
  }),
  measure("numeric_scale", INT4, {
    ...{ 21: always(0), 23: always(0), 20: always(0) },
    1700: (typmod) => (typmod === -1 ? null : (typmod - HEADER) & 0xffff),
  }),
  measure("datetime_precision", INT4, {
    ...{ 1082: always(0), 1083: fraction, 1114: fraction, 1184: fraction, 1266: fraction, 1186: ofInterval },
  }),
  measure("interval_type", TEXT, { 1186: fields }),
  ofDomain("truetypid", "atttypid", "typbasetype"),
  ofDomain("truetypmod", "atttypmod", "typtypmod"),
];
