/** Types of SQL out of the names that readers of files give them (ingest/columnar, infer-columns.ts). Pure. */
import { arrayOf, numericType, type SqlType, type TypeName, typeOf } from "../../values/values.js";

const NAMES: Readonly<Record<string, TypeName>> = {
  boolean: "bool",
  smallint: "int2",
  integer: "int4",
  bigint: "int8",
  real: "float4",
  "double precision": "float8",
  numeric: "numeric",
  text: "text",
  bytea: "bytea",
  date: "date",
  time: "time",
  timestamp: "timestamp",
  timestamptz: "timestamptz",
  interval: "interval",
  uuid: "uuid",
  jsonb: "jsonb",
};

export function sqlTypeOf(name: string): SqlType {
  if (name.endsWith("[]")) return arrayOf(sqlTypeOf(name.slice(0, -2)));
  const [, base, first, second] = /^(numeric|vector)\((\d+)(?:,(\d+))?\)$/.exec(name) ?? [];
  if (base === "numeric") return numericType(Number(first), Number(second));
  if (base === "vector") return typeOf("vector", Number(first));
  const known = NAMES[name];
  if (known === undefined) throw new Error(`no type is called ${name}`);
  return typeOf(known);
}
