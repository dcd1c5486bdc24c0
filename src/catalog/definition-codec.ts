/** Definitions as JSON records. Types are written by name and modifier and interned again when read. */
import { arrayOf, type SqlType, type TypeName, typeOf } from "../protocol/values.js";
import type { SequenceDef } from "./sequence.js";
import type { TableDef } from "./table.js";

export function encodeTable(table: TableDef): Uint8Array {
  return Buffer.from(JSON.stringify(table));
}

export function decodeTable(record: Uint8Array): TableDef {
  const table = JSON.parse(Buffer.from(record).toString("utf8")) as TableDef;
  const columns = table.columns.map((column) => Object.freeze({ ...column, type: internType(column.type) }));
  return Object.freeze({ ...table, columns });
}

function internType(type: SqlType): SqlType {
  return type.element === null ? typeOf(type.name as TypeName, type.modifier) : arrayOf(internType(type.element));
}

export function encodeSequence(sequence: SequenceDef): Uint8Array {
  return Buffer.from(JSON.stringify(sequence));
}

export function decodeSequence(record: Uint8Array): SequenceDef {
  return Object.freeze(JSON.parse(Buffer.from(record).toString("utf8")) as SequenceDef);
}
